"""Confidence limits of an AUC, and of the difference of two, from their variances."""

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import ndtr, ndtri, stdtrit

# A prior of two rows of the smaller class, one ranked right and one wrong, each worth so many
# effective pairs: where every pair is in order, the rows themselves show no variance. These
# numbers and the two below were chosen by simulation, as those of the narrowest limits that cover
# in every cell of benchmarks/coverage.py.
_PRIOR_ROWS = 2.0
_PAIRS_A_ROW = 2.0
# Placements are bounded, and their squares vary less than those of normal values.
_DEGREES_A_ROW = 2.0
# One row in the wrong place among few says little about how near to 1 the AUC is: the limit on the
# side of 1 (of 0 for an AUC below one half) moves by so much of a row a standard error.
_OF_A_ROW = 0.1
# Levels of confidence between which the p-value of a difference is looked for.
_LOWEST, _HIGHEST = 1e-9, 1 - 1e-12


def normal_quantile(level: float) -> float:
    """Half the width, in standard errors, of a normal interval of this level."""
    return float(ndtri((1 + level) / 2))


def quantile(level: float, freedom: float) -> float:
    """Half the width, in standard errors, of a t interval; of a normal one if freedom is infinite.

    Examples
    --------
    >>> round(quantile(0.95, math.inf), 2), round(quantile(0.95, 3), 2)
    (1.96, 3.18)
    """
    return (
        normal_quantile(level) if math.isinf(freedom) else float(stdtrit(freedom, (1 + level) / 2))
    )


def degrees(n_rows: float, n_means: int = 1) -> float:
    """Degrees of freedom of a variance of placements around so many means."""
    return _DEGREES_A_ROW * max(n_rows - n_means, 1.0)


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

    An AUC of m independent pairs has the variance A (1 - A) / m; m is what makes that the
    variance given. ``inflation`` says by how much the variance is larger than that of the rows
    alone, which the prior has to follow. The variance is itself estimated: the limits use a t
    quantile with ``freedom`` degrees, by default :func:`degrees` of the smaller class.

    Examples
    --------
    >>> low, high = auc_limits(1.0, 0.0, 10, 10, 0.95)
    >>> round(low, 2), high
    (0.82, 1.0)
    """
    n_rows = min(n_pos, n_neg)
    prior = _PRIOR_ROWS / (4 * n_rows)
    pairs = (value * (1 - value) + prior) / (variance + prior * inflation / (_PAIRS_A_ROW * n_rows))
    freedom = degrees(n_rows) if freedom is None else freedom
    quantile = float(stdtrit(freedom, (1 + level) / 2))
    step = _OF_A_ROW * quantile / n_rows
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
    """Limits of a difference from those of its two terms ("square and add", or MOVER).

    Zou and Donner (2008) subtract ``2 r x y`` for correlated terms, where x and y are distances
    of opposite limits. For r near 1 that leaves width which is due to the skewness alone, and two
    scores that order the rows alike would seem to differ; the term that does not vanish with
    1 - r is therefore that of the half widths.
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
    """The p-value that agrees with an interval: 1 less the level at which it reaches 0."""
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
    """Probability that a normal variable is at least this far from zero."""
    return float(min(2 * ndtr(-abs(statistic)), 1.0))
