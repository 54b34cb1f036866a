"""The threshold of least cost and its confidence interval."""

import math

import numpy as np
from scipy.special import betainc

from auctor._typing import Bools, Floats, Indices
from auctor.metrics.bootstrap import thin
from auctor.metrics.curve import OperatingPoint, RocCurve
from auctor.metrics.curve_blocks import first_largest
from auctor.metrics.effective import (
    Counted,
    kish,
    kish_of_groups,
    student_factor,
    within_correlation,
)
from auctor.metrics.rates import Range

# Maximum number of thresholds that are compared pairwise: a finer grid would not change intervals.
_MAX_STEPS = 250
# A window of scores refutes a threshold if its p-value is below this factor, times the error
# allowed, times the square root of the window's fraction of the rows. Chosen by
# benchmarks/coverage_thresholds.py; see docs/coverage.md.
_SCAN = 5.0


def cheapest(curve: RocCurve, cost: float) -> OperatingPoint:
    """The point with the least false positives plus ``cost`` times missed positives.

    Among ties it is the one with the fewest flagged rows.
    """

    def savings(part: slice) -> Floats:
        missed = curve.true_positives[-1] - curve.true_positives[part]
        return np.asarray(-(curve.false_positives[part] + cost * missed))

    index = first_largest(len(curve.thresholds), savings)
    return curve.at(threshold=float(curve.thresholds[index]))


def cost_interval(curve: RocCurve, rows: Counted | None, cost: float, level: float) -> Range:
    """Confidence interval of the threshold that has the least cost in the population.

    If a threshold has the least cost in the population, then the fraction of positives is at most
    ``1 / (1 + cost)`` in any window of scores directly below it, and at least that in any window
    directly above it. A threshold is rejected if a binomial test refutes this for some window; the
    interval reaches from the lowest to the highest threshold that is not rejected. A bootstrap of
    the threshold is not valid here: an argmin converges at the rate ``n^(-1/3)``, and resamples do
    not reproduce its distribution.

    ``rows`` is None for a curve of rows without weights and groups.
    """
    few = thin(curve, _MAX_STEPS)
    upper, lower = np.triu_indices(len(few.thresholds), 1)
    pos, neg = (t[lower] - t[upper] for t in (few.true_positives, few.false_positives))
    per_weight, n_rows = _rows_per_weight(few, rows, upper, lower, level)
    pos, neg = pos * per_weight, neg * per_weight
    limit = min(_SCAN * (1 - level), 0.5) * np.sqrt(np.minimum((pos + neg) / n_rows, 1.0))
    rate = 1 / (1 + cost)
    possible = np.ones(len(few.thresholds), dtype=bool)
    possible[upper[_tail(pos, neg, rate) < limit]] = False
    possible[lower[_tail(neg, pos, 1 - rate) < limit]] = False
    point = cheapest(curve, cost).threshold
    return _hull(few.thresholds, possible, point, is_thin=few is not curve)


def _tail(part: Floats, rest: Floats, rate: float) -> Floats:
    """Binomial probability of ``part`` or more successes in ``part + rest`` rows at this rate.

    It is set to 1, without computing it, where there are no more successes than expected.
    """
    probability = np.ones(len(part))
    more = part > rate * (part + rest)
    probability[more] = betainc(part[more], rest[more] + 1.0, rate)
    return probability


def _rows_per_weight(
    curve: RocCurve, rows: Counted | None, upper: Indices, lower: Indices, level: float
) -> tuple[Floats | float, float]:
    """Effective rows per unit of weight in each window, and the effective number of all rows."""
    if rows is None or rows.is_plain:
        n_rows = float(curve.n_pos + curve.n_neg)
        return n_rows / float(curve.flagged[-1]), n_rows
    # Sums of squared weights at or above each threshold, as the curve has sums of weights.
    order = np.argsort(-rows.scores, kind="stable")
    largest = float(rows.weights.max())  # squares neither overflow nor underflow
    squares = np.concatenate(([0.0], np.cumsum(np.square(rows.weights[order] / largest))))
    squares = squares[np.searchsorted(-rows.scores[order], -curve.thresholds, side="right")]
    squares[0] = 0.0  # no row is flagged there, even if a score is infinite
    # The curve may have another unit of weight: the rows treat equal weights as no weights.
    unit = float(curve.flagged[-1] / (rows.weights / largest).sum())
    weight = (curve.flagged[lower] - curve.flagged[upper]) / unit
    per_weight = weight / (squares[lower] - squares[upper])
    n_rows = kish(rows.weights)
    factor = _group_factor(rows, n_rows, per_weight * weight / n_rows, level)
    return per_weight * factor / unit, n_rows


def _group_factor(rows: Counted, n_rows: float, fraction: Floats, level: float) -> Floats | float:
    """Factor of the effective rows of windows with these fractions of the rows, due to groups."""
    if rows.codes is None:
        return 1.0
    # Two rows of a group add to each other's effect on a window if their labels agree and both
    # are in the window.
    labels = within_correlation(rows.positive.astype(np.float64), rows.codes)
    near = (rows.scores >= np.median(rows.scores)).astype(np.float64)
    both = labels * np.maximum(within_correlation(near, rows.codes), fraction)
    size, n_groups = kish_of_groups(rows)
    return student_factor(n_groups, (1 - level) / 2) / (1 + max(n_rows / size - 1, 0.0) * both)


def _hull(thresholds: Floats, possible: Bools, point: float, *, is_thin: bool) -> Range:
    """The interval from the lowest to the highest possible threshold."""
    indices = np.flatnonzero(possible | (thresholds == point))
    if len(indices) == 0:
        return Range(point, point)
    first, last = int(indices[0]), int(indices[-1])
    # All thresholds down to the next lower score flag the same rows. If the curve is
    # thinned, the omitted thresholds above the first one are possible as well.
    high = thresholds[max(first - is_thin, 0)]
    low = thresholds[last + 1] if last + 1 < len(thresholds) else -math.inf
    return Range(float(min(low, point)), float(max(high, point)))
