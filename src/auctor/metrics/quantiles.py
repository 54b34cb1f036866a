"""Thresholds as quantiles of the scores: intervals, and thresholds that hold with confidence.

For n scores of a continuous distribution, the fraction of the population above the j-th largest
score has the distribution Beta(j, n + 1 - j), whatever the distribution of the scores. Order
statistics therefore give exact bounds, without an estimate of a density.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import betainc

from auctor._typing import Floats
from auctor.metrics.curve_rows import RankedByCurve
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.rates import Range

_ROUNDING = 1e-9  # of a sum of weights, in rows


def rank_at(n_rows: float, rate: float, confidence: float) -> float:
    """The rank above which, with this confidence, at most a fraction ``rate`` of scores lies.

    It is the solution r of ``I_rate(r, n_rows + 1 - r) = confidence``, whose left side decreases
    in r. It is a real number, which Hutson (1999) interprets as a fractional order statistic. A
    rank below 1 means that there are too few rows.

    Examples
    --------
    >>> round(rank_at(28, 0.1, 0.95), 3), round(rank_at(29, 0.1, 0.95), 3)
    (0.977, 1.03)
    """
    low, high = 0.0, n_rows + 1.0
    for _ in range(60):  # bisection, to below rounding also for a million rows
        middle = (low + high) / 2
        if betainc(middle, n_rows + 1 - middle, rate) >= confidence:
            low = middle
        else:
            high = middle
    return low


def rows_needed(rate: float, confidence: float) -> int:
    """Minimum number of rows for a threshold with at most ``rate`` above it, with confidence.

    Examples
    --------
    >>> rows_needed(0.1, 0.95), rows_needed(0.01, 0.95)
    (29, 299)
    """
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate))


class Ranked:
    """Rows in decreasing order of their scores, with ranks scaled to the effective number of rows.

    ``rate`` is the fraction of rows above the quantile of interest, and ``tail`` the probability
    of error on one side; the effective number of rows depends on both.
    """

    def __init__(self, rows: Counted, rate: float, tail: float) -> None:
        order = np.argsort(-rows.scores, kind="stable")
        self.scores = rows.scores[order]
        self.total = np.cumsum(rows.weights[order])
        self.has_ties = bool((self.scores[1:] == self.scores[:-1]).any())
        is_finite = bool(np.isfinite(self.scores[[0, -1]]).all())
        self.is_smooth = rows.is_plain and not self.has_ties and is_finite
        self._rows = rows
        self.ask(rate, tail)

    def ask(self, rate: float, tail: float) -> "Ranked":
        """Compute the effective number of rows and the ranks for another quantile."""
        self.n_rows = effective_rows(self._rows, self._rows.scores, rate, tail)
        # Without weights and groups exactly 1, 2, 3, ...
        self.ranks = self.total * (self.n_rows / float(self.total[-1]))
        return self

    def fraction_above(self, threshold: float, *, strictly: bool = False) -> float:
        """Fraction of the rows at or above a threshold, or strictly above it."""
        side = "left" if strictly else "right"
        count = int(np.searchsorted(-self.scores, -threshold, side=side))  # type: ignore[call-overload]
        return 0.0 if count == 0 else float(self.total[count - 1] / self.total[-1])

    def at_most(self, rank: float) -> int:
        """Number of rows with at most this rank."""
        return int(np.searchsorted(self.ranks, math.floor(rank) + _ROUNDING, side="right"))

    def at_least(self, rank: float) -> int:
        """Number of rows needed to reach this rank; one more than there are if none does."""
        return int(np.searchsorted(self.ranks, math.ceil(rank) - _ROUNDING)) + 1

    def between(self, rank: float) -> float:
        """The score at a fractional rank, interpolated linearly between two rows."""
        return float(np.interp(rank, np.arange(1, len(self.scores) + 1), self.scores))


def quantile_interval(ranked: Ranked | RankedByCurve, rate: float, level: float) -> Range:
    """Confidence interval of the score above which a fraction ``rate`` of the population lies.

    With ties, weights or groups the ends are scores of rows. Otherwise they are interpolated
    between two scores, because ranks are whole numbers (Hutson 1999). An end is infinite if there
    are too few rows to bound it.
    """
    n = len(ranked.scores)
    tail = (1 - level) / 2
    upper, lower = (rank_at(ranked.n_rows, rate, p) for p in (1 - tail, tail))
    if ranked.is_smooth:
        high = math.inf if upper < 1 else ranked.between(upper)
        low = -math.inf if lower > n else ranked.between(lower)
        return Range(low, high)
    first, last = ranked.at_most(upper), ranked.at_least(lower)
    high = math.inf if first == 0 else float(ranked.scores[first - 1])
    low = -math.inf if last > n else float(ranked.scores[last - 1])
    return Range(low, high)


def next_above(scores: Floats, threshold: float) -> float:
    """The smallest score above a threshold; infinity if there is none."""
    above = scores[scores > threshold]
    return float(above.min()) if len(above) else math.inf


def highest_rate(
    ranked: Ranked | RankedByCurve,
    next_above: Callable[[float], float],
    rate: float,
    confidence: float,
) -> float | None:
    """The lowest threshold above which, with confidence, at most ``rate`` of the population lies.

    ``next_above`` gives the next higher score of all rows, from which the threshold is taken. The
    result is None if there are too few rows, or if infinite scores would have to lie below the
    threshold.
    """
    rank = rank_at(ranked.n_rows, rate, confidence)
    if rank < 1:
        return None
    count = ranked.at_most(rank)
    if count and not ranked.has_ties:
        return float(ranked.scores[count - 1])
    # A tied score may have any probability, so that only the fraction strictly above it is bounded.
    last = float(ranked.scores[max(count - 1, 0)])
    if last == math.inf:
        return None
    above = next_above(last)
    return above if math.isfinite(above) else float(np.nextafter(last, math.inf))


def lowest_rate(ranked: Ranked | RankedByCurve, rate: float, confidence: float) -> float | None:
    """The highest threshold above which, with confidence, at least ``rate`` of the population lies.

    The result is None if there are too few rows.
    """
    count = ranked.at_least(rank_at(ranked.n_rows, rate, 1 - confidence))
    return None if count > len(ranked.scores) else float(ranked.scores[count - 1])
