"""Distinct values in ascending order with their counts: made of sorted values, and merged."""

import numpy as np

from auctor._typing import Floats, Ints
from auctor.kernels.jit import kernel


@kernel
def count_runs(ordered: Floats, values: Floats, counts: Ints) -> int:
    """The distinct values of a sorted column and how often each occurs; returns their number."""
    size = 0
    for i in range(len(ordered)):
        if size == 0 or ordered[i] != values[size - 1]:
            values[size] = ordered[i]
            counts[size] = 0
            size += 1
        counts[size - 1] += 1
    return size


@kernel
def merge_values(
    first: Floats,
    first_counts: Ints,
    second: Floats,
    second_counts: Ints,
    values: Floats,
    counts: Ints,
) -> int:
    """Merge two ascending lists of distinct values; counts (kinds, values) of equal ones are added.

    Returns the number of distinct values.
    """
    a, b, size = np.int64(0), np.int64(0), np.int64(0)
    while a < len(first) or b < len(second):
        takes_first = b == len(second) or (a < len(first) and first[a] <= second[b])
        takes_second = a == len(first) or (b < len(second) and second[b] <= first[a])
        values[size] = first[a] if takes_first else second[b]
        for kind in range(counts.shape[0]):
            count = np.int64(0)
            if takes_first:
                count += first_counts[kind, a]
            if takes_second:
                count += second_counts[kind, b]
            counts[kind, size] = count
        a += takes_first
        b += takes_second
        size += 1
    return size  # type: ignore[return-value]
