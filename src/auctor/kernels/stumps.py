"""Boosting of stumps and single features: the best one, and the weights of rows.

``best_stump`` and ``feature_aucs`` search class histograms. ``reweight_and_count`` is a round of
RankBoost: new weights of the rows, and their histograms. The last kernels change weights that are
capped, as in SoftRankBoost.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import kernel

# A stump replaces another one only if its |r| is larger by more than rounding errors: the choice
# between two equally good stumps must not depend on the last bit.
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
    """The stump of largest |r| (Freund et al. 2003, section 3.2): (feature, cut, missing above, r).

    The histograms (feature, code) add up to ``total_neg`` and ``total_pos`` for each feature. r is
    the fraction of the positives above the cut minus that of the negatives (for h in {0, 1}). For a
    number the rows above have codes > cut, and missing values (code 0) are tried on both sides and
    alone. For a category the best set of codes consists of those with a larger fraction of the
    positives than of the negatives; its cut is not used. Feature -1 means that no stump has r != 0.
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
    """The AUC of each feature at each node, with missing values lowest and highest.

    These are aucs[j, i, 0] and aucs[j, i, 1]. ``counts`` is (class, feature, node, code), of which
    the first ``n_nodes`` nodes are used. A node without rows of one of the classes has AUC 1/2.
    """
    for j in range(len(n_bins)):
        for i in range(n_nodes):
            negative, positive = counts[0, j, i], counts[1, j, i]
            below = np.int64(0)
            total_pos = np.int64(0)
            known = 0.0  # twice the number of pairs in the right order; ties count once
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


# Number of rows that are quantised together: 16 KB of int64, which stay in the first-level cache
# while the histograms of all features are filled.
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
    """Multiply the factor of each row by the change of its code, and fill the histograms.

    This is the update of RankBoost (Freund et al. 2003, section 3.2). ``change`` is indexed by the
    code of feature ``chosen``, the one of the last round. Rows start..stop belong to one class. A
    row adds weight * round(factor * scale), a whole number, so that a row of weight 2 adds the same
    as the row twice.
    """
    quantised = np.empty(_BLOCK, dtype=np.int64)
    n_features = codes.shape[0]
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        count = last - first
        column = codes[chosen, first:last]
        for i in range(count):
            value = factor[first + i] * change[column[i]]
            factor[first + i] = value
            quantised[i] = np.int64(weight[first + i]) * np.int64(value * scale + 0.5)
        # Two features at a time: they share the quantised weight, and their additions are
        # independent of each other (measured: a third faster).
        for j in range(0, n_features - 1, 2):
            bins_a, column_a = histogram[j], codes[j, first:last]
            bins_b, column_b = histogram[j + 1], codes[j + 1, first:last]
            for i in range(count):
                amount = quantised[i]
                bins_a[column_a[i]] += amount
                bins_b[column_b[i]] += amount
        if n_features % 2:
            bins_a, column_a = histogram[n_features - 1], codes[n_features - 1, first:last]
            for i in range(count):
                bins_a[column_a[i]] += quantised[i]


# The smallest factor of a row: a factor of 0 could not be raised again, and arithmetic with
# subnormal numbers is slow.
LEAST_FACTOR = 2.0**-900


@kernel
def change_factors(
    column: npt.NDArray[Any],
    factor: Floats,
    change: Floats,
    start: int,
    stop: int,
) -> None:
    """Multiply the factor of each row by the change of its code in ``column``."""
    for i in range(start, stop):
        factor[i] = max(factor[i] * change[column[i]], LEAST_FACTOR)


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
    """The weight of the rows with c * factor above the cap; mass and largest factor of the others.

    The mass of a row is weight * round(factor * scale), a whole number, so that sums do not depend
    on the order of the rows or on blocks. The cap is that of smooth boosting (Moribe et al. 2008).
    """
    capped, mass, largest = np.int64(0), np.int64(0), 0.0
    for i in range(start, stop):
        # The side of a row cannot be predicted: selecting one of two numbers takes a third of the
        # time of a branch (measured with half of the rows above the cap).
        above = c * factor[i] > cap
        below = 0.0 if above else factor[i]
        capped += np.int64(weight[i]) if above else np.int64(0)
        mass += np.int64(weight[i]) * np.int64(below * scale + 0.5)
        largest = max(largest, below)
    return capped, mass, largest


@kernel
def cut_at_cap(factor: Floats, c: float, cap: float, start: int, stop: int) -> None:
    """Set each factor to min(c * factor, cap)."""
    for i in range(start, stop):
        factor[i] = min(c * factor[i], cap)
