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
def _runs(
    ordered: npt.NDArray[np.float64], weight: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The last row of each run of equal values, and the weight of the run."""
    n = len(ordered)
    last = np.empty(n, dtype=np.int64)
    mass = np.empty(n, dtype=np.int64)
    weighted = len(weight) > 0
    found = 0
    held = np.int64(0)
    for i in range(n):
        held += weight[i] if weighted else np.int64(1)
        if i == n - 1 or ordered[i + 1] != ordered[i]:
            last[found] = i
            mass[found] = held
            held = np.int64(0)
            found += 1
    return last[:found], mass[:found]


@kernel
def _least_heavy(mass: npt.NDArray[np.int64], max_bins: int) -> int:
    """The weight at which a value fills a bin by itself; above all weights if none does.

    The heaviest value is set apart if it holds its share, then the next one if it holds
    its share of what is left to the bins that are left, and so on.
    """
    rest = mass.sum()
    limit = rest + 1
    if mass.max() * max_bins < rest:  # the usual case, without a sort
        return limit
    rest_bins = max_bins
    for heaviest in np.sort(mass)[::-1]:
        if heaviest * rest_bins < rest:
            break
        limit = heaviest
        rest -= heaviest
        rest_bins -= 1
    return limit


@kernel
def _count_heavy(mass: npt.NDArray[np.int64], heavy_from: int) -> tuple[int, int, np.int64]:
    """Number of heavy values, of stretches of light ones after one, and the light weight."""
    heavy = 0
    stretches = 0
    light = np.int64(0)
    for k in range(len(mass)):
        if mass[k] >= heavy_from:
            heavy += 1
            if k + 1 < len(mass) and mass[k + 1] < heavy_from:
                stretches += 1
        else:
            light += mass[k]
    return heavy, stretches, light


@kernel
def find_cuts(
    ordered: npt.NDArray[np.float64], weight: npt.NDArray[np.int64], max_bins: int
) -> npt.NDArray[np.float64]:
    """Cuts that give at most ``max_bins`` bins of about equal weight to a sorted column.

    ``weight`` stands in the same order, or is empty where every row counts once. A value
    heavier than a share stands alone, as far as the bins reach, and the others share the
    rest of the bins: wherever it lies, it does not starve them. All arithmetic is in
    integers: a row of weight 2 gives the same cuts as the row twice.
    """
    last, mass = _runs(ordered, weight)
    if len(mass) == 0:
        return np.empty(0, dtype=np.float64)
    heavy_from = np.int64(0) if len(mass) <= max_bins else _least_heavy(mass, max_bins)
    # Bins set aside: one for each heavy value, and for each stretch of light ones after it.
    heavy_left, stretches_left, light = _count_heavy(mass, heavy_from)
    held = np.int64(0)  # light weight in the open bin; ``light`` is what is left, with this
    bins = max_bins  # bins left, the open one included
    cuts = np.empty(max_bins - 1, dtype=np.float64)
    for k in range(len(mass) - 1):
        heavy_next = mass[k + 1] >= heavy_from
        if mass[k] >= heavy_from:
            heavy_left -= 1
            stretches_left -= not heavy_next
            closes = bins > 1
        else:
            held += mass[k]
            if heavy_next:
                closes = bins > heavy_left
            else:
                is_full = held * (bins - heavy_left) >= light
                closes = is_full and bins > 1 + heavy_left + stretches_left
        if closes:
            cuts[max_bins - bins] = _midpoint(ordered[last[k]], ordered[last[k] + 1])
            bins -= 1
            light -= held
            held = np.int64(0)
    return cuts[: max_bins - bins].copy()


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
            is_pos = int(positive[start + i])
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
