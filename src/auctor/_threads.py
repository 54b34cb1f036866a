"""A pool of threads. Kernels release the GIL, so that processes are not needed."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from numbers import Integral
from threading import Lock
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Number of threads: None means 1, -1 all cores, -2 all but one.

    Examples
    --------
    >>> resolve_n_jobs(None), resolve_n_jobs(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(
            f"n_jobs is {n_jobs!r}; give a positive number of threads, or -1 for all cores"
        )
    if n_jobs > 0:
        return int(n_jobs)
    # The cores that this process may use, not those of the machine.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (cores or 1) + 1 + int(n_jobs))


class _Job(Generic[Item, Result]):
    """Items that threads take one after another until none is left."""

    def __init__(self, function: Callable[[Item], Result], items: list[Item]) -> None:
        self._function, self._items = function, items
        self._results: list[Any] = [None] * len(items)
        self._errors: dict[int, BaseException] = {}
        self._n_items = self._limit = len(items)
        # The next number of a counter is taken by one thread only.
        self._next, self._n_ended = count(), count(1)
        self._is_done = Lock()
        self._is_done.acquire()

    def work(self) -> None:
        """Take items and keep their results; items after one that failed are only counted."""
        for i in self._next:
            if i >= self._limit:
                return
            try:
                # One before it still runs: its error would be the first, whoever was faster.
                if i < min(self._errors, default=self._n_items):
                    self._results[i] = self._function(self._items[i])
            except BaseException as error:  # the thread that waits raises it
                self._errors[i] = error
            if next(self._n_ended) == self._n_items:
                self._is_done.release()

    def run(self, pool: ThreadPoolExecutor, n_others: int) -> list[Result]:
        """Work, with other threads, until every item has ended."""
        try:
            for _ in range(n_others):
                pool.submit(self.work)
            self.work()
            self._is_done.acquire()
        except BaseException as error:  # Ctrl-C between two items: the others are not begun
            self._errors[-1] = error
        try:
            if self._errors:
                raise self._errors[min(self._errors)]
            return self._results
        finally:
            self._limit = 0
            # An error holds its frames, which hold this job with all items and results.
            self._errors.clear()


class Workers:
    """A pool of threads that maps a function over items; a single worker needs no thread.

    The thread that asks is one of the workers: as it would otherwise wake up when others end, it
    would interrupt a kernel on a machine whose cores are all at work.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.count = resolve_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.count - 1) if self.count > 1 else None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results in the order of the items; the first error is raised."""
        work = list(items)
        if self._pool is None or len(work) <= 1:
            return [function(item) for item in work]
        return _Job(function, work).run(self._pool, min(self.count, len(work)) - 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # After Ctrl-C waiting items are dropped; those that are running are short.
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
