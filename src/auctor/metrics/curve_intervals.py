"""Confidence intervals of what is read off a ROC curve: KS, precision at k, partial AUC."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.metrics.bootstrap import Resampling, make_generator
from auctor.metrics.checks import check_level, check_one, check_region, check_resamples, check_top
from auctor.metrics.curve import RocCurve
from auctor.metrics.curve_estimates import (
    Estimate,
    estimate_area,
    estimate_ks,
    estimate_precision,
    varies_as,
)
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.intervals import Part, cut_folds, normal_quantile
from auctor.metrics.rates import wilson
from auctor.metrics.sample import Sample, read_sample
from auctor.metrics.wording import count, interval


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
        The metric of these rows; with folds, the mean of the metrics within the folds.
    low, high : float
        Ends of the interval.
    level : float
        Its confidence level.
    method : str
        "stratified bootstrap" or "cluster bootstrap".
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
        if self.n_folds is not None:
            method += f" within {count(self.n_folds, 'fold')}"
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
    n_resamples: int = 300,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> MetricInterval:
    """Confidence interval of KS, the largest ``tpr - fpr``.

    KS is the largest of many differences and so too large on average, in a resample of the rows
    even more than in the rows: percentiles of a bootstrap lie too high and hold the true value far
    less often than they say. Here the interval is normal around KS less twice what the resamples
    have more than the rows, with the standard error of ``tpr - fpr`` at the rows' own threshold and
    that excess itself as a doubt; it reaches up to KS in any case. In small folds KS is larger
    still, and much of the interval lies below it.

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
        The fold whose model scored each row: the value is the mean of KS within the folds.
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
    asked = _Asked("KS", "", estimate_ks, (0.0, 1.0))
    rows = _read(y_true, y_score, sample_weight, pos_label)
    return _measure(asked, rows, folds, level, Resampling(groups, n_resamples, random_state))


def precision_at_k_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    k: float,
    *,
    level: float = 0.95,
    n_resamples: int = 300,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> MetricInterval:
    """Confidence interval of the precision among the ``k`` rows with the highest scores.

    Wilson's interval of a share of so many rows as vary alike: a bootstrap says how much the
    precision varies when the end of the top moves along with the rows, and a precision of 1 in
    ten rows is not certain.

    Parameters
    ----------
    y_true, y_score, k, sample_weight, pos_label
        As in :func:`auctor.metrics.precision_at_k`. Each class needs two rows. With ``folds``, a
        number of rows is meant of all of them, and its share is taken of each fold.
    level, n_resamples, groups, folds, random_state
        As in :func:`ks_ci`.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> y, s = [0, 0, 0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    >>> found = precision_at_k_ci(y, s, 3, random_state=0)
    >>> found.value, found.high, 0.4 < found.low < 0.5
    (1.0, 1.0, True)
    """
    rows = _read(y_true, y_score, sample_weight, pos_label)
    total = float(len(rows.positive)) if rows.weight is None else float(rows.weight.sum())
    share = check_top(k, total) / total
    if share > 1:
        raise ValueError(f"k={k!r} is more than the {total:g} rows (or weight) there are")
    where = f"in the top {k:g}" if isinstance(k, Integral) else f"in the top {100 * k:.4g}%"
    estimate = partial(estimate_precision, share=share)
    asked = _Asked("precision", where, estimate, (0.0, 1.0), is_share=True)
    return _measure(asked, rows, folds, level, Resampling(groups, n_resamples, random_state))


def partial_auc_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    scaled: bool = False,
    level: float = 0.95,
    n_resamples: int = 300,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> MetricInterval:
    """Confidence interval of an area under a part of the ROC curve: normal, by the bootstrap.

    What the resamples have more than the rows, which is much where a class has few of them, is
    taken away and counts as a doubt. Where all rows of the region are in order no resample varies,
    and the interval has no width.

    Parameters
    ----------
    y_true, y_score, fpr, tpr, scaled, sample_weight, pos_label
        As in :func:`auctor.metrics.partial_auc`. Each class needs two rows.
    level, n_resamples, groups, folds, random_state
        As in :func:`ks_ci`.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> y, s = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [1, 2, 3, 5, 7, 4, 6, 8, 9, 10]
    >>> found = partial_auc_ci(y, s, fpr=(0, 0.4), scaled=True, random_state=0)
    >>> round(found.value, 4), found.low < found.value < found.high
    (0.8125, True)
    """
    name, region = check_one(fpr=fpr, tpr=tpr)
    low, high = check_region(region, name)

    def area(curve: RocCurve) -> float:
        return curve.partial_auc(fpr=fpr, tpr=tpr, scaled=scaled)

    asked = _Asked(
        "scaled partial AUC" if scaled else "partial AUC",
        f"over {name} {low:g} to {high:g}",
        partial(estimate_area, area=area),
        _area_limits(name, low, high, scaled),
    )
    rows = _read(y_true, y_score, sample_weight, pos_label)
    return _measure(asked, rows, folds, level, Resampling(groups, n_resamples, random_state))


class _Asked(NamedTuple):
    """What is to be measured; a share has Wilson's interval."""

    name: str
    where: str
    estimate: Callable[[Part], Estimate]
    limits: tuple[float, float]
    is_share: bool = False


def _area_limits(name: str, low: float, high: float, scaled: bool) -> tuple[float, float]:
    """The least and the largest area there can be."""
    if not scaled:
        return 0.0, high - low
    # As RocCurve.partial_auc has it, with no area at all.
    chance = (high**2 - low**2) / 2 if name == "fpr" else ((1 - low) ** 2 - (1 - high) ** 2) / 2
    return (1 - chance / (high - low - chance)) / 2, 1.0


def _read(y_true: Any, y_score: Any, sample_weight: Any, pos_label: Any) -> Sample:
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    check_two_of_each(sample.n_pos, sample.n_neg)
    return sample


def _measure(
    asked: _Asked, sample: Sample, folds: Any, level: float, resampling: Resampling
) -> MetricInterval:
    level, n_resamples = check_level(level), check_resamples(resampling.n_resamples)
    resampling = Resampling(resampling.groups, n_resamples, make_generator(resampling.rng))
    parts = [Part(sample, resampling)]
    if folds is not None:
        parts = cut_folds(sample, folds, resampling)
    found = [asked.estimate(part) for part in parts]
    value, bias, doubt = (
        float(np.mean([getattr(one, name) for one in found])) for name in ("value", "bias", "doubt")
    )
    # Rows of different folds vary apart; what few rows do to the metric, they do in all folds.
    error = float(np.hypot(np.sqrt(sum(one.variance for one in found)) / len(found), doubt))
    if asked.is_share:
        n_alone = varies_as(value, error, sum(one.n_alone for one in found))
        low, high = wilson(value * n_alone, n_alone, level)
    else:
        reach = normal_quantile(level) * error
        low, high = value - bias - reach, value - bias + reach
    least, most = asked.limits
    return MetricInterval(
        asked.name,
        asked.where,
        value,
        max(min(low, value), least),
        min(max(high, value), most),
        level,
        resampling.name,
        error,
        sample.n_pos,
        sample.n_neg,
        None if folds is None else len(parts),
    )
