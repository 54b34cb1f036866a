"""Whether probabilities mean what they say: observed shares in bins of the probability."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level
from auctor._text import count as counted
from auctor._typing import Floats, Ints
from auctor.metrics.intervals import normal_quantile
from auctor.metrics.sample import Sample, read_sample

STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True, repr=False, eq=False)
class CalibrationTable:
    """Predicted against observed shares; made by :func:`calibration_table`.

    Attributes
    ----------
    mean_probability : ndarray of shape (n_bins,)
        Mean predicted probability of the rows of each bin that is not empty.
    observed : ndarray of shape (n_bins,)
        Share of positives among them.
    low, high : ndarray of shape (n_bins,)
        Wilson's interval of that share.
    count : ndarray of shape (n_bins,)
        Number (or weight) of the rows.
    brier : float
        Mean squared distance of probability and outcome, row by row.
    expected_error : float
        Mean distance of the predicted and the observed share, bins weighted by their rows.
    level : float
        Confidence level of the intervals.
    """

    mean_probability: Floats
    observed: Floats
    low: Floats
    high: Floats
    count: Floats
    brier: float
    expected_error: float
    level: float

    def __repr__(self) -> str:
        inside = (self.low <= self.mean_probability) & (self.mean_probability <= self.high)
        return (
            f"calibration in {counted(len(self.count), 'bin')}: Brier score {self.brier:.4f}, "
            f"expected error {self.expected_error:.4f}, the predicted share inside the "
            f"{100 * self.level:g}% interval of the observed one in {int(inside.sum())}"
        )


def calibration_table(
    y_true: npt.ArrayLike,
    probability: npt.ArrayLike,
    *,
    n_bins: int = 10,
    strategy: Literal["quantile", "uniform"] = "quantile",
    level: float = 0.95,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> CalibrationTable:
    """Observed shares of positives in bins of the predicted probability.

    Parameters
    ----------
    y_true, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    probability : array-like of shape (n_rows,)
        Predicted probability of the positive class.
    n_bins : int, default=10
        Bins without rows are left out.
    strategy : {"quantile", "uniform"}, default="quantile"
        "quantile": bins of about as many rows each; rows of one probability stay together.
        "uniform": bins of equal width from 0 to 1.
    level : float, default=0.95
        Confidence level of the intervals. With weights, Wilson's interval is that of Kish's
        effective number of rows, ``sum(w)^2 / sum(w^2)``.

    Returns
    -------
    CalibrationTable

    Examples
    --------
    >>> calibration_table([0, 0, 1, 0, 1, 1], [0.1, 0.1, 0.1, 0.6, 0.9, 0.9], n_bins=2)
    calibration in 2 bins: Brier score 0.2017, expected error 0.1833, the predicted share inside the
    95% interval of the observed one in 2
    """
    level, n_bins = check_level(level), check_bins(n_bins)
    if strategy not in STRATEGIES:
        raise ValueError(f"strategy must be one of {', '.join(STRATEGIES)}; got {strategy!r}")
    scores = {"probability": probability}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    value = _check_probability(sample.scores[0])
    weight = np.ones(len(value)) if sample.weight is None else sample.weight
    bins = _quantile_bins(value, weight, n_bins) if strategy == "quantile" else _even(value, n_bins)
    return _summed(sample, value, weight, bins, level)


def wilson_ends(share: Floats, size: Floats, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of many shares at once; sizes need not be whole, and 0 gives NaN.

    Examples
    --------
    >>> low, high = wilson_ends(np.array([1.0]), np.array([8.0]), 0.95)
    >>> low.round(4).tolist(), high.tolist()
    ([0.6756], [1.0])
    """
    z2 = normal_quantile(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (share + z2 / (2 * size)) / (1 + z2 / size)
        reach = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * size)) / size) / (1 + z2 / size)
        # Rounding must not put a share of 0 or 1 outside of its interval.
        low, high = np.minimum(middle - reach, share), np.maximum(middle + reach, share)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def check_bins(n_bins: Any) -> int:
    """A whole number of bins, 1 or more."""
    if not isinstance(n_bins, Integral) or isinstance(n_bins, bool) or n_bins < 1:
        raise ValueError(f"n_bins must be a whole number, 1 or more, got {n_bins!r}")
    return int(n_bins)


def _check_probability(value: Floats) -> Floats:
    least, most = float(value.min()), float(value.max())
    if least < 0 or most > 1:
        raise ValueError(
            f"probability must lie in [0, 1], got values from {least:g} to {most:g}; "
            "scores of decision_function are not probabilities, those of predict_proba are"
        )
    return value


def _quantile_bins(value: Floats, weight: Floats, n_bins: int) -> Ints:
    """The bin of each row: where the middle of its probability's rows stands among all."""
    distinct, place = np.unique(value, return_inverse=True)
    own = np.bincount(place, weights=weight, minlength=len(distinct))
    middle = (np.cumsum(own) - own / 2) / own.sum()
    bins = np.minimum((n_bins * middle).astype(np.int64), n_bins - 1)
    found: Ints = bins[place]
    return found


def _even(value: Floats, n_bins: int) -> Ints:
    """Bins [k / n, (k + 1) / n), the last one with its right end."""
    inner = np.arange(1, n_bins) / n_bins
    return np.searchsorted(inner, value, side="right").astype(np.int64)


def _summed(
    sample: Sample, value: Floats, weight: Floats, bins: Ints, level: float
) -> CalibrationTable:
    """The sums of each bin that has rows."""
    columns = weight, weight * value, weight * sample.positive, weight**2
    sums = np.array([np.bincount(bins, weights=column) for column in columns])
    total, predicted, positive, squares = sums[:, sums[0] > 0]
    mean, observed = predicted / total, positive / total
    low, high = wilson_ends(observed, total**2 / squares, level)
    brier = float(weight @ (value - sample.positive) ** 2 / weight.sum())
    error = float(total @ np.abs(mean - observed) / total.sum())
    return CalibrationTable(mean, observed, low, high, total, brier, error, level)
