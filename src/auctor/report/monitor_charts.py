"""Charts of monitoring as SVG: distributions before and now, and values by period."""

import math
from collections.abc import Sequence
from html import escape
from typing import Any

from auctor.report.markup import Markup, shortened

_WIDTH, _LEFT, _RIGHT, _TOP = 360, 40, 8, 10
_HEIGHT = 150
_ROW = 24
_MOST_BARS = 10
_LETTER = 7  # width of a letter of a label
_PERIOD_WIDTH, _PERIOD_HEIGHT = 640, 200


def distribution_chart(movement: dict[str, Any]) -> Markup:
    """Fractions of the training rows (grey) and of the new rows in the bins of a feature."""
    cells = movement["cells"]
    if cells[0]["before"] == cells[0]["now"] == 0:
        cells = cells[1:]
    chart = _horizontal if movement["kind"] == "category" else _vertical
    return Markup(chart(cells, f"distribution of {movement['name']}"))


def _vertical(cells: Sequence[dict[str, Any]], title: str) -> str:
    """Bars side by side for bins of numbers; labels where there is room."""
    most = max(max(cell["before"], cell["now"]) for cell in cells) or 1.0
    width = (_WIDTH - _LEFT - _RIGHT) / len(cells)
    parts, step = [_percent_axis(most, _LEFT, _WIDTH - _RIGHT)], max(1, -(-len(cells) // 5))
    free_from = 0.0  # where the label before ends
    for k, cell in enumerate(cells):
        x = _LEFT + k * width
        for kind, offset in (("before", 0.08), ("now", 0.5)):
            height = _HEIGHT * cell[kind] / most
            parts.append(
                f'<rect class="{kind}" x="{x + offset * width:.1f}" width="{0.4 * width:.1f}" '
                f'y="{_TOP + _HEIGHT - height:.1f}" height="{height:.1f}">'
                f"<title>{escape(_words(cell, kind))}</title></rect>"
            )
        text = _tick(cell["label"], k == len(cells) - 1)
        centre, half = x + (0.5 if text == "missing" else 1) * width, _LETTER * len(text) / 2
        has_room = centre - half >= free_from and centre + half <= _WIDTH
        if text and has_room and (text == "missing" or k % step == 0):
            free_from = centre + half + _LETTER
            parts.append(
                f'<text class="quiet" x="{centre:.1f}" y="{_TOP + _HEIGHT + 15}" '
                f'text-anchor="middle">{escape(text)}</text>'
            )
    return _svg(_WIDTH, _TOP + _HEIGHT + 22, title, parts)


def _tick(label: str, is_last: bool) -> str:
    """The upper end of a bin."""
    if label == "missing":
        return label
    return "" if is_last else label.removeprefix("up to ").rpartition(" to ")[2]


def _horizontal(cells: Sequence[dict[str, Any]], title: str) -> str:
    """Bars below each other for categories, the largest first; the others together."""
    ordered = sorted(cells, key=lambda cell: -max(cell["before"], cell["now"]))
    ordered = [cell for cell in ordered if cell["before"] or cell["now"]]
    shown, left = ordered[:_MOST_BARS], ordered[_MOST_BARS:]
    if left:
        sums = {kind: sum(cell[kind] for cell in left) for kind in ("before", "now")}
        shown = [*shown, {"label": f"{len(left)} others", **sums}]
    most = max((max(cell["before"], cell["now"]) for cell in shown), default=1.0)
    start, end, parts = 110, _WIDTH - 50, []
    for k, cell in enumerate(shown):
        y = 4 + k * _ROW
        name = escape(shortened(str(cell["label"]), 16))
        parts.append(f'<text x="{start - 6}" y="{y + 14}" text-anchor="end">{name}</text>')
        for kind, offset in (("before", 0), ("now", 9)):
            width = (end - start) * cell[kind] / most
            parts.append(
                f'<rect class="{kind}" x="{start}" y="{y + offset}" width="{width:.1f}" '
                f'height="8"><title>{escape(_words(cell, kind))}</title></rect>'
            )
        parts.append(
            f'<text class="quiet value" x="{_WIDTH - 4}" y="{y + 14}" text-anchor="end">'
            f"{cell['now']:.1%}</text>"
        )
    return _svg(_WIDTH, 8 + len(shown) * _ROW, title, parts)


def _words(cell: dict[str, Any], kind: str) -> str:
    when = "training" if kind == "before" else "now"
    return f"{cell['label']}, {when}: {cell[kind]:.2%}"


def _percent_axis(most: float, left: float, right: float) -> str:
    lines = []
    for k in range(3):
        y = _TOP + _HEIGHT * (1 - k / 2)
        lines.append(
            f'<path class="gridline" d="M{left} {y:g}H{right}"/><text class="quiet" '
            f'x="{left - 5}" y="{y + 4:g}" text-anchor="end">{most * k / 2:.0%}</text>'
        )
    return "".join(lines)


def period_chart(
    title: str,
    names: Sequence[str],
    values: Sequence[float | None],
    ends: Sequence[tuple[float, float] | None],
    reference: tuple[float, float, float] | None = None,
    limits: Sequence[float | None] = (),
) -> Markup:
    """Values by period with intervals, beside the figure of training or a noise level."""
    known = [v for v in values if v is not None] + [v for end in ends if end for v in end]
    known += list(reference or ()) + [v for v in limits if v is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if limits:
        low = 0.0
    room = (high - low or 0.1) * 0.06
    low, high = low - (0.0 if limits else room), high + room
    left, right = 50, _PERIOD_WIDTH - 12

    def at(value: float) -> float:
        return _TOP + _PERIOD_HEIGHT * (high - value) / (high - low)

    step = (right - left) / max(len(names), 1)
    parts = [_value_axis(low, high, left, right, at)]
    if reference is not None:
        centre, bottom, top = reference
        parts.append(
            f'<rect class="band" x="{left}" width="{right - left}" y="{at(top):.1f}" '
            f'height="{max(at(bottom) - at(top), 1):.1f}"/>'
            f'<path class="chance" d="M{left} {at(centre):.1f}H{right}"/>'
        )
    every = -(-len(names) // 8)
    for k, (name, value, end) in enumerate(zip(names, values, ends, strict=True)):
        x = left + (k + 0.5) * step
        if k % every == 0:
            parts.append(
                f'<text class="quiet" x="{x:.1f}" y="{_TOP + _PERIOD_HEIGHT + 16}" '
                f'text-anchor="middle">{escape(shortened(_short(name), 14))}</text>'
            )
        if limits and limits[k] is not None:
            y = at(limits[k] or 0.0)
            parts.append(
                f'<path class="noise" d="M{x - step / 2:.1f} {y:.1f}H{x + step / 2:.1f}"/>'
            )
        if value is None:
            continue
        if end is not None:
            parts.append(f'<path class="whisker" d="M{x:.1f} {at(end[0]):.1f}V{at(end[1]):.1f}"/>')
        words = escape(f"{name}: {value:.3f}")
        parts.append(
            f'<circle class="dot" cx="{x:.1f}" cy="{at(value):.1f}" r="4">'
            f"<title>{words}</title></circle>"
        )
    return Markup(_svg(_PERIOD_WIDTH, _TOP + _PERIOD_HEIGHT + 24, title, parts))


def _short(name: str) -> str:
    return name.removeprefix("week of ")


def _value_axis(low: float, high: float, left: float, right: float, at: Any) -> str:
    lines, step = [], _round_step((high - low) / 4)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    for k in range(first, last + 1):
        value, y = k * step, at(k * step)
        lines.append(
            f'<path class="gridline" d="M{left} {y:.1f}H{right}"/><text class="quiet" '
            f'x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.3g}</text>'
        )
    return "".join(lines)


def _round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below ``least``.

    Examples
    --------
    >>> _round_step(0.034)
    0.05
    """
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least)


def _svg(width: float, height: float, title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'aria-label="{escape(shortened(title, 120))}">{"".join(parts)}</svg>'
    )
