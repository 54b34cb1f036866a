"""Tests of the differences between groups of rows, with Holm's correction."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.metrics.group_measures import Measure
from auctor.metrics.limits import p_value_of
from auctor.metrics.rates import Range


class Difference(NamedTuple):
    """The difference of two independent estimates, with its interval and its p-value."""

    value: float
    low: float
    high: float
    p_value: float


def compare_measures(a: Measure, b: Measure, level: float) -> Difference:
    """The difference a - b of independent estimates, from the limits of each (MOVER).

    The p-value is 1 minus the level at which the interval of the difference reaches 0.
    """
    difference = a.value - b.value

    def limits(at: float) -> Range:
        (low_a, high_a), (low_b, high_b) = a.limits(at), b.limits(at)
        below = math.hypot(a.value - low_a, high_b - b.value)
        above = math.hypot(high_a - a.value, b.value - low_b)
        return Range(difference - below, difference + above)

    return Difference(difference, *limits(level), p_value_of(limits, difference))


def holm(p_values: Sequence[float]) -> Floats:
    """Holm's adjusted p-values: below 0.05 for any true hypothesis in at most 5% of all samples.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    factors = len(values) - np.arange(len(values))
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    return adjusted
