"""Bins of one column by quantiles, and the code (the number of the bin) of each value."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel


@inner_kernel
def _midpoint(low: float, high: float) -> float:
    """A cut with low <= cut < high; values at or below it are in the bin of ``low``."""
    cut = low / 2 + high / 2  # halves first, because the sum of two large values overflows
    return cut if low <= cut < high else low


@inner_kernel
def _end_of_run(ordered: Floats, start: int) -> int:
    """One past the last row with the value of row ``start``."""
    stop = start + 1
    while stop < len(ordered) and ordered[stop] == ordered[start]:
        stop += 1
    return stop


@inner_kernel
def _mass(weight: Ints, start: int, stop: int) -> Any:
    """The weight of rows start..stop; their number if ``weight`` is empty."""
    if len(weight) == 0:
        return stop - start
    total = np.int64(0)
    for i in range(start, stop):
        total += weight[i]
    return total


@inner_kernel
def _has_more_values(ordered: Floats, most: int) -> bool:
    """Whether there are more than ``most`` distinct values."""
    count = 0
    start = 0
    while start < len(ordered) and count <= most:
        start = _end_of_run(ordered, start)
        count += 1
    return count > most


@inner_kernel
def _count_heavy(ordered: Floats, weight: Ints, heavy_from: int) -> tuple[int, int, int]:
    """Count the values of weight ``heavy_from`` or more.

    Returns the number of these heavy values, the number of runs of lighter values that follow a
    heavy one, and the total weight of the lighter values.
    """
    heavy, stretches, light = 0, 0, 0
    after_heavy = False
    start = 0
    while start < len(ordered):
        stop = _end_of_run(ordered, start)
        mass = _mass(weight, start, stop)
        is_heavy = mass >= heavy_from
        heavy += is_heavy
        stretches += after_heavy and not is_heavy
        light += 0 if is_heavy else mass
        after_heavy = is_heavy
        start = stop
    return heavy, stretches, light


@inner_kernel
def _set_heavy_apart(ordered: Floats, weight: Ints, max_bins: int) -> tuple[int, int, int, int]:
    """The weight from which a value has a bin of its own, and the counts of _count_heavy for it.

    A value gets a bin of its own if it has the average weight of a bin. That leaves less weight for
    the other bins, so that more values may reach their average; this is repeated until none does,
    which seldom takes more than two passes.
    """
    heavy = -1
    n_heavy, stretches, light = 0, 0, _mass(weight, 0, len(ordered))
    heavy_from = 0
    while n_heavy > heavy:
        heavy = n_heavy
        bins = max_bins - heavy
        heavy_from = (light + bins - 1) // bins
        n_heavy, stretches, light = _count_heavy(ordered, weight, heavy_from)
    return heavy_from, heavy, stretches, light


@kernel
def find_cuts(ordered: Floats, weight: Ints, max_bins: int) -> Floats:
    """Cuts that divide a sorted column into at most ``max_bins`` bins of about equal weight.

    ``weight`` is in the same order, or empty if every row counts once. A value that is heavier
    than an average bin has a bin of its own, and the other values are divided among the remaining
    bins. All arithmetic is in integers, so that a row of weight 2 gives the same cuts as the row
    twice.
    """
    n = len(ordered)
    cuts = np.empty(max_bins - 1, dtype=np.float64)
    if _has_more_values(ordered, max_bins):
        # Bins are reserved for each heavy value, and for each run of light values after one.
        heavy_from, heavy_left, stretches_left, light = _set_heavy_apart(ordered, weight, max_bins)
    else:
        heavy_from, heavy_left, stretches_left, light = 0, 0, 0, 0  # a bin for every value
    held = 0  # light weight in the open bin; ``light`` is the light weight from this bin on
    bins = max_bins  # number of bins left, including the open one
    stop = _end_of_run(ordered, 0) if n else 0
    mass = _mass(weight, 0, stop)
    while stop < n:
        next_stop = _end_of_run(ordered, stop)
        next_mass = _mass(weight, stop, next_stop)
        heavy_next = next_mass >= heavy_from
        if mass >= heavy_from:
            heavy_left -= 1
            stretches_left -= not heavy_next
            closes = bins > 1
        else:
            held += mass
            if heavy_next:
                closes = bins > heavy_left
            else:
                is_full = held * (bins - heavy_left) >= light
                closes = is_full and bins > 1 + heavy_left + stretches_left
        if closes:
            cuts[max_bins - bins] = _midpoint(ordered[stop - 1], ordered[stop])
            bins -= 1
            light -= held
            held = 0
        stop, mass = next_stop, next_mass
    return cuts[: max_bins - bins].copy()


@inner_kernel
def _end_of_bin(ordered: Floats, start: int, cut: float) -> int:
    """One past the last row at or below ``cut``, by bisection from ``start`` on."""
    stop = len(ordered)
    while start < stop:
        middle = (start + stop) // 2
        if ordered[middle] <= cut:
            start = middle + 1
        else:
            stop = middle
    return start


@inner_kernel
def _middle_row(weight: Ints, start: int, stop: int) -> int:
    """The lower weighted median: the first row with half of the weight of its bin up to it."""
    if len(weight) == 0:
        return start + (stop - start - 1) // 2
    total = _mass(weight, start, stop)
    row = start
    held = weight[row]
    while 2 * held < total:
        row += 1
        held += weight[row]
    return row


@kernel
def find_centres(
    ordered: Floats,
    weight: Ints,
    cuts: Floats,
) -> Floats:
    """The lower weighted median of each bin of a sorted column; 0 for a bin without rows.

    ``weight`` is in the same order, or empty if every row counts once. All arithmetic is in
    integers, so that a row of weight 2 gives the same centres as the row twice.
    """
    n_bins = len(cuts) + 1
    centres = np.zeros(n_bins, dtype=np.float64)
    start = 0
    for i in range(n_bins):
        stop = _end_of_bin(ordered, start, cuts[i]) if i < len(cuts) else len(ordered)
        if start < stop:
            centre = ordered[_middle_row(weight, start, stop)]
            # 0 and -0 are the same value, and either may be the median.
            centres[i] = centre if centre != 0 else 0.0
        start = stop
    return centres


# Number of rows that are searched at the same time: one search waits for memory at every step, and
# several use that time (measured: 15 ms instead of 55 ms for a million rows).
_LANES = 8


@inner_kernel
def _pad(cuts: Floats) -> Floats:
    """The cuts, padded with infinities to a power of two, so that bisection needs no bounds."""
    size = 1
    while size <= len(cuts):
        size *= 2
    # A loop, because slices take Numba seconds to compile.
    padded = np.empty(size, dtype=np.float64)
    for i in range(size):
        padded[i] = cuts[i] if i < len(cuts) else np.inf
    return padded


@inner_kernel
def _find_bins(
    values: Floats,
    start: int,
    count: int,
    padded: Floats,
    bins: Ints,
) -> None:
    """Find the bin of each of ``count`` values (1 + the number of cuts below it); 0 for NaN.

    The bisection has no branches.
    """
    for i in range(count):
        bins[i] = 0
    bit = np.uint64(0)
    while len(padded) >> (bit + np.uint64(1)) > 0:
        bit += np.uint64(1)
    while bit > 0:
        bit -= np.uint64(1)
        before = (np.uint64(1) << bit) - np.uint64(1)
        for i in range(count):
            # The comparison is shifted and not multiplied, which would become a branch.
            k = np.uint64(bins[i])
            bins[i] = k + (np.uint64(padded[k + before] < values[start + i]) << bit)
    for i in range(count):
        x = values[start + i]
        bins[i] = (bins[i] + 1) * (not np.isnan(x))


@kernel
def code_numbers(
    values: Floats,
    cuts: Floats,
    positive: Bools,
    n_pos: int,
    codes: npt.NDArray[Any],
) -> None:
    """Write the bin of each value to ``codes``: first the positives, then the negatives.

    Within each class the order of the rows is kept.
    """
    padded = _pad(cuts)
    bins = np.empty(_LANES, dtype=np.int64)
    next_pos = 0
    next_neg = n_pos
    n = len(values)
    for start in range(0, n, _LANES):
        count = min(_LANES, n - start)
        _find_bins(values, start, count, padded, bins)
        for i in range(count):
            is_pos = int(positive[start + i])
            codes[next_neg + is_pos * (next_pos - next_neg)] = bins[i]
            next_pos += is_pos
            next_neg += 1 - is_pos


@kernel
def add_steps(
    values: Floats,
    cuts: Floats,
    steps: Floats,
    out: Floats,
) -> None:
    """Add the step of its bin to each row; ``steps[0]`` is for missing values."""
    padded = _pad(cuts)
    bins = np.empty(_LANES, dtype=np.int64)
    n = len(values)
    for start in range(0, n, _LANES):
        count = min(_LANES, n - start)
        _find_bins(values, start, count, padded, bins)
        for i in range(count):
            out[start + i] += steps[bins[i]]
