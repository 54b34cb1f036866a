"""Shared fixtures: where the real tables are, if they are there at all; a cache to share."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from numba.core.caching import IndexDataCacheFile

try:
    import fcntl
except ImportError:  # Windows: run the tests in one process
    fcntl = None  # type: ignore[assignment]

# Kernels compile on first use, so that the first example of a property can be slow.
settings.register_profile("auctor", deadline=None, derandomize=True)
settings.load_profile("auctor")


def one_process_at_a_time(method: Callable[..., Any]) -> Callable[..., Any]:
    """The method of Numba's cache, under a lock on the cache's folder."""

    @wraps(method)
    def locked(self: IndexDataCacheFile, *arguments: Any) -> Any:
        with (Path(self._cache_path) / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return method(self, *arguments)

    return locked


# Numba reads a kernel's index, adds a line, writes it back, and only then writes the code. Two
# processes that compile a kernel for two types in the same moment can both choose one name for
# their code, and from then on one of the types runs the code of the other.
if fcntl is not None:
    for name in ("save", "load"):
        method = getattr(IndexDataCacheFile, name)
        setattr(IndexDataCacheFile, name, one_process_at_a_time(method))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real tables named by AUCTOR_DATA; tests that need it skip without."""
    folder = os.environ.get("AUCTOR_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("AUCTOR_DATA does not name a folder of tables")
    return Path(folder)
