"""Confidence interval of an AUC."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from auctor._checks import check_choice, check_level, check_whole
from auctor._text import count, interval
from auctor.metrics.area import auc_of_sorted
from auctor.metrics.bootstrap import Resampling, make_generator, rank
from auctor.metrics.curve import RocCurve, curve_of_sample
from auctor.metrics.curve_blocks import segments
from auctor.metrics.delong import (
    PlacementSums,
    check_two_of_each,
    placements,
    variance,
    variance_of_sums,
)
from auctor.metrics.folds import (
    FoldsAuc,
    auc_within_folds,
    check_goes_with_folds,
    describe_inflation,
)
from auctor.metrics.influence import influences, known_from
from auctor.metrics.influence import variance as influence_variance
from auctor.metrics.limits import auc_limits, degrees, normal_quantile
from auctor.metrics.sample import Sample, group_codes, read_sample, sort_classes

METHODS = ("wilson", "delong", "bootstrap")


@dataclass(frozen=True, repr=False)
class AucInterval:
    """An AUC with its confidence interval; prints as a sentence.

    Attributes
    ----------
    value : float
        The AUC; with folds, the mean of the AUCs within the folds.
    low, high : float
        Ends of the interval.
    level : float
        Confidence level.
    method : str
        How the variance was estimated ("DeLong's variance", "Obuchowski's variance over groups",
        "stratified bootstrap" or "cluster bootstrap") and how the limits were computed; with folds
        also "within folds" and the factor by which the variance was multiplied for overlapping
        training sets.
    standard_error : float
        Standard error of the AUC.
    n_pos, n_neg : int
        Number of rows of each class.
    n_folds : int or None
        Number of folds, if ``folds`` was given.

    Examples
    --------
    >>> from auctor.metrics import auc_ci
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> result = auc_ci(y, -X[:, 2])
    >>> print(result)
    AUC 0.824 (95% CI 0.698 to 0.913, DeLong's variance, Wilson's limits, 17 positives, 64
    negatives)
    >>> round(result.standard_error, 3)
    0.048
    """

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
        name = "AUC" if self.n_folds is None else "cross-validated AUC"
        method = self.method
        if self.n_folds is not None:
            method += f", {count(self.n_folds, 'fold')}"
        if self.low == self.high:
            state = "tied" if self.value == 0.5 else "ordered the same way"
            method += f", which estimates a variance of 0 because all pairs are {state}"
        return (
            f"{name} {self.value:.3f} ({interval(self.low, self.high, self.level)}, {method}, "
            f"{count(self.n_pos, 'positive')}, {count(self.n_neg, 'negative')})"
        )


def auc_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    level: float = 0.95,
    method: Literal["wilson", "delong", "bootstrap"] | None = None,
    n_resamples: int = 2000,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
) -> AucInterval:
    """Confidence interval of an AUC, also for small samples and an AUC near 1.

    The rows (or the groups) are assumed to be independent, and the score not to have been fitted
    to them. docs/coverage.md has the measured coverage.

    Parameters
    ----------
    y_true, y_score, pos_label
        As in :func:`auctor.metrics.auc`. Each class needs at least two rows.
    level : float, default=0.95
        Confidence level.
    method : {"wilson", "delong", "bootstrap"}, default="wilson"
        "wilson": Wilson's limits of a binomial proportion at the effective number of pairs. This is
        the number of trials at which a proportion has the variance of the AUC. The variance is
        DeLong's, with weights at Kish's effective number of rows; with groups it is Obuchowski's.
        The coverage at a level of 0.95 is at least 0.93 from 5 rows per class, and the interval
        has a positive width even if all pairs are in the right order.
        "delong": the normal interval with DeLong's variance, cut to [0, 1], as in R's pROC. It is
        too narrow for small classes and for an AUC near 1, and is not defined with weights or
        groups.
        "bootstrap": as "wilson", with the variance of resamples, which are drawn within each class
        or, with groups, by whole groups.
    n_resamples : int, default=2000
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        The group of each row, if rows of one group (the visits of a patient, the loans of a
        customer) depend on each other. The groups are then assumed to be independent, not the rows.
    folds : array-like of shape (n_rows,), optional
        The fold of each row, for out-of-fold scores. Scores of different folds come from different
        models and are not compared: the value is the mean of the AUCs within the folds. It
        estimates the expected AUC on new rows of a model that is fitted in the same way to as many
        rows as the training sets have. The variance within folds is multiplied by
        ``1 + instability``. The rows (or groups) of different folds are assumed to be independent.
        With ``method="delong"`` the interval is that of LeDell, Petersen and van der Laan (2015),
        which ignores the variance from the training sets and covers too rarely if the signal is
        weak.
    instability : float in [0, 1], optional
        With ``folds``, the fraction of the variance that comes from the training sets, as measured
        by :func:`auctor.metrics.fold_instability`. By default 1, the worst case, with which the
        interval is up to 1.4 times as wide as necessary. Give 0 if one fixed model scored all rows.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows. Multiplying all of them by a constant changes nothing.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bootstrap. Results are reproducible by default; None gives new random numbers
        in every call.

    Returns
    -------
    AucInterval

    Examples
    --------
    >>> from auctor.metrics import auc_ci
    >>> auc_ci([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    AUC 0.938 (95% CI 0.500 to 1.000, DeLong's variance, Wilson's limits, 4 positives, 4 negatives)
    >>> auc_ci([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8], method="delong")
    AUC 0.938 (95% CI 0.764 to 1.000, DeLong, 4 positives, 4 negatives)
    """
    level = check_level(level)
    check_goes_with_folds(instability, folds)
    weighted = sample_weight is not None
    chosen = choose_method(method, groups=groups, weighted=weighted)
    n_resamples = check_whole(n_resamples, "n_resamples", minimum=2)
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    check_two_of_each(sample.n_pos, sample.n_neg)
    resampling = Resampling(groups, n_resamples, make_generator(random_state))
    if folds is not None:
        redraw = resampling if chosen == "bootstrap" else None
        if chosen == "delong":  # the interval of LeDell, Petersen and van der Laan (2015)
            instability = 0.0
        mean = auc_within_folds(sample, folds, groups, redraw, instability)
        return _within_folds(mean, level, sample, is_normal=chosen == "delong")
    if chosen == "delong":
        return _delong(sample, level)
    return _wilson(sample, level, groups, resampling if chosen == "bootstrap" else None)


def choose_method(method: str | None, *, groups: Any, weighted: bool) -> str:
    """The given method, or "wilson" by default; "delong" accepts neither groups nor weights."""
    if method is None:
        return "wilson"
    check_choice(method, METHODS)
    if method == "delong" and (groups is not None or weighted):
        name = "groups" if groups is not None else "sample_weight"
        raise ValueError(
            f"method is 'delong', which is not defined with {name}; give method='wilson'"
        )
    return method


def _delong(sample: Sample, level: float) -> AucInterval:
    """The normal interval with DeLong's variance."""
    placed = placements(sort_classes(sample))
    return _normal(placed.auc(), variance(placed), level, "DeLong", sample)


def _within_folds(mean: FoldsAuc, level: float, sample: Sample, is_normal: bool) -> AucInterval:
    """The interval of a mean of AUCs within folds: normal, or with Wilson's limits."""
    method = f"{mean.method} within folds"
    if is_normal:
        return _normal(mean.value, mean.within, level, method, sample, mean.n_folds)
    # Every fold uses up a degree of freedom of each class.
    freedom = degrees(min(mean.sizes), mean.n_folds)
    low, high = auc_limits(mean.value, mean.variance, *mean.sizes, level, mean.inflation, freedom)
    method += f"{describe_inflation(mean.inflation)}, Wilson's limits"
    error = float(np.sqrt(mean.variance))
    return AucInterval(
        mean.value, low, high, level, method, error, sample.n_pos, sample.n_neg, mean.n_folds
    )


def _normal(
    value: float,
    spread: float,
    level: float,
    method: str,
    sample: Sample,
    n_folds: int | None = None,
) -> AucInterval:
    """The normal interval with the given variance, cut to [0, 1]."""
    error = float(np.sqrt(spread))
    reach = normal_quantile(level) * error
    low, high = max(value - reach, 0.0), min(value + reach, 1.0)
    return AucInterval(value, low, high, level, method, error, sample.n_pos, sample.n_neg, n_folds)


def _wilson(
    sample: Sample, level: float, groups: Any, resampling: Resampling | None
) -> AucInterval:
    """Wilson's limits at the effective number of pairs."""
    codes = None if groups is None else group_codes(groups, sample)
    if sample.weight is None and codes is None and resampling is None:
        return auc_interval(curve_of_sample(sample), level)
    of_rows = influences(sample)
    # Computed as `auc` computes it, so that the two agree to the last bit also with weights.
    value = auc_of_sorted(sort_classes(sample))
    name = "DeLong's variance" if codes is None else "Obuchowski's variance over groups"
    spread = influence_variance(of_rows, sample, codes)
    if resampling is not None:
        spread, name = _resampled_variance(sample, resampling), resampling.name
    n_rows, freedom = known_from(of_rows, sample, codes)
    low, high = auc_limits(value, spread, n_rows, n_rows, level, freedom=freedom)
    method, error = f"{name}, Wilson's limits", float(np.sqrt(spread))
    return AucInterval(value, low, high, level, method, error, sample.n_pos, sample.n_neg)


def auc_interval(curve: RocCurve, level: float = 0.95) -> AucInterval:
    """The interval of the AUC of rows without weights and groups, which their curve describes.

    Sums are those of whole numbers, so that the order of the rows does not matter.
    """
    check_two_of_each(curve.n_pos, curve.n_neg)
    pos, neg = _placement_sums(curve)
    value, spread = pos.total / (2 * curve.n_pos * curve.n_neg), variance_of_sums(pos, neg)
    n_rows = float(min(curve.n_pos, curve.n_neg))
    return wilson_interval(value, spread, n_rows, level, (curve.n_pos, curve.n_neg))


def _placement_sums(curve: RocCurve) -> tuple[PlacementSums, PlacementSums]:
    """Sums of the placements of both classes, from the steps of the curve."""
    pos, neg = PlacementSums(curve.n_pos), PlacementSums(curve.n_neg)
    for part in segments(len(curve.thresholds)):
        true_pos = curve.true_positives[part].astype(np.int64)
        false_pos = curve.false_positives[part].astype(np.int64)
        # Rows of a step are tied: each has half of the other class's rows of the step on its side.
        pos.add(np.diff(true_pos), 2 * curve.n_neg - false_pos[1:] - false_pos[:-1])
        neg.add(np.diff(false_pos), true_pos[1:] + true_pos[:-1])
    return pos, neg


def wilson_interval(
    value: float, spread: float, n_rows: float, level: float, sizes: tuple[int, int]
) -> AucInterval:
    """The interval of :func:`auc_ci` from an AUC and DeLong's variance of it.

    ``n_rows`` is the effective number of rows of the smaller class, ``sizes`` the numbers of
    positives and negatives.
    """
    low, high = auc_limits(value, spread, n_rows, n_rows, level, freedom=degrees(n_rows))
    method = "DeLong's variance, Wilson's limits"
    return AucInterval(value, low, high, level, method, float(np.sqrt(spread)), *sizes)


def _resampled_variance(sample: Sample, resampling: Resampling) -> float:
    """Bootstrap variance of the AUC."""
    ranked = rank(sample)
    return float(np.var([ranked.auc(draw) for draw in resampling.draws(sample)], ddof=1))
