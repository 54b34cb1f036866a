"""SmoothAUCBoost: an additive score that maximises the smoothed AUC less its roughness.

Komori (2010), "A boosting method for maximization of the area under the ROC curve". The paper
climbs by stumps (``smooth_stagewise``); the same objective is maximised over all features at once
by ``smooth_newton``. Interactions are ``smooth_surfaces``.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats, Indices, Ints
from auctor.data import RankingData, Workers
from auctor.exceptions import SmoothWarning
from auctor.learners.certificate import Certificate
from auctor.learners.common.early_stopping import EarlyStopping
from auctor.learners.common.finish import TrainingOrder, fill_missing, finish_additive
from auctor.learners.smooth.held_out import HeldOut
from auctor.learners.smooth.interactions import Pair, find_pairs, spreads
from auctor.learners.smooth.newton import Iterations, Patience
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.penalty import Adapted
from auctor.learners.smooth.problem import Amounts, Problem, Settings
from auctor.learners.smooth.screening import narrow, screen, spread_out, widen
from auctor.learners.smooth.stagewise import Round, boost
from auctor.learners.smooth.surfaces import JointProblem, Parts
from auctor.models import AdditiveModel, add_terms, on_grid

# A smoothed AUC this near 1 has its classes apart.
_SEPARATED = 1.0 - 1e-4


@dataclass
class History:
    """The climb: objective and smoothed AUC after each iteration, and what it was told.

    ``validation_auc`` is the AUC on held-out rows where there are any. ``adapted`` are each
    feature's multiples of the two penalties. ``pairs`` are the features of each surface, by
    position, and ``usefulness`` is what the scan expected of them; the joint climb's iterations
    follow those of the additive one. ``rounds`` are those of the stagewise solver. With monotone
    features ``objective`` holds the barrier that keeps them so, and starts anew with each stage.
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


def fit_smooth(
    data: RankingData,
    settings: Settings,
    validation: RankingData | None = None,
    first: AdditiveModel | None = None,
) -> tuple[AdditiveModel, History, Certificate]:
    """Maximise the penalised smoothed AUC on ``data``.

    ``first`` is a model that is added to, the paper's F_0; its scores are ``settings.offset``.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_smooth(data, Settings())
    >>> history.stopped_by
    'converged'
    """
    kept = screen(data, settings)
    if kept is not None:
        few = data.take_features(kept)
        held_out = None if validation is None else validation.take_features(kept)
        model, history, certificate = _fit_all(few, narrow(settings, kept), held_out)
        model, history = widen(model, data, kept), _widen_history(history, kept, data.n_features)
        statement = (
            f"{certificate.statement} {len(kept)} of the {data.n_features} features, those that "
            "tell the classes of the training rows apart best by themselves, took part."
        )
        certificate = Certificate(statement, {**certificate.values, "n_screened": len(kept)})
    else:
        model, history, certificate = _fit_all(data, settings, validation)
    if first is not None:
        # What ``first`` adds on average over these rows is not known here: an estimator finds it.
        model = add_terms(model, replace(first, reference=None))
    return model, history, certificate


def _widen_history(history: History, kept: Indices, n_features: int) -> History:
    """The history of a fit to some features, told of all of them."""
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


def _fit_all(
    data: RankingData, settings: Settings, validation: RankingData | None
) -> tuple[AdditiveModel, History, Certificate]:
    """A fit in which all features take part."""
    with Workers(settings.n_jobs) as workers:
        problem = Problem(data, settings, workers)
        adapted = problem.adapted()
        point, history = climb(problem, problem.amounts, adapted, validation)
        point, parts = _add_surfaces(problem, point, history, validation)
    tables = list(parts.tables)
    fill_missing(problem.histogram, tables)
    history.importances = _importances(problem.roughness.share, parts)
    model, order = finish_additive(data, tables, parts.surfaces, _added(problem, parts))
    return model, history, _certify(data, problem, point, history, order)


def climb(
    problem: Problem,
    amounts: Amounts,
    adapted: Adapted | None,
    validation: RankingData | None = None,
    start: Floats | None = None,
) -> tuple[Point, History]:
    """One fit with given penalties; with ``validation`` the best of the points on the way."""
    history = History(amounts, adapted)
    watch = _Watch(problem.settings, validation)
    penalty = problem.roughness.weigh(*amounts, adapted)
    iterations: Iterations
    if problem.settings.solver == "stagewise":
        n_rounds = problem.settings.n_estimators
        point, rounds = boost(problem, penalty, n_rounds=n_rounds, after=watch.patience.after)
        history.rounds, iterations = rounds.rounds, rounds
    else:
        point, iterations = problem.climb(penalty, start, watch.patience)
    point = watch.close(point, iterations, history)
    if validation is not None and problem.signs.any():  # kept on the way, inside a barrier
        point = problem.evaluate(penalty, point.x)
    history.n_evaluations = problem.sums.n_evaluations
    return point, history


def _added(problem: Problem, parts: Parts) -> list[Floats]:
    """What surfaces and the model to be added to add to each row, by partition."""
    offset, data = problem.settings.offset, problem.data
    out = [np.zeros(part.n_rows) for part in data.partitions]
    for more in (parts.added, [] if offset is None else [offset[p.rows] for p in data.partitions]):
        for score, values in zip(out, more, strict=len(more) > 0):
            score += values
    return out


def _add_surfaces(
    problem: Problem, point: Point, history: History, validation: RankingData | None
) -> tuple[Point, Parts]:
    """The joint maximum with surfaces of the most useful pairs; without any, the additive one."""
    most = problem.settings.interactions
    pairs = find_pairs(problem, point.x, most) if most > 0 else []
    if not pairs:
        return point, Parts(on_grid(point.x.reshape(problem.data.n_features, -1)))
    history.pairs = [pair.features for pair in pairs]
    history.usefulness = [pair.usefulness for pair in pairs]
    penalty = problem.roughness.weigh(*history.amounts, history.adapted)
    joint = JointProblem(problem, penalty, pairs)
    watch = _Watch(problem.settings, validation, pairs)
    joint_point, iterations = joint.climb(point, watch.patience)
    history.n_evaluations = problem.sums.n_evaluations + joint.sums.n_evaluations
    best_before = max(history.validation_auc, default=-np.inf)
    joint_point = watch.close(joint_point, iterations, history)
    if validation is not None and max(watch.aucs, default=-np.inf) <= best_before:
        history.pairs, history.usefulness = [], []  # held-out rows are ranked no better
        return point, Parts(on_grid(point.x.reshape(problem.data.n_features, -1)))
    if validation is not None and problem.signs.any():
        joint_point = joint.evaluate(joint_point.x)
    return joint_point, joint.parts(joint_point)


def _importances(share: Floats, parts: Parts) -> Floats:
    """The spread of each feature's part of the score, as shares; halves of its surfaces' count."""
    out = spreads(share, parts.tables)
    for surface, spread in zip(parts.surfaces, parts.spreads, strict=True):
        out[list(surface.features)] += spread / 2
    total = float(out.sum())
    return np.asarray(out / total if total > 0 else out)


class _Watch:
    """Looks on while a fit climbs: the progress bar, and the held-out rows if there are any."""

    def __init__(
        self, settings: Settings, validation: RankingData | None, pairs: Sequence[Pair] = ()
    ) -> None:
        self._progress = Progress(None, "SmoothAUCBoost", settings.verbose)
        self._held_out = None if validation is None else HeldOut(validation, settings, pairs)
        self._stopping = EarlyStopping(settings.n_iter_no_change)
        self._best: Point | None = None
        self.patience = Patience(settings.tol, settings.max_iter, self._after)

    @property
    def aucs(self) -> list[float]:
        """Of the held-out rows, after each iteration."""
        return self._stopping.aucs

    def _after(self, point: Point) -> bool:
        self._progress.step(f"objective {point.objective:.6f}")
        if self._held_out is None:
            return False
        stop = self._stopping.stop_after(self._held_out.auc(point.x))
        if self._stopping.is_at_best:
            self._best = point
        return stop

    def close(self, point: Point, iterations: Iterations, history: History) -> Point:
        """Write the climb into the history; returns the best of its points, or the last."""
        self._progress.close(iterations.stopped_by)
        history.objective += iterations.objective
        history.smoothed_auc += iterations.smoothed_auc
        history.gain_left, history.stopped_by = iterations.gain_left, iterations.stopped_by
        if self._held_out is None:
            return point
        history.validation_auc += self._stopping.aucs
        del history.rounds[self._stopping.best_round :]
        if self._best is None or self._stopping.is_at_best:
            return point
        history.stopped_by, history.gain_left = "early stopping", np.nan
        return self._best


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
        f"{point.objective:.6g} after its penalty"
    )
    unbounded = _has_no_maximum(problem, point, separating)
    if unbounded:
        statement += (
            ". It has no maximum: nothing holds back a score that separates the classes (Komori's "
            f"Theorem 1). The fit ended where a step would gain {history.gain_left:.1g} more."
        )
    elif history.stopped_by == "converged":
        statement += f", at a maximum: the next step would gain {history.gain_left:.1g} more."
    else:
        statement += f" (stopped by {history.stopped_by}, not at its maximum)."
    least = max(0.0, 2 * point.smoothed_auc - 1)
    if partial is None:
        statement += (
            f" The AUC of the training pairs is {order.auc:.4g}, never below {least:.4g}, twice "
            "the smoothed one less 1."
        )
    if separating and not unbounded:
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
        "has_maximum": not unbounded,
    }
    if unbounded:
        warnings.warn(
            "the smoothed AUC has no maximum here, the classes are separated and shrinkage is 0; "
            "the scores are finite, but as large as the solver let them grow: set shrinkage > 0",
            SmoothWarning,
            stacklevel=2,
        )
    return Certificate(statement, values)


def _has_no_maximum(problem: Problem, point: Point, separating: list[str]) -> bool:
    """Whether the classes are separated by what costs nothing however large it grows."""
    penalty, shrinkage, ridge = problem.amounts
    if shrinkage > 0.0 or (problem.settings.roughness == "bins" and penalty > 0.0):
        return False
    numbers = {f.name for f in problem.data.features if not f.is_category}
    free = [name for name in separating if name in numbers or ridge == 0.0]
    return bool(free) or point.smoothed_auc > _SEPARATED


def _separating_features(data: RankingData, histogram: Ints) -> list[str]:
    """Names of features of which no code holds rows of both classes on the wrong side of a cut."""
    found = []
    for feature, (negative, positive) in zip(
        data.features, histogram.transpose(1, 0, 2), strict=True
    ):
        apart = not ((negative > 0) & (positive > 0)).any()
        if apart and not feature.is_category:  # on the two sides of one cut, missing values apart
            neg, pos = np.flatnonzero(negative[1:]), np.flatnonzero(positive[1:])
            apart = len(neg) == 0 or len(pos) == 0 or neg[-1] < pos[0] or pos[-1] < neg[0]
        if apart:
            found.append(feature.name)
    return found
