"""Reads the arrays of a ROC curve in blocks, since they may be files that are larger than memory.

A sum is the exact sum of the sums of its blocks, rounded once. Blocks begin at the same points for
arrays in memory and in files, so that both give the same bits.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Any, overload

import numpy as np

from auctor._typing import Floats

# Points of a block: 2 MB for each array.
BLOCK = 2**18


def blocks(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices that cover the indices from 0 to n - 1."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def segments(n: int, size: int = BLOCK) -> Iterator[slice]:
    """Slices of n points; the last point of each is the first one of the next.

    Examples
    --------
    >>> list(segments(5, 2))
    [slice(0, 3, None), slice(2, 5, None)]
    """
    return (slice(start, min(start + size + 1, n)) for start in range(0, max(n - 1, 1), size))


def block_sum(n: int, of_block: Callable[[slice], Any]) -> float:
    """The sum over all segments of n points; ``of_block`` gives the terms of some of them."""
    return math.fsum(float(np.sum(of_block(part))) for part in segments(n))


def first_largest(n: int, of_block: Callable[[slice], Floats]) -> int:
    """The index of the largest value; of several, the first one."""
    best, best_value = 0, -math.inf
    for part in blocks(n):
        values = of_block(part)
        index = int(np.argmax(values))
        if values[index] > best_value:
            best, best_value = part.start + index, float(values[index])
    return best


class Axis:
    """A quantity that never falls along a curve: counts, or their sum, divided by a number.

    Values are computed when they are asked for, so that a search needs no array.

    Examples
    --------
    >>> axis = Axis((np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0, 2.0])), 4.0)
    >>> list(axis), axis.count_at_most(0.75), axis.count_below(0.75)
    ([0.0, 0.75, 1.0], 2, 1)
    """

    def __init__(self, counts: tuple[Floats, ...], divisor: float = 1.0) -> None:
        self._counts, self._divisor = counts, divisor

    def __len__(self) -> int:
        return len(self._counts[0])

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> Floats: ...
    def __getitem__(self, index: int | slice) -> float | Floats:
        total = self._counts[0][index]
        for counts in self._counts[1:]:
            total = total + counts[index]
        values = total if self._divisor == 1.0 else total / self._divisor
        return np.asarray(values) if isinstance(index, slice) else float(values)

    def count_at_most(self, value: float) -> int:
        """The number of points whose value is at most this."""
        return bisect_right(self, value)

    def count_below(self, value: float) -> int:
        """The number of points whose value is below this."""
        return bisect_left(self, value)

    def search(self, values: Floats) -> Any:
        """For each value, the number of points below it, as ``np.searchsorted`` gives."""
        if len(self) <= BLOCK:
            return np.searchsorted(self[:], values)
        return np.array([self.count_below(value) for value in values.tolist()], dtype=np.intp)


def interpolate(x: float, along: Axis, values: Axis, *, first: bool = False) -> float:
    """The value at x on the curve, linear between points; as ``np.interp`` computes it.

    Where several points lie at x it is the value of the last one, or of the ``first``.
    """
    before = along.count_below(x) if first else along.count_at_most(x)
    index = min(max(before - 1, 0), len(along) - 2)
    pair = slice(index, index + 2)
    return float(np.interp(x, along[pair], values[pair]))


def count_from(thresholds: Floats, threshold: float) -> int:
    """The number of thresholds, which fall, that are at or above this one."""
    return bisect_right(range(len(thresholds)), -threshold, key=lambda i: -float(thresholds[i]))


def area_between(
    along: Axis, height: Axis, low: float, high: float, *, is_flipped: bool = False
) -> float:
    """Integral over [low, high] of the piecewise linear function through points of rising x.

    ``is_flipped`` integrates 1 minus the height.
    """

    def areas(part: slice) -> Floats:
        x, y = along[part], height[part]
        y = 1 - y if is_flipped else y
        width = np.diff(x)
        left = np.clip(x[:-1], low, high)
        right = np.clip(x[1:], low, high)
        slope = np.divide(np.diff(y), width, out=np.zeros_like(width), where=width > 0)
        middle = y[:-1] + slope * ((left + right) / 2 - x[:-1])
        return np.asarray(middle * (right - left))

    return block_sum(len(along), areas)
