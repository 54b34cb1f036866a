"""The one decorator that every kernel wears."""

from collections.abc import Callable
from typing import Any

import numba

# "contract" and "reassoc" let LLVM fuse and vectorise. The rest of fastmath is
# left out on purpose: "nnan" would make isnan() find nothing.
OPTIONS: dict[str, Any] = {"nogil": True, "fastmath": {"contract", "reassoc"}}


def kernel(function: Callable[..., Any]) -> Any:
    """Compile ``function`` on first use, cached on disk where a folder can be written."""
    try:
        return numba.njit(cache=True, **OPTIONS)(function)
    except RuntimeError:  # "no locator available": a read-only file system, no home
        return numba.njit(**OPTIONS)(function)
