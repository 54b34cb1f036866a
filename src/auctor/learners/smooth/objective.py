"""The penalised smoothed AUC: Komori (2010), equation (7), as a function of one flat vector.

The vector holds the tables of all features, followed by those of the surfaces if there are any.
Monotone features add a barrier on their increments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.kernels import linear
from auctor.learners.smooth.smoothed_auc import SmoothedAUC


class Quadratic(Protocol):
    """A penalty f'Pf on one set of tables."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def gradient(self, f: Floats) -> Floats:
        """2 P f."""

    def solver(self, mass: Floats, extra: Floats | None = None) -> Callable[[Floats], Floats]:
        """A function of g that multiplies it by an approximate inverse of the curvature."""


@dataclass(frozen=True, eq=False)
class Point:
    """The objective at some tables: the smoothed AUC minus the penalty, and its gradient.

    ``penalty_gradient`` is the gradient of the penalty, which ``gradient`` subtracts. ``mass``,
    ``squares`` and ``scores`` are those of ``Sums``; ``scores`` is empty for objectives that are
    not sums over pairs.
    """

    x: Floats
    objective: float
    smoothed_auc: float
    gradient: Floats
    penalty_gradient: Floats
    mass: tuple[Floats, ...]
    squares: tuple[float, float]
    scores: tuple[Floats, ...] = ()


class Barrier:
    """weight * sum of log(s) - s over s = sign * increment, which keeps tables monotone.

    The second term stops it from rewarding ever larger increments where no penalty limits them.
    """

    def __init__(self, signs: npt.NDArray[np.int8]) -> None:
        """``signs`` (features, codes) is that of the increment to the next code, 0 if free."""
        self._signs = signs
        self._held = np.nonzero(signs)
        self.count = len(self._held[0])

    def increments(self, f: Floats) -> Floats:
        """The signed increments, all of which must stay positive."""
        rows, codes = self._held
        return np.asarray(self._signs[rows, codes] * (f[rows, codes + 1] - f[rows, codes]))

    def value_gradient(self, f: Floats, weight: float) -> tuple[float, Floats]:
        """The barrier and its gradient."""
        rows, codes = self._held
        steps = self.increments(f)
        gradient = np.zeros_like(f)
        slopes = weight * self._signs[rows, codes] * (1 / steps - 1)
        np.add.at(gradient, (rows, codes + 1), slopes)
        np.subtract.at(gradient, (rows, codes), slopes)
        return weight * float((linear.log_each(steps) - steps).sum()), gradient

    def curvature(self, f: Floats, weight: float) -> Floats:
        """Minus the second derivatives of the barrier, as three bands."""
        rows, codes = self._held
        bands = np.zeros((3, *f.shape))
        curvatures = weight / self.increments(f) ** 2
        np.add.at(bands[0], (rows, codes), curvatures)
        np.add.at(bands[0], (rows, codes + 1), curvatures)
        np.subtract.at(bands[1], (rows, codes), curvatures)
        return bands


class Objective:
    """Value, gradient and metric at a flat vector of all tables.

    There is one penalty for each set of tables. The barrier, if there is one, is on the first set,
    the tables of the features, and has the weight 0 unless ``with_barrier`` gives it another.
    """

    def __init__(
        self,
        sums: SmoothedAUC,
        penalties: Sequence[Quadratic],
        barrier: Barrier | None = None,
        barrier_weight: float = 0.0,
    ) -> None:
        self._sums, self._penalties = sums, tuple(penalties)
        self._barrier, self._barrier_weight = barrier, barrier_weight
        sizes = [int(np.prod(penalty.shape)) for penalty in self._penalties]
        self._ends = np.cumsum([0, *sizes])

    @property
    def n_increments(self) -> int:
        """Number of increments that the barrier keeps positive."""
        return 0 if self._barrier is None else self._barrier.count

    @property
    def n_evaluations(self) -> int:
        """Number of evaluations so far; a fit that is resumed sets it."""
        return self._sums.n_evaluations

    @n_evaluations.setter
    def n_evaluations(self, count: int) -> None:
        self._sums.n_evaluations = count

    def with_barrier(self, weight: float) -> "Objective":
        """The same objective plus the barrier with this weight."""
        return Objective(self._sums, self._penalties, self._barrier, weight)

    def tables(self, x: Floats) -> tuple[Floats, ...]:
        """The vector as one array for each penalty; views, not copies."""
        parts = zip(self._penalties, self._ends, self._ends[1:], strict=False)
        return tuple(x[a:b].reshape(penalty.shape) for penalty, a, b in parts)

    def at(self, x: Floats) -> Point | None:
        """The objective at ``x``.

        None where it is not defined: outside the barrier, or where scores are too far apart.
        """
        tables = self.tables(x)
        barrier = self._active_barrier
        if barrier is not None and not barrier.increments(tables[0]).min() > 0.0:
            return None
        sums = self._sums.evaluate(tables)
        if sums is None:
            return None
        cost = _flat([p.gradient(t) for p, t in zip(self._penalties, tables, strict=True)])
        gradient = _flat(sums.gradient) - cost
        objective = sums.value - dot(x, cost) / 2
        if barrier is not None:
            value, slopes = barrier.value_gradient(tables[0], self._barrier_weight)
            objective += value
            gradient[: self._ends[1]] += slopes.ravel()
        return Point(x, objective, sums.value, gradient, cost, sums.mass, sums.squares, sums.scores)

    def defined_at(self, x: Floats) -> Point:
        """The objective at a point where it is known to be defined."""
        point = self.at(x)
        assert point is not None, "a fit only visits points where the objective is defined"
        return point

    def metric(self, point: Point) -> Callable[[Floats], Floats]:
        """A function of a gradient that returns a step uphill, by the solver of each penalty."""
        extra: list[Floats | None] = [None] * len(self._penalties)
        if (barrier := self._active_barrier) is not None:
            extra[0] = barrier.curvature(self.tables(point.x)[0], self._barrier_weight)
        parts = zip(self._penalties, point.mass, extra, strict=True)
        solvers = [penalty.solver(mass, bands) for penalty, mass, bands in parts]

        def solve(g: Floats) -> Floats:
            return _flat([s(t) for s, t in zip(solvers, self.tables(g), strict=True)])

        return solve

    @property
    def _active_barrier(self) -> Barrier | None:
        return self._barrier if self._barrier_weight > 0.0 else None


def dot(a: Floats, b: Floats) -> float:
    """The inner product in a fixed order of summation, so that no result depends on BLAS."""
    return float(linear.dot(a, b))


def _flat(tables: Sequence[Floats]) -> Floats:
    return np.concatenate([table.ravel() for table in tables])
