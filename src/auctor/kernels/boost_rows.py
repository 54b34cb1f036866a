"""Rows of boosted trees: drawing them, counting them by bin, and sending them to children.

A row has a slope (how fast the objective grows with its score, up to the sign of its class) and a
curvature. Both are whole numbers of at least 0 that share one int64: the slope in the upper half,
the curvature in the lower one (``boost_slopes.pack_slopes``). One addition then adds both, exactly,
as long as the sums of a class stay below 2^31 and 2^32. The rows of a node are a list of row
numbers for each class.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Ints, RowIndices
from auctor.kernels.jit import kernel
from auctor.kernels.prefetch import fetch_row

# Rows are far apart if there are this many from one to the next on average; nearer ones are
# fetched by the processor itself. Far ones are asked for this number of rows ahead.
_FAR = 3
_AHEAD = 32


@kernel
def mix(seed: np.uint64, number: np.uint64) -> np.uint64:
    """A random-looking 64-bit number for each pair of numbers (the finaliser of SplitMix64)."""
    z = seed + (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def draw_rows(
    rows: Ints, start: int, stop: int, seed: np.uint64, limit: np.uint64, order: RowIndices
) -> np.uint64:
    """Draw each of the rows start..stop with probability limit / 2^64; returns their number.

    The draw of a row depends on the seed and on its index in the table, ``rows``, alone, so that
    partitions and threads do not matter.
    """
    count = np.uint64(0)
    for i in range(start, stop):
        order[count] = i
        count += np.uint64(mix(seed, np.uint64(rows[i])) < limit)
    return count


@kernel
def draw_features(seed: np.uint64, n_drawn: int, allowed: Bools) -> None:
    """Draw ``n_drawn`` features for each row of ``allowed`` (nodes, features) without replacement.

    Only features that are True at the start are drawn; the others become or stay False.
    """
    n_features = allowed.shape[1]
    candidates = np.empty(n_features, dtype=np.int64)
    for k in range(allowed.shape[0]):
        count = 0
        for j in range(n_features):
            if allowed[k, j]:
                candidates[count] = j
                count += 1
                allowed[k, j] = False
        for i in range(min(n_drawn, count)):
            number = mix(seed, np.uint64(k * n_features + i))
            other = i + np.int64(number % np.uint64(count - i))
            j = candidates[other]
            candidates[other] = candidates[i]
            allowed[k, j] = True


@kernel
def gather_packed(
    order: RowIndices, packed: Ints, begin: Ints, end: Ints, lists: Ints, amount: Ints
) -> None:
    """Copy the packed numbers of the rows of some lists to their places in the lists.

    Alone in a loop these reads are independent, so that many are fetched from memory at the same
    time. Tiles of features then read the copy in order.
    """
    for k in range(len(lists)):
        for i in range(begin[lists[k]], end[lists[k]]):
            amount[i] = packed[order[i]]


@kernel
def count_packed(
    tile: npt.NDArray[Any],
    first_bin: Ints,
    order: RowIndices,
    amount: Ints,
    begin: Ints,
    end: Ints,
    lists: Ints,
    slot: Ints,
    histogram: Ints,
) -> None:
    """Count some lists of rows: the sum of their packed numbers by bin, in the slot of each list.

    ``tile`` is (rows, features), ``histogram`` (slots, bins of all features), and ``amount`` has
    the packed numbers in the order of the lists.
    """
    width = tile.shape[1]
    for k in range(len(lists)):
        bins, first, last = histogram[slot[k]], begin[lists[k]], end[lists[k]]
        is_far = last > first and order[last - 1] - order[first] > _FAR * (last - first)
        i = first
        while i + 3 < last:  # four rows share a step
            if is_far and i + _AHEAD + 3 < last:
                for ahead in range(i + _AHEAD, i + _AHEAD + 4):
                    fetch_row(tile, order[ahead])
            amount_a, codes_a = amount[i], tile[order[i]]
            amount_b, codes_b = amount[i + 1], tile[order[i + 1]]
            amount_c, codes_c = amount[i + 2], tile[order[i + 2]]
            amount_d, codes_d = amount[i + 3], tile[order[i + 3]]
            for j in range(width):
                start = np.uint64(first_bin[j])
                bins[start + np.uint64(codes_a[j])] += amount_a
                bins[start + np.uint64(codes_b[j])] += amount_b
                bins[start + np.uint64(codes_c[j])] += amount_c
                bins[start + np.uint64(codes_d[j])] += amount_d
            i += 4
        while i < last:
            codes_a = tile[order[i]]
            for j in range(width):
                start = np.uint64(first_bin[j])
                bins[start + np.uint64(codes_a[j])] += amount[i]
            i += 1


@kernel
def subtract_packed(whole: Ints, part: Ints, histogram: Ints) -> None:
    """Subtract the histogram in each slot ``part`` from that in slot ``whole``."""
    for k in range(len(whole)):
        of_whole, of_part = histogram[whole[k]], histogram[part[k]]
        for i in range(len(of_whole)):
            of_whole[i] -= of_part[i]


@kernel
def clear_slots(slot: Ints, histogram: Ints) -> None:
    """Set the histograms in some slots to zero."""
    for k in range(len(slot)):
        bins = histogram[slot[k]]
        for i in range(len(bins)):
            bins[i] = 0


@kernel
def send_packed(
    column: npt.NDArray[Any],
    order: RowIndices,
    begin: int,
    end: int,
    goes_left: npt.NDArray[np.uint8],
    new_order: RowIndices,
    buffer: RowIndices,
) -> int:
    """Partition the rows begin..end of a list; returns where those that go right begin.

    ``column`` has the codes of the feature that is tested. The order of the rows is kept on both
    sides, so that memory is read in one direction. Every row is written to both sides, and the next
    row overwrites the wrong copy: there is no branch to mispredict.
    """
    left, n_right = np.uint64(begin), np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        row = order[i]
        goes = np.uint64(goes_left[column[row]])
        new_order[left] = row
        buffer[n_right] = row
        left += goes
        n_right += np.uint64(1) - goes
    for i in range(n_right):
        new_order[left + np.uint64(i)] = buffer[i]
    return np.int64(left)  # type: ignore[return-value]
