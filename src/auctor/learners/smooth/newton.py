"""The maximum of the penalised smoothed AUC over all tables at once.

L-BFGS in the metric of the penalty: its banded Cholesky factor, with a guess of the smoothed AUC's
curvature, is the first approximation of the curvature, so that tens of passes over the rows are
enough. Monotone features are held by a logarithmic barrier that is let down in stages.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from auctor._typing import Floats
from auctor.learners.common.rounding import ROUNDING
from auctor.learners.smooth.objective import Barrier, Point, dot

_MEMORY = 10  # steps that the approximation of the curvature remembers
_ENOUGH = 1e-4  # share of the promised gain that a step must bring (Armijo)
# No step moves an entry further: beyond, phi says nothing of where pairs will end up.
_LONGEST = 4.0
# What the barrier may cost in all, stage by stage.
_BARRIERS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)


class Objective(Protocol):
    """What is maximised: its value and gradient at a point, and a metric for steps."""

    @property
    def barrier(self) -> Barrier | None: ...

    def at(self, x: Floats) -> Point | None:
        """None where the objective is not defined."""

    def metric(self, point: Point) -> Callable[[Floats], Floats]:
        """g -> a step uphill."""


@dataclass
class Iterations:
    """What each iteration came to, and why they stopped."""

    objective: list[float] = field(default_factory=list)
    smoothed_auc: list[float] = field(default_factory=list)
    gain_left: float = np.inf  # what the last step promised, to second order
    stopped_by: str = "max_iter"


@dataclass(frozen=True)
class Patience:
    """When to stop: the promised gain, the number of iterations, or a word from outside."""

    tol: float = 1e-8
    max_iter: int = 500
    after: Callable[[Point], bool] | None = None


def maximise(objective: Objective, start: Floats, patience: Patience) -> tuple[Point, Iterations]:
    """The vector of the largest objective, from ``start`` on, which must obey the barrier."""
    history = Iterations()
    if objective.barrier is None:
        return _climb(objective, start, patience.tol, patience, history), history
    for cost in _BARRIERS:
        objective.barrier.weight = cost / objective.barrier.count
        point = _climb(objective, start, max(patience.tol, cost / 10), patience, history)
        start = point.x
        if history.stopped_by != "converged":
            break
    objective.barrier.weight = 0.0
    return _defined(objective, start), history


def _climb(
    objective: Objective, start: Floats, tol: float, patience: Patience, history: Iterations
) -> Point:
    """Quasi-Newton steps until the promised gain is below ``tol``."""
    point = _defined(objective, start)
    memory = _Memory()
    while len(history.objective) < patience.max_iter:
        metric = objective.metric(point)
        step = memory.step(point.gradient, metric)
        promised = dot(point.gradient, step)
        if promised <= 0.0:  # only rounding can turn an uphill step around
            memory = _Memory()
            step = memory.step(point.gradient, metric)
            promised = dot(point.gradient, step)
        if promised <= tol and not memory.is_empty:
            # What is remembered of the curvature may be wrong: the metric alone must agree.
            memory = _Memory()
            step = memory.step(point.gradient, metric)
            promised = dot(point.gradient, step)
        history.gain_left = promised / 2
        if promised <= tol:
            history.stopped_by = "converged"
            return point
        shorter = min(1.0, _LONGEST / float(np.abs(step).max()))
        step, promised = shorter * step, shorter * promised
        following = _search_line(objective, point, step, promised)
        if following is None:
            history.stopped_by = "no further gain"
            return point
        memory.learn(following.x - point.x, point.gradient - following.gradient)
        point = following
        history.objective.append(point.objective)
        history.smoothed_auc.append(point.smoothed_auc)
        if patience.after is not None and patience.after(point):
            history.stopped_by = "early stopping"
            return point
    history.stopped_by = "max_iter"
    return point


def _defined(objective: Objective, x: Floats) -> Point:
    point = objective.at(x)
    assert point is not None, "the search only visits points where the objective is defined"
    return point


def _search_line(objective: Objective, point: Point, step: Floats, promised: float) -> Point | None:
    """A point on the way that brings its share of the promised gain, by halving; None if none."""
    length = 1.0
    while length > ROUNDING:
        found = objective.at(point.x + length * step)
        gain = -np.inf if found is None else found.objective - point.objective
        if gain >= _ENOUGH * length * promised:
            return found
        # The top of the parabola through what is known, within reason.
        top = length * promised / (2 * (length * promised - gain)) if np.isfinite(gain) else 0.25
        length *= min(0.5, max(0.1, top))
    return None


class _Memory:
    """The last steps, and what they say of the curvature (L-BFGS, two loops)."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Floats, Floats, float]] = []

    @property
    def is_empty(self) -> bool:
        return not self._pairs

    def learn(self, moved: Floats, fallen: Floats) -> None:
        """A step and the fall of the gradient over it; kept where the objective is concave."""
        curvature = dot(moved, fallen)
        if curvature > 1e-10 * np.sqrt(dot(moved, moved) * dot(fallen, fallen)):
            self._pairs = [*self._pairs[-_MEMORY + 1 :], (moved, fallen, curvature)]

    def step(self, gradient: Floats, metric: Callable[[Floats], Floats]) -> Floats:
        """The step that the approximated curvature takes uphill, starting from ``metric``."""
        rest, parts = gradient.copy(), []
        for moved, fallen, curvature in reversed(self._pairs):
            part = dot(moved, rest) / curvature
            parts.append(part)
            rest -= part * fallen
        out = metric(rest)
        if self._pairs:
            _, fallen, curvature = self._pairs[-1]
            out *= curvature / dot(fallen, metric(fallen))
        for (moved, fallen, curvature), part in zip(self._pairs, reversed(parts), strict=True):
            out += (part - dot(fallen, out) / curvature) * moved
        return out
