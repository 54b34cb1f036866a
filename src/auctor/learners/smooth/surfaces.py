"""Interactions of SmoothAUCBoost: the most useful pairs of features, added as binned surfaces.

From the additive maximum ``smooth_pairs`` finds the pairs; main tables and surfaces then climb
together. In the end each surface is purified: its weighted row and column means move into the
tables of its two features (functional ANOVA), so that a drawn F_k shows all that the feature does
alone, and every score stays what it was.
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
from auctor.learners.smooth.newton import Iterations, Patience, maximise
from auctor.learners.smooth.objective import Barrier, Objective, Point, Quadratic
from auctor.learners.smooth.penalty import CURVATURE, factor, solve
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.scale import gaps
from auctor.models import Surface, on_grid

_TINY = 1e-9


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
        bands[0] = 2 * diagonal * (1 + _TINY) + CURVATURE * mass.reshape(self._share.shape) + _TINY
        bands[0][bands[0] <= _TINY] = 1.0  # cells that no row can fall into
        banded = factor(bands)
        return lambda g: solve(banded, g).reshape(self.shape)


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


# The penalty on surfaces, times the automatic ridge, before a pair's own multiple. Of a third of
# it, itself and three times it, by cross-validation on eight tables: less loses up to 0.0035 of AUC
# where no pair matters, more gains less where some do.
STRENGTH = 10.0


class Parts(NamedTuple):
    """What a joint maximum is made of, purified and on the grid of models."""

    tables: Floats  # (features, codes)
    surfaces: tuple[Surface, ...] = ()
    added: tuple[Floats, ...] = ()  # what the surfaces add to each row, by partition
    spreads: Floats = np.empty(0)  # standard deviation of each surface, both classes alike


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
