"""The search over cells (Csillag et al. 2021, Algorithm 2) for a rank metric of the user.

A kernel that takes a function as an argument cannot be cached on disk. The kernels of the search
are therefore compiled again, with another ``cell_bound`` among their globals.
"""

from collections.abc import Callable
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np

from auctor.kernels.exact import cells
from auctor.kernels.exact.sample import margin_of, nearest_to_zero
from auctor.kernels.jit import OPTIONS


class CustomSearch(NamedTuple):
    """The kernels of ``auctor.kernels.exact.cells`` for one metric, and the metric."""

    value: Callable[..., float]
    bisect_views: Callable[..., Any]
    search_views: Callable[..., Any]


def is_compiled(function: Any) -> bool:
    """Whether Numba has compiled a function, so that a kernel may call it."""
    return bool(getattr(numba.config, "DISABLE_JIT", 0)) or hasattr(function, "py_func")


@lru_cache(maxsize=16)  # compiling takes seconds, and cross-validation fits many times
def custom_search(value: Callable[..., float], bound: Callable[..., float]) -> CustomSearch:
    """Compile the search for a metric ``value(pos, neg)`` and its ``bound`` (see RankMetric)."""

    def cell_bound(metric, sample, rank_pos, rank_neg, cell, buffers):  # type: ignore[no-untyped-def]
        farthest = cell.high if abs(cell.high) > abs(cell.low) else cell.low
        stay = -margin_of(sample, nearest_to_zero(cell.low, cell.high))
        move = cell.high - margin_of(sample, cell.high)
        cut = cell.first_cut if move >= stay else cell.last_cut
        pos_high, neg_low = np.empty_like(sample.pos), np.empty_like(sample.neg)
        merge_sides(sample.pos, rank_pos, cut, stay, move, buffers, pos_high)
        cut = cell.first_cut if cell.low <= 0 else cell.last_cut
        merge_sides(sample.neg, rank_neg, cut, 0, cell.low, buffers, neg_low)
        if cell.first_cut == cell.last_cut and cell.low == cell.high:
            return float(value(pos_high, neg_low))
        stay = -margin_of(sample, farthest)
        move = cell.low - margin_of(sample, cell.low)
        pos_low, neg_high = np.empty_like(sample.pos), np.empty_like(sample.neg)
        cut = cell.first_cut if move <= stay else cell.last_cut
        merge_sides(sample.pos, rank_pos, cut, stay, move, buffers, pos_low)
        cut = cell.first_cut if cell.high >= 0 else cell.last_cut
        merge_sides(sample.neg, rank_neg, cut, 0, cell.high, buffers, neg_high)
        return float(bound(pos_low, pos_high, neg_low, neg_high))

    merge_sides = cells.merge_sides
    kernels: dict[str, Any] = {"cell_bound": numba.njit(**OPTIONS)(cell_bound)}
    for name in ("bisect", "best_first", "bisect_views", "search_views"):
        kernels[name] = _rebuilt(getattr(cells, name), kernels)
    return CustomSearch(value, kernels["bisect_views"], kernels["search_views"])


def _rebuilt(kernel: Any, names: dict[str, Any]) -> Any:
    """A copy of a kernel in which some global names have other values."""
    function = getattr(kernel, "py_func", kernel)  # a plain function if compiling is disabled
    copy = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
    return numba.njit(**OPTIONS)(copy)
