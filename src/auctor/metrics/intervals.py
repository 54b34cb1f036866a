"""Confidence intervals of one AUC."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level, check_method, check_resamples
from auctor._text import count, interval
from auctor.metrics.area import auc_of_sorted
from auctor.metrics.bootstrap import Resampling, make_generator, rank
from auctor.metrics.delong import check_two_of_each, placements, variance
from auctor.metrics.folds import FoldsAuc, auc_within_folds, check_goes_with_folds, group_codes
from auctor.metrics.influence import influences, known_from
from auctor.metrics.influence import variance as influence_variance
from auctor.metrics.limits import auc_limits, degrees, normal_quantile
from auctor.metrics.sample import Sample, read_sample, sort_classes

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
        Its confidence level.
    method : str
        How the variance was found ("DeLong's variance", "Obuchowski's variance over groups",
        "stratified bootstrap", "cluster bootstrap") and how the limits; with folds it adds "within
        folds" and what the variance is multiplied by for the training sets.
    standard_error : float
    n_pos, n_neg : int
        Number of rows of each class.
    n_folds : int or None
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
            state = "tied" if self.value == 0.5 else "in order"
            method += f", which sees no variance where all pairs are {state}"
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
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
) -> AucInterval:
    """Confidence interval of an AUC that covers in small samples and near 1 as well.

    The rows, or the groups, are assumed to be independent draws, and the score to be fixed: not
    fitted to these rows. Measured coverage: docs/coverage.md.

    Parameters
    ----------
    y_true, y_score, pos_label
        As in :func:`auctor.metrics.auc`. Each class needs two rows.
    level : float, default=0.95
        Confidence level.
    method : {"wilson", "delong", "bootstrap"}, default="wilson"
        "wilson": Wilson's limits of a binomial rate at the effective number of pairs, that at which
        a rate varies as much as the AUC does by DeLong's variance; with weights at Kish's number of
        rows, with groups by Obuchowski's variance. It covers with at least 0.93 at a level of 0.95
        from 5 rows a class up, and has a width also where every pair is in order.
        "delong": the normal interval with DeLong's variance, cut to [0, 1], as R's pROC prints it.
        It is too narrow for small classes and for an AUC near 1, and is not defined with weights
        or groups. "bootstrap": as "wilson", with the variance of resamples drawn within each class,
        or of whole groups.
    n_resamples : int, default=2000
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        Rows of one group (the visits of a patient, the loans of a customer) vary together: the
        groups are taken to be independent, not the rows.
    folds : array-like of shape (n_rows,), optional
        The fold whose model scored each row, for out-of-fold scores: scores of two models are not
        compared. The value is the plain mean of the AUCs within the folds. It estimates the
        expected AUC, on new rows, of models that are fitted by the same procedure to as many rows
        as a training set of the folds has. The variance within folds is DeLong's (with ``groups``
        over their sums, with ``sample_weight`` at Kish's number of rows), multiplied by
        ``1 + instability``; the limits are Wilson's at the effective number of pairs. The folds
        are assumed to hold independent rows or groups. With ``method="delong"`` the interval is
        that of LeDell, Petersen and van der Laan (2015), which leaves the training sets out and
        covers too seldom where the signal is weak.
    instability : float in [0, 1], optional
        With ``folds``, the share of the variance that comes from the training sets, as
        :func:`auctor.metrics.fold_instability` and
        :func:`auctor.cross_validate` measure it. Where it is not given it is taken to be 1, the
        worst case, with which the interval is up to 1.4 times as wide as it need be. Give 0 if
        one fixed model scored all rows.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows. Multiplying all of them by a constant changes nothing.
    random_state : int, Generator, RandomState or None
        Seed of the bootstrap.

    Returns
    -------
    AucInterval

    Examples
    --------
    >>> auc_ci([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    AUC 0.938 (95% CI 0.500 to 1.000, DeLong's variance, Wilson's limits, 4 positives, 4 negatives)
    >>> auc_ci([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8], method="delong")
    AUC 0.938 (95% CI 0.764 to 1.000, DeLong, 4 positives, 4 negatives)
    """
    level = check_level(level)
    check_goes_with_folds(instability, folds)
    weighted = sample_weight is not None
    chosen = choose_method(method, groups=groups, weighted=weighted)
    n_resamples = check_resamples(n_resamples)
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    check_two_of_each(sample.n_pos, sample.n_neg)
    resampling = Resampling(groups, n_resamples, make_generator(random_state))
    if folds is not None:
        redraw = resampling if chosen == "bootstrap" else None
        if chosen == "delong":  # as LeDell, Petersen and van der Laan print it
            instability = 0.0
        found = auc_within_folds(sample, folds, groups, redraw, instability)
        return _within_folds(found, level, sample, is_normal=chosen == "delong")
    if chosen == "delong":
        return _delong(sample, level)
    return _wilson(sample, level, groups, resampling if chosen == "bootstrap" else None)


def choose_method(method: str | None, *, groups: Any, weighted: bool) -> str:
    """The method asked for, or the usual one; an error where it is not defined."""
    if method is None:
        return "wilson"
    check_method(method, METHODS)
    if method == "delong" and (groups is not None or weighted):
        given = "groups" if groups is not None else "sample_weight"
        raise ValueError(
            f"method is 'delong' and {given} is given, for which the interval of DeLong as printed "
            "is not defined; use method='wilson'"
        )
    return method


def _delong(sample: Sample, level: float) -> AucInterval:
    """The normal interval with DeLong's variance."""
    placed = placements(sort_classes(sample))
    return _normal(placed.auc(), variance(placed), level, "DeLong", sample)


def _within_folds(found: FoldsAuc, level: float, sample: Sample, is_normal: bool) -> AucInterval:
    """The interval of a mean within folds: normal as printed, or Wilson's limits."""
    method = f"{found.method} within folds"
    if is_normal:
        return _normal(found.value, found.within, level, method, sample, found.n_folds)
    # A degree of freedom of each class is spent in every fold.
    freedom = degrees(min(found.sizes), found.n_folds)
    low, high = auc_limits(
        found.value, found.variance, *found.sizes, level, found.inflation, freedom
    )
    method += f", variance times {found.inflation:.2f} for the training sets, Wilson's limits"
    error = float(np.sqrt(found.variance))
    return AucInterval(
        found.value, low, high, level, method, error, sample.n_pos, sample.n_neg, found.n_folds
    )


def _normal(
    value: float,
    spread: float,
    level: float,
    method: str,
    sample: Sample,
    n_folds: int | None = None,
) -> AucInterval:
    """The interval of a normal estimate with the given variance, cut to [0, 1]."""
    error = float(np.sqrt(spread))
    reach = normal_quantile(level) * error
    low, high = max(value - reach, 0.0), min(value + reach, 1.0)
    return AucInterval(value, low, high, level, method, error, sample.n_pos, sample.n_neg, n_folds)


def _wilson(
    sample: Sample, level: float, groups: Any, resampling: Resampling | None
) -> AucInterval:
    """Wilson's limits at the effective number of pairs."""
    codes = None if groups is None else group_codes(groups, sample)
    found = influences(sample)
    # The exact value: the same as that of `auc`, also with weights.
    value = auc_of_sorted(sort_classes(sample))
    name = "DeLong's variance" if codes is None else "Obuchowski's variance over groups"
    spread = influence_variance(found, sample, codes)
    if resampling is not None:
        spread, name = _resampled_variance(sample, resampling), resampling.name
    n_rows, freedom = known_from(found, sample, codes)
    low, high = auc_limits(value, spread, n_rows, n_rows, level, freedom=freedom)
    method, error = f"{name}, Wilson's limits", float(np.sqrt(spread))
    return AucInterval(value, low, high, level, method, error, sample.n_pos, sample.n_neg)


def _resampled_variance(sample: Sample, resampling: Resampling) -> float:
    """The variance of the AUC over resamples."""
    ranked = rank(sample)
    return float(np.var([ranked.auc(draw) for draw in resampling.draws(sample)], ddof=1))
