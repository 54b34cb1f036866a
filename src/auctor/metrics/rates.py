"""Confidence intervals of a binomial proportion: Wilson's and Clopper-Pearson's."""

import math
from typing import NamedTuple

# Only functions of scipy.special: importing scipy.stats takes longer than importing this package.
from scipy.special import betaincinv, ndtri


class Range(NamedTuple):
    """The two ends of a confidence interval."""

    low: float
    high: float


UNKNOWN = Range(float("nan"), float("nan"))


def wilson(part: float, whole: float, level: float) -> Range:
    """Wilson's interval of the rate ``part / whole``; NaN if ``whole`` is 0.

    Its coverage is ``level`` on average over rates, and lower for some rates near 0 and 1. The
    rows are assumed to be independent, and not to have been used to choose what is counted.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(10, 10, 0.95)]
    [0.7225, 1.0]
    """
    if whole == 0:
        return UNKNOWN
    z2 = float(ndtri((1 + level) / 2)) ** 2 / whole
    rate = part / whole
    middle = rate + z2 / 2
    half = math.sqrt(z2 * rate * (1 - rate) + z2 * z2 / 4)
    return Range(max((middle - half) / (1 + z2), 0.0), min((middle + half) / (1 + z2), 1.0))


def clopper_pearson(part: float, whole: float, level: float) -> Range:
    """The exact (Clopper-Pearson) interval of the rate ``part / whole``; NaN if ``whole`` is 0.

    Its coverage is at least ``level`` for every rate. It also covers the rate at which new rows
    lie above a threshold that was chosen such that ``part`` of these ``whole`` rows lie above it.
    The two numbers need not be whole: they may be effective numbers of rows.

    Examples
    --------
    >>> [round(end, 4) for end in clopper_pearson(0, 29, 0.90)]
    [0.0, 0.0981]
    """
    if whole == 0:
        return UNKNOWN
    tail, rest = (1 - level) / 2, max(whole - part, 0.0)
    low = float(betaincinv(part, rest + 1, tail)) if part > 0 else 0.0
    high = float(betaincinv(part + 1, rest, 1 - tail)) if rest > 0 else 1.0
    return Range(low, high)
