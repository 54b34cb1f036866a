"""The decorator of every kernel, and the cache of compiled kernels on disk."""

import hashlib
import pickle
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import CPUDispatcher

# No fastmath: it lets the compiler fuse multiplications with additions and reorder sums, so that
# the last bits of a model would depend on the processor. No entry for C: nobody calls from there,
# and it takes a tenth of the time of compiling.
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": False, "no_cfunc_wrapper": True}

_DIGEST = hashlib.sha256().digest_size


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` on first use, and cache it on disk if a folder can be written."""
    return _compile(function, OPTIONS)


def inner_kernel(function: Callable[..., Any]) -> Any:
    """A `kernel` that only other kernels call: without an entry for Python it compiles sooner."""
    compiled = _compile(function, {**OPTIONS, "no_cpython_wrapper": True})
    if isinstance(compiled, CPUDispatcher):  # not if compiling is disabled
        compiled.__class__ = InnerKernel
    return compiled


class InnerKernel(CPUDispatcher):
    """A compiled function that refuses calls from Python, which would crash the process."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse the call."""
        name = self.py_func.__name__
        raise TypeError(f"{name} is called by kernels only; decorate it with @kernel")


def _compile(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        compiled = numba.njit(cache=True, **options)(function)
    except (RuntimeError, OSError):  # "no locator available": a read-only file system, no home
        return numba.njit(**options)(function)
    cache = getattr(compiled, "_cache", None)  # None if compiling is disabled
    if cache is not None:
        cache.__class__ = SafeCache
        file = cache._cache_file
        file.__class__ = SharedCacheFile
        file._source_stamp = file._source_stamp, tree_stamp(Path(function.__code__.co_filename))
    return compiled


def tree_stamp(file: Path) -> bytes:
    """Hash of every Python file in the ``kernels`` package, or in the folder of another file.

    Numba compiles a kernel again when its own file has changed. The kernels that it calls are
    compiled into it, also from other files and folders, so that a change in any of them counts.
    """
    package = Path(__file__).parent
    return _hash_tree(package if file.is_relative_to(package) else file.parent)


@lru_cache(maxsize=16)
def _hash_tree(folder: Path) -> bytes:
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("[!.]*.py")):  # the lock file of an editor begins with a dot
        with suppress(OSError):
            name = path.relative_to(folder).as_posix()
            digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.digest()


class SafeCache(FunctionCache):
    """Numba's cache of one function, which is skipped if it cannot be read or written.

    A full disk, a read-only folder or a truncated file must not stop a fit.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Compiled code, or None if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # pickle raises exceptions of many types for a damaged file
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save compiled code, if that is possible."""
        with suppress(Exception):
            super().save_overload(sig, data)


class SharedCacheFile(IndexDataCacheFile):
    """Numba's cache of one function, safe for processes that compile at the same time.

    Numba reads the index, takes the next free number as the name of a file, writes the index, and
    then the code. Two processes that compile a function for two types can take the same number, and
    then one of the types runs the code of the other. Here every name is unique, and code is written
    before the index refers to it, so that a conflict costs no more than another compilation.

    The file of machine code begins with its checksum, because damaged code could crash the process
    or compute wrong results.
    """

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # damaged: the next save replaces it
            return {}

    def _save_data(self, name: str, data: Any) -> None:
        packed = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(packed).digest() + packed)

    def _load_data(self, name: str) -> Any:
        content = Path(self._data_path(name)).read_bytes()
        packed = content[_DIGEST:]
        if hashlib.sha256(packed).digest() != content[:_DIGEST]:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(packed)

    def save(self, key: Any, data: Any) -> None:
        """Save the code of one signature."""
        name = self._data_name(uuid.uuid4().int)
        self._save_data(name, data)
        overloads = self._load_index()
        stale = [] if overloads else self._stale_names()
        overloads[key] = name
        self._save_index(overloads)
        for old in stale:
            with suppress(OSError):
                Path(self._data_path(old)).unlink()

    def _stale_names(self) -> list[str]:
        """Files of an index that belongs to older sources; they will not be used again."""
        with suppress(Exception):
            with Path(self._index_path).open("rb") as file:
                if pickle.load(file) != self._version:
                    return []
                stamp, overloads = pickle.load(file)
            return [] if stamp == self._source_stamp else list(overloads.values())
        return []
