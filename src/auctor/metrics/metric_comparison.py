"""Paired comparison of two scores in AUC, partial AUC, KS or precision at k."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from auctor._checks import check_choice, check_level, check_one, check_region, check_whole
from auctor._text import count, p_equation
from auctor._typing import Floats
from auctor.metrics.auc_pairs import is_same_order
from auctor.metrics.bootstrap import (
    Resampling,
    make_draws,
    make_generator,
    redrawn,
    step_of_rows,
    thin,
)
from auctor.metrics.comparison import AucComparison, compare_auc, describe_difference
from auctor.metrics.curve import RocCurve, curve_of_sample
from auctor.metrics.curve_estimates import estimate_ks, precision_in_top
from auctor.metrics.curve_intervals import KS_RESAMPLES, read_top
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.folds import Part, PooledRows, describe_folds, pool_rows
from auctor.metrics.influence import effective_sizes
from auctor.metrics.sample import Sample, read_codes, read_sample

METRICS = ("auc", "ks", "partial_auc", "precision_at_k")

# Maximum number of distinct scores of a resampled curve; more of them are joined.
_MAX_STEPS = 2000


@dataclass(frozen=True, repr=False)
class MetricComparison:
    """Difference of two scores in a metric, with interval and test; prints as a sentence.

    Attributes
    ----------
    name : str
        The name of the metric, such as "KS".
    where : str
        The top or the region of the curve, such as "in the top 100"; empty for AUC and KS.
    difference : float
        The metric of score A minus that of score B.
    low, high : float
        Ends of the confidence interval of the difference.
    p_value : float
        Two-sided p-value of the hypothesis that there is no difference. It is below ``1 - level``
        exactly if the interval excludes 0.
    value_a, value_b : float
        The metric of each score.
    standard_error : float
        Standard error of the difference.
    level : float
        Confidence level of the interval.
    method : str
        How the variance of the difference was estimated.
    n_pos, n_neg : int
        Number of rows of each class.
    n_folds : int or None
        Number of folds, if ``folds`` was given.

    Examples
    --------
    >>> from auctor.metrics import compare_metric
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> result = compare_metric(y, -X[:, 2], X[:, 1], metric="ks")
    >>> print(result)
    KS: 0.570 (A) and 0.381 (B), difference (A - B) +0.188 (95% CI -0.091 to 0.468), p =
    0.17 (paired stratified bootstrap, 17 positives, 64 negatives)
    """

    name: str
    where: str
    difference: float
    low: float
    high: float
    p_value: float
    value_a: float
    value_b: float
    standard_error: float
    level: float
    method: str
    n_pos: int
    n_neg: int
    n_folds: int | None = None

    def __repr__(self) -> str:
        name = f"{self.name} {self.where}" if self.where else self.name
        values = self.value_a, self.value_b
        return (
            f"{describe_difference(name, values, self.difference, self)}, "
            f"{p_equation(self.p_value)} ({self.method}, "
            f"{count(self.n_pos, 'positive')}, {count(self.n_neg, 'negative')})"
        )


def compare_metric(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *,
    metric: Literal["auc", "ks", "partial_auc", "precision_at_k"],
    k: float | None = None,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    scaled: bool = False,
    level: float = 0.95,
    n_resamples: int = 500,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> MetricComparison:
    """Compare two scores of the same rows in AUC, KS, partial AUC or precision at k.

    The interval is a t interval whose standard error comes from a paired bootstrap: the difference
    is computed on resamples of the rows, both scores on the same resample. The p-value is that of
    the same t distribution. The variance of two added rows on which the scores disagree, one in
    each direction, is included (Agresti and Min 2005), so that a difference of 0 in a few rows
    still has an uncertainty. ``metric="auc"`` calls :func:`auctor.metrics.compare_auc`. The rows
    (or the groups) are assumed to be independent.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels, as in :func:`auctor.metrics.auc`. Each class needs at least two rows.
    score_a, score_b : array-like of shape (n_rows,)
        The two scores.
    metric : {"auc", "ks", "partial_auc", "precision_at_k"}
        The metric to compare.
    k : int or float
        For "precision_at_k": a number of rows, or a fraction of them.
    fpr_range, tpr_range : pair of floats
        For "partial_auc": the range of false or of true positive rates. Give one of them.
    scaled : bool, default=False
        For "partial_auc": whether to rescale the area as McClish (1989) does, so that chance is
        0.5 and the maximum 1.
    level : float, default=0.95
        Confidence level.
    n_resamples : int, default=500
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        The group of each row. Whole groups are drawn in the bootstrap.
    folds : array-like of shape (n_rows,), optional
        The fold of each row, if both scores are out-of-fold scores. Scores are replaced by their
        ranks within the fold, so that the top tenths of all folds together are the top tenth of
        all rows.
    instability : float in [0, 1], optional
        With ``folds``, the fraction of the variance of the difference that comes from the training
        sets, as :func:`auctor.metrics.fold_instability` measures it for the AUC. By default 1, the
        worst case.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows.
    pos_label : label, optional
        The label of the positive class.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bootstrap. Results are reproducible by default; None gives new random numbers
        in every call.

    Returns
    -------
    MetricComparison

    Examples
    --------
    >>> from auctor.metrics import compare_metric
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> a, b = [1, 2, 3, 5, 7, 4, 6, 8, 9, 10], [3, 1, 6, 4, 9, 5, 2, 8, 7, 10]
    >>> compare_metric(y, a, b, metric="ks")
    KS: 0.600 (A) and 0.400 (B), difference (A - B) +0.200 (95% CI -0.395 to 0.795), p = 0.4
    (paired stratified bootstrap, 5 positives, 5 negatives)
    """
    check_choice(metric, METRICS, "metric")
    level = check_level(level)
    n_resamples = check_whole(n_resamples, "n_resamples", minimum=2)
    scores = {"score_a": score_a, "score_b": score_b}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    check_two_of_each(sample.n_pos, sample.n_neg)
    chosen = _read_metric(metric, sample, k=k, ranges=(fpr_range, tpr_range), scaled=scaled)
    if metric == "auc":
        by_auc = compare_auc(
            y_true, score_a, score_b, level=level, groups=groups, folds=folds,
            instability=instability, sample_weight=sample_weight, pos_label=pos_label,
        )  # fmt: skip
        return _of_auc(by_auc, sample, folds)
    rows = pool_rows(sample, folds=folds, instability=instability, groups=groups)
    return _compare(chosen, rows, level, n_resamples, make_generator(random_state))


class _Metric(NamedTuple):
    """The metric to compare."""

    name: str
    where: str
    measure: Callable[[RocCurve], float]
    # Variance of two rows on which the scores disagree, given the numbers of rows of each class.
    variance_of_two_rows: Callable[[float, float], float]
    max_steps: int | None = _MAX_STEPS


Ranges = tuple[tuple[float, float] | None, tuple[float, float] | None]


def _read_metric(
    metric: str, sample: Sample, *, k: float | None, ranges: Ranges, scaled: bool
) -> _Metric:
    """The metric with its settings; settings of another metric are an error."""
    if metric != "precision_at_k" and k is not None:
        raise ValueError(f"k is {k!r} and metric is {metric!r}; give k only for 'precision_at_k'")
    if metric != "partial_auc" and ranges != (None, None):
        raise ValueError(
            f"metric is {metric!r}; give fpr_range or tpr_range only for 'partial_auc'"
        )
    if metric == "precision_at_k":
        return _precision_metric(sample, k)
    if metric == "partial_auc":
        return _area_metric(ranges, scaled)
    return _Metric("KS" if metric == "ks" else "AUC", "", RocCurve.ks, _variance_of_two_rates)


def _precision_metric(sample: Sample, k: float | None) -> _Metric:
    if k is None:
        raise ValueError(
            "k is None and metric is 'precision_at_k'; give k, a number of rows such as 100 or a "
            "fraction of them such as 0.1"
        )
    fraction, where = read_top(k, sample.total)

    def measure(curve: RocCurve) -> float:
        return precision_in_top(curve, fraction)

    def variance_of_two_rows(n_pos: float, n_neg: float) -> float:
        return 1.0 / (fraction * (n_pos + n_neg) + 2) ** 2

    return _Metric("precision", where, measure, variance_of_two_rows, max_steps=None)


def _area_metric(ranges: Ranges, scaled: bool) -> _Metric:
    fpr_range, tpr_range = ranges
    name, region = check_one(fpr_range=fpr_range, tpr_range=tpr_range)
    low, high = check_region(region, name)
    width = high - low

    def variance_of_two_rows(n_pos: float, n_neg: float) -> float:
        # Of the class whose rate is restricted, only the rows inside the range count.
        restricted, other = (n_neg, n_pos) if name == "fpr_range" else (n_pos, n_neg)
        reach = 0.5 if scaled else width
        return (reach / 4) ** 2 * (1 / (other + 2) ** 2 + 1 / (width * restricted + 2) ** 2)

    return _Metric(
        "scaled partial AUC" if scaled else "partial AUC",
        f"over {name.removesuffix('_range')} {low:g} to {high:g}",
        lambda curve: curve.partial_auc(fpr_range=fpr_range, tpr_range=tpr_range, scaled=scaled),
        variance_of_two_rows,
    )


def _variance_of_two_rates(n_pos: float, n_neg: float) -> float:
    # The scores may differ anywhere on the curve: a row changes the largest difference by half.
    return 0.25 / (n_pos + 2) ** 2 + 0.25 / (n_neg + 2) ** 2


def _compare(
    metric: _Metric, rows: PooledRows, level: float, n_resamples: int, rng: np.random.Generator
) -> MetricComparison:
    """Interval and test from one standard error."""
    sample, sizes = rows.sample, effective_sizes(rows.sample, rows.groups)
    value_a, value_b = (metric.measure(curve_of_sample(one)) for one in _each(sample))
    difference, error = value_a - value_b, 0.0
    if is_same_order(*sample.scores):
        difference = 0.0
    else:
        drawn = _drawn_differences(metric, rows, n_resamples, rng)
        variance = float(drawn.var(ddof=1)) + metric.variance_of_two_rows(*sizes)
        error = math.sqrt(rows.inflation * variance)
    # KS and areas near the ends of a curve depend on few rows: one degree of freedom per row, not
    # as many as for an AUC.
    freedom = max(min(sizes) - (rows.n_folds or 1), 1.0)
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    p_value = 1.0 if difference == 0 else float(2 * stdtr(freedom, -abs(difference) / error))
    bias = _ks_bias(metric, rows, rng)
    return MetricComparison(
        name=metric.name,
        where=metric.where,
        difference=difference,
        low=max(difference - reach, -1.0),
        high=min(difference + reach, 1.0),
        p_value=p_value,
        value_a=max(value_a - bias, 0.0),
        value_b=max(value_b - bias, 0.0),
        standard_error=error,
        level=level,
        method=_method(rows),
        n_pos=sample.n_pos,
        n_neg=sample.n_neg,
        n_folds=rows.n_folds,
    )


def _method(rows: PooledRows) -> str:
    kind = "stratified" if rows.groups is None else "cluster"
    return describe_folds(f"paired {kind} bootstrap", rows.n_folds, rows.inflation)


def _each(sample: Sample) -> list[Sample]:
    """Two samples, each with one of the two scores."""
    return [sample._replace(scores=(score,)) for score in sample.scores]


def _ks_bias(metric: _Metric, rows: PooledRows, rng: np.random.Generator) -> float:
    """Mean bias of the KS of both scores with folds; 0 without folds and for other metrics.

    Both values are bias-corrected. The difference is not: two scores of the same rows have about
    the same bias, and the estimate of each bias is too uncertain to subtract it.
    """
    if rows.n_folds is None or metric.name != "KS":
        return 0.0
    resampling = Resampling(rows.groups, KS_RESAMPLES, rng)
    return sum(estimate_ks(Part(one, resampling)).bias for one in _each(rows.sample)) / 2


def _drawn_differences(
    metric: _Metric, rows: PooledRows, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Differences of the metric in resamples, both scores on the same rows."""
    curves, steps = [], []
    for one in _each(rows.sample):
        curve = curve_of_sample(one)
        if metric.max_steps is not None:
            curve = thin(curve, metric.max_steps)
        curves.append(curve)
        steps.append(step_of_rows(curve, one))
    draws, _ = make_draws(rows.sample, rows.groups, rng)
    values = np.array(
        [
            [metric.measure(redrawn(c, s, draw)) for c, s in zip(curves, steps, strict=True)]
            for draw in islice(draws, n_resamples)
        ]
    )
    return np.asarray(values[:, 0] - values[:, 1])


def _of_auc(by_auc: AucComparison, sample: Sample, folds: Any) -> MetricComparison:
    """A comparison of AUCs as a MetricComparison."""
    n_folds = None if folds is None else len(read_codes(folds, sample, "folds")[0])
    error = by_auc.difference / by_auc.statistic if by_auc.statistic else 0.0
    return MetricComparison(
        name="AUC",
        where="",
        difference=by_auc.difference,
        low=by_auc.low,
        high=by_auc.high,
        p_value=by_auc.p_value,
        value_a=by_auc.auc_a,
        value_b=by_auc.auc_b,
        standard_error=error,
        level=by_auc.level,
        method=by_auc.method,
        n_pos=by_auc.n_pos,
        n_neg=by_auc.n_neg,
        n_folds=n_folds,
    )
