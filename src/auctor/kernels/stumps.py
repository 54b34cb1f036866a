"""The stump that separates two weighted classes best, from their histograms."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import kernel

# A stump replaces another only if its |r| is larger by more than rounding can be:
# which of two equally good stumps is picked must not hang on the last bit.
LEAST_GAIN = 2.0**-40


@kernel
def best_stump(
    negative: Ints,
    positive: Ints,
    total_neg: int,
    total_pos: int,
    n_bins: Ints,
    is_category: Bools,
) -> tuple[int, int, bool, float]:
    """(feature, cut, missing above, r) with the largest |r| among all stumps.

    The histograms (feature, code) add up to ``total_neg`` and ``total_pos`` per feature.
    r = share of the positives above minus share of the negatives above (RankBoost's r
    for h in {0, 1}). For a number the rows above have codes > cut, and missing values
    (code 0) are tried on both sides and by themselves. For a category the best set above
    is known at once: the codes that hold a larger share of the positives than of the
    negatives; its cut has no meaning. Feature -1 says that no stump has an edge.
    """
    feature, cut, missing_above, best = -1, 0, False, 0.0
    for j in range(len(n_bins)):
        missing = positive[j, 0] / total_pos - negative[j, 0] / total_neg
        if is_category[j]:
            gain = 0.0
            for code in range(n_bins[j] + 1):
                gain += max(0.0, positive[j, code] / total_pos - negative[j, code] / total_neg)
            if gain > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, 0, missing > LEAST_GAIN, gain
            continue
        if abs(missing) > abs(best) + LEAST_GAIN:
            feature, cut, missing_above, best = j, n_bins[j], True, missing
        above_neg = np.int64(0)
        above_pos = np.int64(0)
        for c in range(n_bins[j] - 1, 0, -1):
            above_neg += negative[j, c + 1]
            above_pos += positive[j, c + 1]
            r = above_pos / total_pos - above_neg / total_neg
            if abs(r) > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, c, False, r
            if abs(r + missing) > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, c, True, r + missing
    return feature, cut, missing_above, best


@kernel
def feature_aucs(
    counts: Ints,
    n_nodes: int,
    n_bins: Ints,
    aucs: Floats,
) -> None:
    """AUC of the codes in order, missing values lowest (aucs[j, i, 0]) and highest (.., 1).

    ``counts`` is (class, feature, node, code), of which the first ``n_nodes`` nodes are looked
    at; a node without one of the classes has AUC 1/2.
    """
    for j in range(len(n_bins)):
        for i in range(n_nodes):
            negative, positive = counts[0, j, i], counts[1, j, i]
            below = np.int64(0)
            total_pos = np.int64(0)
            known = 0.0  # twice the pairs in order, those that tie counted once
            for code in range(1, n_bins[j] + 1):
                here, there = negative[code], positive[code]
                known += np.float64(there) * np.float64(below + below + here)
                below += here
                total_pos += there
            missing_neg, missing_pos = np.float64(negative[0]), np.float64(positive[0])
            known_neg, known_pos = np.float64(below), np.float64(total_pos)
            pairs = (known_neg + missing_neg) * (known_pos + missing_pos)
            if pairs == 0.0:
                aucs[j, i, 0] = aucs[j, i, 1] = 0.5
                continue
            always = known / 2.0 + missing_pos * missing_neg / 2.0
            aucs[j, i, 0] = (always + known_pos * missing_neg) / pairs
            aucs[j, i, 1] = (always + missing_pos * known_neg) / pairs


# A factor never falls below this: one that has reached 0 could not be raised again, and
# numbers near the end of the range are slow to work with.
LEAST_FACTOR = 2.0**-900


@kernel
def change_factors(
    line: npt.NDArray[Any],
    factor: Floats,
    change: Floats,
    start: int,
    stop: int,
) -> None:
    """Multiply each row's factor by the change of its code in ``line``."""
    for i in range(start, stop):
        factor[i] = max(factor[i] * change[line[i]], LEAST_FACTOR)


@kernel
def weigh_around_cap(
    weight: npt.NDArray[np.uint32],
    factor: Floats,
    c: float,
    cap: float,
    scale: float,
    start: int,
    stop: int,
) -> tuple[np.int64, np.int64, float]:
    """Weight of the rows with c * factor above the cap; of the others, mass and largest factor.

    The mass of a row is weight * round(factor * scale), a whole number: neither the order of
    the rows nor their cut into blocks shows in a sum.
    """
    capped, mass, largest = np.int64(0), np.int64(0), 0.0
    for i in range(start, stop):
        # Which side a row is on cannot be guessed: choosing between two numbers takes a third
        # of the time of a branch (measured with half of the rows above).
        above = c * factor[i] > cap
        below = 0.0 if above else factor[i]
        capped += np.int64(weight[i]) if above else np.int64(0)
        mass += np.int64(weight[i]) * np.int64(below * scale + 0.5)
        largest = max(largest, below)
    return capped, mass, largest


@kernel
def cut_at_cap(factor: Floats, c: float, cap: float, start: int, stop: int) -> None:
    """factor <- min(c * factor, cap)."""
    for i in range(start, stop):
        factor[i] = min(c * factor[i], cap)


# Rows quantised at a time: 16 KB of int64, which stays in the first-level cache
# while every feature's histogram is filled from it.
_BLOCK = 2048


@kernel
def reweight_and_count(
    codes: npt.NDArray[Any],
    weight: npt.NDArray[np.uint32],
    factor: Floats,
    chosen: int,
    change: Floats,
    scale: float,
    start: int,
    stop: int,
    histogram: Ints,
) -> None:
    """Multiply each row's factor by the change of its code, and sum weights per feature and code.

    ``change`` is indexed by the code of feature ``chosen``, the one picked in the round
    before; rows start..stop are of one class. A row counts weight * round(factor * scale):
    with a whole weight, a row of weight 2 adds what the row twice adds.
    """
    quantised = np.empty(_BLOCK, dtype=np.int64)
    n_features = codes.shape[0]
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        count = last - first
        line = codes[chosen, first:last]
        for i in range(count):
            value = factor[first + i] * change[line[i]]
            factor[first + i] = value
            quantised[i] = np.int64(weight[first + i]) * np.int64(value * scale + 0.5)
        # Two features at a time share the load of the quantised weight, and their
        # additions do not wait for each other (measured: a third faster).
        for j in range(0, n_features - 1, 2):
            bins_a, line_a = histogram[j], codes[j, first:last]
            bins_b, line_b = histogram[j + 1], codes[j + 1, first:last]
            for i in range(count):
                amount = quantised[i]
                bins_a[line_a[i]] += amount
                bins_b[line_b[i]] += amount
        if n_features % 2:
            bins_a, line_a = histogram[n_features - 1], codes[n_features - 1, first:last]
            for i in range(count):
                bins_a[line_a[i]] += quantised[i]
