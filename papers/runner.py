"""Run the cases of an experiment that have no stored result, in one process or in several."""

import multiprocessing
import signal
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from types import TracebackType
from typing import Self

from threadpoolctl import threadpool_limits

from auctor._progress import Progress
from papers.experiment import Case, Experiment, Result, Setup
from papers.results import Results

FAILED = "failed with"

Done = tuple[Case, Result | Exception]


def run_experiment(
    experiment: Experiment,
    setup: Setup,
    results: Results,
    workers: "Workers",
    progress: Progress,
) -> dict[str, str]:
    """Run the remaining cases and return those that could not be run: case name -> reason."""
    obstacles: dict[str, str] = {}
    wanted = []
    for case in experiment.cases(setup):
        if case.name in results:
            continue
        reason = case.obstacle()
        if reason is None:
            wanted.append(case)
        else:
            obstacles[case.name] = reason
    wanted.sort(key=lambda case: case.turn)
    work = _in_turn(wanted) if experiment.is_timed else workers.run(wanted)
    for case, outcome in work:
        try:
            if isinstance(outcome, Exception):
                raise outcome
            results.add(case.name, outcome)
        except Exception as error:  # a failed case must not end a run of hours
            obstacles[case.name] = f"{FAILED} {type(error).__name__}: {error}"
        progress.step(f"{experiment.name}: {case.name}", work=case.cost)
    return obstacles


class Workers:
    """A pool of processes for the cases of a whole run; with one job, the current process.

    The processes start when they are first needed and end at once if the run is stopped or fails.
    """

    def __init__(self, n_jobs: int) -> None:
        self._n_jobs = n_jobs
        self._pool: ProcessPoolExecutor | None = None
        self._others = set(multiprocessing.active_children())

    def run(self, cases: Sequence[Case]) -> Iterator[Done]:
        """Yield cases with their results, in the order in which they finish."""
        if self._n_jobs <= 1 or len(cases) <= 1:
            return _in_turn(cases)
        return self._in_processes(cases)

    def _in_processes(self, cases: Sequence[Case]) -> Iterator[Done]:
        if self._pool is None:
            # Not forked: threads of OpenMP and of Numba do not survive a fork.
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(self._n_jobs, context, _start_process)
        futures = {self._pool.submit(case.work): case for case in cases}
        for future in as_completed(futures):
            error = future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error
            yield futures[future], error or future.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._pool is None:
            return
        self._pool.shutdown(wait=kind is None, cancel_futures=True)
        if kind is not None:
            for child in set(multiprocessing.active_children()) - self._others:
                child.terminate()


def _in_turn(cases: Sequence[Case]) -> Iterator[Done]:
    for case in cases:
        outcome: Result | Exception
        with warnings.catch_warnings(), threadpool_limits(1):
            # Other libraries warn about defaults that are used on purpose.
            warnings.simplefilter("ignore")
            try:
                outcome = case.work()
            except Exception as error:
                outcome = error
        yield case, outcome


def _start_process() -> None:
    """Use one thread, show no warnings, and leave Ctrl-C to the parent process."""
    import scipy.linalg  # noqa: F401 - only a BLAS that is loaded can be limited

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(1)
    warnings.simplefilter("ignore")
