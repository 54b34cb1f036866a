"""The threshold of the least cost, and which thresholds may be the best in truth."""

import math

import numpy as np
from scipy.special import betainc

from auctor._typing import Bools, Floats, Indices
from auctor.metrics.curve import OperatingPoint, RocCurve
from auctor.metrics.effective import (
    Counted,
    kish,
    kish_of_groups,
    student_factor,
    within_correlation,
)
from auctor.metrics.rates import Range
from auctor.metrics.resampled_curves import thin

# Thresholds that are compared pairwise: finer than any interval.
_MOST_STEPS = 250
# Of the error allowed, times the root of a window's share of the rows: how small the p-value of
# a window must be. Chosen by benchmarks/coverage_thresholds.py; see docs/coverage.md.
_SCAN = 5.0


def cheapest(curve: RocCurve, cost: float) -> OperatingPoint:
    """The point of least false positives plus ``cost`` times missed; of several, flags least."""
    missed = curve.true_positives[-1] - curve.true_positives
    place = int(np.argmin(curve.false_positives + cost * missed))
    return curve.at(threshold=float(curve.thresholds[place]))


def cost_interval(curve: RocCurve, rows: Counted, cost: float, level: float) -> Range:
    """From the lowest to the highest threshold that the rows do not show to be too costly.

    If a threshold is the best one of the law, then among the rows in any window of scores right
    below it at most a share of ``1 / (1 + cost)`` is positive, and in any window right above it
    at least that share. A threshold is left out where a binomial test refutes that in some window.
    A bootstrap of the threshold does not work here: an argmin moves at the rate
    ``n^(-1/3)``, and its resamples do not vary as it does.
    """
    few = thin(curve, _MOST_STEPS)
    upper, lower = np.triu_indices(len(few.thresholds), 1)
    pos, neg = (t[lower] - t[upper] for t in (few.true_positives, few.false_positives))
    per_weight, n_rows = _rows_per_weight(few, rows, upper, lower, level)
    pos, neg = pos * per_weight, neg * per_weight
    limit = min(_SCAN * (1 - level), 0.5) * np.sqrt(np.minimum((pos + neg) / n_rows, 1.0))
    share = 1 / (1 + cost)
    possible = np.ones(len(few.thresholds), dtype=bool)
    possible[upper[_tail(pos, neg, share) < limit]] = False
    possible[lower[_tail(neg, pos, 1 - share) < limit]] = False
    point = cheapest(curve, cost).threshold
    return _hull(few.thresholds, possible, point, is_thin=few is not curve)


def _tail(part: Floats, rest: Floats, share: float) -> Floats:
    """Chance of ``part`` or more hits with this chance each, among ``part + rest`` rows.

    1 where there are no more hits than expected, which needs no computing.
    """
    chance = np.ones(len(part))
    more = part > share * (part + rest)
    chance[more] = betainc(part[more], rest[more] + 1.0, share)
    return chance


def _rows_per_weight(
    curve: RocCurve, rows: Counted, upper: Indices, lower: Indices, level: float
) -> tuple[Floats | float, float]:
    """Effective rows in a window for each unit of its weight, and effective rows in all."""
    if rows.is_plain:
        n_rows = float(len(rows.scores))
        return n_rows / float(curve.flagged[-1]), n_rows
    # Sums of squared weights at or above each threshold, as the curve has sums of weights.
    order = np.argsort(-rows.scores, kind="stable")
    largest = float(rows.weights.max())  # squares neither overflow nor vanish
    squares = np.concatenate(([0.0], np.cumsum(np.square(rows.weights[order] / largest))))
    squares = squares[np.searchsorted(-rows.scores[order], -curve.thresholds, side="right")]
    squares[0] = 0.0  # nothing is flagged there, also where a score is infinite
    # The curve may have other units: equal weights are none among the rows.
    unit = float(curve.flagged[-1] / (rows.weights / largest).sum())
    weight = (curve.flagged[lower] - curve.flagged[upper]) / unit
    alone = weight / (squares[lower] - squares[upper])  # rows for each unit of weight
    n_rows = kish(rows.weights)
    return alone * _group_factor(rows, n_rows, alone * weight / n_rows, level) / unit, n_rows


def _group_factor(rows: Counted, n_rows: float, share: Floats, level: float) -> Floats | float:
    """By how much groups lower the effective rows of windows that hold a share of the rows."""
    if rows.codes is None:
        return 1.0
    # Two rows of a group disturb a window together if their labels agree and both are in it.
    labels = within_correlation(rows.positive.astype(np.float64), rows.codes)
    near = (rows.scores >= np.median(rows.scores)).astype(np.float64)
    both = labels * np.maximum(within_correlation(near, rows.codes), share)
    size, n_groups = kish_of_groups(rows)
    return student_factor(n_groups, (1 - level) / 2) / (1 + max(n_rows / size - 1, 0.0) * both)


def _hull(thresholds: Floats, possible: Bools, point: float, *, is_thin: bool) -> Range:
    """The ends of what is possible, up to where other rows are flagged."""
    places = np.flatnonzero(possible | (thresholds == point))
    if len(places) == 0:
        return Range(point, point)
    first, last = int(places[0]), int(places[-1])
    # The thresholds from the next lower score on flag the same rows; of a thinned curve the
    # thresholds left out above the first are possible as well.
    high = thresholds[max(first - is_thin, 0)]
    low = thresholds[last + 1] if last + 1 < len(thresholds) else -math.inf
    return Range(float(min(low, point)), float(max(high, point)))
