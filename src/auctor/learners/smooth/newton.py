"""The maximum of the penalised smoothed AUC over all tables at once, by a quasi-Newton method.

L-BFGS whose first approximation of the curvature is the penalty's banded matrix plus a guess of the
smoothed AUC's curvature. Its Cholesky factor makes the steps so good that tens of passes over the
rows are enough. A logarithmic barrier, whose weight is reduced in stages, keeps monotone features
monotone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import log
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from auctor._typing import Floats
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
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

    Iterations are noted in ``journal``. Those of an earlier run are left out: instead, ``skipped``
    is called with their number and with a function that evaluates the objective.
    """

    tol: float = 1e-8
    max_iter: int = 500
    after: Callable[[Point], bool] | None = None
    watch: Callable[[float], None] | None = None
    journal: Journal = NO_JOURNAL
    skipped: Callable[[int, Callable[[Floats], Point]], None] | None = None


def maximise(objective: Maximisable, start: Floats, patience: Patience) -> tuple[Point, Iterations]:
    """The point of the largest objective, starting from ``start``."""
    history, kept = Iterations(), _Kept(patience, len(start))
    part = (0.0, 1.0)
    return _climb(
        objective, start, patience.tol, patience, history, part, kept.of_stage(0)
    ), history


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
    kept = _Kept(patience, len(start), len(costs))
    for k, cost in enumerate(costs):
        own = kept.of_stage(k)
        if own.is_over:
            continue
        stage = objective.with_barrier(cost / objective.n_increments)
        part = k / len(costs), (k + 1) / len(costs)
        point = _climb(stage, start, max(patience.tol, cost / 10), patience, history, part, own)
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
    kept: "_Stage",
) -> Point:
    """Quasi-Newton steps until the predicted gain is below ``tol``.

    ``part`` is the beginning and the end of this climb as fractions of the whole way. It goes on
    from the state of an earlier run in ``kept``, if there is one.
    """
    if kept.known is None:
        point, memory, first_gain = _defined(objective, start), _Memory(), 0.0
    else:
        point, memory, first_gain = kept.resume(objective, history, patience)
    if not kept.is_ended:
        point = _iterate(objective, tol, patience, history, part, (point, memory, first_gain), kept)
        kept.note(objective, point, history, _Memory(), 0.0, is_ended=True)
    return point


def _iterate(
    objective: Maximisable,
    tol: float,
    patience: Patience,
    history: Iterations,
    part: tuple[float, float],
    begin: "tuple[Point, _Memory, float]",
    kept: "_Stage",
) -> Point:
    """The iterations of a climb; ``history`` says why they ended."""
    point, memory, first_gain = begin
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
        kept.note(objective, point, history, memory, first_gain)
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

    def __init__(self, pairs: "list[_Pair] | None" = None) -> None:
        self.pairs: list[_Pair] = pairs or []

    @property
    def is_empty(self) -> bool:
        return not self.pairs

    def learn(self, moved: Floats, fallen: Floats) -> None:
        """Remember a step and the decrease of the gradient over it, if the objective is concave."""
        curvature = dot(moved, fallen)
        if curvature > 1e-10 * np.sqrt(dot(moved, moved) * dot(fallen, fallen)):
            self.pairs = [*self.pairs[-_MEMORY + 1 :], _Pair(moved, fallen, curvature)]

    def step(self, gradient: Floats, metric: Callable[[Floats], Floats]) -> Floats:
        """The quasi-Newton step uphill; ``metric`` is the first approximation."""
        rest, parts = gradient.copy(), []
        for moved, fallen, curvature in reversed(self.pairs):
            part = dot(moved, rest) / curvature
            parts.append(part)
            rest -= part * fallen
        out = metric(rest)
        if self.pairs:
            _, fallen, curvature = self.pairs[-1]
            out *= curvature / dot(fallen, metric(fallen))
        for (moved, fallen, curvature), part in zip(self.pairs, reversed(parts), strict=True):
            out += (part - dot(fallen, out) / curvature) * moved
        return out


class _Pair(NamedTuple):
    """A step, the decrease of the gradient over it, and their inner product."""

    moved: Floats
    fallen: Floats
    curvature: float


class _ClimbState(NamedTuple):
    """The state after an iteration: everything that the next one depends on, except the rows."""

    stage: int  # of the barrier
    is_ended: bool
    x: Floats
    pairs: list[_Pair]
    first_gain: float
    objective: list[float]
    smoothed_auc: list[float]
    gain_left: float
    stopped_by: str
    n_evaluations: int

    def check(self, size: int, n_stages: int) -> None:
        """Raise an error if the state cannot be one of a vector of this size."""
        arrays = [self.x, *(array for pair in self.pairs for array in pair[:2])]
        if any(array.shape != (size,) or not np.isfinite(array).all() for array in arrays):
            raise ValueError(f"has arrays that are not {size} finite numbers")
        if len(self.pairs) > _MEMORY or any(not pair.curvature > 0 for pair in self.pairs):
            raise ValueError("has steps that no climb remembers")
        if not 0 <= self.stage < n_stages or len(self.objective) != len(self.smoothed_auc):
            raise ValueError("has numbers that no climb has")


class _Kept:
    """Notes the state of a climb, which may have several stages."""

    def __init__(self, patience: Patience, size: int, n_stages: int = 1) -> None:
        self.journal = patience.journal
        self.latest = self.journal.latest(
            "climb", _ClimbState, lambda state: state.check(size, n_stages)
        )

    def of_stage(self, stage: int) -> "_Stage":
        known = self.latest.known
        return _Stage(self, stage, known if known is not None and known.stage == stage else None)


class _Stage:
    """One stage of a climb; ``known`` is its state in an earlier run, if that got so far."""

    def __init__(self, kept: _Kept, stage: int, known: _ClimbState | None) -> None:
        self._kept, self._stage, self.known = kept, stage, known

    @property
    def is_over(self) -> bool:
        """Whether the earlier run had come to a later stage."""
        last = self._kept.latest.known
        return last is not None and last.stage > self._stage

    @property
    def is_ended(self) -> bool:
        """Whether this stage was finished in the earlier run."""
        return self.known is not None and self.known.is_ended

    def resume(
        self, objective: Maximisable, history: Iterations, patience: Patience
    ) -> tuple[Point, _Memory, float]:
        """Point, memory and first gain of the earlier run; fills its history."""
        known, counted = cast(_ClimbState, self.known), cast(Any, objective)
        size = len(known.x)
        history.objective, history.smoothed_auc = known.objective[:], known.smoothed_auc[:]
        history.gain_left, history.stopped_by = known.gain_left, known.stopped_by
        if patience.skipped is not None:
            patience.skipped(len(known.objective), lambda x: known_point(objective, x, size))
        counted.n_evaluations = known.n_evaluations - 1  # the last evaluation is repeated here
        return known_point(objective, known.x, size), _Memory(known.pairs), known.first_gain

    def note(
        self,
        objective: Maximisable,
        point: Point,
        history: Iterations,
        memory: _Memory,
        first_gain: float,
        *,
        is_ended: bool = False,
    ) -> None:
        """Note the state after an iteration."""
        if not self._kept.journal.is_kept:
            return
        state = _ClimbState(
            self._stage,
            is_ended,
            point.x,
            memory.pairs,
            first_gain,
            history.objective[:],
            history.smoothed_auc[:],
            history.gain_left,
            history.stopped_by,
            cast(Any, objective).n_evaluations,
        )
        self._kept.latest.set(state)


def known_point(objective: Maximisable, x: Floats, size: int) -> Point:
    """The objective at a point of an earlier run, which must have this size."""
    point = objective.at(x) if x.shape == (size,) and np.isfinite(x).all() else None
    if point is None:
        raise ValueError(
            "the checkpoint has a point at which the objective is not defined; remove it to start "
            "the fit anew"
        )
    return point
