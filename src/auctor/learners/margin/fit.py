"""AUC as a 1-norm soft margin (Suehiro, Hatano & Takimoto 2011): weights of given hypotheses.

"pairs" solves problem (2) over all pairs, exactly: see cutting_planes.py. "reduced" solves (7) with
caps for the rows of each class; "heuristic" alternates (9) and (7) for the best cap of the
positives (section 4.2). The hard margin (4) is found through (5), by Theorem 2.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import sqrt
from time import monotonic
from typing import Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.exceptions import MarginWarning
from auctor.learners.margin.cutting_planes import (
    Cuts,
    CuttingPlanes,
    Limits,
    Solution,
    relative_gap,
)
from auctor.learners.margin.hypotheses import DirectedHypotheses, Hypotheses
from auctor.learners.margin.objectives import (
    Objective,
    PairsObjective,
    RowsObjective,
    TangentObjective,
)
from auctor.learners.margin.snap import WEIGHT_GRID, snap

# A soft margin up to this is none: weights that cancel each other have 0.
NO_MARGIN = 1e-9

# Epsilon is raised where the soft margin is below this part of the largest difference of means,
# the margin at epsilon = 1: so near to the edge, weights follow single rows.
_LEAST_MARGIN = 0.01

Method = Literal["pairs", "reduced", "heuristic"]


@dataclass(frozen=True)
class MarginSettings:
    """What a fit can be told."""

    method: Method = "pairs"
    soft_margin: bool = True  # False: the hard margin, which no pair may miss
    epsilon: float = 0.2
    nu: float | None = None
    nu_pos: float | None = None
    nu_neg: float | None = None
    negations: bool = True
    constant: bool = True
    relax: bool = True
    gap_tol: float = 1e-6
    max_iter: int = 10_000
    time_limit: float | None = None
    grid: float = WEIGHT_GRID
    verbose: bool | int = False


class Nu(NamedTuple):
    """How many pairs, or rows of each class, may miss the margin."""

    pairs: float
    neg: float
    pos: float


@dataclass(eq=False)
class MarginHistory:
    """How the weights were found."""

    solutions: list[Solution] = field(default_factory=list)
    gamma_path: list[float] = field(default_factory=list)  # of the heuristic
    nu_pos_path: list[float] = field(default_factory=list)

    @property
    def n_iter(self) -> int:
        return sum(solution.n_iter for solution in self.solutions)


@dataclass(frozen=True, eq=False)
class MarginFit:
    """The weights with what is known of them."""

    beta: Floats
    value: float  # the soft or hard margin, gamma
    bound: float  # no weights have a larger one
    epsilon: float | None  # None where nu was given, and for the hard margin
    nu: Nu
    stopped_by: str
    cuts: Cuts | None = None

    @property
    def gap(self) -> float:
        """How much larger the margin might be, relative to the bound (to 0.001 if smaller)."""
        return relative_gap(self.value, self.bound)


def fit_margin(
    hypotheses: Hypotheses, settings: MarginSettings, start: MarginFit | None = None
) -> tuple[MarginFit, MarginHistory]:
    """The weights of the largest margin; from ``start``, of a larger epsilon, if that is given."""
    # One thread for products of matrices: with several, the last bits hang on their number, and
    # the products are too small to gain by them.
    with threadpool_limits(1, user_api="blas"):
        return _fit(hypotheses, settings, start)


def _fit(
    hypotheses: Hypotheses, settings: MarginSettings, start: MarginFit | None
) -> tuple[MarginFit, MarginHistory]:
    history = MarginHistory()
    planes = CuttingPlanes(hypotheses, settings.negations, settings.constant)
    progress = Progress(None, "MarginRanker", settings.verbose)
    limits = Limits(settings.gap_tol, settings.max_iter, _deadline(settings))
    for epsilon in _epsilons(settings):
        nu = find_nu(hypotheses, settings, epsilon)
        if settings.relax and epsilon is not None and epsilon < 1.0:
            limits = limits._replace(least=_LEAST_MARGIN)
        fit = _fit_once(planes, hypotheses, settings, nu, limits, progress, history, start)
        fit = replace(fit, epsilon=epsilon)
        if fit.stopped_by != "no margin":
            break
        limits, start = limits._replace(least=0.0), None
    if not settings.soft_margin and fit.value <= NO_MARGIN and fit.stopped_by == "gap":
        fit = _inseparable(hypotheses, settings, limits, progress, history)
    progress.close(fit.stopped_by)
    _warn(fit, settings)
    return fit, history


def _inseparable(
    hypotheses: Hypotheses,
    settings: MarginSettings,
    limits: Limits,
    progress: Progress,
    history: MarginHistory,
) -> MarginFit:
    """The largest hard margin, below 0, where no weights separate the classes.

    Weights that cancel each other have margin 0 and say nothing. So each hypothesis may only
    have the sign of its difference of means, and nothing takes up weight that is not spent.
    """
    directed = DirectedHypotheses(hypotheses, settings.negations)
    planes = CuttingPlanes(directed, negations=False, constant=False)
    alone = replace(settings, negations=False, constant=False)
    nu = find_nu(hypotheses, settings, None)
    fit = _fit_once(planes, directed, alone, nu, limits, progress, history, None)
    return replace(fit, beta=directed.sign * fit.beta, cuts=None)


def _deadline(settings: MarginSettings) -> float:
    return float("inf") if settings.time_limit is None else monotonic() + settings.time_limit


def _is_given(settings: MarginSettings) -> bool:
    """Whether the number of pairs or rows was given instead of epsilon."""
    return any(nu is not None for nu in (settings.nu, settings.nu_pos, settings.nu_neg))


def _epsilons(settings: MarginSettings) -> Iterator[float | None]:
    """The one asked for, then larger ones, until there is a margin."""
    if not settings.soft_margin or _is_given(settings):
        yield None
        return
    yield settings.epsilon
    if settings.relax:
        yield from (e / 10 for e in range(1, 11) if e / 10 > settings.epsilon)


def find_nu(hypotheses: Hypotheses, settings: MarginSettings, epsilon: float | None) -> Nu:
    """How many may miss the margin; ValueError where what was given cannot be."""
    n, p = float(hypotheses.weight_neg.sum()), float(hypotheses.weight_pos.sum())
    if not settings.soft_margin:
        if _is_given(settings):
            raise ValueError(
                "nu, nu_pos and nu_neg are given, but soft_margin=False lets no pair miss the margin; "
                "give soft_margin=True or leave them out"
            )
        return Nu(0.0, 0.0, 0.0)
    share = sqrt(epsilon) if epsilon is not None else 0.0
    if settings.method == "pairs":
        if settings.nu_pos is not None or settings.nu_neg is not None:
            raise ValueError("nu_pos and nu_neg are for method='reduced'; method='pairs' takes nu")
        nu = settings.nu if settings.nu is not None else share**2 * p * n
        _check("nu", nu, p * n, "pairs", settings.nu is not None)
        return Nu(nu, 0.0, 0.0)
    if settings.nu is not None and settings.method == "reduced":
        raise ValueError("nu is for method='pairs'; method='reduced' takes nu_pos and nu_neg")
    if settings.method == "heuristic":
        if settings.nu_pos is not None or settings.nu_neg is not None:
            raise ValueError("method='heuristic' finds nu_pos and nu_neg; give epsilon, or nu")
        nu = settings.nu if settings.nu is not None else share**2 * p * n
        _check("nu", nu, p * n, "pairs", settings.nu is not None)
        return Nu(nu, sqrt(nu / (p * n)) * n, sqrt(nu / (p * n)) * p)
    share = sqrt(settings.epsilon) if epsilon is None else share
    nu_pos = settings.nu_pos if settings.nu_pos is not None else share * p
    nu_neg = settings.nu_neg if settings.nu_neg is not None else share * n
    _check("nu_pos", nu_pos, p, "positive rows", settings.nu_pos is not None)
    _check("nu_neg", nu_neg, n, "negative rows", settings.nu_neg is not None)
    return Nu(nu_pos * nu_neg, nu_neg, nu_pos)


def _check(name: str, nu: float, most: float, what: str, is_given: bool) -> None:
    if is_given and not 1.0 <= nu <= most:
        raise ValueError(
            f"{name} is {nu:g}; it must lie between 1 and {most:g}, the number of {what} "
            "(by weight); or give epsilon instead"
        )


def _fit_once(
    planes: CuttingPlanes,
    hypotheses: Hypotheses,
    settings: MarginSettings,
    nu: Nu,
    limits: Limits,
    progress: Progress,
    history: MarginHistory,
    start: MarginFit | None,
) -> MarginFit:
    weights = hypotheses.weight_neg, hypotheses.weight_pos
    if settings.soft_margin and settings.method == "heuristic":
        first = None if start is None else start.beta
        return _alternate(planes, weights, settings, nu, limits, progress, history, first)
    objective: Objective = (
        PairsObjective(*weights, nu.pairs)
        if settings.soft_margin and settings.method == "pairs"
        else RowsObjective(*weights, nu.neg, nu.pos)
    )
    beta = None if start is None else start.beta
    cuts = None if start is None else start.cuts
    solution, cuts = planes.solve(objective, limits, progress, beta, cuts)
    history.solutions.append(solution)
    return _snapped(planes, objective, solution, settings, limits, nu, cuts)


def _snapped(
    planes: CuttingPlanes,
    objective: Objective,
    solution: Solution,
    settings: MarginSettings,
    limits: Limits,
    nu: Nu,
    cuts: Cuts | None,
) -> MarginFit:
    """The solution with equal weights equal; it must stay as close to its bound as asked."""
    least = min(solution.bound - limits.slack(solution.bound), solution.value)
    beta = snap(solution.beta, lambda b: planes.value(objective, b), least, settings.grid)
    value = planes.value(objective, beta)
    may_cancel = settings.constant or settings.negations
    if may_cancel and value <= NO_MARGIN and solution.stopped_by == "gap":
        beta, value = np.zeros(len(beta)), 0.0  # weights that cancel: the rest was rounding
    return MarginFit(beta, value, solution.bound, None, nu, solution.stopped_by, cuts)


def _alternate(
    planes: CuttingPlanes,
    weights: tuple[Floats, Floats],
    settings: MarginSettings,
    nu: Nu,
    limits: Limits,
    progress: Progress,
    history: MarginHistory,
    first: Floats | None,
) -> MarginFit:
    """Section 4.2: (9) at nu_c gives nu+, (7) at that nu+ the weights, and nu+ the next nu_c.

    The solution of (9) is feasible for (7), and that of (7) for the next (9): gamma never
    grows, and the search ends when it falls by less than the tolerance.
    """
    n, p = (float(weight.sum()) for weight in weights)
    nu_pos, best, stopped_by = nu.pos, None, "gap"
    history.gamma_path.clear()  # of a smaller epsilon that had no margin
    history.nu_pos_path.clear()
    while True:
        nu_pos = min(max(nu_pos, nu.pairs / n), p)
        rows = Nu(nu.pairs, nu.pairs / nu_pos, nu_pos)
        objective = RowsObjective(*weights, rows.neg, rows.pos)
        beta = first if best is None else best[1].beta
        solution, cuts = planes.solve(objective, limits, progress, beta)
        history.solutions.append(solution)
        stopped_by = solution.stopped_by
        # gamma is the value of a feasible distribution: the bound, not the weights' margin.
        if best is not None and solution.bound >= best[1].bound:
            break
        fell = np.inf if best is None else best[1].bound - solution.bound
        best = objective, solution, rows, cuts
        history.gamma_path.append(solution.bound)
        history.nu_pos_path.append(nu_pos)
        if fell <= limits.slack(solution.bound):
            break
        if stopped_by != "gap":
            break
        tangent = TangentObjective(*weights, nu.pairs, nu_pos)
        step, _ = planes.solve(tangent, limits, progress, solution.beta)
        history.solutions.append(step)
        if step.stopped_by not in ("gap", "no margin"):
            stopped_by = step.stopped_by
            break
        nu_pos = step.nu_pos
    objective, solution, rows, cuts = best
    solution = replace(solution, stopped_by=stopped_by)  # also where a later step ended early
    return _snapped(planes, objective, solution, settings, limits, rows, cuts)


def _warn(fit: MarginFit, settings: MarginSettings) -> None:
    """Say what a user would not expect."""
    message = None
    if fit.stopped_by != "gap":
        why = {
            "time limit": f"the time limit of {settings.time_limit:g} s was reached"
            if settings.time_limit is not None
            else "",
            "iterations": f"max_iter={settings.max_iter} was reached",
            "solver": "the linear program's solver failed",
        }[fit.stopped_by]
        message = (
            f"{why}; the weights so far have margin {fit.value:.6g}, and no others have more than "
            f"{fit.bound:.6g} (relative gap {fit.gap:.2g})"
        )
    elif not settings.soft_margin and fit.value <= NO_MARGIN:
        message = (
            f"no weights separate the classes; the largest margin is {fit.value:.6g}. "
            "soft_margin=True lets some pairs be wrong"
        )
    elif fit.value <= NO_MARGIN:
        message = (
            "no weights have a positive soft margin, and all scores may be alike; "
            "raise epsilon (or nu), or set relax=True"
        )
    elif fit.epsilon is not None and fit.epsilon > settings.epsilon:
        message = (
            f"epsilon={settings.epsilon:g} leaves next to no soft margin, and {fit.epsilon:g} was "
            "used; MarginRankerCV chooses it by cross-validation, relax=False keeps it"
        )
    if message:
        warnings.warn(message, MarginWarning, stacklevel=4)
