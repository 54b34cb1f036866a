"""Groups of rows the slow way: pairs one by one, and p-values by trying levels."""

import numpy as np
from scipy.stats import binomtest

from auctor.metrics import auc_ci


def auc_within(y, s, groups):
    """The fraction of pairs of the same group in the right order, by forming every pair."""
    won = pairs = 0.0
    for i in np.flatnonzero(y):
        for j in np.flatnonzero(~y):
            if groups[i] == groups[j]:
                won += (s[i] > s[j]) + 0.5 * (s[i] == s[j])
                pairs += 1
    return won / pairs


def rate_limits(flagged, level):
    """Value and exact limits of a rate, by scipy."""
    ends = binomtest(int(flagged.sum()), len(flagged)).proportion_ci(level, method="exact")
    return flagged.mean(), ends.low, ends.high


def calibration_limits(y, p, level):
    """Mean predicted minus observed, with the limits of the observed fraction."""
    rate, low, high = rate_limits(y, level)
    return p.mean() - rate, p.mean() - high, p.mean() - low


def area_limits(y, s, level):
    """Value and limits of an AUC."""
    result = auc_ci(y, s, level=level)
    return result.value, result.low, result.high


def difference(limits_a, limits_b, level):
    """Difference with its limits: "square and add" of the distances to the limits of each."""
    (a, low_a, high_a), (b, low_b, high_b) = limits_a(level), limits_b(level)
    below = np.sqrt((a - low_a) ** 2 + (high_b - b) ** 2)
    above = np.sqrt((high_a - a) ** 2 + (b - low_b) ** 2)
    return a - b, a - b - below, a - b + above


def p_value(limits_a, limits_b):
    """One minus the largest level at which the interval excludes 0, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(22):
        level = (low + high) / 2
        _, start, end = difference(limits_a, limits_b, level)
        if start > 0 or end < 0:
            low = level
        else:
            high = level
    return 1 - low


def holm_rejects(p_values, alpha):
    """Which hypotheses the step-down procedure rejects."""
    rejected = [False] * len(p_values)
    for step, i in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        if p_values[i] * (len(p_values) - step) > alpha:
            break
        rejected[i] = True
    return rejected
