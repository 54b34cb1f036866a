"""ExactBoost (Csillag, Piazza, Ramos, Romano, Oliveira & Orenstein 2021).

Stumps are boosted on the metric itself, with the margin of equations (6) and (7): E runs of T
rounds (Algorithm 1), each round on a small sample of the rows; the score is the mean of the runs.
A rank metric depends only on the difference d = b - a of a stump's two values, so the search is
over d.
"""

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import ceil
from queue import SimpleQueue
from typing import Any

import numpy as np

from auctor._progress import Progress
from auctor._text import count
from auctor._typing import Floats
from auctor.data import RankingData, resolve_n_jobs
from auctor.exceptions import ExactBoostWarning
from auctor.kernels.exact.sample import TOP
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.finish import fill_missing_code, finish_additive
from auctor.learners.common.max_features import number_of_features
from auctor.learners.exact.certificate import certify
from auctor.learners.exact.metric import Judge, RankMetric, make_judge
from auctor.learners.exact.run import UNIT_RANGE, FinishedRun, Plan, Run, RunHistory
from auctor.learners.exact.table import ExactTable, gather
from auctor.models import AdditiveModel, on_grid


@dataclass(frozen=True)
class ExactBoostSettings:
    """Settings of a fit; the names are those of the estimator's parameters."""

    metric: str | RankMetric = "auc"
    k: float = 0.1
    margin: float = 0.05
    n_runs: int = 250
    n_estimators: int = 50
    subsample: float = 0.2
    max_samples_per_class: int | None = 1000
    balanced: bool = True
    max_features: Any = None
    search: str = "exact"
    gap_tol: float = 0.02
    delta: float = 0.05
    seed: int = 0
    keep_interrupted: bool = False
    n_jobs: int | None = None
    verbose: bool | int = False


@dataclass
class ExactBoostHistory:
    """All finished runs, and why the fit stopped."""

    runs: list[RunHistory] = field(default_factory=list)
    stopped_by: str = "n_runs"

    @property
    def n_steps(self) -> int:
        """Number of steps in all runs."""
        return sum(len(run.steps) for run in self.runs)

    @property
    def mean_losses(self) -> Floats:
        """The margin loss of all training rows after every round, averaged over the runs."""
        curves = [run.losses for run in self.runs if run.losses]
        return np.mean(curves, axis=0) if curves else np.empty(0)

    @property
    def start_weight(self) -> float:
        """The weight of the initial scores, rescaled to [0, 1], in the model's score."""
        return float(np.mean([run.start_weight for run in self.runs]))


def fit_exactboost(
    data: RankingData,
    settings: ExactBoostSettings,
    start: Floats | None = None,
    is_joined: bool = True,
    journal: Journal = NO_JOURNAL,
) -> tuple[AdditiveModel, ExactBoostHistory, Certificate]:
    """Boost stumps on a rank metric in several runs; the model is the mean of the runs.

    Parameters
    ----------
    data : RankingData
        The training rows.
    settings : ExactBoostSettings
        The settings of the fit.
    start : ndarray, optional
        An initial score for each row in the order of the table. The model holds only the steps that
        are added to it; in their sum the initial scores, rescaled to [0, 1], have the weight
        ``history.start_weight``.
    is_joined : bool, default=True
        Whether threshold and calibration are those of this sum, or of the steps alone.
    journal : Journal, optional
        What the fit notes of its finished runs.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 1, 0, 0, 1, 1])
    >>> settings = ExactBoostSettings(n_runs=3, n_estimators=4, subsample=0.8)
    >>> model, history, certificate = fit_exactboost(data, settings)
    >>> len(history.runs)
    3
    """
    table = gather(data)
    plan = make_plan(table, settings, data.mean_unit)
    scaled = to_unit(data, start)
    history = run_all(table, plan, settings, scaled, journal)
    tables = step_tables(data, table, history.runs)
    fill_missing_by_feature(table, tables)
    added = [] if scaled is None else by_partition(data, scaled * history.start_weight)
    model, _ = finish_additive(data, tables, added=added if is_joined else ())
    certificate = certify(table, plan, settings.delta, data, tables, added)
    return model, history, certificate


def make_plan(table: ExactTable, settings: ExactBoostSettings, unit: float) -> Plan:
    """The settings resolved for this table; raises an error if they do not fit."""
    judge = make_judge(settings.metric, settings.k, table, unit)
    n_drawn = sample_sizes(table, settings)
    _check_top(judge, table, n_drawn[0], unit)
    n_features = len(table.codes)
    fraction = number_of_features(settings.max_features, n_features) / n_features
    return Plan(
        judge=judge,
        theta=float(settings.margin),  # an int would make Numba compile every kernel again
        n_rounds=settings.n_estimators,
        n_drawn=n_drawn,
        n_views=ceil(fraction * table.n_views - 1e-9),
        search=settings.search,
        gap_tol=float(settings.gap_tol),
    )


def _check_top(judge: Judge, table: ExactTable, n_drawn: int, unit: float) -> None:
    """Raise an error if no drawn positive fits into the top: all stumps would be equally good."""
    each = float(table.weight[: table.n_pos].sum(dtype=np.int64)) / n_drawn
    if judge.number == TOP and judge.top < each:
        raise ValueError(
            f"k is {judge.top * unit:g} rows, but each positive row of a sample represents "
            f"{each * unit:.3g} rows, which is more than k; increase k, subsample or "
            "max_samples_per_class"
        )


def sample_sizes(table: ExactTable, settings: ExactBoostSettings) -> tuple[int, int]:
    """Number of positives and of negatives in a sample.

    Balanced samples have the same number of both, which is at most half of the rarer class unless
    ``subsample`` is larger: if it is very rare, samples that contained all of it would be too
    similar. Other samples have the proportion of the table.
    """
    sizes = (table.n_pos, table.n_neg)
    if settings.balanced:
        rare = max(settings.subsample, 0.5) * min(sizes)
        wanted = [min(settings.subsample * table.n_rows / 2, rare)] * 2
    else:
        wanted = [settings.subsample * n for n in sizes]
    most = settings.max_samples_per_class
    most = max(sizes) if most is None else most
    drawn = [min(round(size), most) for size in wanted]
    if min(drawn) < 1:
        name = "positive" if table.n_pos <= table.n_neg else "negative"
        raise ValueError(
            f"subsample is {settings.subsample:g}, which draws none of the "
            f"{count(min(sizes), f'{name} row')}; give {1.0 / min(sizes):.2g} or more"
        )
    return drawn[0], drawn[1]


def run_all(
    table: ExactTable,
    plan: Plan,
    settings: ExactBoostSettings,
    start: Floats | None,
    journal: Journal = NO_JOURNAL,
) -> ExactBoostHistory:
    """All runs, in threads.

    Ctrl-C ends them. It ends the fit as well, unless ``keep_interrupted`` asks for the finished
    runs.
    """
    stop = threading.Event()
    units = None if start is None else np.rint(start * UNIT_RANGE).astype(np.int64)
    log = journal.log(
        "runs", FinishedRun, lambda run: run.check(table, settings.n_runs, plan.n_rounds)
    )
    finished = {run.number: run.history for run in log.known}
    left = [number for number in range(settings.n_runs) if number not in finished]
    n_known = len(finished)
    progress = Progress(settings.n_runs, "ExactBoost", settings.verbose, resumed=n_known)
    for _ in range(n_known):
        progress.step()
    # A queue instead of futures: Ctrl-C while the main thread waits for a future can leave its
    # lock taken for ever.
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def run(number: int) -> None:
        try:
            if not stop.is_set():
                outcome = Run(table, plan, [settings.seed, number], units).rounds(stop.is_set)
                if outcome is not None:
                    finished[number] = outcome
                    log.add(FinishedRun(number, outcome))
            ended.put(None)
        except BaseException as error:
            ended.put(error)

    # A pool even for one thread, so that the main thread can receive Ctrl-C.
    pool = ThreadPoolExecutor(resolve_n_jobs(settings.n_jobs))
    stopped_by = "n_runs"
    try:
        for number in left:
            pool.submit(run, number)
        for _ in left:
            error = ended.get()
            if error is not None:
                raise error
            progress.step()
    except KeyboardInterrupt:
        stopped_by = "interrupted"
        if not settings.keep_interrupted:
            raise
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
        progress.close(stopped_by if stopped_by != "n_runs" else "")
    history = ExactBoostHistory([finished[number] for number in sorted(finished)], stopped_by)
    _warn_interrupted(history, settings)
    return history


def _warn_interrupted(history: ExactBoostHistory, settings: ExactBoostSettings) -> None:
    if history.stopped_by == "interrupted":
        if not history.runs:
            raise KeyboardInterrupt
        warnings.warn(
            f"the fit was interrupted; the model is the mean of {len(history.runs)} of "
            f"{settings.n_runs} runs",
            ExactBoostWarning,
            stacklevel=2,
        )


def step_tables(data: RankingData, table: ExactTable, runs: list[RunHistory]) -> list[Floats]:
    """The mean of the runs as one table of steps by code for each feature."""
    flat = np.zeros(data.n_codes)
    tables = [flat] * data.n_features
    for run in runs:
        for step in run.steps:
            j = step.feature
            if tables[j] is flat:
                tables[j] = np.zeros(data.n_codes)
            size = float(on_grid(np.array(step.size / run.scale / len(runs))))
            tables[j] += size * (table.ranks[step.view] > step.cut)
    flat.flags.writeable = False
    return tables


def to_unit(data: RankingData, start: Floats | None) -> Floats | None:
    """Initial scores rescaled to [0, 1], in the order of ``ExactTable``; None if all are equal."""
    if start is None:
        return None
    negative, positive = data.class_rows
    scores = start[np.concatenate([positive, negative])]
    low, reach = float(scores.min()), float(np.ptp(scores))
    if reach == 0.0:
        return None
    return (scores - low) / reach


def by_partition(data: RankingData, scores: Floats) -> list[Floats]:
    """Scores in the order of ``ExactTable``, rearranged for the rows of each partition."""
    negative, positive = data.class_rows
    by_row = np.zeros(1 + max(negative[-1], positive[-1]))
    by_row[np.concatenate([positive, negative])] = scores
    return [by_row[part.rows] for part in data.partitions]


def fill_missing_by_feature(table: ExactTable, tables: list[Floats]) -> None:
    """``fill_missing`` that counts one feature at a time, to save memory on wide tables."""
    for j, steps in enumerate(tables):
        if steps.any():
            fill_missing_code(table.code_weights(j, len(steps)), steps)
