"""Confidence intervals of KS and of precision at k."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level, check_top_within, check_whole
from auctor._text import count, interval
from auctor.metrics.bootstrap import Resampling, make_generator
from auctor.metrics.curve_estimates import (
    Estimate,
    effective_trials,
    estimate_ks,
    estimate_precision,
)
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.folds import Part, PooledRows, describe_folds, pool_rows
from auctor.metrics.limits import quantile
from auctor.metrics.rates import Range, clopper_pearson
from auctor.metrics.sample import Sample, read_sample

KS_RESAMPLES = 300


@dataclass(frozen=True, repr=False)
class MetricInterval:
    """A metric with its confidence interval; prints as a sentence.

    Attributes
    ----------
    name : str
        The name of the metric, such as "KS".
    where : str
        The top or the region of the curve, such as "in the top 100"; empty for KS.
    value : float
        The metric of these rows. With folds it is computed from the ranks within the folds, and
        KS is then bias-corrected.
    low, high : float
        Ends of the interval.
    level : float
        Confidence level.
    method : str
        How the variance and the limits were computed; with folds also the factor by which the
        variance was multiplied for overlapping training sets.
    standard_error : float
        Standard error of ``value``; for KS it includes the uncertainty of the bias correction.
    n_pos, n_neg : int
        Number of rows of each class.
    n_folds : int or None
        Number of folds, if ``folds`` was given.

    Examples
    --------
    >>> from auctor.metrics import ks_ci
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> result = ks_ci(y, -X[:, 2])
    >>> print(result)
    KS 0.570 (95% CI 0.273 to 0.750, stratified bootstrap, t limits, 17 positives, 64 negatives)
    """

    name: str
    where: str
    value: float
    low: float
    high: float
    level: float
    method: str
    standard_error: float
    n_pos: int
    n_neg: int
    n_folds: int | None = None

    def __repr__(self) -> str:
        method = self.method
        if self.low == self.high:
            method += ", which estimates a variance of 0 here"
        where = f" {self.where}" if self.where else ""
        return (
            f"{self.name} {self.value:.3f}{where} ({interval(self.low, self.high, self.level)}, "
            f"{method}, {count(self.n_pos, 'positive')}, {count(self.n_neg, 'negative')})"
        )


def ks_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    level: float = 0.95,
    n_resamples: int = KS_RESAMPLES,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> MetricInterval:
    """Confidence interval of KS, the largest ``tpr - fpr``.

    KS is the largest of many differences and therefore biased upwards, and in resamples of the
    rows even more so than in the rows themselves. Percentiles of a bootstrap lie too high and
    cover the true value far less often than their nominal level. This interval is instead a t
    interval around the bias-corrected KS. Its standard error is that of ``tpr - fpr`` at the
    threshold of the largest difference and includes the uncertainty of the correction. The
    interval always includes the KS of these rows.

    The rows (or the groups) are assumed to be independent, and the score not to have been fitted
    to them. docs/coverage.md has the measured coverage.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`. Each class needs at least two rows.
    level : float, default=0.95
        Confidence level.
    n_resamples : int, default=300
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        The group of each row. Whole groups are drawn in the bootstrap.
    folds : array-like of shape (n_rows,), optional
        The fold of each row, for out-of-fold scores. Scores are replaced by their ranks within the
        fold, so that the top tenths of all folds together are the top tenth of all rows. The value
        is the bias-corrected KS of all rows, since the KS within small folds, and so their mean,
        is far too large. It estimates the expected KS on new rows of a model that is fitted to as
        many rows as the training sets have.
    instability : float in [0, 1], optional
        With ``folds``, the fraction of the variance that comes from the training sets, as in
        :func:`auctor.metrics.auc_ci`. By default 1, the worst case.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bootstrap. Results are reproducible by default; None gives new random numbers
        in every call.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> import numpy as np
    >>> from auctor.metrics import ks_ci
    >>> y = np.repeat([0, 1], 200)
    >>> s = np.random.default_rng(0).normal(size=400) + y
    >>> ks_ci(y, s)
    KS 0.340 (95% CI 0.177 to 0.408, stratified bootstrap, t limits, 200 positives, 200 negatives)
    """
    sample = read_rows(y_true, y_score, sample_weight, pos_label)
    rows = pool_rows(sample, folds=folds, instability=instability, groups=groups)
    return _measure(Metric("KS", "", estimate_ks), rows, level, n_resamples, random_state)


def precision_at_k_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    k: float,
    level: float = 0.95,
    n_resamples: int = KS_RESAMPLES,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> MetricInterval:
    """Confidence interval of the precision among the ``k`` rows with the highest scores.

    This is the Clopper-Pearson interval of a binomial proportion at the effective number of
    independent rows. A bootstrap estimates the variance of the precision, including the variation
    of the threshold of the top, and the effective number is the one at which a proportion has this
    variance. The interval has a positive width also where the precision is 0 or 1.

    The rows (or the groups) are assumed to be independent, and the score not to have been fitted
    to them. docs/coverage.md has the measured coverage.

    Parameters
    ----------
    y_true, y_score, k, sample_weight, pos_label
        As in :func:`auctor.metrics.precision_at_k`. Each class needs at least two rows. With
        ``folds``, a whole number ``k`` counts rows of all folds together, and the same fraction
        of each fold is taken.
    level, n_resamples, groups, folds, instability, random_state
        As in :func:`ks_ci`.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> from auctor.metrics import precision_at_k_ci
    >>> y, s = [0, 0, 0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> precision_at_k_ci(y, s, k=3)
    precision 1.000 in the top 3 (95% CI 0.292 to 1.000, stratified bootstrap,
    Clopper-Pearson limits, 4 positives, 6 negatives)
    """
    sample = read_rows(y_true, y_score, sample_weight, pos_label)
    fraction, where = read_top(k, sample.total)
    estimate = partial(estimate_precision, fraction=fraction)
    rows = pool_rows(sample, folds=folds, instability=instability, groups=groups)
    metric = Metric("precision", where, estimate, is_fraction=True)
    return _measure(metric, rows, level, n_resamples, random_state)


class Metric(NamedTuple):
    """A metric, its words, and whether it is a fraction, with the interval of a proportion."""

    name: str
    where: str
    estimate: Callable[[Part], Estimate] | None  # None where the estimate is known
    is_fraction: bool = False


def read_top(k: Any, total: float) -> tuple[float, str]:
    """The fraction of all rows (or of their weight) that is the top, and the top in words."""
    fraction = check_top_within(k, total) / total
    where = f"in the top {k:g}" if isinstance(k, Integral) else f"in the top {100 * k:.4g}%"
    return fraction, where


def read_rows(y_true: Any, y_score: Any, sample_weight: Any, pos_label: Any) -> Sample:
    """Validate labels, scores and weights; an interval needs two rows of each class."""
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    check_two_of_each(sample.n_pos, sample.n_neg)
    is_equal = sample.weight is not None and bool((sample.weight == sample.weight[0]).all())
    return sample._replace(weight=None) if is_equal else sample


def _measure(
    metric: Metric, rows: PooledRows, level: float, n_resamples: Any, random_state: Any
) -> MetricInterval:
    """Estimate a metric and its interval."""
    level = check_level(level)
    n_resamples = check_whole(n_resamples, "n_resamples", minimum=2)
    resampling = Resampling(rows.groups, n_resamples, make_generator(random_state))
    assert metric.estimate is not None
    estimate = metric.estimate(Part(rows.sample, resampling))
    sizes = rows.sample.n_pos, rows.sample.n_neg
    setting = Setting(sizes, level, resampling.name, rows.n_folds, rows.inflation)
    return make_interval(metric, estimate, setting)


class Setting(NamedTuple):
    """What an interval is of, beside its estimate."""

    sizes: tuple[int, int]  # number of positives and of negatives
    level: float
    method: str
    n_folds: int | None = None
    inflation: float = 1.0


def make_interval(metric: Metric, estimate: Estimate, rows: Setting) -> MetricInterval:
    """The interval of an estimate: t limits, or for a fraction those of Clopper and Pearson."""
    level = rows.level
    error = float(np.hypot(np.sqrt(rows.inflation * estimate.variance), estimate.bias_error))
    # Without folds the value is the KS of the rows as it is usually reported, bias included.
    is_corrected = rows.n_folds is not None and not metric.is_fraction
    value = estimate.corrected if is_corrected else estimate.value
    if metric.is_fraction:
        limits, (low, high) = "Clopper-Pearson", _proportion_limits(estimate, error, rows)
    else:
        centre = value if is_corrected else value - estimate.bias
        reach = quantile(level, estimate.freedom) * error
        limits, low, high = "t", centre - reach, centre + reach
    return MetricInterval(
        metric.name,
        metric.where,
        value,
        max(min(low, value), 0.0),
        min(max(high, value), 1.0),
        level,
        f"{describe_folds(rows.method, rows.n_folds, rows.inflation)}, {limits} limits",
        error,
        *rows.sizes,
        rows.n_folds,
    )


def _proportion_limits(estimate: Estimate, error: float, rows: Setting) -> Range:
    """Clopper-Pearson limits at the number of rows at which a proportion has this error."""
    n_trials = effective_trials(estimate.value, error, estimate.n_independent / rows.inflation)
    return clopper_pearson(estimate.value * n_trials, n_trials, rows.level)
