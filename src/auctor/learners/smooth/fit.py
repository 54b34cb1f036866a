"""SmoothAUCBoost: an additive score that maximises the smoothed AUC minus a roughness penalty.

Komori (2010), "A boosting method for maximization of the area under the ROC curve". The paper adds
stumps one at a time (``stagewise``); ``newton`` maximises the same objective over all features at
once. ``surfaces`` adds interactions of two features.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.data import RankingData, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.early_stopping import EarlyStopping
from auctor.learners.common.finish import fill_missing, finish_additive
from auctor.learners.smooth.certificate import SmoothHistory, add_screening, certify, widen_history
from auctor.learners.smooth.held_out import HeldOut
from auctor.learners.smooth.interactions import Pair, find_pairs, spreads
from auctor.learners.smooth.newton import Iterations, Patience
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.penalty import Adapted
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.screening import narrow, screen, widen
from auctor.learners.smooth.settings import Amounts, SmoothSettings
from auctor.learners.smooth.stagewise import boost
from auctor.learners.smooth.surfaces import JointProblem, Parts
from auctor.models import AdditiveModel, add_terms, on_grid


def fit_smooth(
    data: RankingData,
    settings: SmoothSettings,
    validation: RankingData | None = None,
    first: AdditiveModel | None = None,
    journal: Journal = NO_JOURNAL,
) -> tuple[AdditiveModel, SmoothHistory, Certificate]:
    """Maximise the penalised smoothed AUC on ``data``.

    Parameters
    ----------
    data : RankingData
        The training rows.
    settings : SmoothSettings
        The settings of the fit.
    validation : RankingData, optional
        Held-out rows for early stopping.
    first : AdditiveModel, optional
        A model that the fit adds to, F_0 in the paper; its scores are ``settings.offset``.
    journal : Journal, optional
        What the fit notes of its iterations.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_smooth(data, SmoothSettings())
    >>> history.stopped_by
    'converged'
    """
    kept = screen(data, settings)
    if kept is None:
        model, history, certificate = _fit_all(data, settings, validation, journal)
    else:
        few = data.take_features(kept)
        held_out = None if validation is None else validation.take_features(kept)
        model, history, certificate = _fit_all(few, narrow(settings, kept), held_out, journal)
        model, history = widen(model, data, kept), widen_history(history, kept, data.n_features)
        certificate = add_screening(certificate, len(kept), data.n_features)
    if first is not None:
        # The average of ``first`` over these rows is not known here: the estimator computes it.
        model = add_terms(model, replace(first, reference=None))
    return model, history, certificate


def _fit_all(
    data: RankingData,
    settings: SmoothSettings,
    validation: RankingData | None,
    journal: Journal,
) -> tuple[AdditiveModel, SmoothHistory, Certificate]:
    """A fit to all features of the data."""
    with Workers(settings.n_jobs) as workers:
        problem = Problem(data, settings, workers, journal)
        adapted = problem.adapted()
        point, history = climb(problem, problem.amounts, adapted, validation)
        point, parts = add_surfaces(problem, point, history, validation)
    tables = list(parts.tables)
    fill_missing(problem.histogram, tables)
    history.importances = _importances(problem.roughness.fraction, parts)
    model, order = finish_additive(data, tables, parts.surfaces, _added(problem, parts))
    return model, history, certify(problem, point, history, order)


def climb(
    problem: Problem,
    amounts: Amounts,
    adapted: Adapted | None,
    validation: RankingData | None = None,
    start: Floats | None = None,
) -> tuple[Point, SmoothHistory]:
    """One fit with given penalties.

    With ``validation`` it returns the point after the iteration that ranks these rows best.
    """
    history = SmoothHistory(amounts, adapted)
    watch = _Watch(problem, validation)
    penalty = problem.roughness.weigh(*amounts, adapted)
    iterations: Iterations
    if problem.settings.solver == "stagewise":
        n_rounds = problem.settings.n_estimators
        patience = watch.patience
        point, rounds = boost(
            problem,
            penalty,
            n_rounds=n_rounds,
            after=patience.after,
            journal=patience.journal,
            skipped=patience.skipped,
        )
        history.rounds, iterations = rounds.rounds, rounds
    else:
        point, iterations = problem.climb(penalty, start, watch.patience)
    point = watch.close(point, iterations, history)
    if validation is not None and problem.signs.any():
        # An earlier point was evaluated with the barrier, which does not belong to the objective.
        point = problem.evaluate(penalty, point.x)
    history.n_evaluations = problem.sums.n_evaluations
    return point, history


def _added(problem: Problem, parts: Parts) -> list[Floats]:
    """The sum of the surfaces and of the offset for each row, by partition."""
    offset, data = problem.settings.offset, problem.data
    out = [part.new_rows(np.float64, 0.0) for part in data.partitions]
    for more in (parts.added, [] if offset is None else [offset[p.rows] for p in data.partitions]):
        for score, values in zip(out, more, strict=len(more) > 0):
            score += values
    return out


def add_surfaces(
    problem: Problem, point: Point, history: SmoothHistory, validation: RankingData | None
) -> tuple[Point, Parts]:
    """The joint maximum with surfaces of the most useful pairs, or else the additive maximum."""
    most = problem.settings.interactions
    pairs = find_pairs(problem, point.x, most) if most > 0 else []
    if not pairs:
        return point, Parts(on_grid(point.x.reshape(problem.data.n_features, -1)))
    history.pairs = [pair.features for pair in pairs]
    history.usefulness = [pair.usefulness for pair in pairs]
    penalty = problem.roughness.weigh(*history.amounts, history.adapted)
    joint = JointProblem(problem, penalty, pairs)
    watch = _Watch(problem, validation, pairs)
    joint_point, iterations = joint.climb(point, watch.patience)
    history.n_evaluations = problem.sums.n_evaluations + joint.sums.n_evaluations
    best_before = max(history.validation_auc, default=-np.inf)
    joint_point = watch.close(joint_point, iterations, history)
    if validation is not None and max(watch.aucs, default=-np.inf) <= best_before:
        history.pairs, history.usefulness = [], []  # surfaces do not help on the held-out rows
        return point, Parts(on_grid(point.x.reshape(problem.data.n_features, -1)))
    if validation is not None and problem.signs.any():
        joint_point = joint.evaluate(joint_point.x)
    return joint_point, joint.parts(joint_point)


def _importances(fraction: Floats, parts: Parts) -> Floats:
    """Each feature's fraction of the spread of the scores, with half the spread of its surfaces."""
    out = spreads(fraction, parts.tables)
    for surface, spread in zip(parts.surfaces, parts.spreads, strict=True):
        out[list(surface.features)] += spread / 2
    total = float(out.sum())
    return np.asarray(out / total if total > 0 else out)


class _Best(NamedTuple):
    """The iteration, from 1, that ranks the held-out rows best, and its tables."""

    iteration: int
    x: Floats


class _Watch:
    """Follows the iterations: the progress bar, and early stopping if rows are held out."""

    def __init__(
        self, problem: Problem, validation: RankingData | None, pairs: Sequence[Pair] = ()
    ) -> None:
        settings, journal = problem.settings, problem.journal.numbered("climb")
        # Newton steps know how far they are; with early stopping or rounds nobody knows.
        is_known = validation is None and settings.solver == "newton"
        label, work = "SmoothAUCBoost", 1.0 if is_known else None
        self._progress = Progress(None, label, settings.verbose, work=work)
        self._done = self._told = 0.0
        self._held_out = None if validation is None else HeldOut(validation, settings, pairs)
        self._stopping = EarlyStopping(settings.n_iter_no_change)
        self._best: Point | None = None
        self._aucs = journal.log("aucs", float)
        self._kept_best = journal.latest("best", _Best)
        self.patience = Patience(
            settings.tol, settings.max_iter, self._after, self._watch, journal, self._skipped
        )

    @property
    def aucs(self) -> list[float]:
        """The AUC of the held-out rows after each iteration."""
        return self._stopping.aucs

    def _watch(self, done: float) -> None:
        self._done = max(self._done, done)  # a gain may also rise again

    def _after(self, point: Point) -> bool:
        self._progress.step(f"objective {point.objective:.6f}", self._done - self._told)
        self._told = self._done
        if self._held_out is None:
            return False
        held_out = self._held_out
        stop = self._stopping.stop_after(self._aucs.next(lambda: held_out.auc(point.x)))
        if self._stopping.is_at_best:
            self._best = point
            self._kept_best.set(_Best(len(self.aucs), point.x))
        return stop

    def _skipped(self, n_iterations: int, evaluate: Callable[[Floats], Point]) -> None:
        """Iterations of an earlier run, whose last AUC may be that of the next iteration."""
        self._progress.skip(n_iterations)
        if self._held_out is None:
            return
        for auc in self._aucs.take(n_iterations):
            self._stopping.stop_after(auc)
        best = self._kept_best.known
        # If the best point is that of the next iteration, that will find it again.
        if best is not None and best.iteration == self._stopping.best_round:
            self._best = evaluate(best.x)

    def close(self, point: Point, iterations: Iterations, history: SmoothHistory) -> Point:
        """Add the iterations to the history; returns the best point, or else the last one."""
        self._progress.close(iterations.stopped_by, is_complete=True)
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
