"""SmoothAUCBoost: an additive score that maximises the smoothed AUC less its roughness.

Komori (2010), "A boosting method for maximization of the area under the ROC curve". The paper
climbs by stumps (``smooth_stagewise``); the same objective is maximised over all features at once
by ``smooth_newton``.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.finish import TrainingOrder, fill_missing, finish_additive, score_rows
from auctor.learners.progress import Progress
from auctor.learners.smooth_newton import Patience
from auctor.learners.smooth_objective import Point
from auctor.learners.smooth_penalty import Adapted
from auctor.learners.smooth_problem import Amounts, Problem, Settings
from auctor.metrics import auc
from auctor.models import AdditiveModel, on_grid

Floats = npt.NDArray[np.float64]


@dataclass
class History:
    """The climb: objective and smoothed AUC after each iteration, and what it was told.

    ``validation_auc`` is the AUC on held-out rows where there are any. ``adapted`` are each
    feature's multiples of the two penalties.
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


def fit_smooth(
    data: RankingData, settings: Settings, validation: RankingData | None = None
) -> tuple[AdditiveModel, History, Certificate]:
    """Maximise the penalised smoothed AUC on ``data``.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_smooth(data, Settings())
    >>> history.stopped_by
    'converged'
    """
    with Workers(settings.n_jobs) as workers:
        problem = Problem(data, settings, workers)
        adapted = problem.adapted()
        point, history = climb(problem, problem.amounts, adapted, validation)
    tables = [on_grid(table) for table in point.x.reshape(data.n_features, -1)]
    fill_missing(problem.histogram, tables)
    history.importances = _spreads(problem.roughness.share, np.array(tables))
    model, order = finish_additive(data, tables)
    return model, history, _certify(data, problem, point, history, order)


def climb(
    problem: Problem,
    amounts: Amounts,
    adapted: Adapted | None,
    validation: RankingData | None = None,
    start: Floats | None = None,
) -> tuple[Point, History]:
    """One fit with given penalties; with ``validation`` the best of the points on the way."""
    settings, history = problem.settings, History(amounts, adapted)
    progress = Progress(None, "SmoothAUCBoost", settings.verbose)
    held_out = _HeldOut(validation, settings.n_iter_no_change) if validation is not None else None

    def after(point: Point) -> bool:
        progress.step(f"objective {point.objective:.6f}")
        return held_out is not None and held_out.stop_after(point)

    patience = Patience(settings.tol, settings.max_iter, after)
    penalty = problem.roughness.weigh(*amounts, adapted)
    point, iterations = problem.climb(penalty, start, patience)
    progress.close(iterations.stopped_by)
    if held_out is not None:
        point, history.validation_auc = held_out.best or point, held_out.aucs
    history.objective, history.smoothed_auc = iterations.objective, iterations.smoothed_auc
    history.gain_left, history.stopped_by = iterations.gain_left, iterations.stopped_by
    history.n_evaluations = problem.sums.n_evaluations
    return point, history


def _spreads(share: Floats, tables: Floats) -> Floats:
    """Standard deviation of each feature's part of the score, both classes alike, as shares."""
    mean = np.einsum("jc,jc->j", share, tables)
    spread = np.sqrt(np.einsum("jc,jc->j", share, (tables - mean[:, None]) ** 2))
    total = float(spread.sum())
    return np.asarray(spread / total if total > 0 else spread)


class _HeldOut:
    """The AUC of held-out rows after each iteration, and the best point."""

    def __init__(self, data: RankingData, n_iter_no_change: int) -> None:
        self._data, self._patience = data, n_iter_no_change
        self._positive = np.concatenate([part.positive for part in data.partitions])
        self._weight = np.concatenate([part.weight for part in data.partitions])
        self.aucs: list[float] = []
        self.best: Point | None = None
        self._best_at = 0

    def stop_after(self, point: Point) -> bool:
        tables = list(point.x.reshape(self._data.n_features, -1))
        scores = np.concatenate([score_rows(part, tables) for part in self._data.partitions])
        self.aucs.append(auc(self._positive, scores, sample_weight=self._weight))
        if self.best is None or self.aucs[-1] > max(self.aucs[:-1]):
            self.best, self._best_at = point, len(self.aucs)
        return len(self.aucs) - self._best_at >= self._patience


def _certify(
    data: RankingData, problem: Problem, point: Point, history: History, order: TrainingOrder
) -> Certificate:
    """The objective at its maximum, how much is left to gain there, and what follows for the AUC.

    H(z) >= 2 Phi(z) - 1 for every z, ties counted as wrong: the AUC is at least 2 A - 1.
    """
    separating = _separating_features(data, problem.histogram)
    partial = problem.settings.fpr_range
    subject = "AUC" if partial is None else "partial AUC (FPR {:g} to {:g})".format(*partial)
    statement = (
        f"The smoothed {subject} of the training pairs is {point.smoothed_auc:.4g}, "
        f"{point.objective:.6g} less its penalty"
    )
    if history.stopped_by == "converged":
        statement += f", at a maximum: the next step would gain {history.gain_left:.1g} more. "
    else:
        statement += f" (stopped by {history.stopped_by}, not at its maximum). "
    least = max(0.0, 2 * point.smoothed_auc - 1)
    if partial is None:
        statement += (
            f"The AUC of the training pairs is {order.auc:.4g}, never below {least:.4g}, twice the "
            "smoothed one less 1."
        )
    if separating:
        statement += (
            f" Feature {separating[0]!r} separates the classes perfectly: without a penalty the "
            "smoothed AUC has no maximum (Komori's Theorem 1)."
        )
    values = {
        "smoothed_auc": point.smoothed_auc,
        "objective": point.objective,
        "penalty": point.smoothed_auc - point.objective,
        "gain_left": history.gain_left,
        "auc": order.auc,
        "least_auc": least,
        "n_evaluations": history.n_evaluations,
        "separating": separating,
    }
    return Certificate(statement, values)


def _separating_features(data: RankingData, histogram: npt.NDArray[np.int64]) -> list[str]:
    """Names of features of which no code holds rows of both classes on the wrong side of a cut."""
    found = []
    for feature, (negative, positive) in zip(
        data.features, histogram.transpose(1, 0, 2), strict=True
    ):
        has_neg, has_pos = np.flatnonzero(negative), np.flatnonzero(positive)
        if feature.is_category or min(has_neg[0], has_pos[0]) == 0:
            apart = not ((negative > 0) & (positive > 0)).any()
        else:
            apart = has_neg[-1] < has_pos[0] or has_pos[-1] < has_neg[0]
        if apart:
            found.append(feature.name)
    return found
