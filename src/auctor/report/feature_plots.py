"""Numbers of the feature plots: contributions to the score, and histograms of the values."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature
from auctor.models import AdditiveModel
from auctor.report.feature_scores import TermRows
from auctor.report.plain import clean, shortened
from auctor.report.rows import ReportRows

_MOST_STEPS = 100
MOST_CATEGORIES = 24
_MOST_CELLS = 24  # on a side of a surface
_STRIP_BINS = 24
_CENTRAL = 0.98  # fraction of the rows that the x axis spans
_LONGEST_CATEGORY = 60
# Rows that are enough to find the limits of the x axis.
_MOST_LOOKED_AT = 100_000


class Steps(NamedTuple):
    """The contribution of each code relative to the average row, with its band if it has one."""

    feature: Feature
    values: Floats
    low: Floats | None = None
    high: Floats | None = None
    parts: dict[str, Floats] | None = None  # of which ``values`` is the sum, by name


def plot_feature(rows: ReportRows, steps: Steps, term: TermRows, column: int) -> dict[str, Any]:
    """The numbers of one plot, with those of missing values if the rows have any."""
    has_missing = bool(((term.codes == 0) & rows.present).any())
    facts = {"missing": _of_code(steps, 0) if has_missing else None}
    if steps.feature.is_category:
        return facts | _category_plot(rows, steps, term)
    return facts | _number_plot(rows, steps, rows.table.numbers(column))


def centred(values: Floats, rows: ReportRows, codes: Any) -> Floats:
    """Contributions minus their class-balanced mean over the rows."""
    classes = (rows.present & rows.positive, rows.present & ~rows.positive)
    means = [np.average(values[codes[c]], weights=rows.counted[c]) for c in classes]
    return values - float(np.mean(means))


def shifted(steps: Steps, shift: float) -> Steps:
    """The same plot, higher by a constant."""
    low, high = (None if end is None else end + shift for end in (steps.low, steps.high))
    return steps._replace(values=steps.values + shift, low=low, high=high)


def _of_code(steps: Steps, code: int) -> dict[str, Any]:
    """The contribution of one code, with its band."""
    ends = [None if end is None else shortened(end[code])[0] for end in (steps.low, steps.high)]
    own = {name: values[0] for name, values in _parts(steps, [code]).items()}
    return {"value": shortened(steps.values[code])[0], "low": ends[0], "high": ends[1], **own}


def _parts(steps: Steps, codes: Any) -> dict[str, Any]:
    return {name: shortened(part[codes]) for name, part in (steps.parts or {}).items()}


def _band(steps: Steps, codes: Any) -> dict[str, Any]:
    if steps.low is None or steps.high is None:
        return {}
    return {"low": shortened(steps.low[codes]), "high": shortened(steps.high[codes])}


def class_fractions(rows: ReportRows, codes: Any, n_codes: int) -> list[Floats]:
    """The fraction of the positive rows, and of the negative ones, that have each code."""
    fractions = []
    for c in (rows.positive, ~rows.positive):
        own = c & rows.present
        weight = np.bincount(codes[own], weights=rows.counted[own], minlength=n_codes)
        fractions.append(np.asarray(weight / weight.sum()))
    return fractions


def frequent_codes(fractions: Floats, most: int) -> Ints:
    """The most frequent codes, without that of missing values."""
    return 1 + np.argsort(-fractions[1:], kind="stable")[:most]


def _category_plot(rows: ReportRows, steps: Steps, term: TermRows) -> dict[str, Any]:
    """The most frequent categories, from the highest contribution to the lowest."""
    n = len(steps.values)
    pos, neg = class_fractions(rows, term.codes, n)
    frequent = frequent_codes(pos + neg, MOST_CATEGORIES)
    order = frequent[np.argsort(-steps.values[frequent], kind="stable")]
    names = [clean(steps.feature.categories[code - 1], _LONGEST_CATEGORY) for code in order]
    return {
        "kind": "category",
        "categories": names,
        "n_more": n - 1 - len(order),
        "values": shortened(steps.values[order]),
        "pos": shortened(pos[order], 4),
        "neg": shortened(neg[order], 4),
        **_band(steps, order),
        **_parts(steps, order),
    }


def _number_plot(rows: ReportRows, steps: Steps, values: Floats) -> dict[str, Any]:
    """The steps between the limits that contain most rows."""
    known = rows.present & ~np.isnan(values)
    low, high, edges = axis_limits(values[known])
    cuts = steps.feature.cuts
    first, last = np.searchsorted(cuts, [low, high], side="right")
    codes = np.arange(first, last + 1)
    if len(codes) > _MOST_STEPS:
        codes = codes[np.linspace(0, len(codes) - 1, _MOST_STEPS).round().astype(int)]
    return {
        "kind": "number",
        "limits": shortened([low, high], 8),
        # Each step begins where the one before it ends.
        "cuts": shortened(cuts[codes[1:] - 1], 8),
        "values": shortened(steps.values[codes + 1]),
        "n_steps": len(cuts) + 1,
        "edges": shortened(edges, 8),
        **{
            name: shortened(_fractions(values, rows, c & known, c & rows.present, edges), 4)
            for name, c in (("pos", rows.positive), ("neg", ~rows.positive))
        },
        **_band(steps, codes + 1),
        **_parts(steps, codes + 1),
    }


def axis_limits(known: Floats) -> tuple[float, float, Floats]:
    """The ends of the x axis, and the edges of the histogram."""
    if len(known) == 0:
        return -0.5, 0.5, np.array([-0.5, 0.5])
    looked_at = known[:: max(1, len(known) // _MOST_LOOKED_AT)]
    ends = [(1 - _CENTRAL) / 2, (1 + _CENTRAL) / 2]
    low, high = map(float, np.quantile(looked_at, ends, method="inverted_cdf"))
    distinct = np.unique(looked_at[(looked_at >= low) & (looked_at <= high)])
    if len(distinct) > _STRIP_BINS:
        return low, high, np.linspace(low, high, _STRIP_BINS + 1)
    # If there are few values, each has a bar of its own, with the value in its middle.
    middles = (distinct[1:] + distinct[:-1]) / 2
    gap = float(np.diff(distinct).min()) / 2 if len(distinct) > 1 else 0.5
    low, high = low - gap, high + gap
    return low, high, np.concatenate([[low], middles, [high]])


def _fractions(values: Floats, rows: ReportRows, drawn: Any, whole: Any, edges: Floats) -> Floats:
    """Fractions of a class between the edges; rows beyond them count in the total only."""
    weight = np.histogram(values[drawn], edges, weights=rows.counted[drawn])[0]
    return np.asarray(weight / rows.counted[whole].sum())


def plot_surface(model: AdditiveModel, k: int, values: Floats) -> dict[str, Any]:
    """A heat map of the joint contribution of two features; some cells only if there are many."""
    surface = model.surfaces[k]
    grid = values.reshape(surface.values.shape)
    picks = [_picks(len(grid)), _picks(len(grid[0]))]
    labels = [
        [bin_label(axis, int(code)) for code in pick]
        for axis, pick in zip(surface.axes, picks, strict=True)
    ]
    return heat_map(surface.axes, labels, grid[np.ix_(*picks)])


def heat_map(
    axes: Sequence[Feature], labels: Sequence[Sequence[str]], grid: Floats
) -> dict[str, Any]:
    """A heat map of a function of two features, with labels for the cells of each axis."""
    return {
        "kind": "surface",
        "axes": [
            {"name": clean(axis.name), "labels": list(words)}
            for axis, words in zip(axes, labels, strict=True)
        ],
        "grid": [shortened(row) for row in grid],
    }


def _picks(size: int) -> Ints:
    """Codes of an axis to draw; missing values are left out."""
    n = min(size - 1, _MOST_CELLS)
    return np.linspace(1, size - 1, n).round().astype(np.int64)


def bin_label(axis: Feature, code: int) -> str:
    """A category, or the upper end of a bin."""
    if axis.is_category:
        return clean(axis.categories[code - 1], _LONGEST_CATEGORY)
    if code <= len(axis.cuts):
        return f"≤ {axis_number(axis.cuts[code - 1])}"
    return f"> {axis_number(axis.cuts[-1])}" if len(axis.cuts) else "any"


def axis_number(value: float, digits: int = 4) -> str:
    """A number of an axis, with so many significant digits.

    Examples
    --------
    >>> axis_number(198_765.4), axis_number(1442.0), axis_number(0.012345), axis_number(1e300)
    ('198,800', '1442', '0.01235', '1e+300')
    """
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.10g}" if abs(rounded) >= 1e4 else f"{rounded:.10g}"
