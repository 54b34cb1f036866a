"""Confidence limits of an AUC and of the difference of two AUCs, given their variances."""

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

# Two prior rows of the smaller class are added, one ranked right and one ranked wrong, and each
# counts as this number of effective pairs: if all pairs are in the right order, the rows
# themselves have no variance. These numbers and the two below were chosen by simulation; they give
# the narrowest limits that cover in every cell of benchmarks/coverage.py.
_PRIOR_ROWS = 2.0
_PAIRS_PER_ROW = 2.0
# Placements are bounded, so their squares vary less than those of normal values: a row counts as
# two degrees of freedom.
_DEGREES_PER_ROW = 2.0
# With few rows, the position of a single row says little about how near the AUC is to 1. The limit
# on the side of 1 (of 0 for an AUC below one half) is moved by this fraction of a row per standard
# error.
_FRACTION_OF_A_ROW = 0.1
# Confidence levels between which the p-value of a difference is searched.
_LOWEST, _HIGHEST = 1e-9, 1 - 1e-12


def normal_quantile(level: float) -> float:
    """Half the width of a normal interval of this level, in standard errors."""
    return float(ndtri((1 + level) / 2))


def quantile(level: float, freedom: float) -> float:
    """Half the width of a t interval, in standard errors; normal if ``freedom`` is infinite.

    Examples
    --------
    >>> round(quantile(0.95, math.inf), 2), round(quantile(0.95, 3), 2)
    (1.96, 3.18)
    """
    return (
        normal_quantile(level) if math.isinf(freedom) else float(stdtrit(freedom, (1 + level) / 2))
    )


def degrees(n_rows: float, n_means: int = 1) -> float:
    """Degrees of freedom of a variance of placements around ``n_means`` estimated means."""
    return _DEGREES_PER_ROW * max(n_rows - n_means, 1.0)


def auc_limits(
    value: float,
    variance: float,
    n_pos: float,
    n_neg: float,
    level: float,
    inflation: float = 1.0,
    freedom: float | None = None,
) -> tuple[float, float]:
    """Wilson's limits of an AUC at its effective number of pairs.

    The AUC A of m independent pairs has the variance A (1 - A) / m. The effective number of pairs
    is the m for which this equals ``variance``. ``inflation`` is the factor by which the variance
    was multiplied for overlapping training sets; the variance of the prior rows is multiplied by
    it too. The variance is itself an estimate, so that the limits use a t quantile with ``freedom``
    degrees of freedom, by default :func:`degrees` of the smaller class.

    Examples
    --------
    >>> low, high = auc_limits(1.0, 0.0, 10, 10, 0.95)
    >>> round(low, 2), high
    (0.82, 1.0)
    """
    n_rows = min(n_pos, n_neg)
    prior = _PRIOR_ROWS / (4 * n_rows)
    prior_variance = prior * inflation / (_PAIRS_PER_ROW * n_rows)
    pairs = (value * (1 - value) + prior) / (variance + prior_variance)
    freedom = degrees(n_rows) if freedom is None else freedom
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    step = _FRACTION_OF_A_ROW * quantile / n_rows
    low = _wilson_ends(max(value - step * (value <= 0.5), 0.0), pairs, quantile)[0]
    high = _wilson_ends(min(value + step * (value >= 0.5), 1.0), pairs, quantile)[1]
    return max(min(low, value), 0.0), min(max(high, value), 1.0)


def _wilson_ends(value: float, pairs: float, quantile: float) -> tuple[float, float]:
    square = quantile * quantile
    middle = (value + square / (2 * pairs)) / (1 + square / pairs)
    spread = value * (1 - value) / pairs + square / (4 * pairs**2)
    reach = math.sqrt(square * spread) / (1 + square / pairs)
    return middle - reach, middle + reach


def difference_limits(
    values: tuple[float, float],
    ends: tuple[tuple[float, float], tuple[float, float]],
    correlation: float,
) -> tuple[float, float]:
    """Limits of a difference from the limits of its two terms (MOVER, or "square and add").

    For correlated terms Zou and Donner (2008) subtract ``2 r x y``, where x and y are the distances
    of opposite limits. For r near 1, an interval remains whose width comes from the skewness of
    the limits alone, so that two scores with the same order of rows would seem to differ. The term
    that does not vanish with 1 - r is therefore computed from half the widths of the intervals.
    """
    (a, b), ((low_a, high_a), (low_b, high_b)) = values, ends
    uneven = ((high_a - low_a) - (high_b - low_b)) / 2
    below = _reach(a - low_a, high_b - b, uneven, correlation)
    above = _reach(high_a - a, b - low_b, uneven, correlation)
    return max(a - b - below, -1.0), min(a - b + above, 1.0)


def _reach(x: float, y: float, uneven: float, correlation: float) -> float:
    if correlation < 0:
        return math.sqrt(x * x + y * y - 2 * correlation * (x * y))
    return math.sqrt((1 - correlation) * (x * x + y * y) + correlation * uneven * uneven)


def p_value_of(limits: Callable[[float], tuple[float, float]], difference: float) -> float:
    """The p-value that agrees with an interval: 1 minus the level at which it reaches 0."""
    if difference == 0:
        return 1.0

    def near_end(level: float) -> float:
        low, high = limits(level)
        return low if difference > 0 else -high

    if near_end(_LOWEST) <= 0:
        return 1.0
    if near_end(_HIGHEST) > 0:
        return 0.0
    return float(1 - brentq(near_end, _LOWEST, _HIGHEST, xtol=1e-14, rtol=1e-12))


def two_sided(statistic: float) -> float:
    """Two-sided p-value of a standard normal statistic."""
    return float(min(2 * ndtr(-abs(statistic)), 1.0))
