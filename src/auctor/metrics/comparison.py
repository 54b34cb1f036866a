"""Confidence interval and test of the difference of two AUCs."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr, stdtrit

from auctor._checks import check_level, check_whole
from auctor._text import count, interval, p_equation, signed
from auctor.metrics.auc_pairs import (
    AucPair,
    estimate_paired,
    estimate_unpaired,
    estimate_within_folds,
)
from auctor.metrics.bootstrap import Resampling, make_generator
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.folds import (
    Part,
    check_goes_with_folds,
    check_instability,
    cut_folds,
    describe_inflation,
)
from auctor.metrics.intervals import choose_method
from auctor.metrics.limits import (
    auc_limits,
    degrees,
    difference_limits,
    normal_quantile,
    p_value_of,
    two_sided,
)
from auctor.metrics.sample import Sample, group_codes, read_sample


@dataclass(frozen=True, repr=False)
class AucComparison:
    """Difference of two AUCs, with interval and test; prints as a sentence.

    Attributes
    ----------
    difference : float
        AUC of score A minus AUC of score B.
    low, high : float
        Ends of the confidence interval of the difference.
    statistic : float
        The difference divided by its standard error; positive if A is better.
    p_value : float
        Two-sided p-value of the hypothesis that both AUCs are equal. It is below ``1 - level``
        exactly if the interval excludes 0.
    method : str
        How the interval was computed, such as "paired, MOVER limits".
    level : float
        Confidence level of the interval.
    auc_a, auc_b : float
        The AUC of each score.
    degrees_of_freedom : float
        For ``method="delong"``, the degrees of freedom of the t distribution of the statistic;
        infinity if it is the normal distribution. NaN for the other methods, whose p-value comes
        from the interval.
    n_pos, n_neg : int
        Number of rows of each class; for two samples, in both together.

    Examples
    --------
    >>> from auctor.metrics import compare_auc
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> result = compare_auc(y, -X[:, 2], X[:, 1])
    >>> print(result)
    AUC: 0.824 (A) and 0.734 (B), difference (A - B) +0.089 (95% CI -0.067 to 0.249), p =
    0.26 (paired, MOVER limits, 17 positives, 64 negatives)
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
        values = self.auc_a, self.auc_b
        return (
            f"{describe_difference('AUC', values, self.difference, self)}, "
            f"{self._statistic()}{p_equation(self.p_value)} ({self.method}, "
            f"{count(self.n_pos, 'positive')}, {count(self.n_neg, 'negative')})"
        )

    def _statistic(self) -> str:
        """The test statistic in words; empty if the p-value comes from the interval."""
        if math.isnan(self.degrees_of_freedom):
            return ""
        name = "z" if math.isinf(self.degrees_of_freedom) else "t"
        return f"{name} = {self.statistic:.2f}, "


def compare_auc(
    y_true: npt.ArrayLike,
    score_a: npt.ArrayLike,
    score_b: npt.ArrayLike,
    *,
    y_true_b: npt.ArrayLike | None = None,
    method: Literal["wilson", "delong", "bootstrap"] | None = None,
    level: float = 0.95,
    n_resamples: int = 2000,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    sample_weight_b: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
) -> AucComparison:
    """Compare the AUCs of two scores, on the same rows (paired) or on two samples (unpaired).

    The rows (or the groups) are assumed to be independent, and the scores not to have been fitted
    to them. The p-value is below 1 - ``level`` exactly if the interval excludes 0.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels, as in :func:`auctor.metrics.auc`. Each class needs at least two rows.
    score_a, score_b : array-like
        The two scores.
    y_true_b : array-like, optional
        Labels of the rows of ``score_b`` if they are other rows than those of ``score_a``. The
        comparison is then unpaired.
    method : {"wilson", "delong", "bootstrap"}, default="wilson"
        "wilson": the limits of the two AUCs (Wilson's, at the effective number of pairs) are
        combined by MOVER, also called "square and add" (Zou and Donner 2008), with the correlation
        of the two AUCs from DeLong's covariance. Unlike the normal interval, this covers also if
        an AUC is near 1 or a class is small. Weights enter through Kish's effective number of
        rows, groups through the sums over their rows. "bootstrap": the same limits, with variances
        and correlation from resamples. "delong": DeLong's test with the normal interval, as in
        R's pROC; for unpaired samples with Welch's degrees of freedom. It accepts neither weights
        nor groups.
    level : float, default=0.95
        Confidence level of the interval of the difference.
    n_resamples : int, default=2000
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        The group of each row, if rows of one group (the visits of a patient) depend on each other.
        Only for paired comparisons.
    folds : array-like of shape (n_rows,), optional
        The fold of each row, if both scores are out-of-fold scores. The difference is then the
        mean of the differences within the folds, as in :func:`auctor.metrics.auc_ci`. It estimates
        the expected difference on new rows between models of the two learners that are fitted to
        the same training set of that size. Only for paired comparisons.
    instability : float in [0, 1], optional
        With ``folds``, the fraction of the variance of the difference that comes from the training
        sets, as :func:`auctor.metrics.fold_instability` measures it from the scores of both
        learners. By default 1, the worst case; with ``method="delong"`` it is 0.
    sample_weight, sample_weight_b : array-like, optional
        Weights of the rows of ``y_true`` and of ``y_true_b``.
    pos_label : label, optional
        The label of the positive class.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bootstrap. Results are reproducible by default; None gives new random numbers
        in every call.

    Returns
    -------
    AucComparison

    Examples
    --------
    >>> from auctor.metrics import compare_auc
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> compare_auc(y, [1, 2, 3, 5, 4, 6, 7, 8], [3, 1, 6, 4, 5, 2, 8, 7])
    AUC: 0.938 (A) and 0.750 (B), difference (A - B) +0.188 (95% CI -0.304 to 0.662), p = 0.41
    (paired, MOVER limits, 4 positives, 4 negatives)
    """
    level = check_level(level)
    n_resamples = check_whole(n_resamples, "n_resamples", minimum=2)
    check_goes_with_folds(instability, folds)
    weighted = sample_weight is not None or sample_weight_b is not None
    if method is not None:
        choose_method(method, groups=groups, weighted=weighted)
    _check_pairing(y_true_b is None, {"groups": groups, "folds": folds}, sample_weight_b)
    rng = make_generator(random_state)
    redraw = Resampling(groups, n_resamples, rng) if method == "bootstrap" else None
    if y_true_b is None:
        both = _read(y_true, {"score_a": score_a, "score_b": score_b}, sample_weight, pos_label)
        samples = [both]
        if folds is None:
            codes = None if groups is None else group_codes(groups, both)
            estimate = estimate_paired(Part(both, redraw, codes))
        else:
            fraction = 0.0 if method == "delong" else check_instability(instability)
            estimate = estimate_within_folds(cut_folds(both, folds, redraw, groups), fraction)
    else:
        a = _read(y_true, {"score_a": score_a}, sample_weight, pos_label)
        b = _read(y_true_b, {"score_b": score_b}, sample_weight_b, pos_label, suffix="_b")
        samples = [a, b]
        estimate = estimate_unpaired(a, b, redraw)
    if method == "delong":
        return _by_delong(estimate, samples, level)
    return _by_limits(estimate, samples, level)


def describe_difference(
    name: str, values: tuple[float, float], difference: float, ends: Any
) -> str:
    """Two values of a metric and their difference, with the interval of ``ends``, in words."""
    return (
        f"{name}: {values[0]:.3f} (A) and {values[1]:.3f} (B), difference (A - B) "
        f"{signed(difference)} ({interval(ends.low, ends.high, ends.level)})"
    )


def _read(
    y_true: Any, scores: dict[str, Any], sample_weight: Any, pos_label: Any, suffix: str = ""
) -> Sample:
    """Validate one sample; ``suffix`` is that of its argument names."""
    names = (f"y_true{suffix}", f"sample_weight{suffix}")
    sample = read_sample(
        y_true, scores, sample_weight=sample_weight, pos_label=pos_label, names=names
    )
    check_two_of_each(sample.n_pos, sample.n_neg, names[0])
    return sample


def _check_pairing(paired: bool, of_rows: dict[str, Any], sample_weight_b: Any) -> None:
    """Refuse arguments that belong to the other kind of comparison."""
    if paired and sample_weight_b is not None:
        raise ValueError(
            "sample_weight_b is given without y_true_b; give sample_weight alone for a paired "
            "comparison"
        )
    for name, value in of_rows.items():
        if not paired and value is not None:
            raise ValueError(
                f"{name} and y_true_b are given; give {name} only for a paired comparison, "
                "without y_true_b"
            )


def _by_limits(estimate: AucPair, samples: list[Sample], level: float) -> AucComparison:
    """MOVER limits; the p-value is 1 minus the level at which the interval reaches 0."""

    def limits(level: float) -> tuple[float, float]:
        return _limits(estimate, level)

    low, high = limits(level)
    method = f"{estimate.method}, MOVER limits"
    if estimate.n_folds is not None:
        method += describe_inflation(estimate.inflation)
    p_value = p_value_of(limits, estimate.difference)
    return _comparison(estimate, samples, level, (low, high), p_value, method, math.nan)


def _limits(estimate: AucPair, level: float) -> tuple[float, float]:
    if estimate.is_same_order:
        return 0.0, 0.0
    ends = []
    for auc, spread, sizes in zip(estimate.aucs, estimate.variances, estimate.sizes, strict=True):
        freedom = degrees(min(sizes), estimate.n_folds or 1)
        inflation = estimate.inflation
        ends.append(auc_limits(auc, spread * inflation, *sizes, level, inflation, freedom))
    return difference_limits(estimate.aucs, (ends[0], ends[1]), estimate.correlation)


def _by_delong(estimate: AucPair, samples: list[Sample], level: float) -> AucComparison:
    """DeLong's test with the normal interval; with Welch's t distribution for two samples."""
    statistic = _statistic(estimate.difference, estimate.standard_error)
    freedom = math.inf if len(samples) == 1 else _welch(estimate, samples)
    if math.isinf(freedom):
        reach, p_value = normal_quantile(level), two_sided(statistic)
    else:
        reach = float(stdtrit(freedom, (1 + level) / 2))
        p_value = float(min(2 * stdtr(freedom, -abs(statistic)), 1.0))
    reach *= estimate.standard_error
    low, high = max(estimate.difference - reach, -1.0), min(estimate.difference + reach, 1.0)
    kind, *rest = estimate.method.split(" ", 1)
    method = " ".join([kind, "DeLong", *rest])
    return _comparison(estimate, samples, level, (low, high), p_value, method, freedom)


def _welch(estimate: AucPair, samples: list[Sample]) -> float:
    """Welch's degrees of freedom of two samples."""
    rows = [len(sample.positive) - 1 for sample in samples]
    spread = sum(v**2 / n for v, n in zip(estimate.variances, rows, strict=True))
    # Without any variance, the largest number of degrees of freedom.
    return estimate.variance**2 / spread if spread > 0 else float(sum(rows))


def _comparison(
    estimate: AucPair,
    samples: list[Sample],
    level: float,
    ends: tuple[float, float],
    p_value: float,
    method: str,
    freedom: float,
) -> AucComparison:
    return AucComparison(
        difference=estimate.difference,
        low=ends[0],
        high=ends[1],
        statistic=_statistic(estimate.difference, estimate.standard_error),
        p_value=p_value,
        method=method,
        level=level,
        auc_a=estimate.aucs[0],
        auc_b=estimate.aucs[1],
        degrees_of_freedom=freedom,
        n_pos=sum(sample.n_pos for sample in samples),
        n_neg=sum(sample.n_neg for sample in samples),
    )


def _statistic(difference: float, standard_error: float) -> float:
    """The difference divided by its standard error; 0 if there is no difference."""
    if difference == 0:
        return 0.0
    return (
        difference / standard_error if standard_error > 0 else math.copysign(math.inf, difference)
    )
