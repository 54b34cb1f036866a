"""The ROC curve as a static SVG, for printers and for browsers without JavaScript."""

from typing import Any

_SIDE, _LEFT, _TOP = 320, 46, 8


def roc_svg(facts: dict[str, Any]) -> str:
    """The curve, its band and the diagonal. The SVG has no text from tables to escape."""
    roc = facts["roc"]
    n_pos, n_neg = roc["true_positives"][-1], roc["false_positives"][-1]
    curve = [
        (fp / n_neg, tp / n_pos)
        for fp, tp in zip(roc["false_positives"], roc["true_positives"], strict=True)
    ]
    band = roc["band"]
    ends = [*zip(band["fpr"], band["high"], strict=True)]
    ends += reversed([*zip(band["fpr"], band["low"], strict=True)])
    ends = [(x, y) for x, y in ends if x is not None and y is not None]
    ticks = "".join(_tick(k / 4) for k in range(5))
    return (
        f'<svg role="img" viewBox="0 0 {_LEFT + _SIDE + 12} {_TOP + _SIDE + 44}" width="400" '
        f'aria-label="ROC curve, area {facts["headline"]["curve_auc"]:.3f}">{ticks}'
        f'<polygon class="band" points="{_points(ends)}"/>'
        f'<polyline class="chance" points="{_points([(0, 0), (1, 1)])}"/>'
        f'<polyline class="own" points="{_points(curve)}"/>'
        f'<text x="{_LEFT + _SIDE / 2:g}" y="{_TOP + _SIDE + 38}" text-anchor="middle">'
        "false positive rate</text>"
        f'<text transform="translate(12 {_TOP + _SIDE / 2:g}) rotate(-90)" text-anchor="middle">'
        "true positive rate</text></svg>"
    )


def _points(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{_LEFT + _SIDE * x:.1f},{_TOP + _SIDE * (1 - y):.1f}" for x, y in points)


def _tick(value: float) -> str:
    x, y = _LEFT + _SIDE * value, _TOP + _SIDE * (1 - value)
    return (
        f'<path class="gridline" d="M{x:g} {_TOP}v{_SIDE}M{_LEFT} {y:g}h{_SIDE}"/>'
        f'<text class="quiet" x="{x:g}" y="{_TOP + _SIDE + 17}" text-anchor="middle">'
        f"{value:g}</text>"
        f'<text class="quiet" x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end">{value:g}</text>'
    )
