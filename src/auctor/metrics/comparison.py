"""Tests and intervals of the difference of two AUCs."""

import math
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, stdtr, stdtrit

from auctor.metrics.bootstrap import (
    Resampling,
    make_draws,
    make_generator,
    percentiles,
    rank,
    whole,
)
from auctor.metrics.checks import check_level, check_resamples
from auctor.metrics.delong import (
    check_two_of_each,
    placements,
    placements_by_row,
    variance,
    variance_of_difference,
)
from auctor.metrics.folds import Part, cut_folds
from auctor.metrics.intervals import choose_method, normal_quantile
from auctor.metrics.sample import Sample, read_sample, sort_classes, split
from auctor.metrics.wording import count, interval, signless


@dataclass(frozen=True, repr=False)
class AucComparison:
    """The difference of two AUCs, its interval and its test; prints as a sentence.

    Attributes
    ----------
    difference : float
        AUC of A less AUC of B.
    low, high : float
        Ends of the confidence interval of the difference.
    statistic : float
        The difference in standard errors; positive where A is better.
    p_value : float
        Two-sided, of the hypothesis that both AUCs are equal.
    method : str
        Such as "paired DeLong".
    level : float
        Confidence level of the interval.
    auc_a, auc_b : float
    degrees_of_freedom : float
        Of the t distribution of the statistic; infinity where it is the normal.
    n_pos, n_neg : int
        Number of rows of each class, over both samples if they are two.
    """

    difference: float
    low: float
    high: float
    statistic: float
    p_value: float
    method: str
    level: float
    auc_a: float
    auc_b: float
    degrees_of_freedom: float
    n_pos: int
    n_neg: int

    def __repr__(self) -> str:
        name = "z" if math.isinf(self.degrees_of_freedom) else "t"
        return (
            f"AUC {self.auc_a:.3f} against {self.auc_b:.3f}: "
            f"difference {signless(self.difference)} "
            f"({interval(self.low, self.high, self.level)}), "
            f"{name} = {self.statistic:.2f}, p = {self.p_value:.2g} ({self.method}, "
            f"{count(self.n_pos, 'positive')}, {count(self.n_neg, 'negative')})"
        )


def compare_auc(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *,
    y_true_b: npt.ArrayLike | None = None,
    method: Literal["delong", "bootstrap"] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    sample_weight_b: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> AucComparison:
    """Compare the AUCs of two scores, of the same rows (paired) or of two samples.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels, as in :func:`auctor.metrics.auc`. Each class needs two rows.
    score_a, score_b : array-like
        The two scores.
    y_true_b : array-like, optional
        Labels of the rows of ``score_b`` if they are not those of ``score_a``; the
        comparison is then unpaired.
    method : {"delong", "bootstrap"}, optional
        "delong": DeLong's test; unpaired, with Welch's degrees of freedom.
        "bootstrap": the standard error, and the percentile interval, of resamples
        drawn within each class. Unless said, DeLong; with ``groups``, the bootstrap.
    level : float, default=0.95
        Confidence level of the interval of the difference.
    n_resamples : int, default=2000
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        Rows that vary together; the (paired) bootstrap then draws whole groups.
    folds : array-like of shape (n_rows,), optional
        The fold of each row, for out-of-fold scores of both (paired): the mean of the
        differences within the folds, as in :func:`auctor.metrics.auc_ci`.
    sample_weight, sample_weight_b : array-like, optional
        Weights of the rows, only for the bootstrap; the second goes with ``y_true_b``.
    pos_label : label, optional
        The positive one of the two labels.
    random_state : int, Generator, RandomState or None
        Seed of the bootstrap.

    Returns
    -------
    AucComparison

    Examples
    --------
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> compare_auc(y, [1, 2, 3, 5, 4, 6, 7, 8], [3, 1, 6, 4, 5, 2, 8, 7])
    AUC 0.938 against 0.750: difference 0.188 (95% CI -0.248 to 0.623), z = 0.84,
    p = 0.4 (paired DeLong, 4 positives, 4 negatives)
    """
    level, n_resamples = check_level(level), check_resamples(n_resamples)
    weighted = sample_weight is not None or sample_weight_b is not None
    by_delong = choose_method(method, groups=groups, weighted=weighted) == "delong"
    _check_pairing(y_true_b is None, {"groups": groups, "folds": folds}, sample_weight_b)
    rng = make_generator(random_state)
    if y_true_b is None:
        both = _read(y_true, {"score_a": score_a, "score_b": score_b}, sample_weight, pos_label)
        resampling = None if by_delong else Resampling(groups, n_resamples, rng)
        if folds is not None:
            estimate = _paired_within_folds(both, folds, resampling)
        else:
            estimate = _paired(Part(both, resampling))
        return _conclude(estimate, [both], level)
    a = _read(y_true, {"score_a": score_a}, sample_weight, pos_label)
    b = _read(y_true_b, {"score_b": score_b}, sample_weight_b, pos_label, suffix="_b")
    estimate = _unpaired_delong(a, b) if by_delong else _unpaired_bootstrap(a, b, n_resamples, rng)
    return _conclude(estimate, [a, b], level)


def _read(
    y_true: Any, scores: dict[str, Any], sample_weight: Any, pos_label: Any, suffix: str = ""
) -> Sample:
    """Read one sample; the suffix is that of its arguments' names."""
    names = (f"y_true{suffix}", f"sample_weight{suffix}")
    sample = read_sample(
        y_true, scores, sample_weight=sample_weight, pos_label=pos_label, names=names
    )
    check_two_of_each(sample.n_pos, sample.n_neg, names[0])
    return sample


class _Estimate(NamedTuple):
    """Two AUCs and how their difference varies."""

    auc_a: float
    auc_b: float
    standard_error: float
    degrees_of_freedom: float
    method: str
    resampled: npt.NDArray[np.float64] | None = None  # differences in the resamples


def _check_pairing(paired: bool, of_rows: dict[str, Any], sample_weight_b: Any) -> None:
    """Arguments that make sense for one kind of comparison only."""
    if paired and sample_weight_b is not None:
        raise ValueError("sample_weight_b goes with y_true_b; paired rows share sample_weight")
    for name, given in of_rows.items():
        if not paired and given is not None:
            raise ValueError(f"{name} goes with a paired comparison; leave out {name} or y_true_b")


def _paired(part: Part) -> _Estimate:
    """Two scores of the same rows."""
    if part.resampling is None:
        return _paired_delong(part.sample)
    return _paired_bootstrap(part.sample, part.resampling)


def _paired_within_folds(sample: Sample, folds: Any, resampling: Resampling | None) -> _Estimate:
    """The mean over the folds, whose errors are independent."""
    parts = [_paired(part) for part in cut_folds(sample, folds, resampling)]
    n = len(parts)
    auc_a, auc_b = sum(p.auc_a for p in parts) / n, sum(p.auc_b for p in parts) / n
    error = math.sqrt(sum(part.standard_error**2 for part in parts)) / n
    return _Estimate(auc_a, auc_b, error, math.inf, f"{parts[0].method} within folds")


def _paired_delong(sample: Sample) -> _Estimate:
    """DeLong's test of two scores of the same rows."""
    a, b = (placements_by_row(*split(score, sample.positive)) for score in sample.scores)
    error = math.sqrt(variance_of_difference(a, b))
    return _Estimate(a.auc(), b.auc(), error, math.inf, "paired DeLong")


def _unpaired_delong(sample_a: Sample, sample_b: Sample) -> _Estimate:
    """DeLong's test of two samples, with Welch's degrees of freedom."""
    a, b = (placements(sort_classes(sample)) for sample in (sample_a, sample_b))
    variance_a, variance_b = variance(a), variance(b)
    total = variance_a + variance_b
    rows_a, rows_b = len(sample_a.positive), len(sample_b.positive)
    spread = variance_a**2 / (rows_a - 1) + variance_b**2 / (rows_b - 1)
    # Two AUCs without any variance: as many degrees as there could be.
    freedom = total**2 / spread if spread > 0 else float(rows_a + rows_b - 2)
    return _Estimate(a.auc(), b.auc(), math.sqrt(total), freedom, "unpaired DeLong")


def _paired_bootstrap(sample: Sample, resampling: Resampling) -> _Estimate:
    """Both scores on the same draws of rows."""
    a, b = rank(sample, 0), rank(sample, 1)
    differences = np.array([a.auc(draw) - b.auc(draw) for draw in resampling.draws(sample)])
    full = whole(sample)
    return _resampled(a.auc(full), b.auc(full), f"paired {resampling.name}", differences)


def _unpaired_bootstrap(
    sample_a: Sample, sample_b: Sample, n_resamples: int, rng: np.random.Generator
) -> _Estimate:
    """Each score on draws of its own sample."""
    a, b = rank(sample_a), rank(sample_b)
    draws_a, name = make_draws(sample_a, None, rng)
    draws_b, _ = make_draws(sample_b, None, rng)
    draws = islice(zip(draws_a, draws_b, strict=True), n_resamples)
    differences = np.array([a.auc(draw_a) - b.auc(draw_b) for draw_a, draw_b in draws])
    return _resampled(
        a.auc(whole(sample_a)), b.auc(whole(sample_b)), f"unpaired {name}", differences
    )


def _resampled(
    auc_a: float, auc_b: float, method: str, differences: npt.NDArray[np.float64]
) -> _Estimate:
    """The estimate whose standard error is that of the resampled differences."""
    return _Estimate(auc_a, auc_b, float(differences.std(ddof=1)), math.inf, method, differences)


def _conclude(estimate: _Estimate, samples: list[Sample], level: float) -> AucComparison:
    """Test by the standard error; interval likewise, or from the resamples if there are any."""
    difference = estimate.auc_a - estimate.auc_b
    statistic = _statistic(difference, estimate.standard_error)
    freedom = estimate.degrees_of_freedom
    if estimate.resampled is None:
        reach = _quantile(level, freedom) * estimate.standard_error
        low, high = max(difference - reach, -1.0), min(difference + reach, 1.0)
    else:
        low, high = percentiles(estimate.resampled, level)
    return AucComparison(
        difference=difference,
        low=low,
        high=high,
        statistic=statistic,
        p_value=_two_sided(statistic, freedom),
        method=estimate.method,
        level=level,
        auc_a=estimate.auc_a,
        auc_b=estimate.auc_b,
        degrees_of_freedom=freedom,
        n_pos=sum(sample.n_pos for sample in samples),
        n_neg=sum(sample.n_neg for sample in samples),
    )


def _statistic(difference: float, standard_error: float) -> float:
    """The difference in standard errors; no difference is 0 whatever its error."""
    if difference == 0:
        return 0.0
    return (
        difference / standard_error if standard_error > 0 else math.copysign(math.inf, difference)
    )


def _two_sided(statistic: float, freedom: float) -> float:
    """Probability of a statistic at least this far from zero."""
    below = ndtr if math.isinf(freedom) else (lambda value: stdtr(freedom, value))
    return float(min(2 * below(-abs(statistic)), 1.0))


def _quantile(level: float, freedom: float) -> float:
    """Half the width of the interval in standard errors."""
    return (
        normal_quantile(level) if math.isinf(freedom) else float(stdtrit(freedom, (1 + level) / 2))
    )
