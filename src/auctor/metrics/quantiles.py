"""Thresholds as quantiles: their intervals, and thresholds that hold with confidence.

Above the j-th largest of n scores of a continuous law lies a share of the law that has the
distribution Beta(j, n + 1 - j), whatever the law is. So ranks have exact bounds where quantiles
have none, and no density has to be estimated.
"""

import math

import numpy as np
from scipy.special import betainc

from auctor._typing import Floats
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.rates import Range

_ROUNDING = 1e-9  # of a sum of weights, in rows


def rank_at(n_rows: float, rate: float, confidence: float) -> float:
    """The rank, a real number, above which a share of at most ``rate`` lies with ``confidence``.

    The solution r of ``I_rate(r, n_rows + 1 - r) = confidence``, which falls in r; Hutson (1999)
    reads it as a fractional order statistic. Below 1, no score has that rank.

    Examples
    --------
    >>> rank_at(28, 0.1, 0.95) < 1 < rank_at(29, 0.1, 0.95)
    True
    """
    low, high = 0.0, n_rows + 1.0
    for _ in range(60):  # halves an interval of a million rows to below rounding
        middle = (low + high) / 2
        if betainc(middle, n_rows + 1 - middle, rate) >= confidence:
            low = middle
        else:
            high = middle
    return low


def rows_needed(rate: float, confidence: float) -> int:
    """The smallest number of rows whose largest score has at most ``rate`` above it.

    Examples
    --------
    >>> rows_needed(0.1, 0.95), rows_needed(0.01, 0.95)
    (29, 299)
    """
    return math.ceil(math.log1p(-confidence) / math.log1p(-rate))


class Ranked:
    """Rows in decreasing order of their scores, ranked by their effective number.

    ``rate`` and ``tail`` are of the quantile that is asked for.
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
        """The same rows for another quantile, to which other weights may matter."""
        self.n_rows = effective_rows(self._rows, self._rows.scores, rate, tail)
        # Of plain rows exactly 1, 2, 3, ...
        self.ranks = self.total * (self.n_rows / float(self.total[-1]))
        return self

    def share_above(self, threshold: float, *, strictly: bool = False) -> float:
        """The share of the rows above a threshold, or at it as well."""
        side = "left" if strictly else "right"
        count = int(np.searchsorted(-self.scores, -threshold, side=side))  # type: ignore[call-overload]
        return 0.0 if count == 0 else float(self.total[count - 1] / self.total[-1])

    def at_most(self, rank: float) -> int:
        """How many of the rows have together at most this rank."""
        return int(np.searchsorted(self.ranks, math.floor(rank) + _ROUNDING, side="right"))

    def at_least(self, rank: float) -> int:
        """How many of the rows it takes to reach this rank; more than there are if they do not."""
        return int(np.searchsorted(self.ranks, math.ceil(rank) - _ROUNDING)) + 1

    def between(self, rank: float) -> float:
        """The score at a fractional rank, linear between two rows."""
        return float(np.interp(rank, np.arange(1, len(self.scores) + 1), self.scores))


def quantile_interval(ranked: Ranked, rate: float, level: float) -> Range:
    """Interval of the score above which a share ``rate`` of the law lies.

    Where there are ties, weights or groups the ends are scores of rows; else they lie between two,
    which makes up for ranks being whole numbers (Hutson, 1999). An end that the rows cannot
    give is infinite.
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
    """The smallest of the scores above a threshold; infinity if none is."""
    above = scores[scores > threshold]
    return float(above.min()) if len(above) else math.inf


def highest_rate(ranked: Ranked, scores: Floats, rate: float, confidence: float) -> float | None:
    """The lowest threshold above which at most ``rate`` of the law lies, with confidence.

    ``scores`` are those of all rows, from which the threshold is taken. None where there are too
    few rows, or where infinite scores would have to lie below it.
    """
    rank = rank_at(ranked.n_rows, rate, confidence)
    if rank < 1:
        return None
    count = ranked.at_most(rank)
    if count and not ranked.has_ties:
        return float(ranked.scores[count - 1])
    # A tied score may have any share of the law, so that only what lies above it is bounded.
    last = float(ranked.scores[max(count - 1, 0)])
    if last == math.inf:
        return None
    above = next_above(scores, last)
    return above if math.isfinite(above) else float(np.nextafter(last, math.inf))


def lowest_rate(ranked: Ranked, rate: float, confidence: float) -> float | None:
    """The highest threshold above which at least ``rate`` of the law lies, with confidence.

    None where there are too few rows.
    """
    count = ranked.at_least(rank_at(ranked.n_rows, rate, 1 - confidence))
    return None if count > len(ranked.scores) else float(ranked.scores[count - 1])
