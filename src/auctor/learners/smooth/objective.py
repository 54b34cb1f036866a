"""The penalised smoothed AUC: Komori (2010), equation (7), as a function of one flat vector.

The vector holds the tables of all features, and of surfaces where there are any, one after the
other. A monotone feature adds a barrier on its increments.
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
        """g -> an approximate inverse of the objective's curvature times g."""


@dataclass(frozen=True, eq=False)
class Point:
    """The objective at some tables: the smoothed AUC less the penalty, and its gradient.

    ``penalty_gradient`` is the penalty's part of it, with the sign turned; barriers are in neither.
    """

    x: Floats
    objective: float
    smoothed_auc: float
    gradient: Floats
    penalty_gradient: Floats
    mass: tuple[Floats, ...]
    squares: tuple[float, float]


class Barrier:
    """weight * sum of log(s) - s over s = sign * increment: keeps tables monotone while it lasts.

    The second term keeps it from rewarding ever larger increments where no penalty does.
    """

    def __init__(self, signs: npt.NDArray[np.int8]) -> None:
        self._signs = signs  # (features, codes): of the increment from a code to the next, or 0
        self._held = np.nonzero(signs)
        self.count = len(self._held[0])
        self.weight = 0.0

    def increments(self, f: Floats) -> Floats:
        """All that must stay positive."""
        rows, codes = self._held
        return np.asarray(self._signs[rows, codes] * (f[rows, codes + 1] - f[rows, codes]))

    def value_gradient(self, f: Floats) -> tuple[float, Floats]:
        rows, codes = self._held
        steps = self.increments(f)
        gradient = np.zeros_like(f)
        pull = self.weight * self._signs[rows, codes] * (1 / steps - 1)
        np.add.at(gradient, (rows, codes + 1), pull)
        np.subtract.at(gradient, (rows, codes), pull)
        return self.weight * float((linear.log_each(steps) - steps).sum()), gradient

    def curvature(self, f: Floats) -> Floats:
        """Bands of the barrier's (negative) second derivatives."""
        rows, codes = self._held
        bands = np.zeros((3, *f.shape))
        push = self.weight / self.increments(f) ** 2
        np.add.at(bands[0], (rows, codes), push)
        np.add.at(bands[0], (rows, codes + 1), push)
        np.subtract.at(bands[1], (rows, codes), push)
        return bands


class Objective:
    """Value, gradient and metric at a flat vector of all tables."""

    def __init__(
        self, sums: SmoothedAUC, penalties: Sequence[Quadratic], barrier: Barrier | None = None
    ) -> None:
        self._sums, self._penalties, self.barrier = sums, tuple(penalties), barrier
        sizes = [int(np.prod(penalty.shape)) for penalty in self._penalties]
        self._ends = np.cumsum([0, *sizes])

    def tables(self, x: Floats) -> tuple[Floats, ...]:
        """The vector as one array for each penalty; views, not copies."""
        parts = zip(self._penalties, self._ends, self._ends[1:], strict=False)
        return tuple(x[a:b].reshape(penalty.shape) for penalty, a, b in parts)

    def at(self, x: Floats) -> Point | None:
        """None where the objective is not defined: outside the barrier, or scores too far apart."""
        tables = self.tables(x)
        held = self.barrier is not None and self.barrier.weight > 0.0
        if held and not self.barrier.increments(tables[0]).min() > 0.0:  # type: ignore[union-attr]
            return None
        found = self._sums.evaluate(tables)
        if found is None:
            return None
        costs = [p.gradient(t) for p, t in zip(self._penalties, tables, strict=True)]
        cost = _flat(costs)
        gradient = _flat(found.gradient) - cost
        objective = found.value - dot(x, cost) / 2
        if held:
            value, pull = self.barrier.value_gradient(tables[0])  # type: ignore[union-attr]
            objective += value
            gradient[: self._ends[1]] += pull.ravel()
        return Point(x, objective, found.value, gradient, cost, found.mass, found.squares)

    def metric(self, point: Point) -> Callable[[Floats], Floats]:
        """g -> a step uphill: each table's gradient through its penalty's solver."""
        extra: list[Floats | None] = [None] * len(self._penalties)
        if self.barrier is not None and self.barrier.weight > 0.0:
            extra[0] = self.barrier.curvature(self.tables(point.x)[0])
        parts = zip(self._penalties, point.mass, extra, strict=True)
        solvers = [penalty.solver(mass, bands) for penalty, mass, bands in parts]

        def solve(g: Floats) -> Floats:
            return _flat([s(t) for s, t in zip(solvers, self.tables(g), strict=True)])

        return solve


def dot(a: Floats, b: Floats) -> float:
    """The inner product in a fixed order: BLAS would sum in an order that the machine chooses."""
    return float(linear.dot(a, b))


def _flat(tables: Sequence[Floats]) -> Floats:
    return np.concatenate([table.ravel() for table in tables])
