"""The threshold for a precision, and its confidence interval."""

import math
from bisect import bisect_right
from collections.abc import Callable

import numpy as np
from scipy.special import betainc

from auctor._checks import check_rate
from auctor._typing import Bools, Floats
from auctor.metrics.curve import OperatingPoint, RocCurve, axis_of
from auctor.metrics.curve_blocks import blocks
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.rates import Range

# A rounding error must not exclude a precision that is met exactly.
_ROUNDING = 1e-12
# Points that are tested at a time, outwards from the chosen one.
_NEAR = 2**16


def largest_list(curve: RocCurve, precision: float) -> OperatingPoint:
    """The point that flags the most rows among which the fraction of positives is high enough."""
    check_rate(precision, "precision")
    n = len(curve.thresholds)
    for part in reversed(list(blocks(n))):
        enough = np.flatnonzero(_precisions(curve, part) >= precision - _ROUNDING)
        if len(enough):
            index = part.start + int(enough[-1])
            return curve.at(threshold=float(curve.thresholds[index]))
    largest = max(float(np.nanmax(_precisions(curve, part), initial=0.0)) for part in blocks(n))
    raise ValueError(
        f"precision is {precision:g}, but no threshold reaches it on these rows; give at most "
        f"{largest:.3f}"
    )


def precision_interval(
    curve: RocCurve, rows: Counted | None, precision: float, level: float, point: OperatingPoint
) -> Range:
    """Confidence interval of the threshold that has this precision in the population.

    At a given threshold the number of positives among the flagged rows is binomial. The interval
    has all thresholds around the chosen one at which a binomial test does not reject the
    precision. ``rows`` is None for a curve of rows without weights and groups.
    """
    thresholds, flagged = curve.thresholds, axis_of(curve, "flagged")
    n_points = len(thresholds)
    tail = (1 - level) / 2
    n_rows = curve.n_pos + curve.n_neg if rows is None else _number_of_rows(rows, precision, tail)
    per_weight = n_rows / flagged[n_points - 1]

    def rejected(part: slice) -> Bools:
        n, k = flagged[part] * per_weight, curve.true_positives[part] * per_weight
        return _rejects(n, k, precision, tail)

    chosen = n_points - bisect_right(
        range(n_points), point.threshold, key=lambda i: float(thresholds[n_points - 1 - i])
    )
    first, last = _run(rejected, chosen, n_points)
    # Between two scores all thresholds flag the same rows.
    low = -math.inf if last == n_points - 1 else float(thresholds[last + 1])
    high = math.inf if first == 0 else float(thresholds[first])
    return Range(low, high)


def _precisions(curve: RocCurve, part: slice) -> Floats:
    """The precision at each threshold; NaN where no row is flagged."""
    flagged = axis_of(curve, "flagged")[part]
    with np.errstate(invalid="ignore"):
        return curve.true_positives[part] / np.where(flagged > 0, flagged, np.nan)


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


def _run(rejected: Callable[[slice], Bools], chosen: int, n: int) -> tuple[int, int]:
    """The ends of the run of points around an index that are not rejected."""
    first, last = 0, n - 1
    for start in range(chosen, 0, -_NEAR):
        part = slice(max(start - _NEAR, 0), start)
        positions = np.flatnonzero(rejected(part))
        if len(positions):
            first = part.start + int(positions[-1]) + 1
            break
    for start in range(chosen + 1, n, _NEAR):
        positions = np.flatnonzero(rejected(slice(start, min(start + _NEAR, n))))
        if len(positions):
            last = start + int(positions[0]) - 1
            break
    return first, last
