"""A pool of threads. Kernels release the GIL, so that processes are not needed."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from types import TracebackType
from typing import Self, TypeVar

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


class Workers:
    """A pool of threads that maps a function over items; a single worker needs no thread."""

    def __init__(self, n_jobs: int | None) -> None:
        self.count = resolve_n_jobs(n_jobs)
        self._pool = ThreadPoolExecutor(self.count) if self.count > 1 else None

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """The results in the order of the items."""
        work = list(items)
        if self._pool is None or len(work) == 1:
            return [function(item) for item in work]
        return list(self._pool.map(function, work))

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
