"""Tests of whether a feature differs between two classes, from class histograms."""

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel


@kernel
def separations(
    histogram: Ints,
    n_bins: Ints,
    is_category: Bools,
    unit: float,
) -> Floats:
    """A squared normal deviate for each feature, which is large if the classes differ in it.

    ``histogram`` (class, feature, code) has weights, of which each unit counts for ``unit`` rows.
    For a number the result is the largest of three tests: of the mean rank (Wilcoxon 1945), of the
    mean squared rank, which finds features whose small and large values belong together, and of
    missing values. For a category it is the chi-squared test of its values, converted to a normal
    deviate (Wilson & Hilferty 1931).
    """
    out = np.zeros(len(n_bins))
    for j in range(len(n_bins)):
        size = n_bins[j] + 1
        neg, pos = histogram[0, j, :size] * unit, histogram[1, j, :size] * unit
        if is_category[j]:
            out[j] = category_test(neg, pos)
        else:
            out[j] = max(missing_test(neg, pos), trend_tests(neg[1:], pos[1:]))
    return out


@kernel
def missing_test(neg: Floats, pos: Floats) -> float:
    """Squared deviate of the difference of the fractions of missing values (code 0)."""
    all_neg, all_pos = neg.sum(), pos.sum()
    fraction = (neg[0] + pos[0]) / (all_neg + all_pos)
    spread = fraction * (1.0 - fraction) * (1.0 / all_neg + 1.0 / all_pos)
    difference = pos[0] / all_pos - neg[0] / all_neg
    return difference * difference / spread if spread > 0.0 else 0.0


@kernel
def trend_tests(neg: Floats, pos: Floats) -> float:
    """The larger squared deviate of two differences of class means: of ranks, of squared ranks."""
    all_neg, all_pos = neg.sum(), pos.sum()
    if not (all_neg > 0.0 and all_pos > 0.0):
        return 0.0
    total = all_neg + all_pos
    rank, square = np.empty(len(neg)), np.empty(len(neg))
    below, second, third = 0.0, 0.0, 0.0
    for c in range(len(neg)):
        here = neg[c] + pos[c]
        rank[c] = (below + here / 2.0) / total - 0.5  # the mean over all rows is 0
        below += here
        second += here * rank[c] ** 2
        third += here * rank[c] ** 3
    second, third = second / total, third / total
    if not second > 0.0:
        return 0.0
    for c in range(len(neg)):  # with mean 0, and uncorrelated with the rank
        square[c] = rank[c] ** 2 - second - third / second * rank[c]
    linear = mean_test(rank, neg, pos, all_neg, all_pos)
    return max(linear, mean_test(square, neg, pos, all_neg, all_pos))


@inner_kernel
def mean_test(
    values: Floats,
    neg: Floats,
    pos: Floats,
    all_neg: float,
    all_pos: float,
) -> float:
    """Squared deviate of the difference of the class means of values whose overall mean is 0."""
    difference, spread = 0.0, 0.0
    for c in range(len(values)):
        difference += values[c] * (pos[c] / all_pos - neg[c] / all_neg)
        spread += values[c] * values[c] * (neg[c] + pos[c])
    spread *= (1.0 / all_neg + 1.0 / all_pos) / (all_neg + all_pos)
    return difference * difference / spread if spread > 1e-12 else 0.0


@kernel
def category_test(neg: Floats, pos: Floats) -> float:
    """Squared deviate of the chi-squared test of the frequencies of categories in two classes.

    It is 0 if the statistic is below its expectation.
    """
    all_neg, all_pos = neg.sum(), pos.sum()
    freedom, chi_squared = -1.0, 0.0
    for c in range(len(neg)):
        if neg[c] + pos[c] > 0.0:
            freedom += 1.0
            difference = pos[c] / all_pos - neg[c] / all_neg
            chi_squared += difference * difference / (neg[c] + pos[c])
    if freedom < 1.0:
        return 0.0
    chi_squared *= all_neg * all_pos
    spread = 2.0 / (9.0 * freedom)
    deviate = ((chi_squared / freedom) ** (1.0 / 3.0) - 1.0 + spread) / np.sqrt(spread)
    return max(deviate, 0.0) ** 2
