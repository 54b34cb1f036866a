"""The penalised smoothed AUC maximised by stumps: Komori (2010), section 3.2.

A round adds alpha f to the score: f is the stump along which the objective rises most steeply at
alpha = 0 (step 2.a), and alpha the step length that raises it most. The slope of a stump is the sum
of the objective's gradient over the codes where f is 1. Along f only those pairs change of which
the stump holds one row alone. The differences of their scores are spread over a grid once; slope
and curvature at any alpha are then sums over that grid (equation (8)), without the rows.

For the "bins" penalty the slope is the paper's formula term by term. Its F_k(b), F_k(b^(-1)) are
the values of F_k just above the cut b and just below: neighbouring bins f_c and f_c-1. With second
differences at every bin and the end repeated beyond itself, a stump that rises at bin c has the
second difference 1 at bin c - 1 and -1 at bin c, for every c. The slope of lambda times their
squares is

    2 lambda a (f_c-2 - 3 f_c-1 + 3 f_c - f_c+1),    f_0 = f_1,  f_K+1 = f_K,

and the second derivative is 4 lambda. If the sum in equation (7) were over the K - 1 cuts only, it
would not contain the lowest bin, and a stump at the lowest cut would cost nothing. Equation (8) of
the paper has 4 lambda for every cut, so the sum is over bins.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.signal import fftconvolve

from auctor._typing import Floats, Ints
from auctor.kernels.linear import convolve as convolve_plain
from auctor.kernels.smooth import deposit_sides, derivatives_along
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.blocks import Block, class_blocks
from auctor.learners.common.calibration import score_ends
from auctor.learners.common.rounding import ROUNDING
from auctor.learners.smooth.newton import Iterations, known_point
from auctor.learners.smooth.objective import Objective, Point, dot
from auctor.learners.smooth.penalty import Penalty
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.smoothed_auc import NODES_OF_A_ROW, PER_UNIT, REACH, scales
from auctor.models import GRID, on_grid

# A stump that neither a pair nor a penalty limits would get an infinite alpha.
_MAX_ALPHA = 16.0
# Where the difference of two scores is larger, phi is 0 for any alpha.
_FURTHEST = int((REACH + _MAX_ALPHA) * PER_UNIT)
# Up to this number of nodes a plain convolution is as fast as one by Fourier transform, and it is
# exact in the tails.
_PLAIN = 1024
_MOST_STEPS = 100
_SHORTEST = 2.0**-20


@dataclass(frozen=True)
class Round:
    """One round: a stump f and its step length alpha.

    A cut (``is_single`` is False) adds alpha to the codes from ``code`` on (a = 1) or to those
    from 1 to ``code`` - 1 (a = -1); it adds 0 to missing values, which have code 0. A single code,
    which is a category or missing values, gets a times alpha; for the pairs that is the same as
    minus a times alpha for all other codes. ``slope`` is that of the objective at alpha = 0.
    """

    feature: int
    code: int
    a: int
    is_single: bool
    alpha: float
    slope: float


@dataclass
class Rounds(Iterations):
    """The rounds and the objective after each; ``gain_left`` is the last predicted gain."""

    stopped_by: str = "n_estimators"
    rounds: list[Round] = field(default_factory=list)


class Stump(NamedTuple):
    """A stump, and the slope of the objective along it; the fields are those of ``Round``."""

    feature: int
    code: int
    a: int
    is_single: bool
    slope: float

    def steps(self, n_bins: int, n_codes: int) -> Floats:
        """The change of each code of the feature for alpha = 1."""
        out = np.zeros(n_codes)
        if self.is_single:
            out[self.code] = self.a
        elif self.a > 0:
            out[self.code : n_bins + 1] = 1.0
        else:
            out[1 : self.code] = 1.0
        return out


def boost(
    problem: Problem,
    penalty: Penalty,
    *,
    n_rounds: int,
    after: Callable[[Point], bool] | None = None,
    start: Floats | None = None,
    journal: Journal = NO_JOURNAL,
    skipped: Callable[[int, Callable[[Floats], Point]], None] | None = None,
) -> tuple[Point, Rounds]:
    """Add stumps, starting from ``start`` or from 0, until one of the reasons to stop.

    The fit stops when ``after``, which is called after each round, returns True. Stumps of monotone
    features have the allowed direction only; ``start`` must be monotone itself. ``journal`` and
    ``skipped`` are those of ``newton.Patience``.

    Examples
    --------
    >>> from auctor.data import Workers, prepare
    >>> from auctor.learners.smooth.settings import SmoothSettings
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> problem = Problem(data, SmoothSettings(roughness="bins"), Workers(1))
    >>> point, rounds = boost(problem, problem.roughness.weigh(0.01, 0.0, 0.0), n_rounds=2)
    >>> [(step.feature, step.code, step.a, round(step.alpha, 4)) for step in rounds.rounds]
    [(0, 2, 1, 1.5351), (0, 4, 1, 1.228)]
    """
    objective, history = Objective(problem.sums, (penalty,)), Rounds()
    stumps, directions = _Stumps(problem), _Directions(problem, penalty)
    start = np.zeros(int(np.prod(penalty.shape))) if start is None else start
    kept = journal.latest("rounds", _BoostState, lambda state: state.check(len(start)))
    if kept.known is None:
        point = objective.defined_at(start)
    else:
        point = kept.known.resume(objective, history, skipped)
    while len(history.rounds) < n_rounds:
        stump = stumps.steepest(point.gradient)
        alpha = 0.0
        if stump is not None:
            step = np.zeros(penalty.shape)
            step[stump.feature] = directions.steps(stump)
            if problem.settings.fpr_range is None:
                alpha = directions.along(stump, point).top()
            else:
                alpha = _search(objective, point, step.ravel(), stump.slope)
        if stump is None or alpha == 0.0:
            history.stopped_by, history.gain_left = "no stump has a slope", 0.0
            break
        point = objective.defined_at(point.x + alpha * step.ravel())
        history.rounds.append(Round(*stump[:4], alpha, stump.slope))
        history.objective.append(point.objective)
        history.smoothed_auc.append(point.smoothed_auc)
        history.gain_left = stump.slope * alpha / 2  # of a parabola with its top at alpha
        if after is not None and after(point):
            history.stopped_by = "early stopping"
            break
        if journal.is_kept:
            kept.set(_BoostState.of(objective, point, history))
    return point, history


class _BoostState(NamedTuple):
    """The state after a round: everything that the next one depends on, except the rows."""

    x: Floats
    rounds: list[Round]
    objective: list[float]
    smoothed_auc: list[float]
    gain_left: float
    n_evaluations: int

    @classmethod
    def of(cls, objective: Objective, point: Point, history: Rounds) -> "_BoostState":
        lists = history.rounds[:], history.objective[:], history.smoothed_auc[:]
        return cls(point.x, *lists, history.gain_left, objective.n_evaluations)

    def check(self, size: int) -> None:
        """Raise an error if the state cannot be one of a vector of this size."""
        if self.x.shape != (size,) or not np.isfinite(self.x).all():
            raise ValueError(f"has x that is not {size} finite numbers")
        if not len(self.rounds) == len(self.objective) == len(self.smoothed_auc):
            raise ValueError("has numbers that no fit has")

    def resume(
        self,
        objective: Objective,
        history: Rounds,
        skipped: Callable[[int, Callable[[Floats], Point]], None] | None,
    ) -> Point:
        """The point of an earlier run; fills its history."""
        history.rounds, history.gain_left = self.rounds[:], self.gain_left
        history.objective, history.smoothed_auc = self.objective[:], self.smoothed_auc[:]
        if skipped is not None:
            skipped(len(self.rounds), lambda x: known_point(objective, x, len(self.x)))
        objective.n_evaluations = self.n_evaluations - 1  # the last evaluation is repeated here
        return known_point(objective, self.x, len(self.x))


def _search(objective: Objective, point: Point, step: Floats, slope: float) -> float:
    """An alpha near the maximum, by evaluations of the objective.

    The partial AUC is not a sum over the differences of scores, so ``Direction`` does not apply.
    """

    def gain(alpha: float) -> float:
        trial = objective.at(point.x + alpha * step)
        return -np.inf if trial is None else trial.objective - point.objective

    alpha, gained = 1.0, gain(1.0)
    while gained <= 0.0 and alpha > _SHORTEST:
        alpha *= _shorter(slope * alpha, gained)
        gained = gain(alpha)
    while gained > 0.0 and 2 * alpha <= _MAX_ALPHA and (more := gain(2 * alpha)) > gained:
        alpha, gained = 2 * alpha, more
    top = alpha * _shorter(slope * alpha, gained) if gained < slope * alpha else alpha
    if gain(top) > gained:
        alpha = top
    return float(on_grid(np.array(alpha))) if gained > 0.0 else 0.0


def _shorter(predicted: float, gained: float) -> float:
    """The maximum of the parabola through slope and gain, as a fraction of the step tried."""
    if not np.isfinite(gained):
        return 0.25
    return min(0.9, max(0.1, predicted / (2 * (predicted - gained))))


class _Stumps:
    """All stumps, and the steepest of them."""

    def __init__(self, problem: Problem) -> None:
        n_bins = np.array([feature.n_bins for feature in problem.data.features])[:, None]
        is_category = np.array([feature.is_category for feature in problem.data.features])[:, None]
        code = np.arange(problem.data.n_codes)[None, :]
        self._is_single = (code == 0) | (is_category & (code <= n_bins))
        is_cut = ~is_category & (code > 1) & (code <= n_bins)
        sign = np.zeros_like(problem.signs)
        sign[:, 1:] = problem.signs[:, :-1]  # of the increment that a cut at a code makes
        rises, falls = is_cut & (sign >= 0), is_cut & (sign <= 0)
        self._allowed = np.stack([self._is_single | rises, self._is_single | falls], axis=2)

    def steepest(self, gradient: Floats) -> Stump | None:
        """The stump of the largest slope, the first of equal ones; None if none has a slope."""
        slopes = self._inside(gradient.reshape(self._is_single.shape))
        slopes = np.where(self._allowed, slopes, -np.inf)
        largest = slopes.max()
        if not largest > ROUNDING:
            return None
        first = int(np.argmax(slopes.ravel() >= largest - ROUNDING))
        j, code, falls = (int(i) for i in np.unravel_index(first, slopes.shape))
        single = bool(self._is_single[j, code])
        return Stump(j, code, -1 if falls else 1, single, float(slopes[j, code, falls]))

    def _inside(self, values: Floats) -> Floats:
        """Sums of values (features, codes) over the codes that each stump raises."""
        from_code = np.cumsum(values[:, ::-1], axis=1)[:, ::-1]
        below = np.cumsum(values, axis=1) - values - values[:, :1]  # codes 1 .. code - 1
        rising = np.where(self._is_single, values, from_code)
        falling = np.where(self._is_single, from_code[:, :1] - values, below)
        return np.stack([rising, falling], axis=2)


@dataclass(frozen=True, eq=False)
class Direction:
    """Slope and curvature of the objective along F + alpha f.

    ``gaining`` is the fraction of pairs of which f raises only the positive row, by the difference
    of their scores under F; the middle entry is for the difference 0. ``losing`` is the fraction of
    pairs of which f raises only the negative row.
    """

    gaining: Floats
    losing: Floats
    penalty_slope: float
    penalty_curvature: float

    def derivatives(self, alpha: float) -> tuple[float, float]:
        """First and second derivative by alpha: equation (8) and the one before it."""
        slope, curvature = derivatives_along(self.gaining, self.losing, float(PER_UNIT), alpha)
        return (
            slope - self.penalty_slope - alpha * self.penalty_curvature,
            curvature - self.penalty_curvature,
        )

    def top(self) -> float:
        """The alpha up to which the objective rises, by Newton-Raphson in a bracket; on the grid.

        Where the second derivative is positive, or a step leaves the bracket, the bracket is halved
        instead. A slope below ``ROUNDING`` counts as 0: without a penalty it may never be 0.
        """
        low, high = 0.0, 1.0
        while self.derivatives(high)[0] > ROUNDING:
            if high >= _MAX_ALPHA:
                return _MAX_ALPHA
            low, high = high, 2 * high
        alpha = low
        for _ in range(_MOST_STEPS):
            slope, curvature = self.derivatives(alpha)
            low, high = (alpha, high) if slope > ROUNDING else (low, alpha)
            newton = alpha - (slope - ROUNDING) / curvature if curvature < 0.0 else np.inf
            before, alpha = alpha, newton if low <= newton <= high else (low + high) / 2
            if abs(alpha - before) < GRID / 4:
                break
        return float(on_grid(np.array(alpha)))


class _Directions:
    """Makes the ``Direction`` of a stump."""

    def __init__(self, problem: Problem, penalty: Penalty) -> None:
        self._problem, self._penalty = problem, penalty
        self._blocks = class_blocks(problem.data, problem.workers.count)
        self._curvatures: dict[tuple[int, int, int], float] = {}

    def steps(self, stump: Stump) -> Floats:
        """The change of each code of the stump's feature for alpha = 1."""
        data = self._problem.data
        return stump.steps(data.features[stump.feature].n_bins, data.n_codes)

    def along(self, stump: Stump, point: Point) -> Direction:
        """The objective along the stump, starting from a point."""
        j, steps = stump.feature, self.steps(stump)
        slope = dot(steps, point.penalty_gradient.reshape(self._penalty.shape)[j])
        negative, positive = self._spread(j, steps, point.scores)
        gaining = differences_of_scores(positive[1], negative[0])
        losing = differences_of_scores(positive[0], negative[1])
        return Direction(gaining, losing, slope, self._penalty_curvature(stump, steps))

    def _penalty_curvature(self, stump: Stump, steps: Floats) -> float:
        """Independent of the point, and kept because the same stumps recur."""
        key = stump.feature, stump.code, stump.a
        if key not in self._curvatures:
            penalty = self._penalty.of_feature(stump.feature)
            self._curvatures[key] = dot(steps, penalty.gradient(steps[None])[0])
        return self._curvatures[key]

    def _spread(self, j: int, steps: Floats, scores: tuple[Floats, ...]) -> tuple[Floats, Floats]:
        """Fraction of each class at each node of the grid, for rows outside the stump and inside.

        The rounding error is below 2^-28 of a row for any weights, which is enough for alpha.
        """
        data = self._problem.data
        totals = data.class_weights
        is_inside = steps == steps.max()
        low, high = score_ends(data, list(scores))
        n_nodes = int((high - low) * PER_UNIT) + NODES_OF_A_ROW
        factors = [scales(total)[0] for total in totals]

        def spread(blocks: list[Block]) -> Ints:
            grids = np.zeros((2, 2, n_nodes), dtype=np.int64)
            for k, label, start, stop in blocks:
                part = data.partitions[k]
                rows = scores[k], part.weight, start, stop
                grid = low, float(PER_UNIT), factors[label]
                deposit_sides(part.codes[j], is_inside, *rows, *grid, grids[label])
            return grids

        own = np.sum(self._problem.workers.map(spread, self._blocks), axis=0)
        negative, positive = data.group.sum(own)
        return negative / (factors[0] * totals[0]), positive / (factors[1] * totals[1])


def differences_of_scores(positive: Floats, negative: Floats) -> Floats:
    """The fraction of pairs at each difference of two scores, up to ``_FURTHEST`` nodes."""
    size = len(positive)
    convolve = convolve_plain if size <= _PLAIN else fftconvolve
    density = convolve(positive, negative[::-1])  # entry i is for i - (size - 1) nodes
    reach = min(size - 1, _FURTHEST)
    return np.asarray(density[size - 1 - reach : size + reach])
