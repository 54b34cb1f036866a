"""Kernels of the metrics: each one is a single pass over sorted scores.

``pos`` and ``neg`` are the scores of the two classes, each in increasing order. Counts are int64,
so that a number of pairs is exact.
"""

from typing import Any

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import kernel


@kernel
def split_classes(values: Floats, positive: Bools, n_pos: int) -> Any:
    """Copy the values of each class to an array of its own, in the order of the rows."""
    n_rows = len(values)
    # Each array has one extra cell: every value is written to both arrays, and the wrong one is
    # overwritten by the next value. There is no branch to mispredict.
    pos = np.empty(n_pos + 1, dtype=np.float64)
    neg = np.empty(n_rows - n_pos + 1, dtype=np.float64)
    i = 0
    j = 0
    for row in range(n_rows):
        is_positive = int(positive[row])
        pos[i] = values[row]
        neg[j] = values[row]
        i += is_positive
        j += 1 - is_positive
    return pos[:n_pos], neg[: n_rows - n_pos]


@kernel
def count_double_wins(pos: Floats, neg: Floats) -> int:
    """Count twice the pairs with the positive above the negative, a tie once."""
    n_pos = len(pos)
    n_neg = len(neg)
    i = 0
    j = 0
    total = 0
    while i < n_pos and j < n_neg:
        if pos[i] < neg[j]:
            total += 2 * j
            i += 1
        elif neg[j] < pos[i]:
            j += 1
        else:
            score = pos[i]
            tie_pos = i
            tie_neg = j
            i += 1  # before any comparison, because NaN is not equal to itself
            j += 1
            while i < n_pos and pos[i] == score:
                i += 1
            while j < n_neg and neg[j] == score:
                j += 1
            total += (i - tie_pos) * (tie_neg + j)
    return total + (n_pos - i) * 2 * n_neg


@kernel
def count_below(targets: Floats, values: Floats) -> Ints:
    """Count the values strictly below each target; both arrays must be in ascending order."""
    counts = np.empty(len(targets), dtype=np.int64)
    i = 0
    j = 0
    while i < len(targets) and j < len(values):
        below = int(values[j] < targets[i])
        counts[i] = j
        j += below
        i += 1 - below
    counts[i:] = j
    return counts


@kernel
def count_at_most(targets: Floats, values: Floats) -> Ints:
    """Count the values at or below each target; both arrays must be in ascending order."""
    counts = np.empty(len(targets), dtype=np.int64)
    i = 0
    j = 0
    while i < len(targets) and j < len(values):
        at_most = int(values[j] <= targets[i])
        counts[i] = j
        j += at_most
        i += 1 - at_most
    counts[i:] = j
    return counts


@kernel
def count_margin(pos: Floats, neg: Floats, rho: float) -> Ints:
    """Count for each positive the negatives below it by at least rho (Suehiro et al. 2011)."""
    counts = np.empty(len(pos), dtype=np.int64)
    j = 0
    for i in range(len(pos)):
        # The rounded difference does not increase with neg[j], so that j never has to go back.
        while j < len(neg) and pos[i] - neg[j] >= rho:
            j += 1
        counts[i] = j
    return counts


@kernel
def double_placements(pos: Floats, neg: Floats) -> Any:
    """Count for each row twice the rows of the other class that are in the right order with it.

    A tie counts one half, that is one in the doubled count. Returns the counts for the positives
    (negatives below) and for the negatives (positives above): the placements of DeLong et al.
    (1988).
    """
    n_pos = len(pos)
    n_neg = len(neg)
    placed_pos = np.empty(n_pos, dtype=np.int64)
    placed_neg = np.empty(n_neg, dtype=np.int64)
    i = 0
    j = 0
    while i < n_pos and j < n_neg:
        if pos[i] < neg[j]:
            placed_pos[i] = 2 * j
            i += 1
        elif neg[j] < pos[i]:
            placed_neg[j] = 2 * (n_pos - i)
            j += 1
        else:
            score = pos[i]
            tie_pos = i
            tie_neg = j
            i += 1  # before any comparison, because NaN is not equal to itself
            j += 1
            while i < n_pos and pos[i] == score:
                i += 1
            while j < n_neg and neg[j] == score:
                j += 1
            placed_pos[tie_pos:i] = tie_neg + j
            placed_neg[tie_neg:j] = 2 * n_pos - tie_pos - i
    placed_pos[i:] = 2 * n_neg
    placed_neg[j:] = 0
    return placed_pos, placed_neg


@kernel
def double_weighted_wins(
    below: Ints, at_most: Ints, weight_pos: Floats, weight_neg: Floats
) -> float:
    """Twice the total weight of the pairs in the right order; a tied pair counts one half.

    ``below`` and ``at_most`` are, for each positive, the numbers of negatives below it and at most
    equal to it. The weights are in the order of the sorted scores.
    """
    cumulated = np.empty(len(weight_neg) + 1, dtype=np.float64)
    cumulated[0] = 0.0
    for j in range(len(weight_neg)):
        cumulated[j + 1] = cumulated[j] + weight_neg[j]
    total = 0.0
    for i in range(len(weight_pos)):
        total += weight_pos[i] * (cumulated[below[i]] + cumulated[at_most[i]])
    return total


@kernel
def curve_steps(pos: Floats, neg: Floats) -> Any:
    """Count the rows of each class at or above each distinct score, in decreasing order of score.

    The first threshold is plus infinity, with counts of 0.
    """
    n_pos = len(pos)
    n_neg = len(neg)
    thresholds = np.empty(n_pos + n_neg + 1, dtype=np.float64)
    count_pos = np.empty(n_pos + n_neg + 1, dtype=np.int64)
    count_neg = np.empty(n_pos + n_neg + 1, dtype=np.int64)
    thresholds[0] = np.inf
    count_pos[0] = 0
    count_neg[0] = 0
    i = 0
    j = 0
    step = 0
    last = np.nan  # differs from every score
    while i < n_pos or j < n_neg:
        if j == n_neg or (i < n_pos and pos[n_pos - 1 - i] > neg[n_neg - 1 - j]):
            score = pos[n_pos - 1 - i]
            i += 1
        else:
            score = neg[n_neg - 1 - j]
            j += 1
        # A tied score belongs to the same step, whose counts are overwritten.
        step += int(score != last)
        last = score
        thresholds[step] = score
        count_pos[step] = i
        count_neg[step] = j
    return thresholds[: step + 1], count_pos[: step + 1], count_neg[: step + 1]


@kernel
def merge_steps(
    first: Floats,
    first_pos: Ints,
    first_neg: Ints,
    second: Floats,
    second_pos: Ints,
    second_neg: Ints,
) -> Any:
    """Merge two lists of distinct scores, in decreasing order, with the counts of each class.

    A score of both lists occurs once in the result, with the sum of its counts.
    """
    n_first = len(first)
    n_second = len(second)
    scores = np.empty(n_first + n_second, dtype=np.float64)
    n_pos = np.empty(n_first + n_second, dtype=np.int64)
    n_neg = np.empty(n_first + n_second, dtype=np.int64)
    i = 0
    j = 0
    step = 0
    while i < n_first or j < n_second:
        from_first = i < n_first and (j == n_second or first[i] >= second[j])
        from_second = j < n_second and (i == n_first or second[j] >= first[i])
        n_pos[step] = 0
        n_neg[step] = 0
        if from_first:
            scores[step] = first[i]
            n_pos[step] += first_pos[i]
            n_neg[step] += first_neg[i]
            i += 1
        if from_second:
            scores[step] = second[j]
            n_pos[step] += second_pos[j]
            n_neg[step] += second_neg[j]
            j += 1
        step += 1
    return scores[:step], n_pos[:step], n_neg[:step]


@kernel
def upper_hull(x: Floats, y: Floats) -> Ints:
    """Find the vertices of the upper convex hull of points that are sorted by x, then y."""
    corners = np.empty(len(x), dtype=np.int64)
    size = 0
    for k in range(len(x)):
        # Remove the last vertex while it is on or below the chord from the one before it.
        while size >= 2:
            first = corners[size - 2]
            last = corners[size - 1]
            rise = (x[last] - x[first]) * (y[k] - y[first])
            if rise < (y[last] - y[first]) * (x[k] - x[first]):
                break
            size -= 1
        corners[size] = k
        size += 1
    return corners[:size].copy()
