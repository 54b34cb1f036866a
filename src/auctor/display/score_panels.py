"""The numbers of score plots: one panel per term F_k and per surface."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats
from auctor.data import Feature, Table, read_weights, select
from auctor.estimators.explanation import check_labels
from auctor.learners.smooth.bands import ScoreBand
from auctor.metrics import auc
from auctor.models import AdditiveModel
from auctor.models.features import code_columns
from auctor.models.importance import term_importances

# Maximum number of rows that are drawn one by one, as a rug; more rows are drawn as histograms.
_MAX_RUG = 400
_STRIP_BINS = 40
# Maximum number of distinct values with a bar each: bins of equal width would be misaligned with
# the values.
_MAX_BARS = 100
# Maximum number of distinct values with a tick each.
_MAX_TICKS = 12


@dataclass(frozen=True, eq=False)
class Band:
    """Ends of the bands: at missing values first, then at each bin or category."""

    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats


@dataclass(frozen=True, eq=False)
class RowStrip:
    """The distribution of the rows of each class, as a rug or a histogram.

    If ``edges`` is None, ``neg`` and ``pos`` are the values of the rows (a rug). Otherwise they are
    fractions of the rows of the class between the edges, of which all rows, drawn or not, are the
    whole. For categories and few distinct values every second fraction is 0: the gap between bars.
    """

    neg: Floats
    pos: Floats
    edges: Floats | None = None


@dataclass(frozen=True, eq=False)
class ScorePanel:
    """The term F_k of one feature.

    Attributes
    ----------
    name : str
        The name of the feature.
    auc : float
        The AUC of F_k alone. NaN without labelled rows.
    values : ndarray of shape (n_bins,)
        F_k in each bin, or for each category.
    edges : ndarray of shape (n_bins + 1,) or None
        The edges of the bins of a numeric feature; None for categories.
    categories : tuple of str
        Empty for numeric features.
    missing : float or None
        F_k of missing values and of categories that the model does not know; None if no row has
        one. Without rows it is given whenever F_k is not constant.
    band : Band or None
        Entry 0 is for missing values, the others are for ``values``.
    limits : (float, float)
        The drawn part of the x axis.
    n_outside : int
        Number of rows outside the limits.
    strip : RowStrip or None
        The distribution of the rows.
    ticks : ndarray or None
        The distinct values of a numeric feature within the limits, if there are few.
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
        """The largest minus the smallest F_k, including that of missing values."""
        missing = [] if self.missing is None else [self.missing]
        return _range(np.append(self.values, missing))

    @property
    def is_flat(self) -> bool:
        return self.range == 0.0


@dataclass(frozen=True, eq=False)
class SurfaceAxis:
    """An axis of a heat map, with groups of values that are drawn equally wide.

    Attributes
    ----------
    name : str
        The name of the feature.
    cuts : ndarray
        The cuts between the groups of a numeric feature; empty for categories.
    categories : tuple of str
        Empty for numeric features.
    rest : str
        "missing", "other" or "missing, other": the label of an additional first group of rows
        without a value, or with a category that the surface does not know. Empty if there are no
        such rows.
    """

    name: str
    cuts: Floats
    categories: tuple[str, ...]
    rest: str


@dataclass(frozen=True, eq=False)
class SurfacePanel:
    """The joint contribution of two features.

    Attributes
    ----------
    name : str
        The name of the term, such as "a x b".
    auc : float
        The AUC of the surface alone; NaN without labelled rows.
    values : ndarray of shape (n_y, n_x)
        One row per group of y and one column per group of x; the first is for ``rest``, if any.
    x, y : SurfaceAxis
        The two axes.
    """

    name: str
    auc: float
    values: Floats
    x: SurfaceAxis
    y: SurfaceAxis

    @property
    def range(self) -> float:
        """The largest minus the smallest value."""
        return _range(self.values)

    @property
    def is_flat(self) -> bool:
        return self.range == 0.0


Panel = ScorePanel | SurfacePanel


class LabelledTerms:
    """Labelled rows with their values and the contribution of each term to their scores."""

    def __init__(self, model: AdditiveModel, X: Any, y: Any, sample_weight: Any) -> None:
        self.table: Table = model._read(X)
        self.columns = select(self.table, model.feature_names, type(model).__name__)
        self.positive = check_labels(self.table, y, model.classes[1])
        weight = read_weights(sample_weight, self.table.n_rows)
        self._is_weighted = weight is not None
        self.weight = np.ones(self.table.n_rows) if weight is None else weight
        self.counts = self.weight > 0
        self._parts = model.contributions(self.table)

    @property
    def classes(self) -> tuple[Bools, Bools]:
        """Which rows are negative and which are positive, without rows of weight 0."""
        return self.counts & ~self.positive, self.counts & self.positive

    def auc(self, term: int) -> float:
        weight = self.weight if self._is_weighted else None
        return auc(self.positive, self._parts[:, term], sample_weight=weight)

    def importances(self, model: AdditiveModel) -> Floats:
        """The importance of each term, by which the page of a report sorts its features too."""
        return term_importances(model, self.table, self.columns, self.positive, self.weight)

    def mean(self, term: int) -> float:
        """The class-balanced mean of the contributions of a term."""
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
    score_band: ScoreBand | None,
    central: float,
) -> ScorePanel:
    """The panel of feature j; bands have finer bins than the model."""
    feature = model.features[j] if score_band is None else score_band.feature
    table = _centred(model.steps[j], rows, j) if score_band is None else score_band.table
    codes = None if rows is None else rows.codes(feature, j)
    if rows is None:
        is_missing = bool(np.ptp(table) > 0.0)
    else:
        is_missing = bool(((codes == 0) & rows.counts).any())
    band = None
    if score_band is not None:
        simultaneous = score_band.simultaneous_low, score_band.simultaneous_high
        band = Band(score_band.low, score_band.high, *simultaneous)
    area = np.nan if rows is None else rows.auc(j)
    missing = float(table[0]) if is_missing else None
    if feature.is_category:
        return _category_panel(feature, area, table, missing, band, rows, codes)
    axis = _number_axis(feature, rows, j, central)._asdict()
    return ScorePanel(
        feature.name, area, table[1:], categories=(), missing=missing, band=band, **axis
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
        weights = [np.bincount(codes[c], rows.weight[c], len(table)) for c in rows.classes]
        bars = np.zeros((2, max(0, 2 * len(order) - 1)))
        bars[:, ::2] = [weight[order] / weight.sum() for weight in weights]
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
    """The attributes of a ScorePanel that describe the x axis."""

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
    # Few distinct values are in the middle of their bins, including the first and the last.
    distinct = np.unique(values[known & ~outside])
    margin = _half_gap(distinct)
    low, high = low - margin, high + margin
    edges = _outer_edges(feature.cuts, np.array([inside.min() - margin, inside.max() + margin]))
    ticks = distinct if 0 < len(distinct) <= _MAX_TICKS else None
    is_whole = bool((inside == np.rint(inside)).all())
    return _NumberAxis(edges, (low, high), int(outside.sum()), strip, ticks, is_whole)


def _half_gap(distinct: Floats) -> float:
    """Half the smallest distance of distinct values; 0 if they are many."""
    if len(distinct) > _MAX_BARS:
        return 0.0
    return float(np.diff(distinct).min()) / 2 if len(distinct) > 1 else 0.5


def _outer_edges(cuts: Floats, values: Floats) -> Floats:
    """Cuts between the smallest and the largest value, or beyond if these are inside the cuts."""
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
    """A rug of few rows; histograms of many rows, or if rows would be drawn over each other."""
    neg, pos = (c & drawn for c in rows.classes)
    distinct = np.unique(values[drawn])
    n_drawn = int(drawn.sum())
    if n_drawn <= _MAX_RUG and n_drawn <= 3 * len(distinct):
        return RowStrip(np.sort(values[neg]), np.sort(values[pos]))
    edges = np.linspace(low, high, _STRIP_BINS + 1)
    if len(distinct) <= _MAX_BARS:
        edges = _bars(distinct, 0.8 * _half_gap(distinct))
    fractions = []
    for c, whole in zip((neg, pos), rows.classes, strict=True):
        total = rows.weight[whole].sum()
        fractions.append(np.histogram(values[c], edges, weights=rows.weight[c] / total)[0])
    return RowStrip(fractions[0], fractions[1], edges)


def _bars(centres: Floats, half: float) -> Floats:
    """Edges of bars around their centres; every second interval is the gap between two bars."""
    return np.ravel(np.column_stack([centres - half, centres + half]))


def surface_panel(model: AdditiveModel, k: int, rows: LabelledTerms | None) -> SurfacePanel:
    """The heat map of a surface, the first feature along the x axis."""
    surface, term = model.surfaces[k], len(model.features) + k
    values = surface.values if rows is None else surface.values - rows.mean(term)
    x, y = (
        _surface_axis(axis, j, of_missing, rows)
        for axis, j, of_missing in zip(
            surface.axes, surface.features, (surface.values[0], surface.values[:, 0]), strict=True
        )
    )
    shown = values[0 if x.rest else 1 :, 0 if y.rest else 1 :].T
    area = np.nan if rows is None else rows.auc(term)
    return SurfacePanel(model.term_names[term], area, shown, x, y)


def _surface_axis(
    axis: Feature, j: int, of_missing: Floats, rows: LabelledTerms | None
) -> SurfaceAxis:
    """The groups of an axis; ``of_missing`` has the values of code 0."""
    categories = tuple(map(str, axis.categories)) if axis.is_category else ()
    cuts = np.empty(0) if axis.is_category else axis.cuts
    if rows is not None:
        words = _rest(axis, j, rows)
    elif of_missing.any():
        words = ["missing", "other"] if axis.is_category else ["missing"]
    else:
        words = []
    return SurfaceAxis(axis.name, cuts, categories, ", ".join(words))


def _rest(axis: Feature, j: int, rows: LabelledTerms) -> list[str]:
    """Whether rows of code 0 have no value ("missing") or an unknown category ("other")."""
    of_rest = (rows.codes(axis, j) == 0) & rows.counts
    if axis.is_category:
        is_missing = rows.table.categories(int(rows.columns[j])).indices < 0
    else:
        is_missing = np.isnan(rows.numbers(j))
    words = ("missing", of_rest & is_missing), ("other", of_rest & ~is_missing)
    return [word for word, which in words if which.any()]


def _range(values: Floats) -> float:
    return float(np.ptp(values)) if values.size else 0.0


def _centred(steps: Floats, rows: LabelledTerms | None, j: int) -> Floats:
    """Steps minus their class-balanced mean over the rows; without rows, minus the smallest."""
    return steps - (float(steps.min()) if rows is None else rows.mean(j))
