"""Quantile bins of one column, and the code of each of its rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


@kernel
def _midpoint(low: float, high: float) -> float:
    """A cut with low <= cut < high: rows at or below it stay with ``low``."""
    cut = low / 2 + high / 2  # halves first: the sum of two large values overflows
    return cut if low <= cut < high else low


@kernel
def _count_distinct(ordered: npt.NDArray[np.float64], limit: int) -> int:
    """Number of distinct values in sorted order; stops counting above ``limit``."""
    count = 1
    for i in range(1, len(ordered)):
        if ordered[i] != ordered[i - 1]:
            count += 1
            if count > limit:
                break
    return count


@kernel
def _exact_cuts(ordered: npt.NDArray[np.float64], n_distinct: int) -> npt.NDArray[np.float64]:
    """A cut between every two neighbouring distinct values."""
    cuts = np.empty(n_distinct - 1, dtype=np.float64)
    found = 0
    for i in range(1, len(ordered)):
        if ordered[i] != ordered[i - 1]:
            cuts[found] = _midpoint(ordered[i - 1], ordered[i])
            found += 1
    return cuts


@kernel
def find_cuts(
    ordered: npt.NDArray[np.float64], weight: npt.NDArray[np.int64], max_bins: int
) -> npt.NDArray[np.float64]:
    """Cuts that give at most ``max_bins`` bins of about equal weight to a sorted column.

    ``weight`` stands in the same order, or is empty where every row counts once. Each
    bin takes its share of what is left, so that a heavy value does not starve the bins
    after it, and a value heavier than a share stands alone. All arithmetic is in
    integers: a row of weight 2 gives the same cuts as the row twice.
    """
    n = len(ordered)
    if n == 0:
        return np.empty(0, dtype=np.float64)
    n_distinct = _count_distinct(ordered, max_bins)
    if n_distinct <= max_bins:
        return _exact_cuts(ordered, n_distinct)
    weighted = len(weight) > 0
    rest = np.int64(n)
    if weighted:
        rest = weight.sum()
    rest_bins = max_bins
    held = np.int64(0)  # weight in the bin being filled
    cuts = np.empty(max_bins - 1, dtype=np.float64)
    found = 0
    start = 0
    while start < n and rest_bins > 1:
        stop = start
        group = np.int64(0)
        while stop < n and ordered[stop] == ordered[start]:
            group += weight[stop] if weighted else np.int64(1)
            stop += 1
        if held > 0 and group * rest_bins >= rest:
            cuts[found] = _midpoint(ordered[start - 1], ordered[start])
            found += 1
            rest -= held
            rest_bins -= 1
            held = np.int64(0)
        held += group
        if stop < n and rest_bins > 1 and held * rest_bins >= rest:
            cuts[found] = _midpoint(ordered[stop - 1], ordered[stop])
            found += 1
            rest -= held
            rest_bins -= 1
            held = np.int64(0)
        start = stop
    return cuts[:found].copy()


# Rows whose searches run side by side: one search waits for memory at every step,
# several of them fill that time (measured: 15 ms instead of 55 ms for a million rows).
_LANES = 8


@kernel
def _pad(cuts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The cuts, filled up with infinities to a power of two, so that halving needs no ends."""
    size = 1
    while size <= len(cuts):
        size *= 2
    padded = np.full(size, np.inf)
    padded[: len(cuts)] = cuts
    return padded


@kernel
def _find_bins(
    values: npt.NDArray[np.float64],
    start: int,
    count: int,
    padded: npt.NDArray[np.float64],
    bins: npt.NDArray[np.int64],
) -> None:
    """1 + the number of cuts below each of ``count`` values, without branches; NaN gives 0."""
    bins[:] = 0
    half = len(padded) >> 1
    while half > 0:
        for i in range(count):
            bins[i] += half * (padded[bins[i] + half - 1] < values[start + i])
        half >>= 1
    for i in range(count):
        x = values[start + i]
        bins[i] = (bins[i] + 1) * (not np.isnan(x))


@kernel
def code_numbers(
    values: npt.NDArray[np.float64],
    cuts: npt.NDArray[np.float64],
    positive: npt.NDArray[np.bool_],
    n_pos: int,
    codes: npt.NDArray[Any],
) -> None:
    """Write the bin of each value, positives to the front of ``codes``, order kept."""
    padded = _pad(cuts)
    bins = np.empty(_LANES, dtype=np.int64)
    place_pos = 0
    place_neg = n_pos
    n = len(values)
    for start in range(0, n, _LANES):
        count = min(_LANES, n - start)
        _find_bins(values, start, count, padded, bins)
        for i in range(count):
            is_pos = np.int64(positive[start + i])
            codes[place_neg + is_pos * (place_pos - place_neg)] = bins[i]
            place_pos += is_pos
            place_neg += 1 - is_pos


@kernel
def add_steps(
    values: npt.NDArray[np.float64],
    cuts: npt.NDArray[np.float64],
    steps: npt.NDArray[np.float64],
    out: npt.NDArray[np.float64],
) -> None:
    """Add to each row the step of its bin; ``steps[0]`` is for missing values."""
    padded = _pad(cuts)
    bins = np.empty(_LANES, dtype=np.int64)
    n = len(values)
    for start in range(0, n, _LANES):
        count = min(_LANES, n - start)
        _find_bins(values, start, count, padded, bins)
        for i in range(count):
            out[start + i] += steps[bins[i]]
