"""The penalised smoothed AUC near its maximum: one Newton step to the maximum of other rows.

A table has up to hundreds of entries, but the penalty leaves only a few directions free: curves
that are rough are held fast, whatever the rows say. For each table the free directions are the
eigenvectors of the penalty, relative to a guess of the smoothed AUC's curvature, with the smallest
eigenvalues (the basis of Demmler and Reinsch). In these directions the curvature of the smoothed
AUC is a small dense matrix, which differences of its gradient give for any kind of AUC.

Monotone features add bounds: the step then goes to the maximum of the quadratic function inside
them, which is the point of smallest distance in its own metric.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import (
    LinAlgError,
    block_diag,
    cho_factor,
    cho_solve,
    cholesky,
    eigh,
    orth,
    solve_triangular,
)
from scipy.optimize import nnls

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.learners.smooth.objective import Barrier, Objective, Point, Quadratic
from auctor.learners.smooth.penalty import CURVATURE
from auctor.learners.smooth.smoothed_auc import SmoothedAUC

# Directions whose penalty is this many times the curvature of the smoothed AUC are held fast: along
# them rows move the maximum by less than 1 / (1 + 20) of what they would without a penalty.
_HELD_FAST = 20.0
# A curve at its bounds bends where it leaves them, which takes rougher directions as well.
_HELD_FAST_BOUNDED = 2000.0
# Guess of the curvature of entries without rows, relative to the largest of the table.
_LEAST_CURVATURE = 1e-6
# Largest change of a score in a difference of gradients.
_NUDGE = 0.005
# Smallest curvature of the objective along a direction, relative to the guess.
_FLATTEST = 0.02


class Bounds(NamedTuple):
    """The bounds of monotone features at a maximum.

    ``signs`` (features, codes) is the sign of the increment to the next code, 0 where it is free;
    ``gradient`` is that of the objective of all rows: not 0 where bounds hold the maximum.
    """

    signs: npt.NDArray[np.int8]
    gradient: Floats


class NearMaximum:
    """The objective near its maximum, to second order in the free directions.

    Parameters
    ----------
    sums : SmoothedAUC
        The smoothed AUC.
    penalties : sequence of Quadratic
        One penalty for each set of tables.
    x : ndarray
        The maximum, as a flat vector of all tables.
    spans : sequence of ndarray or None, optional
        For each set of tables, columns that span the directions to consider; None for all.
    bounds : Bounds, optional
        Those of the first set of tables.
    verbose : bool or int, default=False
        Whether to show a progress bar.
    """

    def __init__(
        self,
        sums: SmoothedAUC,
        penalties: Sequence[Quadratic],
        x: Floats,
        spans: Sequence[Floats | None] = (None,),
        bounds: Bounds | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.x, self._objective = x, Objective(sums, penalties)
        self._penalties = tuple(penalties)
        point = self._objective.defined_at(x)
        self._gradient, self._slope = point.gradient, _auc_slope(point)
        limit: Floats | None = None
        if bounds is not None:
            limit = np.where(bounds.signs.any(axis=1), _HELD_FAST_BOUNDED, _HELD_FAST)
            # What the bounds hold back stays, whichever rows the sums are of.
            self._gradient = self._gradient - bounds.gradient
        limits = [limit, *[None] * (len(penalties) - 1)]
        sets = zip(penalties, point.mass, spans, limits, strict=True)
        self._sets = [free_directions(*own) for own in sets]
        self._barrier = None if bounds is None else Barrier(bounds.signs)
        self._increments: Floats | None = None
        if self._barrier is not None:
            self._increments = self._increments_of_directions(self._barrier)
        curvature = self._auc_curvature(verbose)
        n_first = sum(basis.shape[1] for basis in self._sets[0])
        rest = [_penalty_curvature(p, d) for p, d in zip(penalties, self._sets, strict=True)][1:]
        self._curvature = curvature + block_diag(np.zeros((n_first, n_first)), *rest)

    def moved(self, sums: SmoothedAUC, penalty: Quadratic) -> Floats:
        """The maximum for other rows, by one Newton step from this one.

        ``penalty`` is that of the other rows on the first set of tables; the others are kept.
        """
        objective = Objective(sums, (penalty, *self._penalties[1:]))
        uphill = self._project(objective.defined_at(self.x).gradient - self._gradient)
        curvature, own = self._curvature.copy(), _penalty_curvature(penalty, self._sets[0])
        curvature[: len(own), : len(own)] += own
        step = _solve(curvature, uphill)
        if self._barrier is not None and self._increments is not None:
            left = self._barrier.increments(self._objective.tables(self.x)[0])
            step = step_inside(step, curvature, self._increments, left)
        return self.x + self._expand(step)

    def _increments_of_directions(self, barrier: Barrier) -> Floats:
        """The signed increments of monotone features along each free direction."""
        n = sum(basis.shape[1] for own in self._sets for basis in own)
        moves = (self._objective.tables(self._expand(unit))[0] for unit in np.eye(n))
        return np.array([barrier.increments(move) for move in moves]).reshape(n, barrier.count).T

    @property
    def n_directions(self) -> int:
        """Number of free directions of all tables."""
        return len(self._curvature)

    def _auc_curvature(self, verbose: bool | int) -> Floats:
        """Minus the second derivatives of the smoothed AUC along the free directions."""
        columns, n = [], sum(basis.shape[1] for own in self._sets for basis in own)
        progress = Progress(n, "curvature for confidence bands", verbose)
        for unit in np.eye(n):
            direction = self._expand(unit)
            nudge = _NUDGE / float(np.abs(direction).max())
            moved = self._objective.defined_at(self.x + nudge * direction)
            columns.append(self._project(self._slope - _auc_slope(moved)) / nudge)
            progress.step()
        progress.close()
        curvature = np.array(columns).reshape(n, n)
        return np.asarray((curvature + curvature.T) / 2)

    def _project(self, x: Floats) -> Floats:
        """The components of a gradient along the free directions."""
        tables = self._objective.tables(x)
        pairs = zip(self._sets, tables, strict=True)
        parts = [b.T @ t for own, set_ in pairs for b, t in zip(own, set_, strict=True)]
        return np.concatenate(parts)

    def _expand(self, components: Floats) -> Floats:
        """The flat vector of tables that has these components."""
        bases = [basis for own in self._sets for basis in own]
        ends = np.cumsum([basis.shape[1] for basis in bases])[:-1]
        parts = zip(bases, np.split(components, ends), strict=True)
        return np.concatenate([basis @ own for basis, own in parts])


def _auc_slope(point: Point) -> Floats:
    """The gradient of the smoothed AUC, without that of the penalty."""
    return np.asarray(point.gradient + point.penalty_gradient)


def free_directions(
    penalty: Quadratic, mass: Floats, span: Floats | None = None, limits: Floats | None = None
) -> list[Floats]:
    """The free directions of each table, (entries, directions).

    They have length 1 in the guess of the curvature, and no part along the constant, which changes
    no ranking. ``limits`` are the largest penalties of a free direction, one for each table.
    """
    n_tables, n_entries = penalty.shape
    matrices = np.empty((n_tables, n_entries, n_entries))
    for i in range(n_entries):
        unit = np.zeros(penalty.shape)
        unit[:, i] = 1.0
        matrices[:, :, i] = penalty.gradient(unit)
    limits = np.full(n_tables, _HELD_FAST) if limits is None else limits
    parts = zip(matrices, mass.reshape(penalty.shape), limits.tolist(), strict=True)
    return [_free_basis(matrix, own, span, limit) for matrix, own, limit in parts]


def _free_basis(matrix: Floats, mass: Floats, span: Floats | None, limit: float) -> Floats:
    """The free directions of one table, from its penalty's matrix and its mass."""
    if not mass.any():
        return np.zeros((len(mass), 0))
    used = np.flatnonzero((mass > 0) | matrix.any(axis=0))
    root = np.sqrt(CURVATURE * np.maximum(mass[used], _LEAST_CURVATURE * mass.max()))
    relative = matrix[np.ix_(used, used)] / root[:, None] / root
    # The constant is made stiff, so that the others are orthogonal to it.
    constant = root / np.sqrt((root**2).sum())
    relative += 2 * limit * np.outer(constant, constant)
    if span is not None:
        inner = orth(root[:, None] * span[used])
        relative = inner.T @ relative @ inner
    vectors = eigh(relative, subset_by_value=(-np.inf, limit))[1]
    out = np.zeros((len(mass), vectors.shape[1]))
    out[used] = (vectors if span is None else inner @ vectors) / root[:, None]
    return out


def _penalty_curvature(penalty: Quadratic, bases: Sequence[Floats]) -> Floats:
    """The second derivatives of a penalty along the free directions of its tables.

    Tables do not share a penalty: one gradient gives a column of each table's block.
    """
    counts = [basis.shape[1] for basis in bases]
    blocks = [np.zeros((n, n)) for n in counts]
    for k in range(max(counts, default=0)):
        tables = np.zeros(penalty.shape)
        for table, basis, n in zip(tables, bases, counts, strict=True):
            if k < n:
                table[:] = basis[:, k]
        pulls = penalty.gradient(tables)
        for block, basis, pull, n in zip(blocks, bases, pulls, counts, strict=True):
            if k < n:
                block[:, k] = basis.T @ pull
    return block_diag(*blocks)


def _solve(curvature: Floats, uphill: Floats) -> Floats:
    """The Newton step; directions in which the objective is almost flat are held."""
    if len(uphill) == 0:
        return uphill
    try:
        return np.asarray(cho_solve(cho_factor(curvature), uphill))
    except LinAlgError:
        values, vectors = eigh(curvature)
        return np.asarray(vectors @ ((vectors.T @ uphill) / np.maximum(values, _FLATTEST)))


def step_inside(step: Floats, curvature: Floats, moves: Floats, left: Floats) -> Floats:
    """The step closest to ``step`` in the metric of the curvature that keeps ``left`` positive.

    A step d changes ``left``, which is positive, by ``moves @ d``. This is the least distance
    problem of Lawson and Hanson (1974, chapter 23), which they solve by non-negative least squares.

    Examples
    --------
    >>> step_inside(np.array([-2.0, 1.0]), np.eye(2), np.array([[1.0, 0.0]]), np.array([0.5]))
    array([-0.5,  1. ])
    """
    needed = -left - moves @ step
    if len(step) == 0 or not (needed > 0).any():
        return step
    root = _root(curvature)
    # In z = root @ (d - step): the shortest z with g z >= needed.
    g = solve_triangular(root, moves.T, trans="T").T
    system, goal = np.vstack([g.T, needed]), np.zeros(len(step) + 1)
    goal[-1] = 1.0
    residual = system @ nnls(system, goal, maxiter=30 * len(left))[0] - goal
    return np.asarray(step + solve_triangular(root, -residual[:-1] / residual[-1]))


def _root(curvature: Floats) -> Floats:
    """The upper triangular root of the curvature, without directions that are almost flat."""
    try:
        return np.asarray(cholesky(curvature))
    except LinAlgError:
        values, vectors = eigh(curvature)
        return np.asarray(cholesky((vectors * np.maximum(values, _FLATTEST)) @ vectors.T))
