"""Interactions of SmoothAUCBoost: the most useful pairs of features, added as binned surfaces.

``interactions`` finds the pairs at the additive maximum; the tables of the features and the
surfaces are then maximised together. In the end each surface is purified (functional ANOVA): its
weighted row and column means move into the tables of its two features, so that a plot of F_k shows
everything that the feature does alone. No score changes by this.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.data import RankingData
from auctor.kernels.scores import add_table
from auctor.kernels.smooth import pair_cells
from auctor.learners.smooth.interactions import Axis, Pair, main_parts, spreads
from auctor.learners.smooth.newton import Iterations, Patience
from auctor.learners.smooth.objective import Point, Quadratic
from auctor.learners.smooth.penalty import CURVATURE, factor, gaps, solve
from auctor.learners.smooth.problem import Problem
from auctor.models import Surface, on_grid

# Cells (surfaces, rows) of one partition.
Cells = npt.NDArray[np.uint16]

# The weight of the penalty on surfaces is the automatic ridge times this and times the multiple of
# the pair. Cross-validation of a third of it, of it and of three times it on eight tables: the
# smallest loses up to 0.0035 of AUC where no pair matters, the largest gains less where some do.
STRENGTH = 10.0

_TINY = 1e-9


class Parts(NamedTuple):
    """The tables and surfaces of a joint maximum, purified and rounded to the grid of models."""

    tables: Floats  # (features, codes)
    surfaces: tuple[Surface, ...] = ()
    added: tuple[Floats, ...] = ()  # the sum of the surfaces for each row, by partition
    spreads: Floats = np.empty(0)  # class-balanced standard deviation of each surface


class JointProblem:
    """The tables of all features and of some pairs, maximised together.

    ``weight`` is that of the penalty on surfaces; None for ``STRENGTH`` times the automatic ridge.
    """

    def __init__(
        self,
        problem: Problem,
        penalty: Quadratic,
        pairs: Sequence[Pair],
        weight: float | None = None,
    ) -> None:
        self._problem, self._pairs = problem, pairs
        self.cells = row_cells(problem.data, pairs)
        self.fraction = cell_fractions(problem.data, self.cells, table_side(pairs))
        weight = STRENGTH * problem.auto.ridge if weight is None else weight
        self.surface_penalty = SurfacePenalty(pairs, self.fraction, weight)
        self.sums = problem.pair_sums([*self.cells])
        self.objective = problem.objective(self.sums, (penalty, self.surface_penalty))

    def climb(self, point: Point, patience: Patience) -> tuple[Point, Iterations]:
        """The joint maximum, starting from the additive one."""
        tables = point.x
        if self._problem.signs.any():
            # The small slope of ``start`` moves monotone features strictly inside their bounds.
            tables = tables + self._problem.start()
        start = np.concatenate([tables, np.zeros(self.fraction.size)])
        return self._problem.maximise(self.objective, start, patience)

    def evaluate(self, x: Floats) -> Point:
        """The objective at some tables, without the barrier of monotone features."""
        return self.objective.defined_at(x)

    def parts(self, point: Point) -> Parts:
        """The tables and surfaces of a point."""
        tables, cells = self.purified(point.x)
        cells = on_grid(cells)
        surfaces = tuple(_cut(pair, cell) for pair, cell in zip(self._pairs, cells, strict=True))
        added = tuple(add_cells(own, cells) for own in self.cells)
        flat = self.fraction.reshape(len(cells), -1), cells.reshape(len(cells), -1)
        return Parts(on_grid(tables), surfaces, added, spreads(*flat))

    @property
    def main_span(self) -> Floats:
        """Columns that span the sums of a function of each axis, as tables of a surface."""
        side = self.fraction.shape[1]
        one, each = np.ones((side, 1)), np.eye(side)
        return np.hstack([np.kron(each, one), np.kron(one, each)])

    def purified(self, x: Floats) -> tuple[Floats, Floats]:
        """The tables of the features and those of the surfaces, which have means of 0."""
        tables, cells = self.objective.tables(x)
        return purify(tables, cells.reshape(self.fraction.shape), self.fraction, self._pairs)


class SurfacePenalty:
    """The penalty on surfaces: a quadratic form of tables (surfaces, side * side).

    Along both axes it sums (f_i+1 - f_i)^2 / h_i over neighbouring groups, which are h_i apart on
    the scale of normal scores. For categories and missing values, which have no neighbours, it is
    the squared distance from the mean of their row or column. Both are averaged over the rows or
    columns of the surface. A ridge, the mean square of the cells, determines cells that have
    neither neighbours nor rows of the data.
    """

    def __init__(self, pairs: Sequence[Pair], fraction: Floats, weight: float) -> None:
        """``fraction`` (surfaces, side, side) is that of the rows in each cell."""
        self._side, self._fraction = fraction.shape[1], fraction
        self._axes = tuple(_PaddedAxes([p.axes[d] for p in pairs], self._side) for d in (0, 1))
        # The weight of each group in a mean over the groups of an axis.
        mean = [axes.held / axes.held.sum(axis=1, keepdims=True) for axes in self._axes]
        own = np.array([weight * pair.multiple for pair in pairs])[:, None, None]
        self._edges = (
            own * self._axes[0].edges[:, :, None] * mean[1][:, None, :],
            own * self._axes[1].edges[:, None, :] * mean[0][:, :, None],
        )
        self._apart = (
            own * self._axes[0].apart[:, :, None] * mean[1][:, None, :],
            own * self._axes[1].apart[:, None, :] * mean[0][:, :, None],
        )
        self._ridge = own * mean[0][:, :, None] * mean[1][:, None, :]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tables: (surfaces, cells)."""
        return len(self._fraction), self._side**2

    def gradient(self, f: Floats) -> Floats:
        """2 P f; half the sum of f times it is the penalty."""
        f = f.reshape(self._fraction.shape)
        out = self._ridge * f
        for axis, axes, edges, apart in zip(
            (1, 2), self._axes, self._edges, self._apart, strict=True
        ):
            slopes = edges * np.diff(f, axis=axis)
            _halves(out, axis)[1][...] += slopes
            _halves(out, axis)[0][...] -= slopes
            fraction = axes.fraction[:, :, None] if axis == 1 else axes.fraction[:, None, :]
            away = apart * (f - (fraction * f).sum(axis=axis, keepdims=True))
            out += away - fraction * away.sum(axis=axis, keepdims=True)
        return np.asarray(2 * out).reshape(self.shape)

    def solver(self, mass: Floats, extra: Floats | None = None) -> Callable[[Floats], Floats]:
        """A function of g that multiplies it by an approximate inverse of the curvature.

        It solves a banded system for all surfaces, which ignores that categories are coupled
        through their mean. ``extra`` is not used: barriers are for features only.
        """
        diagonal = self._ridge + self._apart[0] + self._apart[1]
        bands = np.zeros((1 + self._side, *self._fraction.shape))
        for axis, offset, edges in ((1, self._side, self._edges[0]), (2, 1, self._edges[1])):
            for half in _halves(diagonal, axis):
                half += edges
            _halves(bands[offset], axis)[0][...] -= 2 * edges
        curvature = CURVATURE * mass.reshape(self._fraction.shape)
        bands[0] = 2 * diagonal * (1 + _TINY) + curvature + _TINY
        bands[0][bands[0] <= _TINY] = 1.0  # cells that no row can fall into
        banded = factor(bands)
        return lambda g: solve(banded, g).reshape(self.shape)


class _PaddedAxes:
    """One axis of every surface, padded to the same length: arrays (surfaces, side)."""

    def __init__(self, axes: Sequence[Axis], side: int) -> None:
        self.fraction = np.zeros((len(axes), side))
        self.edges = np.zeros((len(axes), side - 1))  # 1 / distance to the next group
        self.apart = np.zeros((len(axes), side))  # 1 for groups without neighbours
        for i, axis in enumerate(axes):
            n = axis.feature.n_bins
            self.fraction[i, : n + 1] = axis.fraction
            self.apart[i, 0] = 1.0
            if axis.feature.is_category:
                self.apart[i, 1 : n + 1] = 1.0
            else:
                self.edges[i, 1:n] = 1 / gaps(axis.feature, axis.fraction[1:], "normal")
        self.held = self.fraction > 0
        self.apart *= self.held


def _halves(f: Floats, axis: int) -> tuple[Floats, Floats]:
    """All but the last and all but the first along an axis: views."""
    if axis == 1:
        return f[:, :-1], f[:, 1:]
    return f[:, :, :-1], f[:, :, 1:]


def row_cells(data: RankingData, pairs: Sequence[Pair]) -> list[Cells]:
    """The cell of each row in the table of each pair, (pairs, rows) for each partition."""
    side = table_side(pairs)
    out = []
    for part in data.partitions:
        cells = np.empty((len(pairs), part.n_rows), dtype=np.uint16)
        for own, pair in zip(cells, pairs, strict=True):
            codes = part.codes[pair.features[0]], part.codes[pair.features[1]]
            pair_cells(*codes, pair.axes[0].groups, pair.axes[1].groups, side, own)
        out.append(cells)
    return out


def table_side(pairs: Sequence[Pair]) -> int:
    """Side of the square tables that hold the surfaces of these pairs."""
    return 1 + max(axis.feature.n_bins for pair in pairs for axis in pair.axes)


def cell_fractions(data: RankingData, cells: Sequence[Cells], side: int) -> Floats:
    """Class-balanced fraction of the rows in each cell (pairs, side, side)."""
    weights = np.zeros((2, len(cells[0]), side**2), dtype=np.int64)
    for part, own in zip(data.partitions, cells, strict=True):
        for label, rows in zip((1, 0), part.class_slices, strict=True):
            for sums, own_pair in zip(weights[label], own, strict=True):
                np.add.at(sums, own_pair[rows], part.weight[rows].astype(np.int64))
    weights = data.group.sum(weights)
    fractions = [weights[label] / data.class_weights[label] for label in (0, 1)]
    return np.asarray((fractions[0] + fractions[1]) / 2).reshape(-1, side, side)


def add_cells(cells: Cells, surfaces: Floats) -> Floats:
    """The sum over the surfaces of the value in each row's cell."""
    out = np.zeros(cells.shape[1])
    for own, table in zip(cells, surfaces.reshape(len(cells), -1), strict=True):
        add_table(own, table, out)
    return out


def purify(
    tables: Floats, cells: Floats, fraction: Floats, pairs: Sequence[Pair]
) -> tuple[Floats, Floats]:
    """Move the row and column means of the surfaces into the tables of their features.

    A group without rows gets 0, the average of the others.
    """
    rows, columns = main_parts(cells, fraction)
    cells = cells - rows[:, :, None] - columns[:, None, :]
    tables = tables.copy()
    for pair, values, *parts in zip(pairs, cells, rows, columns, strict=True):
        for j, axis, part in zip(pair.features, pair.axes, parts, strict=True):
            tables[j] += part[axis.groups]
        for axis, view in zip(pair.axes, (values, values.T), strict=True):
            view[: len(axis.fraction)][axis.fraction == 0] = 0.0
    return tables, cells


def _cut(pair: Pair, values: Floats) -> Surface:
    """The surface of a pair, without the padding of its table."""
    axes = pair.axes[0].feature, pair.axes[1].feature
    return Surface(pair.features, axes, values[: axes[0].n_bins + 1, : axes[1].n_bins + 1].copy())
