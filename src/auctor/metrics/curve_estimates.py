"""Estimates of KS, precision at k and partial AUC with their variance and bias."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Bools
from auctor.metrics.bootstrap import at_thresholds, class_draws, resampled_curves, thin
from auctor.metrics.curve import RocCurve, axis_of, curve_of_sample
from auctor.metrics.curve_blocks import Axis, interpolate
from auctor.metrics.effective import kish
from auctor.metrics.folds import Part
from auctor.metrics.sample import read_codes

# Maximum number of distinct scores of a resampled curve; more of them are joined.
_MAX_STEPS = 1000
# The curve is resampled in fine steps up to this multiple of the top whose precision is estimated.
_TIMES_THE_TOP = 3
# Rows of each outcome that Agresti and Coull's interval adds, so that a rate of 0 or 1 still has a
# variance.
_ADDED_ROWS = 2.0
# Ratio of the bias of KS in the sample to its excess in resamples (the mean KS of the resamples
# minus the KS of the sample). The random error of a resample adds to that of the sample, but the
# largest of many sums grows more slowly than their variance. Where tpr - fpr has a single peak, the
# bias grows as the 2/3 power of the variance, so that the sample's bias is
# 1 / (2^(2/3) - 1) = 1.7 times the resamples' excess; where tpr - fpr is flat, it grows as the
# square root, which makes it 2.4 times.
_KS_BIAS = 2.0
# Standard error of this bias correction, as a multiple of the excess, and its minimum, divided by
# the number of rows of the smaller class: where the classes are separated, resamples have no
# excess. Both were chosen by simulation as what gives coverage with 5 to 200 rows per class
# (benchmarks/coverage.py).
_KS_BIAS_ERROR = 1.5
_MIN_BIAS_ERROR = 0.4


class Estimate(NamedTuple):
    """A metric of a sample with its variance.

    ``bias`` is the estimated bias of the value and ``bias_error`` the standard error of that
    estimate. ``n_independent`` is the effective number of independent rows behind a fraction.
    ``freedom`` is the number of degrees of freedom of the variance.
    """

    value: float
    variance: float
    bias: float = 0.0
    bias_error: float = 0.0
    n_independent: float = 0.0
    freedom: float = math.inf

    @property
    def corrected(self) -> float:
        """The bias-corrected value, within [0, 1]."""
        return min(max(self.value - self.bias, 0.0), 1.0)


def estimate_ks(part: Part) -> Estimate:
    """KS with its bias, and the variance of tpr - fpr at the threshold of the largest value."""
    curve, positive = curve_of_sample(part.sample), part.sample.positive
    sizes = _n_independent(part, positive), _n_independent(part, ~positive)
    is_plain = part.sample.weight is None and _groups(part) is None
    return ks_of_curve(curve, partial(_draws, part=part), sizes, is_plain=is_plain)


Draws = Callable[[RocCurve], Iterator[RocCurve]]  # resampled curves of a curve


def ks_of_curve(
    curve: RocCurve, draws: Draws, sizes: tuple[float, float], *, is_plain: bool = True
) -> Estimate:
    """The KS of a curve; ``sizes`` are the effective numbers of positives and of negatives.

    ``is_plain`` is whether there are neither weights nor groups.
    """
    steps, point = thin(curve, _MAX_STEPS), curve.youden()
    drawn = np.array([_ks_and_gap(one, point.threshold) for one in draws(steps)])
    n_pos, n_neg = sizes
    variance = _rate_variance(point.tpr, n_pos) + _rate_variance(point.fpr, n_neg)
    if not is_plain:
        variance = max(variance, float(drawn[:, 1].var(ddof=1)))
    excess = float(drawn[:, 0].mean()) - steps.ks()
    n_rows = min(n_pos, n_neg)
    return Estimate(
        curve.ks(),
        variance,
        bias=_KS_BIAS * excess,
        bias_error=max(_KS_BIAS_ERROR * abs(excess), _MIN_BIAS_ERROR / n_rows),
        freedom=max(n_rows - 2, 1.0),
    )


def estimate_precision(part: Part, fraction: float) -> Estimate:
    """Precision in the top fraction of the rows, with its bootstrap variance."""
    curve = curve_of_sample(part.sample)

    def n_rows_from(threshold: float) -> float:
        return _n_independent(part, part.sample.scores[0] >= threshold)

    return precision_of_curve(curve, fraction, partial(_draws, part=part), n_rows_from)


def precision_of_curve(
    curve: RocCurve, fraction: float, draws: Draws, n_rows_from: Callable[[float], float]
) -> Estimate:
    """The precision in the top fraction of the rows of a curve.

    ``n_rows_from`` gives the effective number of rows at or above a threshold.
    """
    steps = _fine_at_the_top(curve, fraction)
    drawn = [precision_in_top(one, fraction) for one in draws(steps)]
    return Estimate(
        precision_in_top(curve, fraction),
        float(np.var(drawn, ddof=1)),
        n_independent=_size_of_top(curve, fraction, n_rows_from),
    )


def plain_draws(steps: RocCurve, n_resamples: int, rng: np.random.Generator) -> Iterator[RocCurve]:
    """The resampled curves of rows without weights and groups."""
    return islice(class_draws(thin(steps, 2 * _MAX_STEPS), rng), n_resamples)


def area_variance(part: Part, area: Callable[[RocCurve], float]) -> float:
    """Bootstrap variance of an area under a part of the curve."""
    steps = thin(curve_of_sample(part.sample), _MAX_STEPS)
    return float(np.var([area(one) for one in _draws(steps, part)], ddof=1))


def precision_in_top(curve: RocCurve, fraction: float) -> float:
    """Precision among this fraction of the rows; rows tied at its end count in part."""
    flagged = axis_of(curve, "flagged")
    top = fraction * flagged[-1]
    return interpolate(top, flagged, Axis((curve.true_positives,))) / top


def effective_trials(value: float, error: float, n_independent: float) -> float:
    """Number of independent rows at which a fraction has this standard error.

    It is at most ``n_independent``.
    """
    if error == 0.0:
        return n_independent
    # Agresti and Coull's rate: also a precision of 1 has a variance.
    rate = (value * n_independent + _ADDED_ROWS) / (n_independent + 2 * _ADDED_ROWS)
    return min(rate * (1 - rate) / error**2, n_independent)


def _draws(steps: RocCurve, part: Part) -> Iterator[RocCurve]:
    """The resampled curves."""
    assert part.resampling is not None
    groups, n_resamples, rng = part.resampling
    draws, _ = resampled_curves(steps, part.sample, groups, rng, max_steps=2 * _MAX_STEPS)
    return islice(draws, n_resamples)


def _groups(part: Part) -> Any:
    assert part.resampling is not None
    return part.resampling.groups


def _n_independent(part: Part, rows: Bools) -> float:
    """Effective number of independent rows of equal weight.

    With weights it is at most Kish's effective number, with groups at most the number of groups.
    """
    count, weight, groups = float(np.count_nonzero(rows)), part.sample.weight, _groups(part)
    if weight is not None:
        count = min(count, kish(weight[rows]))
    if groups is not None:
        codes = read_codes(groups, part.sample, "groups")[1]
        count = min(count, float(len(np.unique(codes[rows]))))
    return count


def _rate_variance(rate: float, n_rows: float) -> float:
    """Variance of a rate as in the interval of Agresti and Coull."""
    size = n_rows + 2 * _ADDED_ROWS
    adjusted = (rate * n_rows + _ADDED_ROWS) / size
    return adjusted * (1 - adjusted) / size


def _ks_and_gap(drawn: RocCurve, threshold: float) -> tuple[float, float]:
    return drawn.ks(), drawn.at(threshold=threshold).youden


def _size_of_top(curve: RocCurve, fraction: float, n_rows_from: Callable[[float], float]) -> float:
    """Effective number of independent rows in the top; rows tied at its end count in part."""
    flagged = axis_of(curve, "flagged")
    top = fraction * flagged[-1]
    last = min(flagged.count_below(top * (1 - 1e-12)), len(flagged) - 1)
    return n_rows_from(float(curve.thresholds[last])) * min(top / flagged[last], 1.0)


def _fine_at_the_top(curve: RocCurve, fraction: float) -> RocCurve:
    """The curve with neighbouring steps joined, fewer of them in the top than elsewhere."""
    flagged = axis_of(curve, "flagged")
    last = len(flagged) - 1
    end = flagged.count_below(min(_TIMES_THE_TOP * fraction, 1.0) * flagged[-1])
    kept = [np.linspace(a, b, _MAX_STEPS) for a, b in ((0, min(end, last)), (end, last))]
    return at_thresholds(curve, np.unique(np.concatenate(kept).astype(np.intp).clip(0, last)))
