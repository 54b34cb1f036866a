"""Confidence intervals of a rate: Wilson's, and the exact one of Clopper and Pearson."""

import math
from typing import NamedTuple

# The functions of scipy.special only: scipy.stats takes longer to import than this package.
from scipy.special import betaincinv, ndtri


class Range(NamedTuple):
    """The two ends of a confidence interval."""

    low: float
    high: float


UNKNOWN = Range(float("nan"), float("nan"))


def wilson(part: float, whole: float, level: float) -> Range:
    """Wilson's interval of the rate ``part / whole``; NaN where ``whole`` is 0.

    Its coverage is ``level`` on average over rates, and lower for some rates near 0 and 1. The
    rows must be independent, and must not have been used to choose what is counted.

    Examples
    --------
    >>> wilson(10, 10, 0.95).low < 0.75 < wilson(9, 10, 0.95).high
    True
    """
    if whole == 0:
        return UNKNOWN
    z2 = float(ndtri((1 + level) / 2)) ** 2 / whole
    share = part / whole
    middle = share + z2 / 2
    half = math.sqrt(z2 * share * (1 - share) + z2 * z2 / 4)
    return Range(max((middle - half) / (1 + z2), 0.0), min((middle + half) / (1 + z2), 1.0))


def clopper_pearson(part: float, whole: float, level: float) -> Range:
    """The exact interval of the rate ``part / whole``; NaN where ``whole`` is 0.

    It covers with at least ``level`` whatever the rate is. It also covers the rate of new rows
    above a threshold that was set so that ``part`` of these ``whole`` rows lie above it. The two
    numbers may be fractions, such as effective numbers of rows.

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
