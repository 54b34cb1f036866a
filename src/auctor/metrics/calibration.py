"""Calibration: observed fractions of positives in bins of the predicted probability."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from auctor._checks import check_choice, check_level, check_whole
from auctor._text import count as counted
from auctor._typing import Floats, Ints
from auctor.metrics.intervals import normal_quantile
from auctor.metrics.sample import Sample, read_sample

STRATEGIES = ("quantile", "uniform")


@dataclass(frozen=True, repr=False, eq=False)
class CalibrationTable:
    """Predicted probabilities and observed fractions, returned by :func:`calibration_table`.

    Empty bins are omitted from the arrays.

    Attributes
    ----------
    mean_probability : ndarray of shape (n_bins,)
        Mean predicted probability in each bin.
    observed : ndarray of shape (n_bins,)
        Observed fraction of positives in each bin.
    low, high : ndarray of shape (n_bins,)
        Wilson's interval of the observed fraction.
    count : ndarray of shape (n_bins,)
        Number of rows in each bin; with weights, their weight.
    brier : float
        Brier score: mean squared difference of probability and outcome.
    expected_error : float
        Expected calibration error: mean absolute difference of the mean probability and the
        observed fraction, weighted by the rows of the bins.
    level : float
        Confidence level of the intervals.

    Examples
    --------
    >>> from auctor.metrics import calibration_table
    >>> table = calibration_table([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.7, 0.9], n_bins=2)
    >>> table.mean_probability.round(3).tolist(), table.observed.round(3).tolist()
    ([0.2, 0.733], [0.333, 0.667])
    >>> table.count.tolist(), round(table.brier, 3)
    ([3.0, 3.0], 0.167)
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
            f"expected calibration error {self.expected_error:.4f}; the mean probability is inside "
            f"the {100 * self.level:g}% interval of the observed fraction in "
            f"{counted(int(inside.sum()), 'bin')}"
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
    """Observed fractions of positives in bins of the predicted probability.

    Parameters
    ----------
    y_true, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    probability : array-like of shape (n_rows,)
        Predicted probability of the positive class.
    n_bins : int, default=10
        Number of bins. Empty bins are omitted from the result.
    strategy : {"quantile", "uniform"}, default="quantile"
        "quantile": bins with about equal numbers of rows; rows with the same probability stay in
        one bin. "uniform": bins of equal width from 0 to 1.
    level : float, default=0.95
        Confidence level of the intervals. With weights, Wilson's interval is computed with Kish's
        effective number of rows, ``sum(w)^2 / sum(w^2)``.

    Returns
    -------
    CalibrationTable

    Examples
    --------
    >>> from auctor.metrics import calibration_table
    >>> calibration_table([0, 0, 1, 0, 1, 1], [0.1, 0.1, 0.1, 0.6, 0.9, 0.9], n_bins=2)
    calibration in 2 bins: Brier score 0.2017, expected calibration error 0.1833; the mean
    probability is inside the 95% interval of the observed fraction in 2 bins
    """
    level, n_bins = check_level(level), check_whole(n_bins, "n_bins")
    check_choice(strategy, STRATEGIES, "strategy")
    scores = {"probability": probability}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    value = check_probability(sample.scores[0])
    weight = np.ones(len(value)) if sample.weight is None else sample.weight
    bins = quantile_bins(value, weight, n_bins) if strategy == "quantile" else _even(value, n_bins)
    return _summed(sample, value, weight, bins, level)


def wilson_ends(rate: Floats, size: Floats, level: float) -> tuple[Floats, Floats]:
    """Wilson's intervals of many rates; sizes need not be whole, and a size of 0 gives NaN.

    Examples
    --------
    >>> low, high = wilson_ends(np.array([1.0]), np.array([8.0]), 0.95)
    >>> low.round(4).tolist(), high.tolist()
    ([0.6756], [1.0])
    """
    z2 = normal_quantile(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (rate + z2 / (2 * size)) / (1 + z2 / size)
        reach = np.sqrt(z2 * (rate * (1 - rate) + z2 / (4 * size)) / size) / (1 + z2 / size)
        # Rounding must not put a rate of 0 or 1 outside its interval.
        low, high = np.minimum(middle - reach, rate), np.maximum(middle + reach, rate)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)


def check_probability(value: Floats) -> Floats:
    """Probabilities between 0 and 1; other numbers are an error."""
    least, most = float(value.min()), float(value.max())
    if least < 0 or most > 1:
        raise ValueError(
            f"probability has values from {least:g} to {most:g}; give probabilities from 0 to 1, "
            "such as those of predict_proba (decision_function returns scores)"
        )
    return value


def quantile_bins(value: Floats, weight: Floats, n_bins: int) -> Ints:
    """The bin of each row, from the mid-rank of its probability among all rows."""
    distinct, codes = np.unique(value, return_inverse=True)
    own = np.bincount(codes, weights=weight, minlength=len(distinct))
    middle = (np.cumsum(own) - own / 2) / own.sum()
    bins: Ints = np.minimum((n_bins * middle).astype(np.int64), n_bins - 1)
    return bins[codes]


def _even(value: Floats, n_bins: int) -> Ints:
    """The bin of each row among [k / n, (k + 1) / n); the last bin includes 1."""
    inner = np.arange(1, n_bins) / n_bins
    return np.searchsorted(inner, value, side="right").astype(np.int64)


def _summed(
    sample: Sample, value: Floats, weight: Floats, bins: Ints, level: float
) -> CalibrationTable:
    """The table of the bins that have rows."""
    columns = weight, weight * value, weight * sample.positive, weight**2
    sums = np.array([np.bincount(bins, weights=column) for column in columns])
    total, predicted, positive, squares = sums[:, sums[0] > 0]
    mean, observed = predicted / total, positive / total
    low, high = wilson_ends(observed, total**2 / squares, level)
    brier = float(weight @ (value - sample.positive) ** 2 / weight.sum())
    error = float(total @ np.abs(mean - observed) / total.sum())
    return CalibrationTable(mean, observed, low, high, total, brier, error, level)
