"""Interactions of SmoothAUCBoost: the most useful pairs of features, added as binned surfaces.

From the additive maximum a scan finds the pairs that would gain most beyond what their features
can do alone; main tables and surfaces then climb together. In the end each surface is purified:
its weighted row and column means move into the tables of its two features (functional ANOVA), so
that a drawn F_k shows all that the feature does alone, and every score stays what it was.

A pair with a monotone feature is never chosen: a surface could undo what F_k promises.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve_banded, cholesky_banded

from auctor.data import Feature, RankingData, category_feature, number_feature
from auctor.kernels.scores import add_table
from auctor.kernels.surface import count_pair, pair_cells
from auctor.learners.smooth_newton import Iterations, Patience, maximise
from auctor.learners.smooth_objective import Barrier, Objective, Point, Quadratic
from auctor.learners.smooth_problem import Problem
from auctor.learners.smooth_scale import gaps
from auctor.models import Surface, on_grid

Floats = npt.NDArray[np.float64]

# Groups of neighbouring bins on an axis of a surface, and of the scan's coarser tables.
_MOST_GROUPS, _SCAN_GROUPS = 16, 8
# Features that are scanned for pairs: 780 pairs; of more, those whose F_k spread widest.
_MOST_SCANNED = 40
# The penalty on surfaces, times the automatic amount, before a pair's own multiple. Of 10, 30 and
# 100, by cross-validation on eight tables: 10 loses up to 0.0035 of AUC where no pair matters,
# 100 gains less where some do.
STRENGTH = 30.0
# A pair's own multiple of it is at most one over this.
_LEAST_EXCESS = 0.05
# Curvature of the smoothed AUC in a cell, over the cell's weight: a guess for the scan, where only
# ratios of gains count.
_CURVATURE = 0.2
_LARGEST_SUM = 60  # bits
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Axis:
    """The coarser bins of a feature on one side of a surface."""

    feature: Feature
    groups: npt.NDArray[np.uint16]  # of each of the feature's codes; 0 is for missing values
    share: Floats  # weight of each group, both classes alike


@dataclass(frozen=True, eq=False)
class Pair:
    """Two features, by position, what the scan expects of their surface, and how firmly to hold it.

    ``usefulness`` is the gain beyond what noise would give, to second order; ``multiple`` that of
    the common penalty.
    """

    features: tuple[int, int]
    axes: tuple[Axis, Axis]
    usefulness: float = 0.0
    multiple: float = 1.0


class Parts(NamedTuple):
    """What a joint maximum is made of, purified and on the grid of models."""

    tables: Floats  # (features, codes)
    surfaces: tuple[Surface, ...] = ()
    added: tuple[Floats, ...] = ()  # what the surfaces add to each row, by partition
    spreads: Floats = np.empty(0)  # standard deviation of each surface, both classes alike


def make_axis(feature: Feature, share: Floats, most: int) -> Axis:
    """At most ``most`` groups of neighbouring bins; of categories, the heaviest less one.

    ``share`` is the weight of each code. The groups of numbers weigh about the same, and are the
    bins themselves where these are few. Lighter categories go with the missing values.
    """
    n = feature.n_bins
    groups = np.zeros(len(share), dtype=np.uint16)
    if feature.is_category:
        heaviest = np.argsort(-share[1 : n + 1], kind="stable")[: most - 1]
        kept = np.sort(heaviest[share[1 + heaviest] > 0])
        groups[1 + kept] = np.arange(1, len(kept) + 1)
        coarse = category_feature(feature.name, tuple(feature.categories[i] for i in kept))
    else:
        inner = _neighbours(share[1 : n + 1], most)
        groups[1 : n + 1] = 1 + inner
        coarse = number_feature(feature.name, feature.cuts[np.flatnonzero(np.diff(inner))])
    held = np.bincount(groups, weights=share, minlength=coarse.n_bins + 1)
    return Axis(coarse, groups, held.astype(np.float64))


def _neighbours(share: Floats, most: int) -> npt.NDArray[np.int64]:
    """A group for each bin, 0, 1, ...; each holds weight, as bins without go with one before."""
    held = np.flatnonzero(share > 0)
    if len(held) == 0:
        return np.zeros(len(share), dtype=np.int64)
    group = np.arange(len(held))
    if len(held) > most:
        own = share[held] / share[held].sum()
        middle = np.cumsum(own) - own / 2
        group = np.unique(np.minimum((most * middle).astype(np.int64), most - 1), False, True)[1]
    place = np.searchsorted(held, np.arange(len(share)), side="right") - 1
    return np.asarray(group[np.maximum(place, 0)])


def find_pairs(problem: Problem, x: Floats, most: int) -> list[Pair]:
    """The most useful pairs at the tables ``x``, the best first; of equals the first.

    There may be fewer than ``most``: a pair must gain more than noise does on average.
    """
    features, share = problem.data.features, problem.roughness.share
    tables = x.reshape(share.shape)
    candidates = _candidates(problem, tables)
    pairs = list(combinations(candidates, 2))
    if not pairs:
        return []
    axes = {j: make_axis(features[j], share[j], _SCAN_GROUPS) for j in candidates}
    gains, free, noise = _scan(problem, tables, axes, pairs)
    beyond = gains - noise * free
    # Gains of noise spread as chi-squared does: only what is two deviations above its mean counts.
    excess = beyond / (noise * free) - 2 * np.sqrt(2 / free)
    multiples = 1 / np.maximum(excess, _LEAST_EXCESS)
    fine = {j: make_axis(features[j], share[j], _MOST_GROUPS) for j in candidates}
    out = []
    for i in np.argsort(-beyond, kind="stable")[:most]:
        if beyond[i] > 0:
            a, b = pairs[i]
            out.append(Pair((a, b), (fine[a], fine[b]), float(beyond[i]), float(multiples[i])))
    return out


def _candidates(problem: Problem, tables: Floats) -> list[int]:
    """Features that vary and need not be monotone; of many, those of the widest spread."""
    share = problem.roughness.share
    varies = (share > 0).sum(axis=1) > 1
    free = np.flatnonzero(varies & ~problem.signs.any(axis=1))
    widest = np.argsort(-spreads(share, tables)[free], kind="stable")[:_MOST_SCANNED]
    return [int(j) for j in np.sort(free[widest])]


def spreads(share: Floats, tables: Floats) -> Floats:
    """Standard deviation of each table's entries, both classes alike."""
    mean = np.einsum("jc,jc->j", share, tables)
    return np.asarray(np.sqrt(np.einsum("jc,jc->j", share, (tables - mean[:, None]) ** 2)))


def _scan(
    problem: Problem, tables: Floats, axes: dict[int, Axis], pairs: list[tuple[int, int]]
) -> tuple[Floats, Floats, float]:
    """What each pair's surface would gain, its number of free cells, and noise's gain by each.

    Gains are twice those to second order, and beyond what the two features gain alone.
    """
    data, sums = problem.data, problem.sums
    sums.evaluate((tables,))  # the slopes at these tables, not at those that were tried last
    weights, totals = [part.weight for part in data.partitions], data.class_weights
    counts = [weight * data.row_unit for weight in totals]
    scales = [2.0 ** (_LARGEST_SUM - total.bit_length()) for total in totals]
    slopes, squares = [], np.zeros(2, dtype=np.int64)
    for slope, weight, part in zip(sums.slopes, weights, data.partitions, strict=True):
        slopes.append(_whole(slope, weight, part.n_pos, scales))
        square = _whole(slope**2, weight, part.n_pos, scales)
        squares += square[part.n_pos :].sum(), square[: part.n_pos].sum()
    place = {j: i for i, j in enumerate(axes)}
    lines = [
        np.array([axis.groups[part.codes[j]] for j, axis in axes.items()], dtype=np.uint8)
        for part in data.partitions
    ]

    def count(pair: tuple[int, int]) -> npt.NDArray[np.int64]:
        """(slopes or weights, class, groups of the first, groups of the second)."""
        out = np.zeros((2, 2, 1 + _SCAN_GROUPS, 1 + _SCAN_GROUPS), dtype=np.int64)
        for k, part in enumerate(data.partitions):
            both = lines[k][place[pair[0]]], lines[k][place[pair[1]]], slopes[k], weights[k]
            count_pair(*both, 0, part.n_pos, out[0, 1], out[1, 1])
            count_pair(*both, part.n_pos, part.n_rows, out[0, 0], out[1, 0])
        return out

    found = np.array(problem.workers.map(count, pairs))
    push = [found[:, 0, label] / (scales[label] * totals[label]) for label in (0, 1)]
    share = (found[:, 1, 0] / totals[0] + found[:, 1, 1] / totals[1]) / 2
    ridge = 2 * problem.auto.ridge / _SCAN_GROUPS**2
    # The variance of a cell's push is its share times this; noise is that over its stiffness.
    variance = [
        squares[label] / (scales[label] * totals[label] * counts[label]) for label in (0, 1)
    ]
    noise = (variance[0] + variance[1]) / _CURVATURE
    stiffness = np.where(share > 0, _CURVATURE * share + ridge, 0.0)
    gains = usefulness(push[1] - push[0], stiffness)
    return gains, _free_cells(share), float(noise) + _TINY**2


def _free_cells(share: Floats) -> Floats:
    """Cells with rows, less those that row and column means decide; 1 or more."""
    lines = (share.sum(axis=2) > 0).sum(axis=1) + (share.sum(axis=1) > 0).sum(axis=1)
    return np.maximum((share > 0).sum(axis=(1, 2)) - lines + 1.0, 1.0)


def _whole(
    values: Floats, weight: npt.NDArray[np.uint32], n_pos: int, scales: Sequence[float]
) -> npt.NDArray[np.int64]:
    """weight * round(value * scale of the class), as ``count_slopes`` has it."""
    scale = np.where(np.arange(len(values)) < n_pos, scales[1], scales[0])
    return np.asarray(weight.astype(np.int64) * np.rint(values * scale).astype(np.int64))


def usefulness(push: Floats, stiffness: Floats) -> Floats:
    """The sum over cells of push^2 / stiffness: twice what they gain, to second order.

    What the rows and the columns alone would gain is taken off first. Arrays are (pairs, rows,
    columns); cells of no stiffness have no rows, and count for nothing.
    """
    moved = np.divide(push, stiffness, out=np.zeros_like(push), where=stiffness > 0)
    rows, columns = main_parts(moved, stiffness)
    left = moved - rows[:, :, None] - columns[:, None, :]
    return np.asarray(np.einsum("pab,pab,pab->p", stiffness, left, left))


def main_parts(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The row and the column parts nearest to tables (tables, rows, columns), by weight.

    What they leave has weighted row and column means of 0. Rows and columns of no weight get 0.
    """
    n_rows = values.shape[1]
    system = np.zeros((len(values), sum(values.shape[1:]), sum(values.shape[1:])))
    rows, columns = np.arange(n_rows), np.arange(n_rows, system.shape[1])
    system[:, rows, rows], system[:, columns, columns] = weight.sum(axis=2), weight.sum(axis=1)
    system[:, :n_rows, n_rows:] = weight
    system[:, n_rows:, :n_rows] = weight.transpose(0, 2, 1)
    weighted = weight * values
    given = np.concatenate([weighted.sum(axis=2), weighted.sum(axis=1)], axis=1)
    # A constant can go to the rows or to the columns: the system is singular by that much.
    inverse = np.linalg.pinv(system, rcond=1e-12, hermitian=True)
    found = np.einsum("pij,pj->pi", inverse, given)
    return found[:, :n_rows], found[:, n_rows:]


class SurfacePenalty:
    """What uneven surfaces cost: a quadratic form of tables (surfaces, side * side).

    Along both axes, (f_i+1 - f_i)^2 / h_i of neighbouring groups, h_i apart on the scale of
    normal scores; categories and missing values cost their squared distance from the mean of
    their line. Both are means over the lines. A ridge, the mean square of the cells, holds what
    has no neighbour and no row.
    """

    def __init__(self, pairs: Sequence[Pair], share: Floats, weight: float) -> None:
        self._side, self._share = share.shape[1], share  # of cells: (surfaces, side, side)
        self._along = tuple(_Along([p.axes[d] for p in pairs], self._side) for d in (0, 1))
        held = [along.held for along in self._along]
        lines = [h / h.sum(axis=1, keepdims=True) for h in held]  # each line's part of the mean
        own = np.array([weight * pair.multiple for pair in pairs])[:, None, None]
        self._edges = (
            own * self._along[0].edges[:, :, None] * lines[1][:, None, :],
            own * self._along[1].edges[:, None, :] * lines[0][:, :, None],
        )
        self._apart = (
            own * self._along[0].apart[:, :, None] * lines[1][:, None, :],
            own * self._along[1].apart[:, None, :] * lines[0][:, :, None],
        )
        self._ridge = own * lines[0][:, :, None] * lines[1][:, None, :]

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tables: (surfaces, cells)."""
        return len(self._share), self._side**2

    def gradient(self, f: Floats) -> Floats:
        """2 P f; half the sum of f times it is the penalty."""
        f = f.reshape(self._share.shape)
        out = self._ridge * f
        for axis, along, edges, apart in zip(
            (1, 2), self._along, self._edges, self._apart, strict=True
        ):
            pulls = edges * np.diff(f, axis=axis)
            _halves(out, axis)[1][...] += pulls
            _halves(out, axis)[0][...] -= pulls
            share = along.share[:, :, None] if axis == 1 else along.share[:, None, :]
            away = apart * (f - (share * f).sum(axis=axis, keepdims=True))
            out += away - share * away.sum(axis=axis, keepdims=True)
        return np.asarray(2 * out).reshape(self.shape)

    def solver(self, mass: Floats, extra: Floats | None = None) -> Callable[[Floats], Floats]:
        """g -> an approximate inverse of the objective's curvature times g.

        A banded system for all surfaces; the coupling of categories through their mean is left
        out. Nothing is ever ``extra``: barriers are for features alone.
        """
        diagonal = self._ridge + self._apart[0] + self._apart[1]
        bands = np.zeros((1 + self._side, *self._share.shape))
        for axis, offset, edges in ((1, self._side, self._edges[0]), (2, 1, self._edges[1])):
            for half in _halves(diagonal, axis):
                half += edges
            _halves(bands[offset], axis)[0][...] -= 2 * edges
        # The guess of the smoothed AUC's curvature is that of ``Penalty``.
        bands[0] = 2 * diagonal * (1 + _TINY) + 0.5 * mass.reshape(self._share.shape) + _TINY
        bands[0][bands[0] <= _TINY] = 1.0  # cells that no row can fall into
        factor = cholesky_banded(bands.reshape(len(bands), -1), lower=True, check_finite=False)
        return lambda g: np.asarray(
            cho_solve_banded((factor, True), g.ravel(), check_finite=False).reshape(self.shape)
        )


class _Along:
    """One axis of every surface, padded to one length: (surfaces, side)."""

    def __init__(self, axes: Sequence[Axis], side: int) -> None:
        self.share = np.zeros((len(axes), side))
        self.edges = np.zeros((len(axes), side - 1))  # one over the distance to the next group
        self.apart = np.zeros((len(axes), side))  # 1 for groups without neighbours
        for i, axis in enumerate(axes):
            n = axis.feature.n_bins
            self.share[i, : n + 1] = axis.share
            self.apart[i, 0] = 1.0
            if axis.feature.is_category:
                self.apart[i, 1 : n + 1] = 1.0
            else:
                self.edges[i, 1:n] = 1 / gaps(axis.feature, axis.share[1:], "normal")
        self.held = self.share > 0
        self.apart *= self.held


def _halves(f: Floats, axis: int) -> tuple[Floats, Floats]:
    """All but the last and all but the first along an axis: views."""
    if axis == 1:
        return f[:, :-1], f[:, 1:]
    return f[:, :, :-1], f[:, :, 1:]


def cell_lines(data: RankingData, pairs: Sequence[Pair]) -> list[npt.NDArray[np.uint16]]:
    """The cell of each row in each pair's table, (pairs, rows) for each partition."""
    side = table_side(pairs)
    out = []
    for part in data.partitions:
        lines = np.empty((len(pairs), part.n_rows), dtype=np.uint16)
        for line, pair in zip(lines, pairs, strict=True):
            codes = part.codes[pair.features[0]], part.codes[pair.features[1]]
            pair_cells(*codes, pair.axes[0].groups, pair.axes[1].groups, side, line)
        out.append(lines)
    return out


def table_side(pairs: Sequence[Pair]) -> int:
    """Side of the square tables that hold the surfaces of these pairs."""
    return 1 + max(axis.feature.n_bins for pair in pairs for axis in pair.axes)


def cell_shares(data: RankingData, lines: Sequence[npt.NDArray[np.uint16]], side: int) -> Floats:
    """Weight of each cell (pairs, side, side), both classes alike."""
    held = np.zeros((2, len(lines[0]), side**2), dtype=np.int64)
    for part, cells in zip(data.partitions, lines, strict=True):
        for label, rows in ((1, slice(0, part.n_pos)), (0, slice(part.n_pos, None))):
            for sums, line in zip(held[label], cells, strict=True):
                np.add.at(sums, line[rows], part.weight[rows].astype(np.int64))
    shares = [held[label] / data.class_weights[label] for label in (0, 1)]
    return np.asarray((shares[0] + shares[1]) / 2).reshape(-1, side, side)


class JointProblem:
    """The tables of all features and of some pairs, climbing together.

    ``weight`` is that of the penalty on surfaces, ``STRENGTH`` times the automatic amount unless
    given.
    """

    def __init__(
        self,
        problem: Problem,
        penalty: Quadratic,
        pairs: Sequence[Pair],
        weight: float | None = None,
    ) -> None:
        self._problem, self._pairs = problem, pairs
        self._lines = cell_lines(problem.data, pairs)
        self.share = cell_shares(problem.data, self._lines, table_side(pairs))
        weight = STRENGTH * problem.auto.ridge if weight is None else weight
        uneven = SurfacePenalty(pairs, self.share, weight)
        self.sums = problem.pair_sums(self._lines)
        barrier = Barrier(problem.signs) if problem.signs.any() else None
        self.objective = Objective(self.sums, (penalty, uneven), barrier)

    def climb(self, point: Point, patience: Patience) -> tuple[Point, Iterations]:
        """The joint maximum, from the additive one on."""
        tables = point.x
        if self._problem.signs.any():
            # The gentle slope of a start takes monotone features off their bounds.
            tables = tables + self._problem.start()
        start = np.concatenate([tables, np.zeros(self.share.size)])
        return maximise(self.objective, start, patience)

    def evaluate(self, x: Floats) -> Point:
        """The objective at some tables, without the barrier of monotone features."""
        if self.objective.barrier is not None:
            self.objective.barrier.weight = 0.0
        point = self.objective.at(x)
        assert point is not None, "a climb only visits points where the objective is defined"
        return point

    def parts(self, point: Point) -> Parts:
        """The tables and surfaces of a point."""
        tables, cells = self.objective.tables(point.x)
        tables, cells = purify(tables, cells.reshape(self.share.shape), self.share, self._pairs)
        cells = on_grid(cells)
        surfaces = tuple(_cut(pair, cell) for pair, cell in zip(self._pairs, cells, strict=True))
        added = tuple(add_cells(line, cells) for line in self._lines)
        flat = self.share.reshape(len(cells), -1), cells.reshape(len(cells), -1)
        return Parts(on_grid(tables), surfaces, added, spreads(*flat))


def purify(
    tables: Floats, cells: Floats, share: Floats, pairs: Sequence[Pair]
) -> tuple[Floats, Floats]:
    """Move what rows and columns of the surfaces do alone into the tables of their features.

    A group of no row adds nothing: 0 is what the others add on average.
    """
    rows, columns = main_parts(cells, share)
    cells = cells - rows[:, :, None] - columns[:, None, :]
    tables = tables.copy()
    for pair, values, *parts in zip(pairs, cells, rows, columns, strict=True):
        for j, axis, part in zip(pair.features, pair.axes, parts, strict=True):
            tables[j] += part[axis.groups]
        for axis, view in zip(pair.axes, (values, values.T), strict=True):
            view[: len(axis.share)][axis.share == 0] = 0.0
    return tables, cells


def _cut(pair: Pair, values: Floats) -> Surface:
    """The model's part of a padded table."""
    axes = pair.axes[0].feature, pair.axes[1].feature
    return Surface(pair.features, axes, values[: axes[0].n_bins + 1, : axes[1].n_bins + 1].copy())


def add_cells(lines: npt.NDArray[np.uint16], cells: Floats) -> Floats:
    """Sum over surfaces of each row's cell."""
    out = np.zeros(lines.shape[1])
    for line, table in zip(lines, cells.reshape(len(lines), -1), strict=True):
        add_table(line, table, out)
    return out
