"""The numbers of score plots: one panel for each F_k, and for each surface."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats
from auctor.data import Feature, Table, read_table, read_weights, select
from auctor.estimators.explanation import check_labels
from auctor.learners.smooth.bands import ScoreBand
from auctor.metrics import auc
from auctor.models import AdditiveModel
from auctor.models.features import code_columns

# Up to this many rows, each is a line of the rug; beyond, there are histograms.
_MOST_LINES = 400
_STRIP_BINS = 40
# Up to this many distinct values, each has a bar of its own: bins would beat against them.
_MOST_BARS = 100
# Up to this many, each has a tick of its own.
_MOST_TICKS = 12


@dataclass(frozen=True, eq=False)
class Band:
    """Ends of the bands at each bin or category, and at missing values in front."""

    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats


@dataclass(frozen=True, eq=False)
class RowStrip:
    """Where the rows are: their values (a rug), or their shares between edges (a histogram).

    ``neg`` and ``pos`` are values where ``edges`` is None, else shares that add up to 1 over all
    rows of the class, drawn or not. Around few distinct values, and categories, every other share
    is 0: the room between two bars.
    """

    neg: Floats
    pos: Floats
    edges: Floats | None = None


@dataclass(frozen=True, eq=False)
class ScorePanel:
    """F_k of one feature.

    Attributes
    ----------
    name : str
    auc : float
        Score AUC: that of F_k alone. NaN without labelled rows.
    values : ndarray of shape (n_bins,)
        F_k in each bin, or for each category.
    edges : ndarray of shape (n_bins + 1,) or None
        The bins of a number; None for categories.
    categories : tuple of str
        Empty for numbers.
    missing : float or None
        F_k of missing values, and of categories that the model does not know; None where no row
        has one. Without rows it is there wherever F_k has more than one value.
    band : Band or None
        Entry 0 is for missing values, the others are for ``values``.
    limits : (float, float)
        The part of the x axis that is drawn.
    n_outside : int
        Rows beyond the limits.
    strip : RowStrip or None
    ticks : ndarray or None
        The values of a number within the limits, where the rows have few.
    is_whole : bool
        Whether all values of the rows are whole numbers.
    """

    name: str
    auc: float
    values: Floats
    edges: Floats | None
    categories: tuple[str, ...]
    missing: float | None
    band: Band | None
    limits: tuple[float, float]
    n_outside: int
    strip: RowStrip | None
    ticks: Floats | None = None
    is_whole: bool = False

    @property
    def range(self) -> float:
        """How far apart the largest and the least F_k are, that of missing values included."""
        rest = [] if self.missing is None else [self.missing]
        return _range(np.append(self.values, rest))

    @property
    def is_flat(self) -> bool:
        return self.range == 0.0


@dataclass(frozen=True, eq=False)
class SurfaceAxis:
    """An axis of a heat map: groups of values, all of them equally wide.

    Attributes
    ----------
    name : str
        The feature.
    cuts : ndarray
        Between the groups of a number; empty for categories.
    categories : tuple of str
        Empty for numbers.
    rest : str
        "missing", "other" or "missing, other", which then come before the first group: rows
        without a value, and of categories that the surface does not know. Empty where there are
        none.
    """

    name: str
    cuts: Floats
    categories: tuple[str, ...]
    rest: str


@dataclass(frozen=True, eq=False)
class SurfacePanel:
    """What two features add together.

    Attributes
    ----------
    name : str
        That of the term, such as "a x b".
    auc : float
        The AUC of the surface alone; NaN without labelled rows.
    values : ndarray of shape (n_y, n_x)
        A line for each group of y, a column for each of x; the first is for ``rest`` if any.
    x, y : SurfaceAxis
    """

    name: str
    auc: float
    values: Floats
    x: SurfaceAxis
    y: SurfaceAxis

    @property
    def range(self) -> float:
        """How far apart the largest and the least value are."""
        return _range(self.values)

    @property
    def is_flat(self) -> bool:
        return self.range == 0.0


Panel = ScorePanel | SurfacePanel


class LabelledTerms:
    """Labelled rows of a model: what each term adds to them, and their values."""

    def __init__(self, model: AdditiveModel, X: Any, y: Any, sample_weight: Any) -> None:
        self.table: Table = read_table(X, accept_sparse=True)
        self.columns = select(self.table, model.feature_names, type(model).__name__)
        self.positive = check_labels(self.table, y, model.classes[1])
        weight = read_weights(sample_weight, self.table.n_rows)
        self._is_weighted = weight is not None
        self.weight = np.ones(self.table.n_rows) if weight is None else weight
        self.counts = self.weight > 0
        self._parts = model.contributions(self.table)

    @property
    def classes(self) -> tuple[Bools, Bools]:
        """Which rows are of each class, absent ones of none."""
        return self.counts & ~self.positive, self.counts & self.positive

    def auc(self, term: int) -> float:
        weight = self.weight if self._is_weighted else None
        return auc(self.positive, self._parts[:, term], sample_weight=weight)

    def mean(self, term: int) -> float:
        """What a term adds on average, both classes alike."""
        part = self._parts[:, term]
        return float(np.mean([np.average(part[c], weights=self.weight[c]) for c in self.classes]))

    def codes(self, feature: Feature, j: int) -> npt.NDArray[np.uint16]:
        return code_columns((feature,), self.table, self.columns[[j]])[0]

    def numbers(self, j: int) -> Floats:
        return self.table.numbers(int(self.columns[j]))


def score_panel(
    model: AdditiveModel,
    j: int,
    rows: LabelledTerms | None,
    found: ScoreBand | None,
    central: float,
) -> ScorePanel:
    """The panel of feature j; with bands, their bins are finer than the model's."""
    feature = model.features[j] if found is None else found.feature
    table = _centred(model.steps[j], rows, j) if found is None else found.table
    codes = None if rows is None else rows.codes(feature, j)
    if rows is None:
        is_missing = bool(np.ptp(table) > 0.0)
    else:
        is_missing = bool(((codes == 0) & rows.counts).any())
    band = None
    if found is not None:
        ends = found.low, found.high, found.simultaneous_low, found.simultaneous_high
        band = Band(*ends)
    area = np.nan if rows is None else rows.auc(j)
    missing = float(table[0]) if is_missing else None
    if feature.is_category:
        return _category_panel(feature, area, table, missing, band, rows, codes)
    found_axis = _number_axis(feature, rows, j, central)._asdict()
    return ScorePanel(
        feature.name, area, table[1:], categories=(), missing=missing, band=band, **found_axis
    )


def _category_panel(
    feature: Feature,
    area: float,
    table: Floats,
    missing: float | None,
    band: Band | None,
    rows: LabelledTerms | None,
    codes: Any,
) -> ScorePanel:
    """Categories from the highest F_k to the lowest."""
    order = 1 + np.argsort(-table[1:], kind="stable")
    names = tuple(str(feature.categories[code - 1]) for code in order)
    strip = None
    if rows is not None:
        shares = [np.bincount(codes[c], rows.weight[c], len(table)) for c in rows.classes]
        bars = np.zeros((2, max(0, 2 * len(order) - 1)))
        bars[:, ::2] = [share[order] / share.sum() for share in shares]
        strip = RowStrip(bars[0], bars[1], _bars(np.arange(float(len(order))), 0.31))
    if band is not None:
        with_missing = np.concatenate([[0], order])
        ends = band.low, band.high, band.simultaneous_low, band.simultaneous_high
        band = Band(*(end[with_missing] for end in ends))
    limits = (-0.5, len(order) - 0.5)
    return ScorePanel(
        feature.name, area, table[order], None, names, missing, band, limits, 0, strip
    )


class _NumberAxis(NamedTuple):
    """The part of a ScorePanel that is about x."""

    edges: Floats
    limits: tuple[float, float]
    n_outside: int = 0
    strip: RowStrip | None = None
    ticks: Floats | None = None
    is_whole: bool = False


def _number_axis(
    feature: Feature, rows: LabelledTerms | None, j: int, central: float
) -> _NumberAxis:
    if rows is None:
        edges = _outer_edges(feature.cuts, feature.cuts)
        return _NumberAxis(edges, (float(edges[0]), float(edges[-1])))
    values = rows.numbers(j)
    known = rows.counts & ~np.isnan(values)
    inside = values[known] if known.any() else np.zeros(1)
    ends = np.quantile(inside, [(1 - central) / 2, (1 + central) / 2], method="inverted_cdf")
    low, high = map(float, ends)
    outside = known & ((values < low) | (values > high))
    strip = _number_strip(values, rows, known & ~outside, low, high)
    # Few distinct values stand in the middle of their bins, the first and the last as well.
    distinct = np.unique(values[known & ~outside])
    margin = _half_gap(distinct)
    low, high = low - margin, high + margin
    edges = _outer_edges(feature.cuts, np.array([inside.min() - margin, inside.max() + margin]))
    ticks = distinct if 0 < len(distinct) <= _MOST_TICKS else None
    is_whole = bool((inside == np.rint(inside)).all())
    return _NumberAxis(edges, (low, high), int(outside.sum()), strip, ticks, is_whole)


def _half_gap(distinct: Floats) -> float:
    """Half the least distance of few distinct values; none where they are many."""
    if len(distinct) > _MOST_BARS:
        return 0.0
    return float(np.diff(distinct).min()) / 2 if len(distinct) > 1 else 0.5


def _outer_edges(cuts: Floats, values: Floats) -> Floats:
    """Cuts with the ends of the values around them, or a little more where they are no further."""
    if len(cuts) == 0:
        low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
        return np.array([low - 0.5, high + 0.5])
    margin = 0.1 * float(np.ptp(cuts)) or 1.0
    low, high = float(values.min()), float(values.max())
    low = low if low < cuts[0] else cuts[0] - margin
    high = high if high > cuts[-1] else cuts[-1] + margin
    return np.concatenate([[low], cuts, [high]])


def _number_strip(
    values: Floats, rows: LabelledTerms, drawn: Bools, low: float, high: float
) -> RowStrip:
    """A rug of few rows; histograms of many, or where rows would stand on each other."""
    neg, pos = (c & drawn for c in rows.classes)
    distinct = np.unique(values[drawn])
    n_drawn = int(drawn.sum())
    if n_drawn <= _MOST_LINES and n_drawn <= 3 * len(distinct):
        return RowStrip(np.sort(values[neg]), np.sort(values[pos]))
    edges = np.linspace(low, high, _STRIP_BINS + 1)
    if len(distinct) <= _MOST_BARS:
        edges = _bars(distinct, 0.8 * _half_gap(distinct))
    shares = []
    for c, whole in zip((neg, pos), rows.classes, strict=True):
        total = rows.weight[whole].sum()
        shares.append(np.histogram(values[c], edges, weights=rows.weight[c] / total)[0])
    return RowStrip(shares[0], shares[1], edges)


def _bars(places: Floats, half: float) -> Floats:
    """Edges of bars around places; every other space is the room between two of them."""
    return np.ravel(np.column_stack([places - half, places + half]))


def surface_panel(model: AdditiveModel, k: int, rows: LabelledTerms | None) -> SurfacePanel:
    """The heat map of a surface, the first feature along the x axis."""
    surface, term = model.surfaces[k], len(model.features) + k
    values = surface.values if rows is None else surface.values - rows.mean(term)
    x, y = (
        _surface_axis(axis, j, line, rows)
        for axis, j, line in zip(
            surface.axes, surface.features, (surface.values[0], surface.values[:, 0]), strict=True
        )
    )
    shown = values[0 if x.rest else 1 :, 0 if y.rest else 1 :].T
    area = np.nan if rows is None else rows.auc(term)
    return SurfacePanel(model.term_names[term], area, shown, x, y)


def _surface_axis(axis: Feature, j: int, line: Floats, rows: LabelledTerms | None) -> SurfaceAxis:
    """The groups of an axis; ``line`` has the values of code 0."""
    categories = tuple(map(str, axis.categories)) if axis.is_category else ()
    cuts = np.empty(0) if axis.is_category else axis.cuts
    if rows is not None:
        words = _rest(axis, j, rows)
    elif line.any():
        words = ["missing", "other"] if axis.is_category else ["missing"]
    else:
        words = []
    return SurfaceAxis(axis.name, cuts, categories, ", ".join(words))


def _rest(axis: Feature, j: int, rows: LabelledTerms) -> list[str]:
    """What rows of code 0 have: no value, or one that the axis does not know."""
    of_rest = (rows.codes(axis, j) == 0) & rows.counts
    if axis.is_category:
        is_missing = rows.table.categories(int(rows.columns[j])).indices < 0
    else:
        is_missing = np.isnan(rows.numbers(j))
    words = ("missing", of_rest & is_missing), ("other", of_rest & ~is_missing)
    return [word for word, found in words if found.any()]


def _range(values: Floats) -> float:
    return float(np.ptp(values)) if values.size else 0.0


def _centred(steps: Floats, rows: LabelledTerms | None, j: int) -> Floats:
    """Steps less their mean over the rows, or less the lowest where there are none."""
    return steps - (float(steps.min()) if rows is None else rows.mean(j))
