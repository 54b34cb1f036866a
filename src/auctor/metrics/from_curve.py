"""Confidence intervals and thresholds from a ROC curve alone.

A curve of rows without weights and groups has all that these functions need, and their results are
the same as from the labels and scores. They read a curve in blocks, so that it may be in files
(:func:`auctor.metrics.roc_curve_of_batches`).
"""

from functools import partial
from typing import Any

from auctor._checks import check_level, check_one, check_region, check_whole
from auctor.metrics.area_interval import Region, area_interval
from auctor.metrics.bootstrap import make_generator
from auctor.metrics.curve import RocCurve
from auctor.metrics.curve_estimates import (
    ks_of_curve,
    plain_draws,
    precision_of_curve,
)
from auctor.metrics.curve_intervals import (
    KS_RESAMPLES,
    Metric,
    MetricInterval,
    Setting,
    make_interval,
    read_top,
)
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.intervals import AucInterval, auc_interval
from auctor.metrics.thresholds import Criterion, Threshold, threshold_of_curve

_METHOD = "stratified bootstrap"


def auc_ci(curve: RocCurve, *, level: float = 0.95) -> AucInterval:
    """Confidence interval of the AUC, as :func:`auctor.metrics.auc_ci`.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> auc_ci(roc_curve([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8]))
    AUC 0.938 (95% CI 0.500 to 1.000, DeLong's variance, Wilson's limits, 4 positives, 4 negatives)
    """
    _check_plain(curve)
    return auc_interval(curve, check_level(level))


def ks_ci(
    curve: RocCurve,
    *,
    level: float = 0.95,
    n_resamples: int = KS_RESAMPLES,
    random_state: Any = 0,
) -> MetricInterval:
    """Confidence interval of KS, as :func:`auctor.metrics.ks_ci`.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> ks_ci(roc_curve([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])).value
    0.75
    """
    setting, draws = _prepare(curve, level, n_resamples, random_state)
    sizes = float(curve.n_pos), float(curve.n_neg)
    return make_interval(Metric("KS", "", None), ks_of_curve(curve, draws, sizes), setting)


def precision_at_k_ci(
    curve: RocCurve,
    *,
    k: float,
    level: float = 0.95,
    n_resamples: int = KS_RESAMPLES,
    random_state: Any = 0,
) -> MetricInterval:
    """Confidence interval of the precision in the top, as :func:`auctor.metrics.precision_at_k_ci`.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> curve = roc_curve([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    >>> precision_at_k_ci(curve, k=4).value
    0.75
    """
    setting, draws = _prepare(curve, level, n_resamples, random_state)
    fraction, where = read_top(k, float(curve.n_pos + curve.n_neg))

    def n_rows_from(threshold: float) -> float:
        return curve.at(threshold=threshold).flagged

    estimate = precision_of_curve(curve, fraction, draws, n_rows_from)
    return make_interval(Metric("precision", where, None, is_fraction=True), estimate, setting)


def partial_auc_ci(
    curve: RocCurve,
    *,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    scaled: bool = False,
    level: float = 0.95,
) -> MetricInterval:
    """Confidence interval of a partial AUC, as :func:`auctor.metrics.partial_auc_ci`.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> curve = roc_curve([0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8])
    >>> partial_auc_ci(curve, fpr_range=(0, 0.5)).value
    0.4375
    """
    _check_plain(curve)
    name, ends = check_one(fpr_range=fpr_range, tpr_range=tpr_range)
    region = Region(name.removesuffix("_range"), *check_region(ends, name), scaled)
    return area_interval(curve, region, check_level(level))


def threshold_at(
    curve: RocCurve,
    *,
    fpr: float | None = None,
    tpr: float | None = None,
    budget: float | None = None,
    cost: float | None = None,
    precision: float | None = None,
    confidence: float | None = None,
    level: float = 0.95,
) -> Threshold:
    """The threshold that meets a criterion, as :func:`auctor.metrics.threshold_at`.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> curve = roc_curve([0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8])
    >>> threshold_at(curve, fpr=0.0).value
    6.0
    """
    _check_plain(curve)
    name, value = check_one(fpr=fpr, tpr=tpr, budget=budget, cost=cost, precision=precision)
    return threshold_of_curve(curve, Criterion(name, value, confidence, level))


def _prepare(
    curve: RocCurve, level: float, n_resamples: int, random_state: Any
) -> tuple[Setting, Any]:
    """What the interval is of, and the function that resamples a curve."""
    _check_plain(curve)
    check_two_of_each(curve.n_pos, curve.n_neg)
    n_resamples = check_whole(n_resamples, "n_resamples", minimum=2)
    rng = make_generator(random_state)
    setting = Setting((curve.n_pos, curve.n_neg), check_level(level), _METHOD)
    return setting, partial(plain_draws, n_resamples=n_resamples, rng=rng)


def _check_plain(curve: RocCurve) -> None:
    """Raise an error for a curve of rows with weights, which does not determine an interval."""
    if curve.true_positives[-1] != curve.n_pos or curve.false_positives[-1] != curve.n_neg:
        raise ValueError(
            "curve is of rows with weights; give labels, scores and weights to the function of "
            "auctor.metrics with the same name"
        )
