"""Paired differences of two scores in any metric: AUC, partial AUC, KS, precision at k."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from auctor._checks import check_level, check_one, check_region, check_resamples, check_top
from auctor._text import count, interval, signless
from auctor._typing import Floats, Ints
from auctor.metrics.bootstrap import Resampling, make_draws, make_generator
from auctor.metrics.comparison import AucComparison, compare_auc, is_alike
from auctor.metrics.curve import RocCurve, curve_of_sample
from auctor.metrics.curve_estimates import estimate_ks
from auctor.metrics.curve_intervals import KS_RESAMPLES
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.folds import (
    Part,
    check_goes_with_folds,
    check_instability,
    group_codes,
    pool_folds,
)
from auctor.metrics.influence import effective_sizes
from auctor.metrics.resampled_curves import redrawn, row_places, thin
from auctor.metrics.sample import Sample, read_codes, read_sample

METRICS = ("auc", "ks", "partial_auc", "precision_at_k")

# More distinct scores than this are joined before they are resampled.
_MOST_STEPS = 2000


@dataclass(frozen=True, repr=False)
class MetricComparison:
    """The difference of two scores in a metric, its interval and its test; prints as a sentence.

    Attributes
    ----------
    name : str
        The metric.
    where : str
        In which top or over which region, in words.
    difference : float
        The metric of A minus that of B.
    low, high : float
        Ends of the confidence interval of the difference.
    p_value : float
        Two-sided, of the hypothesis that there is no difference. It is below ``1 - level`` exactly
        where the interval excludes 0.
    value_a, value_b : float
        The metric of each score.
    standard_error : float
        Of the difference.
    level : float
        Confidence level of the interval.
    method : str
        How the difference was found to vary.
    n_pos, n_neg : int
        Number of rows of each class.
    n_folds : int or None
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
        where = f" {self.where}" if self.where else ""
        return (
            f"{self.name}{where} {self.value_a:.3f} against {self.value_b:.3f}: "
            f"difference {signless(self.difference)} "
            f"({interval(self.low, self.high, self.level)}), p = {self.p_value:.2g} "
            f"({self.method}, {count(self.n_pos, 'positive')}, {count(self.n_neg, 'negative')})"
        )


def compare_metric(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    metric: Literal["auc", "ks", "partial_auc", "precision_at_k"],
    *,
    k: float | None = None,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    scaled: bool = False,
    level: float = 0.95,
    n_resamples: int = 500,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> MetricComparison:
    """Compare two scores of the same rows in the metric that they are judged by.

    The interval is a t interval with the standard error of the differences in resamples of the
    rows, both scores on the same resample, and the p-value is that of the same t. Two rows that
    the scores disagree on, one of each sign, are added in the variance (Agresti and Min 2005),
    so that a difference of 0 in a few rows is not certain. For "auc" it is
    :func:`auctor.metrics.compare_auc`. Rows, or groups, are assumed to be independent.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels, as in :func:`auctor.metrics.auc`. Each class needs two rows.
    score_a, score_b : array-like of shape (n_rows,)
        The two scores.
    metric : {"auc", "ks", "partial_auc", "precision_at_k"}
    k : int or float
        For "precision_at_k": a number of rows, or a share of them.
    fpr, tpr : pair of float
        For "partial_auc": the region, one of the two.
    scaled : bool, default=False
        For "partial_auc": 0.5 at chance and 1 at best, as McClish (1989) has it.
    level : float, default=0.95
        Confidence level.
    n_resamples : int, default=500
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        Rows of one group are drawn together.
    folds : array-like of shape (n_rows,), optional
        The fold of each row, for out-of-fold scores of both. Scores are replaced by their ranks
        within the fold, so that the top tenth of every fold is the top tenth of all.
    instability : float in [0, 1], optional
        With ``folds``, the share of the variance of the difference that comes from the training
        sets, as :func:`auctor.metrics.fold_instability` measures it for the AUC; 1, the worst case,
        unless given.
    sample_weight : array-like of shape (n_rows,), optional
    pos_label : label, optional
        The positive one of the two labels.
    random_state : int, Generator, RandomState or None
        Seed of the bootstrap.

    Returns
    -------
    MetricComparison

    Examples
    --------
    >>> y = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    >>> a, b = [1, 2, 3, 5, 7, 4, 6, 8, 9, 10], [3, 1, 6, 4, 9, 5, 2, 8, 7, 10]
    >>> found = compare_metric(y, a, b, "ks", random_state=0)
    >>> round(found.value_a, 3), round(found.value_b, 3), found.low < 0.2 < found.high
    (0.6, 0.4, True)
    """
    if metric not in METRICS:
        raise ValueError(f"metric is {metric!r}; give one of {', '.join(METRICS)}")
    check_goes_with_folds(instability, folds)
    level, n_resamples = check_level(level), check_resamples(n_resamples)
    scores = {"score_a": score_a, "score_b": score_b}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    check_two_of_each(sample.n_pos, sample.n_neg)
    asked = _asked(metric, sample, k=k, fpr=fpr, tpr=tpr, scaled=scaled)
    if metric == "auc":
        found = compare_auc(
            y_true,
            score_a,
            score_b,
            level=level,
            groups=groups,
            folds=folds,
            instability=instability,
            sample_weight=sample_weight,
            pos_label=pos_label,
        )
        return _of_auc(found, sample, folds)
    codes = None if groups is None else group_codes(groups, sample)
    n_folds, inflation = None, 1.0
    if folds is not None:
        n_folds = len(read_codes(folds, sample, "folds")[0])
        inflation += check_instability(instability)
        sample = pool_folds(sample, folds)
    # The groups are those of the rows that stayed.
    rows = _Rows(sample._replace(kept=None), codes, n_folds, inflation)
    return _conclude(asked, rows, level, n_resamples, random_state)


class _Asked(NamedTuple):
    """What is to be compared."""

    name: str
    where: str
    measure: Callable[[RocCurve], float]
    # The variance of two rows that the scores disagree on, given the rows of each class.
    doubt: Callable[[float, float], float]
    most_steps: int | None = _MOST_STEPS


class _Rows(NamedTuple):
    """The rows, what goes together, and how much the training sets add."""

    sample: Sample
    groups: Ints | None
    n_folds: int | None
    inflation: float


def _asked(
    metric: str,
    sample: Sample,
    k: float | None,
    fpr: tuple[float, float] | None,
    tpr: tuple[float, float] | None,
    scaled: bool,
) -> _Asked:
    """The metric with its settings; an error for those of another one."""
    if metric != "precision_at_k" and k is not None:
        raise ValueError(f"k is {k!r}, but metric={metric!r} has none; leave it out")
    if metric != "partial_auc" and (fpr is not None or tpr is not None):
        raise ValueError(f"fpr and tpr go with metric='partial_auc', not with {metric!r}")
    if metric == "precision_at_k":
        return _ask_precision(sample, k)
    if metric == "partial_auc":
        return _ask_area(fpr, tpr, scaled)
    return _Asked("KS" if metric == "ks" else "AUC", "", RocCurve.ks, _doubt_of_rates)


def _ask_precision(sample: Sample, k: float | None) -> _Asked:
    if k is None:
        raise ValueError("metric='precision_at_k' needs k, such as 100 rows or a share of 0.1")
    total = float(len(sample.positive)) if sample.weight is None else float(sample.weight.sum())
    share = check_top(k, total) / total
    if share > 1:
        raise ValueError(f"k={k!r} is more than the {total:g} rows (or weight) there are")
    where = f"in the top {k:g}" if isinstance(k, Integral) else f"in the top {100 * k:.4g}%"

    def measure(curve: RocCurve) -> float:
        top = share * float(curve.flagged[-1])
        return float(np.interp(top, curve.flagged, curve.true_positives)) / top

    def doubt(n_pos: float, n_neg: float) -> float:
        return 1.0 / (share * (n_pos + n_neg) + 2) ** 2

    return _Asked("precision", where, measure, doubt, most_steps=None)


def _ask_area(
    fpr: tuple[float, float] | None, tpr: tuple[float, float] | None, scaled: bool
) -> _Asked:
    name, region = check_one(fpr=fpr, tpr=tpr)
    low, high = check_region(region, name)
    width = high - low

    def doubt(n_pos: float, n_neg: float) -> float:
        # Of the class whose rate is cut, only the rows of the region count.
        inside, across = (n_neg, n_pos) if name == "fpr" else (n_pos, n_neg)
        reach = 0.5 if scaled else width
        return (reach / 4) ** 2 * (1 / (across + 2) ** 2 + 1 / (width * inside + 2) ** 2)

    return _Asked(
        "scaled partial AUC" if scaled else "partial AUC",
        f"over {name} {low:g} to {high:g}",
        lambda curve: curve.partial_auc(fpr=fpr, tpr=tpr, scaled=scaled),
        doubt,
    )


def _doubt_of_rates(n_pos: float, n_neg: float) -> float:
    # The scores may part anywhere on the curve: a row moves the largest difference by half.
    return 0.25 / (n_pos + 2) ** 2 + 0.25 / (n_neg + 2) ** 2


def _conclude(
    asked: _Asked, rows: _Rows, level: float, n_resamples: int, random_state: Any
) -> MetricComparison:
    """Interval and test with one standard error."""
    sample, sizes = rows.sample, effective_sizes(rows.sample, rows.groups)
    value_a, value_b = (asked.measure(curve_of_sample(one)) for one in _each(sample))
    gap, error = value_a - value_b, 0.0
    rng = make_generator(random_state)
    if is_alike(*sample.scores):
        gap = 0.0
    else:
        drawn = _drawn(asked, rows, n_resamples, rng)
        spread = float(drawn.var(ddof=1)) + asked.doubt(*sizes)
        error = math.sqrt(rows.inflation * spread)
    # KS and areas near the ends of a curve hang on few rows: one degree a row, not that of an AUC.
    freedom = max(min(sizes) - (rows.n_folds or 1), 1.0)
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    p_value = 1.0 if gap == 0 else float(2 * stdtr(freedom, -abs(gap) / error))
    excess = _excess(asked, rows, rng)
    return MetricComparison(
        name=asked.name,
        where=asked.where,
        difference=gap,
        low=max(gap - reach, -1.0),
        high=min(gap + reach, 1.0),
        p_value=p_value,
        value_a=max(value_a - excess, 0.0),
        value_b=max(value_b - excess, 0.0),
        standard_error=error,
        level=level,
        method=_method(rows),
        n_pos=sample.n_pos,
        n_neg=sample.n_neg,
        n_folds=rows.n_folds,
    )


def _method(rows: _Rows) -> str:
    method = "paired stratified bootstrap" if rows.groups is None else "paired cluster bootstrap"
    if rows.n_folds is None:
        return method
    folds = count(rows.n_folds, "fold")
    return f"{method} within {folds}, variance times {rows.inflation:.2f} for the training sets"


def _each(sample: Sample) -> list[Sample]:
    """The sample with one of its scores at a time."""
    return [sample._replace(scores=(score,)) for score in sample.scores]


def _excess(asked: _Asked, rows: _Rows, rng: np.random.Generator) -> float:
    """What KS within folds is too large by, the mean of both scores; 0 for everything else.

    Both values are printed without it. The difference does not need it: two scores of the same
    rows have about the same excess, and that of each alone is known too badly to be subtracted.
    """
    if rows.n_folds is None or asked.name != "KS":
        return 0.0
    resampling = Resampling(rows.groups, KS_RESAMPLES, rng)
    return sum(estimate_ks(Part(one, resampling)).bias for one in _each(rows.sample)) / 2


def _drawn(asked: _Asked, rows: _Rows, n_resamples: int, rng: np.random.Generator) -> Floats:
    """Differences of the metric in resamples, both scores on the same rows."""
    sample = rows.sample
    curves, places = [], []
    for score in sample.scores:
        one = sample._replace(scores=(score,))
        curve = curve_of_sample(one)
        if asked.most_steps is not None:
            curve = thin(curve, asked.most_steps)
        curves.append(curve)
        places.append(row_places(curve, one))
    draws, _ = make_draws(sample, rows.groups, rng)
    found = [
        [asked.measure(redrawn(c, p, draw)) for c, p in zip(curves, places, strict=True)]
        for draw in islice(draws, n_resamples)
    ]
    values = np.array(found)
    return np.asarray(values[:, 0] - values[:, 1])


def _of_auc(found: AucComparison, sample: Sample, folds: Any) -> MetricComparison:
    """A comparison of AUCs in the words of this module."""
    n_folds = None if folds is None else len(read_codes(folds, sample, "folds")[0])
    error = found.difference / found.statistic if found.statistic else 0.0
    return MetricComparison(
        name="AUC",
        where="",
        difference=found.difference,
        low=found.low,
        high=found.high,
        p_value=found.p_value,
        value_a=found.auc_a,
        value_b=found.auc_b,
        standard_error=error,
        level=found.level,
        method=found.method,
        n_pos=found.n_pos,
        n_neg=found.n_neg,
        n_folds=n_folds,
    )
