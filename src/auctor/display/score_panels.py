"""The numbers of score plots: one panel for each F_k, and for each surface."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data import Feature, Table, read_labels, read_table, read_weights, select
from auctor.estimators.explanation import shorten
from auctor.learners.smooth_bands import ScoreBand
from auctor.metrics import auc
from auctor.models import AdditiveModel
from auctor.models.features import code_columns

Floats = npt.NDArray[np.float64]

# Up to this many rows, each is a line of the rug; beyond, there are histograms.
_MOST_LINES = 400
_STRIP_BINS = 40
# Up to this many distinct values, each has a bar of its own: bins would beat against them.
_MOST_BARS = 100


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
        F_k of missing values; None where there are none in the rows.
    band : Band or None
        Entry 0 is for missing values, the others are for ``values``.
    limits : (float, float)
        The part of the x axis that is drawn.
    n_outside : int
        Rows beyond the limits.
    strip : RowStrip or None
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

    @property
    def is_flat(self) -> bool:
        return self.values.size == 0 or bool(np.ptp(self.values) == 0.0)


@dataclass(frozen=True, eq=False)
class SurfacePanel:
    """What two features add together.

    Attributes
    ----------
    names : (str, str)
        The features on the x axis and on the y axis.
    auc : float
        The AUC of the surface alone; NaN without labelled rows.
    values : ndarray of shape (n_y, n_x)
    x_edges, y_edges : ndarray
        Bins of both; around whole numbers for categories.
    x_categories, y_categories : tuple of str
        Empty for numbers.
    """

    names: tuple[str, str]
    auc: float
    values: Floats
    x_edges: Floats
    y_edges: Floats
    x_categories: tuple[str, ...]
    y_categories: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.names[0]} x {self.names[1]}"

    @property
    def is_flat(self) -> bool:
        return self.values.size == 0 or bool(np.ptp(self.values) == 0.0)


Panel = ScorePanel | SurfacePanel


class LabelledTerms:
    """Labelled rows of a model: what each term adds to them, and their values."""

    def __init__(self, model: AdditiveModel, X: Any, y: Any, sample_weight: Any) -> None:
        self.table: Table = read_table(X, accept_sparse=True)
        self.columns = select(self.table, model.feature_names, type(model).__name__)
        self.positive = read_labels(y, pos_label=model.classes[1]).positive
        if len(self.positive) != self.table.n_rows:
            raise ValueError(f"X has {self.table.n_rows} rows and y has {len(self.positive)}")
        weight = read_weights(sample_weight, self.table.n_rows)
        self._is_weighted = weight is not None
        self.weight = np.ones(self.table.n_rows) if weight is None else weight
        self.counts = self.weight > 0
        self._parts = model.contributions(self.table)

    @property
    def classes(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
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


def additive_model(found: Any) -> AdditiveModel:
    """The additive model of an estimator, or the model itself."""
    model = getattr(found, "model_", found)
    if not isinstance(model, AdditiveModel):
        raise ValueError(
            f"{type(found).__name__} holds no additive model; give a fitted SmoothAUCBoost or "
            "another estimator whose model_ is an AdditiveModel"
        )
    return model


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
    is_missing = codes is not None and bool(((codes == 0) & rows.counts).any())  # type: ignore[union-attr]
    band = None
    if found is not None:
        ends = found.low, found.high, found.simultaneous_low, found.simultaneous_high
        band = Band(*ends)
    area = np.nan if rows is None else rows.auc(j)
    missing = float(table[0]) if is_missing else None
    if feature.is_category:
        return _category_panel(feature, area, table, missing, band, rows, codes)
    edges, limits, n_outside, strip = _number_axis(feature, rows, j, central)
    return ScorePanel(
        feature.name, area, table[1:], edges, (), missing, band, limits, n_outside, strip
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


def _number_axis(
    feature: Feature, rows: LabelledTerms | None, j: int, central: float
) -> tuple[Floats, tuple[float, float], int, RowStrip | None]:
    """Edges of the bins, the part to be drawn, the rows beyond it, and where the rows are."""
    if rows is None:
        edges = _outer_edges(feature.cuts, feature.cuts)
        return edges, (float(edges[0]), float(edges[-1])), 0, None
    values = rows.numbers(j)
    known = rows.counts & ~np.isnan(values)
    inside = values[known] if known.any() else np.zeros(1)
    ends = np.quantile(inside, [(1 - central) / 2, (1 + central) / 2], method="inverted_cdf")
    low, high = map(float, ends)
    outside = known & ((values < low) | (values > high))
    strip = _number_strip(values, rows, known & ~outside, low, high)
    # Few distinct values stand in the middle of their bins, the first and the last as well.
    margin = _half_gap(np.unique(values[known & ~outside]))
    low, high = low - margin, high + margin
    edges = _outer_edges(feature.cuts, np.array([inside.min() - margin, inside.max() + margin]))
    return edges, (low, high), int(outside.sum()), strip


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
    values: Floats, rows: LabelledTerms, drawn: npt.NDArray[np.bool_], low: float, high: float
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
    x, y = (_surface_axis(f, j, rows) for f, j in zip(surface.axes, surface.features, strict=True))
    names = surface.axes[0].name, surface.axes[1].name
    area = np.nan if rows is None else rows.auc(term)
    return SurfacePanel(names, area, values[1:, 1:].T, x[0], y[0], x[1], y[1])


def _surface_axis(
    axis: Feature, j: int, rows: LabelledTerms | None
) -> tuple[Floats, tuple[str, ...]]:
    """Edges along an axis, and the categories between them."""
    if axis.is_category:
        names = tuple(shorten(str(category), 12) for category in axis.categories)
        return np.arange(axis.n_bins + 1.0) - 0.5, names
    values = axis.cuts
    if rows is not None:
        found = rows.numbers(j)
        found = found[rows.counts & ~np.isnan(found)]
        values = np.quantile(found, [0.005, 0.995]) if len(found) else values
    return _outer_edges(axis.cuts, values), ()


def _centred(steps: Floats, rows: LabelledTerms | None, j: int) -> Floats:
    """Steps less their mean over the rows, or less the lowest where there are none."""
    return steps - (float(steps[1:].min()) if rows is None else rows.mean(j))
