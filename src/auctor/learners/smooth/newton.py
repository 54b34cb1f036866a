"""The maximum of the penalised smoothed AUC over all tables at once, by a quasi-Newton method.

L-BFGS whose first approximation of the curvature is the penalty's banded matrix plus a guess of the
smoothed AUC's curvature. Its Cholesky factor makes the steps so good that tens of passes over the
rows are enough. A logarithmic barrier, whose weight is reduced in stages, keeps monotone features
monotone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from typing import Protocol

import numpy as np

from auctor._typing import Floats
from auctor.learners.common.rounding import ROUNDING
from auctor.learners.smooth.objective import Point, dot

_MEMORY = 10  # number of past steps in the approximation of the curvature
_ARMIJO = 1e-4  # fraction of the predicted gain that a step must reach
# Maximum change of a table entry in one step: phi says nothing about pairs further away.
_LONGEST = 4.0
# The cost of the whole barrier in each stage. The maximum is off by at most the last one, so that
# costs below the tolerance are left out.
_BARRIER_COSTS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
# The first stage from a start that was the maximum under another penalty or of other rows.
_COST_NEAR = 1e-4


class Maximisable(Protocol):
    """A function to maximise: its value and gradient at a point, and a metric for steps."""

    def at(self, x: Floats) -> Point | None:
        """The function at ``x``; None where it is not defined."""

    def metric(self, point: Point) -> Callable[[Floats], Floats]:
        """A function of a gradient that returns a step uphill."""


class WithBarrier(Maximisable, Protocol):
    """A function to maximise under a barrier whose weight can be chosen."""

    @property
    def n_increments(self) -> int:
        """Number of increments that the barrier keeps positive."""

    def with_barrier(self, weight: float) -> Maximisable:
        """The function plus the barrier with this weight."""


@dataclass
class Iterations:
    """The objective after each iteration, and why they stopped."""

    objective: list[float] = field(default_factory=list)
    smoothed_auc: list[float] = field(default_factory=list)
    gain_left: float = np.inf  # gain that the last step predicted, to second order
    stopped_by: str = "max_iter"


@dataclass(frozen=True)
class Patience:
    """When to stop.

    A predicted gain of ``tol``, ``max_iter`` iterations, or ``after``, which is called after each
    iteration, returning True. ``watch`` is called before it with the fraction of the way that is
    done: predicted gains fall by about the same factor in each iteration.
    """

    tol: float = 1e-8
    max_iter: int = 500
    after: Callable[[Point], bool] | None = None
    watch: Callable[[float], None] | None = None


def maximise(objective: Maximisable, start: Floats, patience: Patience) -> tuple[Point, Iterations]:
    """The point of the largest objective, starting from ``start``."""
    history = Iterations()
    return _climb(objective, start, patience.tol, patience, history, (0.0, 1.0)), history


def maximise_with_barrier(
    objective: WithBarrier, start: Floats, patience: Patience, *, is_near: bool = False
) -> tuple[Point, Iterations]:
    """The point of the largest objective inside the barrier, as ``start`` must be.

    ``is_near`` says that the start is the end of a similar fit, so that the first stages, which
    would lead away from it, are left out.
    """
    history = Iterations()
    first = _COST_NEAR if is_near else _BARRIER_COSTS[0]
    costs = [cost for cost in _BARRIER_COSTS if patience.tol <= cost <= first]
    costs = costs or [first]
    for k, cost in enumerate(costs):
        stage = objective.with_barrier(cost / objective.n_increments)
        part = k / len(costs), (k + 1) / len(costs)
        point = _climb(stage, start, max(patience.tol, cost / 10), patience, history, part)
        start = point.x
        if history.stopped_by != "converged":
            break
    return _defined(objective, start), history


def _climb(
    objective: Maximisable,
    start: Floats,
    tol: float,
    patience: Patience,
    history: Iterations,
    part: tuple[float, float],
) -> Point:
    """Quasi-Newton steps until the predicted gain is below ``tol``.

    ``part`` is the beginning and the end of this climb as fractions of the whole way.
    """
    point = _defined(objective, start)
    memory, first_gain = _Memory(), 0.0
    while len(history.objective) < patience.max_iter:
        metric = objective.metric(point)
        step = memory.step(point.gradient, metric)
        predicted = dot(point.gradient, step)
        if predicted <= 0.0:  # only rounding can turn an uphill step around
            memory = _Memory()
            step = memory.step(point.gradient, metric)
            predicted = dot(point.gradient, step)
        if predicted <= tol and not memory.is_empty:
            # The remembered curvature may be wrong: confirm with the metric alone.
            memory = _Memory()
            step = memory.step(point.gradient, metric)
            predicted = dot(point.gradient, step)
        history.gain_left = predicted / 2
        if predicted <= tol:
            history.stopped_by = "converged"
            return point
        first_gain = max(first_gain, predicted)
        shorter = min(1.0, _LONGEST / float(np.abs(step).max()))
        step, predicted = shorter * step, shorter * predicted
        following = _search_along(objective, point, step, predicted)
        if following is None:
            history.stopped_by = "no further gain"
            return point
        memory.learn(following.x - point.x, point.gradient - following.gradient)
        point = following
        history.objective.append(point.objective)
        history.smoothed_auc.append(point.smoothed_auc)
        if patience.watch is not None:
            done = _fraction_done(history.gain_left * 2, first_gain, tol)
            patience.watch(part[0] + done * (part[1] - part[0]))
        if patience.after is not None and patience.after(point):
            history.stopped_by = "early stopping"
            return point
    history.stopped_by = "max_iter"
    return point


def _fraction_done(gain: float, first: float, tol: float) -> float:
    """How far the predicted gain has fallen from the first one to ``tol``, in orders of magnitude.

    Examples
    --------
    >>> round(_fraction_done(1e-4, 1e-2, 1e-8), 3)
    0.333
    """
    return (
        1.0 if not first > tol > 0.0 else min(1.0, log(first / max(gain, tol)) / log(first / tol))
    )


def _defined(objective: Maximisable, x: Floats) -> Point:
    point = objective.at(x)
    assert point is not None, "a fit only visits points where the objective is defined"
    return point


def _search_along(
    objective: Maximisable, point: Point, step: Floats, predicted: float
) -> Point | None:
    """Backtracking: the first point along the step that gains enough (Armijo); None if none."""
    length = 1.0
    while length > ROUNDING:
        following = objective.at(point.x + length * step)
        gain = -np.inf if following is None else following.objective - point.objective
        if gain >= _ARMIJO * length * predicted:
            return following
        # The maximum of the parabola through slope and gain, within limits.
        top = length * predicted / (2 * (length * predicted - gain)) if np.isfinite(gain) else 0.25
        length *= min(0.5, max(0.1, top))
    return None


class _Memory:
    """The last steps and the curvature that they measured (L-BFGS, two-loop recursion)."""

    def __init__(self) -> None:
        self._pairs: list[tuple[Floats, Floats, float]] = []

    @property
    def is_empty(self) -> bool:
        return not self._pairs

    def learn(self, moved: Floats, fallen: Floats) -> None:
        """Remember a step and the decrease of the gradient over it, if the objective is concave."""
        curvature = dot(moved, fallen)
        if curvature > 1e-10 * np.sqrt(dot(moved, moved) * dot(fallen, fallen)):
            self._pairs = [*self._pairs[-_MEMORY + 1 :], (moved, fallen, curvature)]

    def step(self, gradient: Floats, metric: Callable[[Floats], Floats]) -> Floats:
        """The quasi-Newton step uphill; ``metric`` is the first approximation."""
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
