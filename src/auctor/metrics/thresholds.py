"""The threshold that meets a wish - a rate, a budget, a cost - and how sure it is."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.metrics.bootstrap import make_generator, percentiles
from auctor.metrics.checks import check_level, check_number, check_one, check_resamples
from auctor.metrics.curve import OperatingPoint, RocCurve, roc_curve
from auctor.metrics.rates import Range, wilson
from auctor.metrics.resampled_curves import resampled_curves
from auctor.metrics.sample import read_sample
from auctor.metrics.wording import interval

Floats = npt.NDArray[np.float64]

# More distinct scores than this are put into groups to resample: finer than any interval.
_MOST_STEPS = 5000


@dataclass(frozen=True, repr=False)
class Threshold:
    """A threshold, what it does to the rows, and the uncertainty of both; prints as a sentence.

    Attributes
    ----------
    value : float
        Rows with a score of at least this are flagged.
    low, high : float
        Interval of the threshold: where the same wish would put it on other rows of the kind.
    point : OperatingPoint
        What happens to these rows at ``value``.
    tpr, fpr, precision : Range
        Intervals of the rates at ``value``, which is kept: what to expect of new rows. Wilson's,
        which know that a rate of 1 in a few rows is not certain; those of the bootstrap where
        rows have weights or groups.
    wish : str
        What was asked for, in words.
    level : float
        Confidence level of all intervals.
    method : str
        "stratified bootstrap" or "cluster bootstrap".
    """

    value: float
    low: float
    high: float
    point: OperatingPoint
    tpr: Range
    fpr: Range
    precision: Range
    wish: str
    level: float
    method: str

    def __repr__(self) -> str:
        tpr, fpr = (interval(*ends, self.level) for ends in (self.tpr, self.fpr))
        ends = f"{100 * self.level:g}% CI {self.low:.4g} to {self.high:.4g}"
        return (
            f"threshold {self.value:.4g} ({ends}, {self.method}) for {self.wish}: "
            f"tpr {self.point.tpr:.3f} ({tpr}), fpr {self.point.fpr:.3f} ({fpr}), "
            f"precision {self.point.precision:.3f}, {self.point.flagged:g} flagged"
        )


def threshold_at(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr: float | None = None,
    tpr: float | None = None,
    budget: float | None = None,
    cost: float | None = None,
    level: float = 0.95,
    n_resamples: int = 1000,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> Threshold:
    """The threshold that meets one wish, with confidence intervals by the bootstrap.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    fpr : float, optional
        At most this share of the negatives flagged, and as many positives as possible.
    tpr : float, optional
        At least this share of the positives flagged, and as few negatives as possible.
    budget : int or float, optional
        At most this many rows flagged, or this share of them.
    cost : float, optional
        What a positive that is missed costs, where a negative that is flagged costs 1: the
        threshold of the least total cost among these rows, at the share of positives they have.
    level : float, default=0.95
        Confidence level of the intervals.
    n_resamples : int, default=1000
    groups : array-like of shape (n_rows,), optional
        Rows of one group (a customer, a patient) are drawn together.
    random_state : int, Generator, RandomState or None
        Of the draws; the threshold itself does not depend on it.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> threshold_at(y, s, fpr=0.0, random_state=0).value
    6.0
    >>> threshold_at(y, s, cost=10, random_state=0).value
    4.0
    """
    name, wished = check_one(fpr=fpr, tpr=tpr, budget=budget, cost=cost)
    level, n_resamples = check_level(level), check_resamples(n_resamples)
    told = {"sample_weight": sample_weight, "pos_label": pos_label}
    curve = roc_curve(y_true, y_score, **told)
    choose = _choice(name, wished)
    point = choose(curve)
    sample = read_sample(y_true, {"y_score": y_score}, **told)
    rng = make_generator(random_state)
    draws, method = resampled_curves(curve, sample, groups, rng, most_steps=_MOST_STEPS)
    found = np.array([_measure(drawn, choose, point) for drawn in islice(draws, n_resamples)])
    ends, *rates = [percentile_range(column, level) for column in found.T]
    if groups is None and sample.weight is None:
        rates = rate_intervals(curve, point, level)
    return Threshold(
        point.threshold,
        ends.low,
        ends.high,
        point,
        tpr=rates[0],
        fpr=rates[1],
        precision=rates[2],
        wish=_wish(name, wished),
        level=level,
        method=method,
    )


def cheapest(curve: RocCurve, cost: float) -> OperatingPoint:
    """The point of least false positives plus ``cost`` times missed; of several, flags least."""
    missed = curve.true_positives[-1] - curve.true_positives
    place = int(np.argmin(curve.false_positives + cost * missed))
    return curve.at(threshold=float(curve.thresholds[place]))


def _choice(name: str, wished: Any) -> Callable[[RocCurve], OperatingPoint]:
    if name != "cost":
        return lambda curve: curve.at(**{name: wished})
    cost = check_number(wished, name)
    if not 0 < cost < np.inf:
        raise ValueError(f"cost must be a finite number above 0, got {wished!r}")
    return lambda curve: cheapest(curve, cost)


def _wish(name: str, wished: float) -> str:
    if name == "cost":
        return f"a missed positive that costs {wished:g} false alarms"
    if name == "budget":
        return f"a budget of {wished:g}"
    return f"{name} of at {'most' if name == 'fpr' else 'least'} {wished:g}"


def _measure(
    drawn: RocCurve, choose: Callable[[RocCurve], OperatingPoint], point: OperatingPoint
) -> tuple[float, float, float, float]:
    """The threshold that a resample would get, and the rates of the kept one there."""
    kept = drawn.at(threshold=point.threshold)
    return choose(drawn).threshold, kept.tpr, kept.fpr, kept.precision


def rate_intervals(curve: RocCurve, point: OperatingPoint, level: float) -> list[Range]:
    """Intervals of tpr, fpr and precision where each row counts once."""
    found = round(point.tpr * curve.n_pos)
    flagged = round(point.flagged)
    counts = ((found, curve.n_pos), (flagged - found, curve.n_neg), (found, flagged))
    return [wilson(part, whole, level) for part, whole in counts]


def percentile_range(values: Floats, level: float) -> Range:
    """The middle of the resampled values; an infinite threshold (flag nothing) is an end too."""
    known = np.sort(values[~np.isnan(values)])  # no precision where nothing is flagged
    if len(known) == 0:
        return Range(float("nan"), float("nan"))
    if np.isinf(known).any():  # no way between a number and infinity
        ends = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], method="nearest")
        return Range(float(ends[0]), float(ends[1]))
    return Range(*percentiles(known, level))
