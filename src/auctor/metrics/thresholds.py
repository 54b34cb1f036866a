"""The threshold that meets a criterion - a rate, a budget, a cost - and how sure it is."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level, check_number, check_one, check_rate, check_top
from auctor._text import interval
from auctor._typing import Floats
from auctor.metrics.bootstrap import percentiles
from auctor.metrics.curve import OperatingPoint, RocCurve, curve_of_sample
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.least_cost import cheapest, cost_interval
from auctor.metrics.quantiles import (
    Ranked,
    highest_rate,
    lowest_rate,
    next_above,
    quantile_interval,
    rows_needed,
)
from auctor.metrics.rates import UNKNOWN, Range, clopper_pearson
from auctor.metrics.sample import Sample, read_codes, read_sample

# Whose rate each criterion speaks of.
_OF = {"fpr": "negative rows", "tpr": "positive rows", "budget": "rows"}


@dataclass(frozen=True, repr=False)
class Threshold:
    """A threshold, what it does to the rows, and the uncertainty of both; prints as a sentence.

    Attributes
    ----------
    value : float
        Rows with a score of at least this are flagged.
    low, high : float
        Interval of the threshold that meets the criterion exactly in the population that the
        rows were drawn from. An infinite end says that there are too few rows to bound it.
    point : OperatingPoint
        What happens to these rows at ``value``.
    tpr, fpr, precision : Range
        Intervals of the rates that new rows of the same population have at ``value``. They are
        exact (Clopper and Pearson): they hold also for the rate that was used to choose
        the threshold. Precision is that of new rows with the same share of positives.
    wish : str
        What was asked for, in words.
    level : float
        Confidence level of all intervals.
    method : str
        Of the interval of the threshold: "order statistics" for a rate or a budget, "binomial
        tests" for a cost. It assumes that rows are drawn independently; for a budget
        from all rows as they come, for a rate from those of the class. With weights or groups
        "at the effective number of rows" is added: a weight is then a sampling weight, groups are
        independent of each other, and rows of one group need not be.
    confidence : float or None
        The confidence with which new rows meet the criterion at ``value``. None: the criterion is
        met on these rows, and by about every second draw of new ones.
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
    confidence: float | None = None

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
    confidence: float | None = None,
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> Threshold:
    """The threshold that meets one criterion, with confidence intervals.

    Rows with a score at or above the threshold are flagged. Without ``confidence`` the criterion
    is met on these rows, and new rows exceed it about as often as not; with ``confidence`` new rows
    meet it in at least that share of the samples one might have drawn.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    fpr : float, optional
        At most this share of the negatives is flagged; the lowest such threshold.
    tpr : float, optional
        At least this share of the positives is flagged; the highest such threshold.
    budget : int or float, optional
        At most this many rows are flagged, or this share of them; the lowest such threshold.
    cost : float, optional
        What a positive that is missed costs, where a negative that is flagged costs 1: the
        threshold of the least total cost among these rows, at the share of positives they have.
    confidence : float, optional
        For ``fpr``, ``tpr`` and ``budget``: choose the threshold such that the rate of new rows
        meets the criterion with this confidence, such as 0.95. A whole number as ``budget``
        is then taken as a share of the rows given.
    level : float, default=0.95
        Confidence level of the intervals.
    groups : array-like of shape (n_rows,), optional
        Rows of one group (a customer, a patient) may depend on each other.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> threshold_at(y, s, fpr=0.0).value
    6.0
    >>> threshold_at(y, s, cost=10).value
    4.0
    >>> y, s = [0] * 90 + [1] * 10, list(range(100))
    >>> threshold_at(y, s, fpr=0.1).value, threshold_at(y, s, fpr=0.1, confidence=0.95).value
    (81.0, 85.0)
    """
    name, wished = check_one(fpr=fpr, tpr=tpr, budget=budget, cost=cost)
    level = check_level(level)
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    rows = count_rows(sample, groups)
    curve = curve_of_sample(sample)
    if name == "cost":
        point, ends, method = _for_cost(curve, rows, wished, confidence, level)
    else:
        rate = _rate(curve, name, wished)
        point = curve.at(**{name: wished})
        if confidence is not None:
            point = curve.at(threshold=_confident(rows, name, rate, confidence))
        ends, method = _rate_interval(rows, name, rate, level), "order statistics"
    # The cheapest threshold is the best of many, so that its rates look better than they are:
    # half of the error for them keeps the coverage.
    rates_level = (1 + level) / 2 if name == "cost" else level
    rates = RateIntervals(rows, rates_level).at(point)
    return Threshold(
        point.threshold,
        *ends,
        point,
        tpr=rates[0],
        fpr=rates[1],
        precision=rates[2],
        wish=_wish(name, wished, confidence),
        level=level,
        method=with_rows(method, rows),
        confidence=confidence,
    )


def count_rows(sample: Sample, groups: Any) -> Counted:
    """The rows of a sample with their weights and groups."""
    codes = None
    if groups is not None:
        distinct, codes = read_codes(groups, sample, "groups")
        if len(distinct) < 2:
            raise ValueError("groups has only one group; give two or more")
    weight = sample.weight
    if weight is not None and weight.min() == weight.max():
        weight = None  # their scale does not matter, so that these are no weights
    return Counted(sample.positive, sample.scores[0], weight, codes)


class RateIntervals:
    """Intervals of the rates of new rows at thresholds that these rows were used to choose.

    That of the rate by which a threshold was chosen is exact as well: above the k-th largest of
    n scores lies a share that has the distribution Beta(k, n + 1 - k), whose quantiles are the
    ends of the interval of Clopper and Pearson.
    """

    def __init__(self, rows: Counted, level: float) -> None:
        self._rows, self._level = rows, level
        self._classes = rows.take(rows.positive), rows.take(~rows.positive)

    def at(self, point: OperatingPoint) -> list[Range]:
        """Intervals of tpr, fpr and precision."""
        rates = zip(self._classes, (point.tpr, point.fpr), strict=True)
        found = [self._interval(part, part.scores, rate) for part, rate in rates]
        if point.flagged == 0:
            return [*found, UNKNOWN]
        flagged = self._rows.take(self._rows.scores >= point.threshold)
        labels = flagged.positive.astype(np.float64)
        return [*found, self._interval(flagged, labels, point.precision)]

    def _interval(self, rows: Counted, values: Floats, rate: float) -> Range:
        whole = effective_rows(rows, values, rate, (1 - self._level) / 2)
        return clopper_pearson(rate * whole, whole, self._level)

    @property
    def method(self) -> str:
        """What the method is called."""
        return with_rows("Clopper-Pearson", self._rows)


def with_rows(method: str, rows: Counted) -> str:
    """The name of a method, with what it takes the rows for."""
    return method if rows.is_plain else f"{method} at the effective number of rows"


def percentile_range(values: Floats, level: float) -> Range:
    """The middle of resampled values; an infinite value is an end too."""
    known = np.sort(values[~np.isnan(values)])  # no precision where nothing is flagged
    if len(known) == 0:
        return UNKNOWN
    if np.isinf(known).any():  # no way between a number and infinity
        ends = np.quantile(known, [(1 - level) / 2, (1 + level) / 2], method="nearest")
        return Range(float(ends[0]), float(ends[1]))
    return Range(*percentiles(known, level))


def _rate(curve: RocCurve, name: str, wished: Any) -> float:
    """The share of the rows concerned that a criterion speaks of."""
    if name != "budget":
        return check_rate(wished, name)
    total = float(curve.flagged[-1])
    return min(check_top(wished, total, name, least=0) / total, 1.0)


def _concerned(rows: Counted, name: str) -> Counted:
    """The rows whose share a criterion speaks of."""
    if name == "budget":
        return rows
    return rows.take(rows.positive if name == "tpr" else ~rows.positive)


def _rate_interval(rows: Counted, name: str, rate: float, level: float) -> Range:
    ranked = Ranked(_concerned(rows, name), rate, (1 - level) / 2)
    low, high = quantile_interval(ranked, rate, level)
    if name != "tpr" and ranked.has_ties and math.isfinite(high):
        # At a tied score more are flagged than may be: the threshold is the next score.
        high = next_above(rows.scores, high)
    return Range(low, high)


def _confident(rows: Counted, name: str, rate: float, confidence: Any) -> float:
    """The threshold at which new rows meet the criterion with confidence."""
    asked = check_number(confidence, "confidence")
    if not 0 < asked < 1:
        raise ValueError(f"confidence is {confidence!r}; give a number between 0 and 1, like 0.95")
    spared = 1 - rate if name == "tpr" else rate
    if not 0 < spared < 1:
        raise ValueError(
            f"{name}={rate:g} cannot be met with confidence by any number of rows; give "
            f"{name} strictly between 0 and 1, or leave confidence out"
        )
    ranked = Ranked(_concerned(rows, name), rate, 1 - asked)
    if name == "tpr":
        found = lowest_rate(ranked, rate, asked)
    else:
        found = highest_rate(ranked, rows.scores, rate, asked)
    if found is None:
        raise ValueError(_too_few(ranked, rows, name, rate, asked, rows_needed(spared, asked)))
    return found


def _too_few(
    ranked: Ranked, rows: Counted, name: str, rate: float, confidence: float, needed: int
) -> str:
    there = f"there are {len(ranked.scores)}"
    if not rows.is_plain:
        reason = "weights" if rows.codes is None else "groups"
        there += f", which with their {reason} are worth {ranked.n_rows:.1f} independent ones"
    return (
        f"{name}={rate:g} with confidence={confidence:g} needs at least {needed} {_OF[name]}; "
        f"{there}. Give more rows, a lower confidence, or leave confidence out"
    )


def _for_cost(
    curve: RocCurve, rows: Counted, wished: Any, confidence: Any, level: float
) -> tuple[OperatingPoint, Range, str]:
    """The cheapest point, the interval of its threshold and the name of the method."""
    cost = check_number(wished, "cost")
    if not 0 < cost < np.inf:
        raise ValueError(f"cost must be a finite number above 0, got {wished!r}")
    if confidence is not None:
        raise ValueError("confidence goes with fpr, tpr or budget; a cost has no bound to keep")
    return cheapest(curve, cost), cost_interval(curve, rows, cost, level), "binomial tests"


def _wish(name: str, wished: float, confidence: float | None) -> str:
    if name == "cost":
        return f"a missed positive that costs {wished:g} false alarms"
    words = f"{name} of at {'most' if name == 'fpr' else 'least'} {wished:g}"
    if name == "budget":
        words = f"a budget of {wished:g}"
    sure = "" if confidence is None else f" on new rows with {100 * confidence:g}% confidence"
    return words + sure
