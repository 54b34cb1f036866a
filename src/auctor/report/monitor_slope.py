"""The calibration slope: a logistic regression of labels on the log odds of predictions."""

import math
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.metrics.limits import two_sided

_MOST_STEPS = 50
_STEEPEST = 100.0  # a slope that the rows do not bound


class Slope(NamedTuple):
    """A calibration slope with its standard error."""

    value: float
    standard_error: float

    def differs_from(self, other: "float | Slope") -> float:
        """The p-value of the hypothesis that the slope is that of another sample, or a number."""
        value, error = (other, 0.0) if isinstance(other, float) else other
        return two_sided((self.value - value) / math.hypot(self.standard_error, error))


def calibration_slope(odds: Floats, positives: Floats, negatives: Floats) -> Slope | None:
    """The slope of labels on log odds; None where these rows do not determine it.

    ``positives`` and ``negatives`` are the numbers of rows of each class with these log odds.

    Examples
    --------
    >>> odds = np.array([-1.0, 0.0, 1.0])
    >>> calibration_slope(odds, np.array([27.0, 50, 73]), np.array([73.0, 50, 27]))
    Slope(value=0.994..., standard_error=0.159...)
    """
    count = positives + negatives
    if not np.ptp(odds[count > 0]) > 0:
        return None
    offset, slope = 0.0, 1.0
    for _ in range(_MOST_STEPS):
        p = 1 / (1 + np.exp(-np.clip(offset + slope * odds, -500, 500)))
        residual, variance = positives - count * p, count * p * (1 - p)
        a, b, c = (float((variance * odds**k).sum()) for k in range(3))
        determinant = a * c - b * b
        if not determinant > 1e-12 * a * c:
            return None
        first, second = float(residual.sum()), float((residual * odds).sum())
        steps = (c * first - b * second) / determinant, (a * second - b * first) / determinant
        # A long step would overshoot; one of this length at most converges from anywhere near.
        damping = min(1.0, 2.0 / max(abs(steps[0]), abs(steps[1]), 1e-300))
        offset, slope = offset + damping * steps[0], slope + damping * steps[1]
        if max(map(abs, steps)) < 1e-9:
            return Slope(slope, math.sqrt(a / determinant))
        if abs(slope) > _STEEPEST:
            return None
    return None
