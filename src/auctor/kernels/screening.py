"""How well single features tell two classes apart, from their class histograms."""

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import kernel


@kernel
def separations(
    histogram: Ints,
    n_bins: Ints,
    is_category: Bools,
    unit: float,
) -> Floats:
    """A squared normal deviate for each feature: large where the classes differ in it.

    ``histogram`` (class, feature, code) holds weights, ``unit`` rows each. For a number it is the
    largest of the tests of a trend in its ranks (Wilcoxon's), of a trend in their squares, which
    finds features that are high at both ends, and of missing values. For a category it is the
    chi-squared test of all its values, made a normal deviate (Wilson and Hilferty's cube root).
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
    """Squared deviate of the difference of the classes' shares of missing values, in code 0."""
    all_neg, all_pos = neg.sum(), pos.sum()
    share = (neg[0] + pos[0]) / (all_neg + all_pos)
    spread = share * (1.0 - share) * (1.0 / all_neg + 1.0 / all_pos)
    difference = pos[0] / all_pos - neg[0] / all_neg
    return difference * difference / spread if spread > 0.0 else 0.0


@kernel
def trend_tests(neg: Floats, pos: Floats) -> float:
    """The larger squared deviate of two differences of means: of ranks, and of their squares."""
    all_neg, all_pos = neg.sum(), pos.sum()
    if not (all_neg > 0.0 and all_pos > 0.0):
        return 0.0
    total = all_neg + all_pos
    line, square = np.empty(len(neg)), np.empty(len(neg))
    below, second, third = 0.0, 0.0, 0.0
    for c in range(len(neg)):
        here = neg[c] + pos[c]
        line[c] = (below + here / 2.0) / total - 0.5  # the mean over all rows is 0
        below += here
        second += here * line[c] ** 2
        third += here * line[c] ** 3
    second, third = second / total, third / total
    if not second > 0.0:
        return 0.0
    for c in range(len(neg)):  # without the mean, and without what the line says already
        square[c] = line[c] ** 2 - second - third / second * line[c]
    straight = mean_test(line, neg, pos, all_neg, all_pos)
    return max(straight, mean_test(square, neg, pos, all_neg, all_pos))


@kernel
def mean_test(
    values: Floats,
    neg: Floats,
    pos: Floats,
    all_neg: float,
    all_pos: float,
) -> float:
    """Squared deviate of the difference of the classes' means of values whose mean is 0."""
    difference, spread = 0.0, 0.0
    for c in range(len(values)):
        difference += values[c] * (pos[c] / all_pos - neg[c] / all_neg)
        spread += values[c] * values[c] * (neg[c] + pos[c])
    spread *= (1.0 / all_neg + 1.0 / all_pos) / (all_neg + all_pos)
    return difference * difference / spread if spread > 1e-12 else 0.0


@kernel
def category_test(neg: Floats, pos: Floats) -> float:
    """Squared deviate of the chi-squared test of two classes' shares of categories; 0 if small."""
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
