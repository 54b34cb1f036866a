"""Confidence band of a ROC curve: an interval of tpr at each fpr."""

from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from auctor._checks import check_choice, check_level, check_whole
from auctor._typing import Floats
from auctor.metrics.bootstrap import make_generator, resampled_curves, thin
from auctor.metrics.curve import RocCurve, curve_of_sample
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.intervals import normal_quantile
from auctor.metrics.quantiles import Ranked, quantile_interval
from auctor.metrics.rates import wilson
from auctor.metrics.sample import read_sample
from auctor.metrics.thresholds import count_rows, with_rows

METHODS = ("combined", "bootstrap", "asymptotic")

# Maximum number of distinct scores of a resampled curve; a finer curve would not change the band.
_MAX_STEPS = 5000


@dataclass(frozen=True, repr=False, eq=False)
class RocBand:
    """A pointwise confidence band of a ROC curve, returned by :func:`roc_band`.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        The curve on an equally spaced grid of fpr.
    low, high : ndarray of shape (n_points,)
        Ends of the interval of tpr at each fpr.
    level : float
        Confidence level of each interval, not of the band as a whole.
    method : str
        "combined intervals" (with weights or groups "at the effective number of rows"),
        "stratified bootstrap", "cluster bootstrap" or "asymptotic".

    Examples
    --------
    >>> from auctor.metrics import roc_band
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> band = roc_band(y, -X[:, 2], n_points=3)
    >>> band.fpr.tolist(), band.low.round(2).tolist(), band.high.round(2).tolist()
    ([0.0, 0.5, 1.0], [0.0, 0.74, 1.0], [0.22, 1.0, 1.0])
    """

    fpr: Floats
    tpr: Floats
    low: Floats
    high: Floats
    level: float
    method: str

    def __repr__(self) -> str:
        widest = float(np.max(self.high - self.low))
        return (
            f"{100 * self.level:g}% pointwise band of a ROC curve at {len(self.fpr)} values of "
            f"fpr, maximum width {widest:.3f} ({self.method})"
        )


def roc_band(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    level: float = 0.95,
    method: Literal["combined", "bootstrap", "asymptotic"] = "combined",
    n_points: int = 101,
    n_resamples: int = 500,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> RocBand:
    """Pointwise confidence band of a ROC curve: an interval of tpr at each fpr.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    level : float, default=0.95
        Confidence level at each fpr.
    method : {"combined", "bootstrap", "asymptotic"}, default="combined"
        "combined": two intervals are combined as in Newcombe's interval of a difference of two
        rates: Wilson's interval of the tpr at the threshold that has this fpr, and the interval of
        the tpr that results from the order-statistic interval of that threshold. Rows are assumed
        to be independent; with weights or groups the effective number of rows is used.
        "bootstrap": percentiles of the curves of resampled rows, which are drawn within each class
        or by groups. Where the curve is at 0 or 1 the resamples do not vary, and the coverage is
        too low.
        "asymptotic": the normal interval with the variance
        ``tpr (1 - tpr) / n_pos + slope^2 fpr (1 - fpr) / n_neg``. The first term is that of
        Agresti and Coull, so that a tpr of 1 has a variance too; the slope is that of the chord
        of the curve between ``fpr`` minus and plus ``n_neg^(-1/3) / 2``. Accepts neither weights
        nor groups.
    n_points : int, default=101
        Number of points of the grid of fpr, including 0 and 1.
    n_resamples : int, default=500
        Number of bootstrap resamples.
    groups : array-like of shape (n_rows,), optional
        The group of each row, if rows of one group (a customer, a patient) depend on each other.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bootstrap. Results are reproducible by default; None gives new random numbers
        in every call.

    Returns
    -------
    RocBand

    Examples
    --------
    >>> from auctor.metrics import roc_band
    >>> y, s = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8]
    >>> band = roc_band(y, s, n_points=5)
    >>> band.tpr.tolist()
    [0.75, 1.0, 1.0, 1.0, 1.0]
    >>> band.low.round(2).tolist()
    [0.0, 0.0, 0.0, 0.51, 1.0]
    """
    level = check_level(level)
    n_resamples = check_whole(n_resamples, "n_resamples", minimum=2)
    check_choice(method, METHODS)
    grid = np.linspace(0.0, 1.0, check_whole(n_points, "n_points", minimum=2))
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    curve = curve_of_sample(sample)
    tpr = height(curve, grid)
    name: str = method
    if method == "asymptotic":
        _check_plain(sample_weight, groups)
        low, high = _asymptotic(curve, grid, level)
    elif method == "combined":
        rows = count_rows(sample, groups)
        low, high = _combined(tpr, rows, grid, level)
        name = with_rows("combined intervals", rows)
    else:
        # Thinned also with weights, where rows are drawn and not steps: shorter curves are faster.
        steps = thin(curve, _MAX_STEPS)
        rng = make_generator(random_state)
        draws, name = resampled_curves(steps, sample, groups, rng, max_steps=_MAX_STEPS)
        heights = np.array([height(drawn, grid) for drawn in islice(draws, n_resamples)])
        low, high = np.quantile(heights, [(1 - level) / 2, (1 + level) / 2], axis=0)
        # Resamples have more ties than the rows, which can put the curve just outside the band.
        low, high = np.minimum(low, tpr), np.maximum(high, tpr)
    return RocBand(grid, tpr, low, high, level, name)


def height(curve: RocCurve, fpr: Floats) -> Floats:
    """The tpr of a curve at any fpr; at a jump of the curve, the upper end.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> height(roc_curve([0, 1, 0, 1], [1, 2, 3, 4]), np.array([0.0, 0.25, 0.5])).tolist()
    [0.5, 0.5, 1.0]
    """
    return np.interp(fpr, curve.fpr, curve.tpr)


def _combined(tpr: Floats, rows: Counted, grid: Floats, level: float) -> tuple[Floats, Floats]:
    """Intervals of tpr at each fpr from those of the threshold and of the tpr at the threshold.

    The two errors are independent, since one comes from the negatives and one from the positives:
    the squared distances to the limits are added (MOVER).
    """
    tail = (1 - level) / 2
    pos, neg = rows.take(rows.positive), rows.take(~rows.positive)
    ranked_pos, ranked_neg = Ranked(pos, 0.5, tail), Ranked(neg, 0.5, tail)
    low, high = tpr.copy(), tpr.copy()
    for k, (at, fpr) in enumerate(zip(tpr.tolist(), grid.tolist(), strict=True)):
        n_pos = effective_rows(pos, pos.scores, at, tail)
        rate = wilson(at * n_pos, n_pos, level)
        cut = quantile_interval(ranked_neg.ask(fpr, tail), fpr, level)
        # Strictly above: within ties the curve is linear between two thresholds.
        least = min(ranked_pos.fraction_above(cut.high, strictly=True), at)
        most = max(ranked_pos.fraction_above(cut.low), at)
        low[k] = max(at - np.hypot(at - min(rate.low, at), at - least), 0.0)
        high[k] = min(at + np.hypot(max(rate.high, at) - at, most - at), 1.0)
    low[-1] = high[-1] = tpr[-1]  # every curve ends at (1, 1)
    return low, high


def _asymptotic(curve: RocCurve, grid: Floats, level: float) -> tuple[Floats, Floats]:
    """The normal interval of tpr at a fixed fpr, whose threshold is estimated too."""
    z = normal_quantile(level)
    tpr = height(curve, grid)
    size = curve.n_pos + z**2
    adjusted = (tpr * curve.n_pos + z**2 / 2) / size
    spread = adjusted * (1 - adjusted) / size
    spread += _slope(curve, grid) ** 2 * grid * (1 - grid) / curve.n_neg
    spread[-1] = 0.0  # every curve ends at (1, 1)
    reach = z * np.sqrt(spread)
    return np.maximum(tpr - reach, 0.0), np.minimum(tpr + reach, 1.0)


def _slope(curve: RocCurve, grid: Floats) -> Floats:
    """Slope of the chord around each fpr; the empirical curve is a step function without slopes."""
    half = curve.n_neg ** (-1 / 3) / 2
    left, right = np.maximum(grid - half, 0.0), np.minimum(grid + half, 1.0)
    return (height(curve, right) - height(curve, left)) / (right - left)


def _check_plain(sample_weight: Any, groups: Any) -> None:
    for name, value in (("sample_weight", sample_weight), ("groups", groups)):
        if value is not None:
            raise ValueError(
                f"{name} is given and method is 'asymptotic'; give method='combined' or leave "
                f"{name} out"
            )
