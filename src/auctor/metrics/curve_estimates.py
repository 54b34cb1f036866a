"""KS, precision at k and partial AUC of some rows, and how far off they may be."""

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Bools
from auctor.metrics.curve import RocCurve, curve_of_sample
from auctor.metrics.effective import kish
from auctor.metrics.folds import Part
from auctor.metrics.resampled_curves import at_thresholds, resampled_curves, thin
from auctor.metrics.sample import read_codes

# More distinct scores than this are put into groups to resample.
_MOST_STEPS = 1000
# Of the top whose precision is asked for, so much is resampled in fine steps.
_TIMES_THE_TOP = 3
# Two rows of each outcome more, as Agresti and Coull have it: a rate of 1 is not certain.
_MORE = 2.0
# KS of a resample exceeds that of the rows by less than theirs exceeds the true one: chance adds up
# in a resample, but the largest of many sums grows slower than they do. Where the curve of
# tpr - fpr has one top, the largest grows as the 2/3rd power of their variance, so that the rows'
# excess is 1 / (2^(2/3) - 1) = 1.7 times the resample's; where it is flat, as the square root,
# which makes it 2.4 times.
_KS_EXCESS = 2.0
# How far that correction may be off, in units of the resample's excess; and the least that it may
# be off, over the rows of the smaller class: where the classes are apart no resample has an excess.
# By simulation, as what covers with 5 to 200 rows a class (benchmarks/coverage.py).
_KS_DOUBT = 1.5
_LEAST_DOUBT = 0.4


class Estimate(NamedTuple):
    """The metric of some rows.

    ``bias`` is how much too large it is on average, ``doubt`` how far that itself may be off.
    ``n_alone`` is the effective number of independent rows that a share is a share of, ``freedom``
    are the degrees of freedom of the variance.
    """

    value: float
    variance: float
    bias: float = 0.0
    doubt: float = 0.0
    n_alone: float = 0.0
    freedom: float = math.inf


def estimate_ks(part: Part) -> Estimate:
    """KS; what it has too much; the variance of tpr - fpr at the threshold where it is."""
    curve = curve_of_sample(part.sample)
    steps, point = thin(curve, _MOST_STEPS), curve.youden()
    found = np.array([_ks_and_gap(drawn, point.threshold) for drawn in _draws(steps, part)])
    positive = part.sample.positive
    n_pos, n_neg = _rows_alone(part, positive), _rows_alone(part, ~positive)
    variance = _rate_variance(point.tpr, n_pos) + _rate_variance(point.fpr, n_neg)
    if part.sample.weight is not None or _groups(part) is not None:
        variance = max(variance, float(found[:, 1].var(ddof=1)))
    excess = float(found[:, 0].mean()) - steps.ks()
    n_rows = min(n_pos, n_neg)
    return Estimate(
        curve.ks(),
        variance,
        bias=_KS_EXCESS * excess,
        doubt=max(_KS_DOUBT * abs(excess), _LEAST_DOUBT / n_rows),
        freedom=max(n_rows - 2, 1.0),
    )


def estimate_precision(part: Part, share: float) -> Estimate:
    """The precision in the top share of the rows, and its variance over resamples."""
    curve = curve_of_sample(part.sample)
    steps = _fine_at_the_top(curve, share)
    found = [_precision(drawn, share) for drawn in _draws(steps, part)]
    return Estimate(
        _precision(curve, share),
        float(np.var(found, ddof=1)),
        n_alone=_size_of_top(part, curve, share),
    )


def estimate_area(part: Part, area: Callable[[RocCurve], float]) -> Estimate:
    """An area under a part of the curve; few rows of a class make it too large."""
    curve = curve_of_sample(part.sample)
    steps = thin(curve, _MOST_STEPS)
    found = np.array([area(drawn) for drawn in _draws(steps, part)])
    excess = float(found.mean()) - area(steps)
    return Estimate(area(curve), float(found.var(ddof=1)), bias=excess, doubt=abs(excess))


def varies_as(value: float, error: float, n_alone: float) -> float:
    """How many rows that vary alone have a share of this error; no more than there are."""
    if error == 0.0:
        return n_alone
    share = (value * n_alone + _MORE) / (n_alone + 2 * _MORE)  # resamples of 1 are not all 1
    return min(share * (1 - share) / error**2, n_alone)


def _draws(steps: RocCurve, part: Part) -> Iterator[RocCurve]:
    """Resampled curves, as many as are wanted."""
    assert part.resampling is not None
    groups, n_resamples, rng = part.resampling
    draws, _ = resampled_curves(steps, part.sample, groups, rng, most_steps=2 * _MOST_STEPS)
    return islice(draws, n_resamples)


def _groups(part: Part) -> Any:
    assert part.resampling is not None
    return part.resampling.groups


def _rows_alone(part: Part, rows: Bools) -> float:
    """How many rows that weigh alike and vary alone these are worth.

    Groups at most count once each, and of weights Kish's number.
    """
    count, weight, groups = float(np.count_nonzero(rows)), part.sample.weight, _groups(part)
    if weight is not None:
        count = min(count, kish(weight[rows]))
    if groups is not None:
        codes = read_codes(groups, part.sample, "groups")[1]
        count = min(count, float(len(np.unique(codes[rows]))))
    return count


def _rate_variance(rate: float, n_rows: float) -> float:
    """The variance of a rate, as Agresti and Coull have it."""
    size = n_rows + 2 * _MORE
    share = (rate * n_rows + _MORE) / size
    return share * (1 - share) / size


def _ks_and_gap(drawn: RocCurve, threshold: float) -> tuple[float, float]:
    return drawn.ks(), drawn.at(threshold=threshold).youden


def _precision(curve: RocCurve, share: float) -> float:
    """Of the rows with the highest scores; tied rows count in part."""
    top = share * float(curve.flagged[-1])
    return float(np.interp(top, curve.flagged, curve.true_positives)) / top


def _size_of_top(part: Part, curve: RocCurve, share: float) -> float:
    """How many rows that vary alone are in the top; tied rows at its end count in part."""
    top = share * float(curve.flagged[-1])
    last = min(int(np.searchsorted(curve.flagged, top * (1 - 1e-12))), len(curve.flagged) - 1)
    rows = part.sample.scores[0] >= curve.thresholds[last]
    return _rows_alone(part, rows) * min(top / float(curve.flagged[last]), 1.0)


def _fine_at_the_top(curve: RocCurve, share: float) -> RocCurve:
    """The curve with its steps joined, but those of the top less than the others."""
    flagged = curve.flagged
    last = len(flagged) - 1
    end = int(np.searchsorted(flagged, min(_TIMES_THE_TOP * share, 1.0) * flagged[-1]))
    kept = [np.linspace(a, b, _MOST_STEPS) for a, b in ((0, min(end, last)), (end, last))]
    return at_thresholds(curve, np.unique(np.concatenate(kept).astype(np.intp).clip(0, last)))
