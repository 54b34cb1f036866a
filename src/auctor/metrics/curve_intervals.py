"""Confidence intervals of what is read off a ROC curve: KS, precision at k, partial AUC."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.metrics.bootstrap import Resampling, make_generator
from auctor.metrics.checks import check_level, check_one, check_region, check_resamples, check_top
from auctor.metrics.curve import RocCurve, curve_of_sample
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.intervals import Part, cut_folds, normal_quantile
from auctor.metrics.resampled_curves import at_thresholds, resampled_curves, thin
from auctor.metrics.sample import Sample, read_sample
from auctor.metrics.thresholds import wilson
from auctor.metrics.wording import count, interval

# More distinct scores than this are put into groups to resample.
_MOST_STEPS = 1000
# Of the top whose precision is asked for, so much is resampled in fine steps.
_TIMES_THE_TOP = 3
# Two rows of each outcome more, as Agresti and Coull have it: a rate of 1 is not certain.
_MORE = 2.0


@dataclass(frozen=True, repr=False)
class MetricInterval:
    """A metric with its confidence interval; prints as a sentence.

    Attributes
    ----------
    name : str
        What was measured, in words.
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
        folds = "" if self.n_folds is None else f" within {count(self.n_folds, 'fold')}"
        return (
            f"{self.name} {self.value:.3f} ({interval(self.low, self.high, self.level)}, "
            f"{self.method}{folds}, {count(self.n_pos, 'positive')}, "
            f"{count(self.n_neg, 'negative')})"
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
    less often than they say. Here the interval is normal around KS less what the resamples have
    more than the rows, with the standard error of ``tpr - fpr`` at the rows' own threshold.

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
    asked = _Asked("KS", _ks_estimate, (0.0, 1.0))
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
    top = f"{k:g}" if isinstance(k, Integral) else f"{k:.4%}".rstrip("0%").rstrip(".") + "%"
    n_top = share * len(rows.positive)
    asked = _Asked(
        f"precision in the top {top}",
        lambda part: _precision_estimate(part, share),
        (0.0, 1.0),
        n_top,
    )
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
    limits = (-np.inf, 1.0) if scaled else (0.0, high - low)

    def metric(curve: RocCurve) -> float:
        return curve.partial_auc(fpr=fpr, tpr=tpr, scaled=scaled)

    words = f"{'scaled ' if scaled else ''}partial AUC ({name} {low:g} to {high:g})"
    asked = _Asked(words, lambda part: _plain_estimate(part, metric), limits)
    rows = _read(y_true, y_score, sample_weight, pos_label)
    return _measure(asked, rows, folds, level, Resampling(groups, n_resamples, random_state))


class _Estimate(NamedTuple):
    """The metric of some rows, how much larger that is than it should be, and its variance."""

    value: float
    bias: float
    variance: float


class _Asked(NamedTuple):
    """What is to be measured; ``n_top`` is the size of a top, whose share Wilson's interval has."""

    name: str
    estimate: Callable[[Part], _Estimate]
    limits: tuple[float, float]
    n_top: float | None = None


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
    value = float(np.mean([one.value for one in found]))
    bias = float(np.mean([one.bias for one in found]))
    error = float(np.sqrt(sum(one.variance for one in found))) / len(found)
    if asked.n_top is None:
        reach = normal_quantile(level) * error
        low, high = value - bias - reach, value - bias + reach
    else:
        n_alike = _rows_alike(value, error, asked.n_top)
        low, high = wilson(value * n_alike, n_alike, level)
        low, high = min(low, value), max(high, value)  # but for rounding it holds them
    least, most = asked.limits
    return MetricInterval(
        asked.name,
        value,
        max(low, least),
        min(high, most),
        level,
        resampling.name,
        error,
        sample.n_pos,
        sample.n_neg,
        None if folds is None else len(parts),
    )


def _ks_estimate(part: Part) -> _Estimate:
    """KS; the mean excess of resamples; the variance of tpr - fpr where KS is."""
    curve = curve_of_sample(part.sample)
    steps, point = thin(curve, _MOST_STEPS), curve.youden()
    found = np.array(
        [_ks_and_gap(drawn, point.threshold) for drawn in _draws(steps, part)], dtype=np.float64
    )
    variance = _rate_variance(point.tpr, curve.n_pos) + _rate_variance(point.fpr, curve.n_neg)
    if part.sample.weight is not None or _groups(part) is not None:
        # Rows that weigh more than others, or go together, vary more than so many that do not.
        variance = max(variance, float(found[:, 1].var(ddof=1)))
    return _Estimate(curve.ks(), float(found[:, 0].mean()) - steps.ks(), variance)


def _ks_and_gap(drawn: RocCurve, threshold: float) -> tuple[float, float]:
    return drawn.ks(), drawn.at(threshold=threshold).youden


def _rate_variance(rate: float, n_rows: int) -> float:
    """The variance of a rate, as Agresti and Coull have it."""
    size = n_rows + 2 * _MORE
    share = (rate * n_rows + _MORE) / size
    return share * (1 - share) / size


def _precision_estimate(part: Part, share: float) -> _Estimate:
    """The precision in the top share of the rows, and its variance over resamples."""
    curve = curve_of_sample(part.sample)
    steps = _fine_at_the_top(curve, share)
    found = [_precision(drawn, share) for drawn in _draws(steps, part)]
    return _Estimate(_precision(curve, share), 0.0, float(np.var(found, ddof=1)))


def _precision(curve: RocCurve, share: float) -> float:
    """Of the rows with the highest scores; tied rows count in part."""
    top = share * float(curve.flagged[-1])
    return float(np.interp(top, curve.flagged, curve.true_positives)) / top


def _fine_at_the_top(curve: RocCurve, share: float) -> RocCurve:
    """The curve with its steps joined, but those of the top less than the others."""
    flagged = curve.flagged
    last = len(flagged) - 1
    end = int(np.searchsorted(flagged, min(_TIMES_THE_TOP * share, 1.0) * flagged[-1]))
    kept = [np.linspace(a, b, _MOST_STEPS) for a, b in ((0, min(end, last)), (end, last))]
    return at_thresholds(curve, np.unique(np.concatenate(kept).astype(np.intp).clip(0, last)))


def _plain_estimate(part: Part, metric: Callable[[RocCurve], float]) -> _Estimate:
    """A metric of the curve, and its variance over resamples."""
    curve = curve_of_sample(part.sample)
    found = [metric(drawn) for drawn in _draws(thin(curve, _MOST_STEPS), part)]
    return _Estimate(metric(curve), 0.0, float(np.var(found, ddof=1)))


def _draws(steps: RocCurve, part: Part) -> Iterator[RocCurve]:
    """Resampled curves, as many as are wanted."""
    assert part.resampling is not None
    groups, n_resamples, rng = part.resampling
    draws, _ = resampled_curves(steps, part.sample, groups, rng, most_steps=2 * _MOST_STEPS)
    return islice(draws, n_resamples)


def _groups(part: Part) -> Any:
    return None if part.resampling is None else part.resampling.groups


def _rows_alike(value: float, error: float, n_top: float) -> float:
    """How many rows with outcomes of their own would vary as much; no more than there are."""
    if error == 0.0:
        return n_top
    share = (value * n_top + _MORE) / (n_top + 2 * _MORE)  # resamples of 1 are not all 1
    return min(share * (1 - share) / error**2, n_top)
