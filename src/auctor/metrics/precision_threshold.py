"""The threshold for a precision, and its confidence interval."""

import math

import numpy as np
from scipy.special import betainc

from auctor._checks import check_rate
from auctor._typing import Bools, Floats
from auctor.metrics.curve import OperatingPoint, RocCurve
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.rates import Range

# A rounding error must not exclude a precision that is met exactly.
_ROUNDING = 1e-12


def largest_list(curve: RocCurve, precision: float) -> OperatingPoint:
    """The point that flags the most rows among which the fraction of positives is high enough."""
    check_rate(precision, "precision")
    rates = _precisions(curve)
    enough = np.flatnonzero(rates >= precision - _ROUNDING)
    if len(enough) == 0:
        raise ValueError(
            f"precision is {precision:g}, but no threshold reaches it on these rows; give at most "
            f"{float(np.nanmax(rates)):.3f}"
        )
    return curve.at(threshold=float(curve.thresholds[enough[-1]]))


def precision_interval(
    curve: RocCurve, rows: Counted, precision: float, level: float, point: OperatingPoint
) -> Range:
    """Confidence interval of the threshold that has this precision in the population.

    At a given threshold the number of positives among the flagged rows is binomial. The interval
    has all thresholds around the chosen one at which a binomial test does not reject the
    precision.
    """
    flagged, hits = curve.flagged, curve.true_positives
    tail = (1 - level) / 2
    per_weight = _number_of_rows(rows, precision, tail) / float(flagged[-1])
    n, k = flagged * per_weight, hits * per_weight
    possible = ~_rejects(n, k, precision, tail)
    chosen = int(np.searchsorted(-curve.thresholds, -point.threshold))
    possible[chosen] = True
    first, last = _run(possible, chosen)
    # Between two scores all thresholds flag the same rows.
    thresholds = curve.thresholds
    low = -math.inf if last == len(thresholds) - 1 else float(thresholds[last + 1])
    high = math.inf if first == 0 else float(thresholds[first])
    return Range(low, high)


def _precisions(curve: RocCurve) -> Floats:
    """The precision at each threshold; NaN where no row is flagged."""
    with np.errstate(invalid="ignore"):
        return curve.true_positives / np.where(curve.flagged > 0, curve.flagged, np.nan)


def _number_of_rows(rows: Counted, rate: float, tail: float) -> float:
    """The effective number of all rows, by their labels."""
    if rows.is_plain:
        return float(len(rows.scores))
    return effective_rows(rows, rows.positive.astype(np.float64), rate, tail)


def _rejects(n: Floats, k: Floats, rate: float, tail: float) -> Bools:
    """Whether k positives of n rows refute the rate, on either side."""
    with np.errstate(invalid="ignore"):
        # P(at most k) and P(at least k) of a binomial, as incomplete beta functions.
        at_most = np.where(k >= n, 1.0, betainc(np.maximum(n - k, 1e-300), k + 1, 1 - rate))
        at_least = np.where(k <= 0, 1.0, betainc(np.maximum(k, 1e-300), n - k + 1, rate))
    return np.asarray((n > 0) & ((at_most < tail) | (at_least < tail)))


def _run(possible: Bools, chosen: int) -> tuple[int, int]:
    """The ends of the run of True around an index."""
    left = np.flatnonzero(~possible[:chosen])
    right = np.flatnonzero(~possible[chosen:])
    first = int(left[-1]) + 1 if len(left) else 0
    last = chosen + int(right[0]) - 1 if len(right) else len(possible) - 1
    return first, last
