"""The threshold that meets a criterion (a rate, budget, cost or precision), with intervals."""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level, check_one, check_positive, check_rate, check_top
from auctor._text import interval
from auctor._typing import Bools, Floats
from auctor.metrics.curve import OperatingPoint, RocCurve, axis_of, curve_of_sample
from auctor.metrics.curve_rows import RowsOfCurve
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.least_cost import cheapest, cost_interval
from auctor.metrics.precision_threshold import largest_list, precision_interval
from auctor.metrics.quantiles import (
    Ranked,
    highest_rate,
    lowest_rate,
    next_above,
    quantile_interval,
    rows_needed,
)
from auctor.metrics.rates import UNKNOWN, Range, clopper_pearson
from auctor.metrics.sample import Sample, group_codes, read_sample


def is_flagged(scores: npt.ArrayLike, threshold: float) -> Bools:
    """Which rows a threshold flags: those whose score is at or above it.

    This is the only definition of the rule. ROC curves, ``predict``, the command line and the page
    of a report follow it, as do scikit-learn's ``roc_curve`` and ``FixedThresholdClassifier``.

    Examples
    --------
    >>> is_flagged([0.1, 0.2, 0.3], 0.2).tolist()
    [False, True, True]
    """
    return np.asarray(np.asarray(scores) >= threshold)


# The rows whose rate each criterion restricts.
_OF = {"fpr": "negative rows", "tpr": "positive rows", "budget": "rows"}


@dataclass(frozen=True, repr=False)
class Threshold:
    """A threshold with its rates and confidence intervals; prints as a sentence.

    Attributes
    ----------
    value : float
        The threshold: rows with a score of at least this are flagged.
    low, high : float
        Confidence interval of the threshold that meets the criterion exactly in the population
        from which the rows were drawn. An end is infinite if there are too few rows to bound it.
    point : OperatingPoint
        The rates of these rows at ``value``.
    tpr, fpr, precision : Range
        Confidence intervals of the rates of new rows of the same population at ``value``. They are
        exact (Clopper-Pearson) and valid also for the rate that was used to choose the threshold.
        The precision is that of new rows with the same fraction of positives.
    criterion : str
        The criterion in words, such as "fpr of at most 0.1".
    level : float
        Confidence level of all intervals.
    method : str
        Method of the interval of the threshold: "order statistics" for a rate or a budget,
        "binomial tests" for a cost or a precision. It assumes that rows are drawn independently:
        for a budget from the whole population, for a rate from each class. With weights or groups,
        "at the effective number of rows" is added: weights are then sampling weights, and groups
        are assumed to be independent of each other while rows of one group need not be.
    confidence : float or None
        The confidence with which new rows meet the criterion at ``value``. If None, the criterion
        is met on these rows, and new rows meet it about half of the time.

    Examples
    --------
    >>> from auctor.metrics import threshold_at
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> threshold = threshold_at(y, -X[:, 2], fpr=0.1)
    >>> print(threshold)
    threshold -3 (95% CI -9 to inf, order statistics) for fpr of at most 0.1: tpr 0.235 (95%
    CI 0.068 to 0.499), fpr 0.094 (95% CI 0.035 to 0.193), precision 0.400, 10 flagged
    >>> threshold.value, round(threshold.point.fpr, 3)
    (-3.0, 0.094)
    """

    value: float
    low: float
    high: float
    point: OperatingPoint
    tpr: Range
    fpr: Range
    precision: Range
    criterion: str
    level: float
    method: str
    confidence: float | None = None

    def __repr__(self) -> str:
        tpr, fpr = (interval(*ends, self.level) for ends in (self.tpr, self.fpr))
        ends = f"{100 * self.level:g}% CI {self.low:.4g} to {self.high:.4g}"
        return (
            f"threshold {self.value:.4g} ({ends}, {self.method}) for {self.criterion}: "
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
    precision: float | None = None,
    confidence: float | None = None,
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> Threshold:
    """The threshold that meets a criterion, with confidence intervals.

    Rows with a score at or above the threshold are flagged. Give exactly one of ``fpr``, ``tpr``,
    ``budget``, ``cost`` and ``precision``. Without ``confidence`` the criterion is met on these
    rows, and new rows violate it about half of the time. With ``confidence=0.95`` the threshold is
    chosen such that it holds for new rows in at least 95% of all samples that might have been
    drawn.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    fpr : float, optional
        Maximum false positive rate. The result is the lowest threshold that flags at most this
        fraction of the negatives.
    tpr : float, optional
        Minimum true positive rate. The result is the highest threshold that flags at least this
        fraction of the positives.
    budget : int or float, optional
        Maximum number of flagged rows, or fraction of all rows. The result is the lowest threshold
        that flags at most this many.
    cost : float, optional
        Cost of a missed positive, relative to a cost of 1 for a flagged negative. The result is
        the threshold with the least total cost on these rows, with the fraction of positives that
        they have.
    precision : float, optional
        Minimum precision. The result is the threshold that flags the most rows among which at
        least this fraction is positive.
    confidence : float, optional
        Confidence with which new rows meet the criterion, such as 0.95; for ``fpr``, ``tpr`` and
        ``budget``. A whole number as ``budget`` is then converted to a fraction of the given rows.
    level : float, default=0.95
        Confidence level of the intervals.
    groups : array-like of shape (n_rows,), optional
        The group of each row, if rows of one group (a customer, a patient) depend on each other.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> from auctor.metrics import threshold_at
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> threshold_at(y, s, fpr=0.0).value
    6.0
    >>> threshold_at(y, s, cost=10).value
    4.0
    >>> y, s = [0] * 90 + [1] * 10, list(range(100))
    >>> threshold_at(y, s, fpr=0.1).value, threshold_at(y, s, fpr=0.1, confidence=0.95).value
    (81.0, 85.0)
    """
    name, value = check_one(fpr=fpr, tpr=tpr, budget=budget, cost=cost, precision=precision)
    level = check_level(level)
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    rows = count_rows(sample, groups)
    wanted = Criterion(name, value, confidence, level)
    return _meet(wanted, curve_of_sample(sample), RowsWithScores(rows))


class Criterion(NamedTuple):
    """What a threshold has to meet, and the confidence levels."""

    name: str
    value: Any
    confidence: float | None
    level: float


def threshold_of_curve(curve: RocCurve, criterion: Criterion) -> Threshold:
    """The threshold that meets a criterion, for the curve of rows without weights and groups."""
    check_level(criterion.level)
    return _meet(criterion, curve, RowsOfCurve(curve))


def _meet(criterion: Criterion, curve: RocCurve, rows: "Rows") -> Threshold:
    name, value, confidence, level = criterion
    if name == "cost":
        point, ends, method = _for_cost(curve, rows, value, confidence, level)
    elif name == "precision":
        point, ends, method = _for_precision(curve, rows, value, confidence, level)
    else:
        rate = _rate(curve, name, value)
        point = curve.at(**{name: value})
        if confidence is not None:
            point = curve.at(threshold=_confident(rows, name, rate, confidence))
        ends, method = _rate_interval(rows, name, rate, level), "order statistics"
    # Such a threshold is the best of many, so that its rates on these rows are optimistic:
    # intervals with half the error probability keep the coverage.
    rates_level = (1 + level) / 2 if name in ("cost", "precision") else level
    rates = rows.rates(point, rates_level)
    return Threshold(
        point.threshold,
        *ends,
        point,
        tpr=rates[0],
        fpr=rates[1],
        precision=rates[2],
        criterion=_describe_criterion(name, value, confidence),
        level=level,
        method=rows.describe(method),
        confidence=confidence,
    )


class RowsWithScores:
    """Rows in memory, with weights and groups if there are any."""

    def __init__(self, rows: Counted) -> None:
        self.counted = rows
        self.is_plain = rows.is_plain
        self.next_above = partial(next_above, rows.scores)

    def ranked(self, name: str, rate: float, tail: float) -> Ranked:
        """The rows whose rate the criterion restricts: a class, or all rows for a budget."""
        rows = self.counted
        if name != "budget":
            rows = rows.take(rows.positive if name == "tpr" else ~rows.positive)
        return Ranked(rows, rate, tail)

    def rates(self, point: OperatingPoint, level: float) -> list[Range]:
        """Intervals of tpr, fpr and precision at a point."""
        return RateIntervals(self.counted, level).at(point)

    def describe(self, method: str) -> str:
        """The name of a method."""
        return with_rows(method, self.counted)

    def too_few(self, ranked: Any) -> str:
        """The words for the number of rows where there are too few."""
        there = f"there are {len(ranked.scores)}"
        if not self.is_plain:
            reason = "weights" if self.counted.codes is None else "groups"
            there += f" (with their {reason}, {ranked.n_rows:.1f} effective rows)"
        return there


Rows = RowsWithScores | RowsOfCurve


def count_rows(sample: Sample, groups: Any) -> Counted:
    """The rows of a sample with their weights and groups."""
    codes = None if groups is None else group_codes(groups, sample)
    weight = sample.weight
    if weight is not None and weight.min() == weight.max():
        weight = None  # the scale of weights does not matter: equal weights are no weights
    return Counted(sample.positive, sample.scores[0], weight, codes)


class RateIntervals:
    """Intervals of the rates of new rows at thresholds that were chosen on these rows.

    They are exact also for the rate by which the threshold was chosen: the fraction of the
    population above the k-th largest of n scores has the distribution Beta(k, n + 1 - k), whose
    quantiles are the ends of the Clopper-Pearson interval.
    """

    def __init__(self, rows: Counted, level: float) -> None:
        self._rows, self._level = rows, level
        self._classes = rows.take(rows.positive), rows.take(~rows.positive)

    def at(self, point: OperatingPoint) -> list[Range]:
        """Intervals of tpr, fpr and precision."""
        rates = zip(self._classes, (point.tpr, point.fpr), strict=True)
        by_class = [self._interval(part, part.scores, rate) for part, rate in rates]
        if point.flagged == 0:
            return [*by_class, UNKNOWN]
        flagged = self._rows.take(is_flagged(self._rows.scores, point.threshold))
        labels = flagged.positive.astype(np.float64)
        return [*by_class, self._interval(flagged, labels, point.precision)]

    def _interval(self, rows: Counted, values: Floats, rate: float) -> Range:
        whole = effective_rows(rows, values, rate, (1 - self._level) / 2)
        return clopper_pearson(rate * whole, whole, self._level)

    @property
    def method(self) -> str:
        """The name of the method."""
        return with_rows("Clopper-Pearson", self._rows)


def with_rows(method: str, rows: Counted) -> str:
    """The name of a method, with "at the effective number of rows" if that enters."""
    return method if rows.is_plain else f"{method} at the effective number of rows"


def _rate(curve: RocCurve, name: str, value: Any) -> float:
    """The criterion as a fraction: of a class, or of all rows for a budget."""
    if name != "budget":
        return check_rate(value, name)
    flagged = axis_of(curve, "flagged")
    total = flagged[len(flagged) - 1]
    return min(check_top(value, total, name, minimum=0) / total, 1.0)


def _rate_interval(rows: Rows, name: str, rate: float, level: float) -> Range:
    ranked = rows.ranked(name, rate, (1 - level) / 2)
    low, high = quantile_interval(ranked, rate, level)
    if name != "tpr" and ranked.has_ties and math.isfinite(high):
        # At a tied score too many rows are flagged: the threshold is the next higher score.
        high = rows.next_above(high)
    return Range(low, high)


def _confident(rows: Rows, name: str, rate: float, confidence: Any) -> float:
    """The threshold at which new rows meet the criterion with confidence."""
    level = check_level(confidence, "confidence")
    error_rate = 1 - rate if name == "tpr" else rate
    if not 0 < error_rate < 1:
        raise ValueError(
            f"{name} is {rate:g}, which no number of rows can guarantee with confidence; give "
            f"{name} strictly between 0 and 1, or leave confidence out"
        )
    ranked = rows.ranked(name, rate, 1 - level)
    if name == "tpr":
        threshold = lowest_rate(ranked, rate, level)
    else:
        threshold = highest_rate(ranked, rows.next_above, rate, level)
    if threshold is None:
        needed = rows_needed(error_rate, level)
        raise ValueError(
            f"{name} is {rate:g} and confidence {level:g}, which needs at least {needed} "
            f"{_OF[name]}, and {rows.too_few(ranked)}; give more rows or a lower confidence, or "
            "leave confidence out"
        )
    return threshold


def _for_cost(
    curve: RocCurve, rows: Rows, value: Any, confidence: Any, level: float
) -> tuple[OperatingPoint, Range, str]:
    """The point of least cost, the interval of its threshold and the name of the method."""
    cost = check_positive(value, "cost")
    _refuse_confidence(confidence, "cost")
    return cheapest(curve, cost), cost_interval(curve, rows.counted, cost, level), "binomial tests"


def _for_precision(
    curve: RocCurve, rows: Rows, value: Any, confidence: Any, level: float
) -> tuple[OperatingPoint, Range, str]:
    """The longest list of this precision, the interval of its threshold and the method."""
    precision = check_rate(value, "precision")
    _refuse_confidence(confidence, "precision")
    point = largest_list(curve, precision)
    return point, precision_interval(curve, rows.counted, precision, level, point), "binomial tests"


def _refuse_confidence(confidence: Any, name: str) -> None:
    if confidence is not None:
        raise ValueError(
            f"confidence and {name} are given; give confidence only with fpr, tpr or budget"
        )


def _describe_criterion(name: str, value: float, confidence: float | None) -> str:
    """The criterion in words."""
    if name == "cost":
        return f"a cost of {value:g} false positives per missed positive"
    words = f"{name} of at {'most' if name == 'fpr' else 'least'} {value:g}"
    if name == "budget":
        words = f"a budget of {value:g}"
    sure = "" if confidence is None else f" on new rows with {100 * confidence:g}% confidence"
    return words + sure
