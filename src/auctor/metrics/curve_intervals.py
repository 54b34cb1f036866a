"""Confidence intervals of what is read off a ROC curve: KS and precision at k."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level, check_resamples, check_top
from auctor._text import count, interval
from auctor.metrics.bootstrap import Resampling, make_generator
from auctor.metrics.curve_estimates import Estimate, estimate_ks, estimate_precision, varies_as
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.folds import Part, check_goes_with_folds, check_instability, pool_folds
from auctor.metrics.limits import quantile
from auctor.metrics.rates import clopper_pearson
from auctor.metrics.sample import Sample, read_codes, read_sample

KS_RESAMPLES = 300


@dataclass(frozen=True, repr=False)
class MetricInterval:
    """A metric with its confidence interval; prints as a sentence.

    Attributes
    ----------
    name : str
        What was measured.
    where : str
        In which top or over which region, in words.
    value : float
        The metric of these rows; with folds, of their ranks within the folds, and KS then without
        its bias.
    low, high : float
        Ends of the interval.
    level : float
        Its confidence level.
    method : str
        How the variance was found and what the limits are; with folds also what the variance is
        multiplied by for the training sets.
    standard_error : float
    n_pos, n_neg : int
        Number of rows of each class.
    n_folds : int or None
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
            method += ", which sees no variance"
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
    random_state: Any = None,
) -> MetricInterval:
    """Confidence interval of KS, the largest ``tpr - fpr``.

    KS is the largest of many differences and so too large on average, in a resample of the rows
    even more than in the rows: percentiles of a bootstrap lie too high and cover the true value far
    less often than they say. Here the interval is a t interval around the bias-corrected KS; the
    standard error is that of ``tpr - fpr`` at the threshold of these rows and includes the
    uncertainty of the correction. It always includes the KS of these rows. Rows, or groups, are
    assumed to be independent draws, and the score not to be fitted to them. Measured coverage:
    docs/coverage.md.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`. Each class needs two rows.
    level : float, default=0.95
        Confidence level.
    n_resamples : int, default=300
    groups : array-like of shape (n_rows,), optional
        Rows of one group are drawn together.
    folds : array-like of shape (n_rows,), optional
        The fold whose model scored each row. Scores are replaced by their ranks within the fold, so
        that the top tenth of every fold is the top tenth of all, and the value is the
        bias-corrected KS of all rows: KS of a small fold, and the mean of them, is far too large.
        It estimates the expected KS on new rows of models fitted to as many rows as a training set
        has.
    instability : float in [0, 1], optional
        With ``folds``, the share of the variance that comes from the training sets, as in
        :func:`auctor.metrics.auc_ci`; 1, the worst case, unless given.
    random_state : int, Generator, RandomState or None
        Seed of the bootstrap.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> y, s = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [1, 2, 3, 5, 7, 4, 6, 8, 9, 10]
    >>> found = ks_ci(y, s, random_state=0)
    >>> found.value, found.low < 0.6 < found.high
    (0.6, True)
    """
    asked = _Asked("KS", "", estimate_ks, (0.0, 1.0), is_largest=True)
    rows = read_rows(y_true, y_score, sample_weight, pos_label)
    resampling = Resampling(groups, n_resamples, random_state)
    return _measure(asked, rows, folds, instability, level, resampling)


def precision_at_k_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    k: float,
    *,
    level: float = 0.95,
    n_resamples: int = KS_RESAMPLES,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> MetricInterval:
    """Confidence interval of the precision among the ``k`` rows with the highest scores.

    Clopper and Pearson's interval of a share at the effective number of independent rows: a
    bootstrap says how much the precision varies when the end of the top moves along with the rows,
    and a precision of 1 in ten rows is not certain. Rows, or groups, are assumed to be independent
    draws, and the score not to be fitted to them. Measured coverage: docs/coverage.md.

    Parameters
    ----------
    y_true, y_score, k, sample_weight, pos_label
        As in :func:`auctor.metrics.precision_at_k`. Each class needs two rows. With ``folds``, a
        number of rows is meant of all of them, and its share is taken of each fold.
    level, n_resamples, groups, folds, instability, random_state
        As in :func:`ks_ci`.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> y, s = [0, 0, 0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> found = precision_at_k_ci(y, s, 3, random_state=0)
    >>> found.value, round(found.low, 2), found.high
    (1.0, 0.29, 1.0)
    """
    rows = read_rows(y_true, y_score, sample_weight, pos_label)
    total = float(len(rows.positive)) if rows.weight is None else float(rows.weight.sum())
    share = check_top(k, total) / total
    if share > 1:
        raise ValueError(f"k={k!r} is more than the {total:g} rows (or weight) there are")
    where = f"in the top {k:g}" if isinstance(k, Integral) else f"in the top {100 * k:.4g}%"
    estimate = partial(estimate_precision, share=share)
    asked = _Asked("precision", where, estimate, (0.0, 1.0), is_share=True)
    resampling = Resampling(groups, n_resamples, random_state)
    return _measure(asked, rows, folds, instability, level, resampling)


class _Asked(NamedTuple):
    """What is to be measured; a share has an exact interval, a largest value a bias."""

    name: str
    where: str
    estimate: Callable[[Part], Estimate]
    limits: tuple[float, float]
    is_share: bool = False
    is_largest: bool = False


def read_rows(y_true: Any, y_score: Any, sample_weight: Any, pos_label: Any) -> Sample:
    """Labels, scores and weights; an interval needs two rows of each class."""
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    check_two_of_each(sample.n_pos, sample.n_neg)
    is_equal = sample.weight is not None and bool((sample.weight == sample.weight[0]).all())
    return sample._replace(weight=None) if is_equal else sample


def _measure(
    asked: _Asked,
    sample: Sample,
    folds: Any,
    instability: float | None,
    level: float,
    resampling: Resampling,
) -> MetricInterval:
    level, n_resamples = check_level(level), check_resamples(resampling.n_resamples)
    resampling = Resampling(resampling.groups, n_resamples, make_generator(resampling.rng))
    check_goes_with_folds(instability, folds)
    n_folds, inflation = None, 1.0
    if folds is not None:
        n_folds = len(read_codes(folds, sample, "folds")[0])
        inflation += check_instability(instability)
        sample = pool_folds(sample, folds)
    found = asked.estimate(Part(sample, resampling))
    value, bias = found.value, found.bias
    error = float(np.hypot(np.sqrt(inflation * found.variance), found.doubt))
    if folds is not None and asked.is_largest:
        value, bias = unbiased(found), 0.0
    if asked.is_share:
        n_alone = varies_as(value, error, found.n_alone / inflation)
        low, high = clopper_pearson(value * n_alone, n_alone, level)
    else:
        reach = quantile(level, found.freedom) * error
        low, high = value - bias - reach, value - bias + reach
    least, most = asked.limits
    return MetricInterval(
        asked.name,
        asked.where,
        value,
        max(min(low, value), least),
        min(max(high, value), most),
        level,
        describe_method(resampling.name, n_folds, inflation)
        + (", Clopper-Pearson limits" if asked.is_share else ", t limits"),
        error,
        sample.n_pos,
        sample.n_neg,
        n_folds,
    )


def describe_method(name: str, n_folds: int | None, inflation: float) -> str:
    """How an interval was made, with what folds add to it."""
    if n_folds is None:
        return name
    folds = count(n_folds, "fold")
    return f"{name} within {folds}, variance times {inflation:.2f} for the training sets"


def unbiased(found: Estimate) -> float:
    """The metric less what it is too large by on average."""
    return min(max(found.value - found.bias, 0.0), 1.0)
