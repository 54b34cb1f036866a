"""History and certificate of SmoothAUCBoost: the objective reached, and a bound on the AUC."""

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from auctor._typing import Floats, Indices, Ints
from auctor.data import RankingData
from auctor.exceptions import SmoothWarning
from auctor.learners.certificate import Certificate
from auctor.learners.common.finish import TrainingOrder
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.penalty import Adapted
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.screening import spread_out
from auctor.learners.smooth.settings import Amounts
from auctor.learners.smooth.stagewise import Round


@dataclass
class SmoothHistory:
    """What happened in each iteration of a fit of SmoothAUCBoost.

    Attributes
    ----------
    amounts : Amounts
        The weights of the penalties.
    adapted : Adapted or None
        Each feature's own multiples of these weights; None without ``adaptive``.
    objective, smoothed_auc : list of float
        The objective and the smoothed AUC after each iteration. The iterations of the joint fit
        with surfaces follow those of the additive fit. With monotone features the objective
        includes the barrier that keeps them monotone, whose weight is reduced in stages.
    validation_auc : list of float
        The AUC of the held-out rows after each iteration; empty without early stopping.
    gain_left : float
        What the next step would gain, to second order; NaN after early stopping.
    n_evaluations : int
        Number of evaluations of the objective.
    stopped_by : str
        Why the fit ended: "converged" at a maximum.
    importances : ndarray of shape (n_features,)
        Each feature's fraction of the spread of the scores.
    pairs : list of (int, int)
        The indices of the two features of each surface.
    usefulness : list of float
        The gain that the search for pairs expected of each surface.
    rounds : list of Round
        The rounds of the stagewise solver.
    """

    amounts: Amounts
    adapted: Adapted | None = None
    objective: list[float] = field(default_factory=list)
    smoothed_auc: list[float] = field(default_factory=list)
    validation_auc: list[float] = field(default_factory=list)
    gain_left: float = np.inf
    n_evaluations: int = 0
    stopped_by: str = "max_iter"
    importances: Floats = field(default_factory=lambda: np.empty(0))
    pairs: list[tuple[int, int]] = field(default_factory=list)
    usefulness: list[float] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)


def widen_history(history: SmoothHistory, kept: Indices, n_features: int) -> SmoothHistory:
    """The history of a fit to the features ``kept``, with entries for all ``n_features``."""
    adapted = history.adapted
    if adapted is not None:
        bend, slope = (spread_out(v, kept, n_features, 1.0) for v in (adapted.bend, adapted.slope))
        adapted = Adapted(bend, slope, spread_out(adapted.loose, kept, n_features, np.inf))
    return replace(
        history,
        adapted=adapted,
        importances=spread_out(history.importances, kept, n_features),
        pairs=[(int(kept[a]), int(kept[b])) for a, b in history.pairs],
    )


# A smoothed AUC above this means that the score separates the classes.
_SEPARATED = 1.0 - 1e-4


def certify(
    problem: Problem, point: Point, history: SmoothHistory, order: TrainingOrder
) -> Certificate:
    """The objective, what a further step would gain, and a lower bound on the training AUC.

    H(z) >= 2 Phi(z) - 1 for every z if ties count as wrong, so the AUC is at least 2 A - 1, where A
    is the smoothed AUC (Komori 2010).
    """
    separating = _separating_features(problem.data, problem.histogram)
    unbounded = _has_no_maximum(problem, point, separating)
    least = max(0.0, 2 * point.smoothed_auc - 1)
    sentences = [_objective_sentence(problem, point, history, unbounded)]
    if problem.settings.fpr_range is None:
        sentences.append(_auc_sentence(order.auc, point.smoothed_auc, least))
    if separating and not unbounded:
        sentences.append(
            f"Feature {separating[0]!r} separates the classes perfectly: without a penalty the "
            "smoothed AUC would have no maximum (Komori 2010, Theorem 1)."
        )
    values: dict[str, Any] = {
        "smoothed_auc": point.smoothed_auc,
        "objective": point.objective,
        "penalty": point.smoothed_auc - point.objective,
        "gain_left": history.gain_left,
        "auc": order.auc,
        "least_auc": least,
        "n_evaluations": history.n_evaluations,
        "separating": separating,
        "has_maximum": not unbounded,
    }
    if unbounded:
        _warn_no_maximum()
    return Certificate(" ".join(sentences), values)


def add_screening(certificate: Certificate, n_kept: int, n_features: int) -> Certificate:
    """The certificate of a fit to the screened features."""
    statement = (
        f"{certificate.statement} Only {n_kept} of the {n_features} features were fitted: those "
        "that separate the classes of the training rows best when used alone."
    )
    return Certificate(statement, {**certificate.values, "n_screened": n_kept})


def _objective_sentence(
    problem: Problem, point: Point, history: SmoothHistory, unbounded: bool
) -> str:
    partial = problem.settings.fpr_range
    subject = "AUC" if partial is None else "partial AUC (FPR {:g} to {:g})".format(*partial)
    statement = (
        f"The smoothed {subject} of the training pairs is {point.smoothed_auc:.4g}; the objective, "
        f"which subtracts the penalty, is {point.objective:.6g}"
    )
    if unbounded:
        return (
            f"{statement}. It has no maximum, because no penalty limits a score that separates the "
            "classes (Komori 2010, Theorem 1). The fit ended where a further step would gain "
            f"{history.gain_left:.1g}."
        )
    if history.stopped_by == "converged":
        return f"{statement}, at its maximum: a further step would gain {history.gain_left:.1g}."
    return f"{statement} (stopped by {history.stopped_by}, before its maximum)."


def _auc_sentence(auc: float, smoothed_auc: float, least: float) -> str:
    bound = f"2 x {smoothed_auc:.4g} - 1 = {least:.4g}" if least > 0.0 else "0"
    return f"The AUC of the training pairs is {auc:.4g}, at least {bound} (Komori's bound)."


def _warn_no_maximum() -> None:
    warnings.warn(
        "the smoothed AUC has no maximum: the classes are separated and shrinkage is 0; the scores "
        "are finite, but their size depends on where the solver stopped; set shrinkage > 0",
        SmoothWarning,
        stacklevel=3,
    )


def _has_no_maximum(problem: Problem, point: Point, separating: list[str]) -> bool:
    """Whether the classes are separated by a function that no penalty limits."""
    penalty, shrinkage, ridge = problem.amounts
    if shrinkage > 0.0 or (problem.settings.roughness == "bins" and penalty > 0.0):
        return False
    numbers = {f.name for f in problem.data.features if not f.is_category}
    free = [name for name in separating if name in numbers or ridge == 0.0]
    return bool(free) or point.smoothed_auc > _SEPARATED


def _separating_features(data: RankingData, histogram: Ints) -> list[str]:
    """Names of the features that separate the classes perfectly.

    No code holds rows of both classes, and for a number one cut separates them (missing values
    aside).
    """
    names = []
    for feature, (negative, positive) in zip(
        data.features, histogram.transpose(1, 0, 2), strict=True
    ):
        separates = not ((negative > 0) & (positive > 0)).any()
        if separates and not feature.is_category:
            neg, pos = np.flatnonzero(negative[1:]), np.flatnonzero(positive[1:])
            separates = len(neg) == 0 or len(pos) == 0 or neg[-1] < pos[0] or pos[-1] < neg[0]
        if separates:
            names.append(feature.name)
    return names
