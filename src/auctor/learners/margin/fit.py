"""The weights of given hypotheses with the largest soft margin (Suehiro et al. 2011).

Suehiro, Hatano & Takimoto maximise the AUC through a 1-norm soft margin over pairs.
``method="pairs"`` solves their problem (2) over all pairs exactly (see ``cutting_planes.py``).
"reduced" solves (7), with caps for the rows of each class. "heuristic" alternates between (9) and
(7) to find the best cap of the positives (section 4.2). The hard margin (4) is found through (5),
by Theorem 2.
"""

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import sqrt
from time import monotonic

import numpy as np
from threadpoolctl import ThreadpoolController

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.exceptions import MarginWarning
from auctor.learners.certificate import Certificate
from auctor.learners.margin.certificate import certify_margin
from auctor.learners.margin.cutting_planes import Cuts, CuttingPlanes, Limits, Solution
from auctor.learners.margin.hypotheses import DirectedHypotheses, Hypotheses
from auctor.learners.margin.objectives import (
    Objective,
    PairsObjective,
    RowsObjective,
    TangentObjective,
)
from auctor.learners.margin.problems import MarginProblem
from auctor.learners.margin.settings import MarginFit, MarginHistory, MarginSettings, Nu
from auctor.learners.margin.snap import snap
from auctor.models import Model

# A soft margin up to this counts as 0, which weights that cancel each other have.
NO_MARGIN = 1e-9

# Epsilon is raised if the soft margin is below this part of the largest difference of means, which
# is the margin at epsilon = 1: with such a small margin, the weights depend on single rows.
_LEAST_MARGIN = 0.01


def fit_margin(
    problem: MarginProblem, settings: MarginSettings
) -> tuple[Model, MarginHistory, Certificate]:
    """The model with the largest margin over the hypotheses of a problem.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> from auctor.learners.margin.problems import StumpProblem
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> _, history, _ = fit_margin(StumpProblem(data), MarginSettings(epsilon=0.75))
    >>> history.beta.round(3).tolist()
    [1.0, 0.0, 0.0]
    """
    fit, history = largest_margin(problem.hypotheses, settings)
    return problem.model(fit.beta), history, certify_margin(problem, fit, settings)


def largest_margin(
    hypotheses: Hypotheses, settings: MarginSettings, start: MarginFit | None = None
) -> tuple[MarginFit, MarginHistory]:
    """The weights with the largest margin; ``start`` is a fit with a larger epsilon, if given."""
    # One thread for products of matrices: with several, the last bits depend on their number, and
    # the products are too small to be faster with more.
    with _libraries().limit(limits=1, user_api="blas"):
        return _fit(hypotheses, settings, start)


@cache
def _libraries() -> ThreadpoolController:
    """The libraries with threads of their own; looking for them takes longer than a small fit.

    Products of matrices here are NumPy's, whose BLAS is loaded before this module.
    """
    return ThreadpoolController()


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
    history.beta, history.epsilon = fit.beta, fit.epsilon
    return fit, history


def _inseparable(
    hypotheses: Hypotheses,
    settings: MarginSettings,
    limits: Limits,
    progress: Progress,
    history: MarginHistory,
) -> MarginFit:
    """The largest hard margin, below 0, if no weights separate the classes.

    Weights that cancel each other have margin 0 and no use. Therefore each hypothesis may only have
    the sign of its difference of means, and there is no constant to take up weight.
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
    """Whether a number of pairs or rows was given in place of epsilon."""
    return any(nu is not None for nu in (settings.nu, settings.nu_pos, settings.nu_neg))


def _epsilons(settings: MarginSettings) -> Iterator[float | None]:
    """The epsilon of the settings, then larger ones if ``relax`` is set."""
    if not settings.soft_margin or _is_given(settings):
        yield None
        return
    yield settings.epsilon
    if settings.relax:
        yield from (e / 10 for e in range(1, 11) if e / 10 > settings.epsilon)


def find_nu(hypotheses: Hypotheses, settings: MarginSettings, epsilon: float | None) -> Nu:
    """How many pairs and rows may miss the margin; ValueError if the settings do not fit."""
    n, p = float(hypotheses.weight_neg.sum()), float(hypotheses.weight_pos.sum())
    if not settings.soft_margin:
        if _is_given(settings):
            raise ValueError(
                "nu, nu_pos and nu_neg are given with soft_margin=False, which lets no pair miss "
                "the margin; give soft_margin=True, or none of them"
            )
        return Nu(0.0, 0.0, 0.0)
    fraction = sqrt(epsilon) if epsilon is not None else 0.0
    if settings.method == "pairs":
        if settings.nu_pos is not None or settings.nu_neg is not None:
            raise ValueError(
                "nu_pos or nu_neg is given with method='pairs'; give nu, or method='reduced'"
            )
        nu = settings.nu if settings.nu is not None else fraction**2 * p * n
        _check("nu", nu, p * n, "pairs", settings.nu is not None)
        return Nu(nu, 0.0, 0.0)
    if settings.nu is not None and settings.method == "reduced":
        raise ValueError(
            "nu is given with method='reduced'; give nu_pos and nu_neg, or method='pairs'"
        )
    if settings.method == "heuristic":
        if settings.nu_pos is not None or settings.nu_neg is not None:
            raise ValueError(
                "nu_pos or nu_neg is given with method='heuristic', which chooses them; give "
                "epsilon or nu"
            )
        nu = settings.nu if settings.nu is not None else fraction**2 * p * n
        _check("nu", nu, p * n, "pairs", settings.nu is not None)
        return Nu(nu, sqrt(nu / (p * n)) * n, sqrt(nu / (p * n)) * p)
    fraction = sqrt(settings.epsilon) if epsilon is None else fraction
    nu_pos = settings.nu_pos if settings.nu_pos is not None else fraction * p
    nu_neg = settings.nu_neg if settings.nu_neg is not None else fraction * n
    _check("nu_pos", nu_pos, p, "positive rows", settings.nu_pos is not None)
    _check("nu_neg", nu_neg, n, "negative rows", settings.nu_neg is not None)
    return Nu(nu_pos * nu_neg, nu_neg, nu_pos)


def _check(name: str, nu: float, most: float, what: str, is_given: bool) -> None:
    if is_given and not 1.0 <= nu <= most:
        raise ValueError(
            f"{name} is {nu:g}; give a number from 1 to {most:g}, the number of {what} (by "
            "weight), or give epsilon instead"
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
    """The solution with nearly equal weights made equal, if it stays within the tolerance."""
    least = min(solution.bound - limits.slack(solution.bound), solution.value)
    beta = snap(solution.beta, lambda b: planes.value(objective, b), least, settings.grid)
    value = planes.value(objective, beta)
    may_cancel = settings.constant or settings.negations
    if may_cancel and value <= NO_MARGIN and solution.stopped_by == "gap":
        beta, value = np.zeros(len(beta)), 0.0  # the weights cancel each other, up to rounding
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
    """Section 4.2: alternate (9), which gives nu+ at nu_c, and (7), the weights at nu_c = nu+.

    The solution of (9) is feasible for (7), and that of (7) for the next (9). So gamma never
    increases, and the search ends when it decreases by less than the tolerance.
    """
    n, p = (float(weight.sum()) for weight in weights)
    nu_pos, best, stopped_by = nu.pos, None, "gap"
    history.gamma_path.clear()  # they are of a smaller epsilon, which had no margin
    history.nu_pos_path.clear()
    while True:
        nu_pos = min(max(nu_pos, nu.pairs / n), p)
        rows = Nu(nu.pairs, nu.pairs / nu_pos, nu_pos)
        objective = RowsObjective(*weights, rows.neg, rows.pos)
        beta = first if best is None else best[1].beta
        solution, cuts = planes.solve(objective, limits, progress, beta)
        history.solutions.append(solution)
        stopped_by = solution.stopped_by
        # gamma is the value of a feasible distribution: the bound, not the margin of the weights.
        if best is not None and solution.bound >= best[1].bound:
            break
        decrease = np.inf if best is None else best[1].bound - solution.bound
        best = objective, solution, rows, cuts
        history.gamma_path.append(solution.bound)
        history.nu_pos_path.append(nu_pos)
        if decrease <= limits.slack(solution.bound):
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
    solution = replace(solution, stopped_by=stopped_by)  # also if a later step ended early
    return _snapped(planes, objective, solution, settings, limits, rows, cuts)


def _warn(fit: MarginFit, settings: MarginSettings) -> None:
    """Warn of results that a user would not expect."""
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
            f"{why} before the largest margin was found: the margin is {fit.value:.6g}, and no "
            f"weights have more than {fit.bound:.6g} (relative gap {fit.gap:.2g})"
        )
    elif not settings.soft_margin and fit.value <= NO_MARGIN:
        message = (
            f"no weights separate the classes; the largest margin is {fit.value:.6g}. Set "
            "soft_margin=True to let some pairs miss the margin"
        )
    elif fit.value <= NO_MARGIN:
        message = (
            "no weights have a positive soft margin, and all scores may be equal; give a larger "
            "epsilon (or nu), or relax=True"
        )
    elif fit.epsilon is not None and fit.epsilon > settings.epsilon:
        message = (
            f"epsilon={settings.epsilon:g} leaves almost no soft margin, and {fit.epsilon:g} was "
            "used instead; give relax=False to keep it, or use MarginRankerCV, which chooses it by "
            "cross-validation"
        )
    if message:
        warnings.warn(message, MarginWarning, stacklevel=4)
