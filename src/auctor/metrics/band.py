"""A confidence band around a ROC curve: an interval of tpr at each fpr."""

from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level, check_method, check_resamples
from auctor._typing import Floats
from auctor.metrics.bootstrap import make_generator
from auctor.metrics.curve import RocCurve, roc_curve
from auctor.metrics.effective import Counted, effective_rows
from auctor.metrics.intervals import normal_quantile
from auctor.metrics.quantiles import Ranked, quantile_interval
from auctor.metrics.rates import wilson
from auctor.metrics.resampled_curves import resampled_curves, thin
from auctor.metrics.sample import read_sample
from auctor.metrics.thresholds import count_rows, with_rows

METHODS = ("combined", "bootstrap", "asymptotic")

# More distinct scores than this are put into groups to resample: finer than any band.
_MOST_STEPS = 5000


@dataclass(frozen=True, repr=False, eq=False)
class RocBand:
    """A pointwise band of tpr on an even grid of fpr; made by :func:`roc_band`.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_points,)
        The curve on the grid.
    low, high : ndarray of shape (n_points,)
        Ends of the interval of tpr at each fpr.
    level : float
        Confidence level of each interval, not of the band as a whole.
    method : str
        "combined intervals" (with weights or groups "at the effective number of rows"),
        "stratified bootstrap", "cluster bootstrap" or "asymptotic".
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
            f"fpr, at most {widest:.3f} wide ({self.method})"
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
    random_state: Any = None,
) -> RocBand:
    """Pointwise confidence band of a ROC curve: an interval of tpr at each fpr.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    level : float, default=0.95
        Confidence level at each fpr.
    method : {"combined", "bootstrap", "asymptotic"}, default="combined"
        "combined": Wilson's interval of tpr at the threshold, and the tpr at both ends of the
        order-statistic interval of the threshold that has this fpr, put together as Newcombe does
        for a difference of two rates. It assumes independent rows of each class; with weights or
        groups it takes the effective number of rows. "bootstrap": percentiles of curves of
        resampled rows, drawn within each class, or by group. It sees no variance where the curve
        is at 0 or 1, and covers too little there. "asymptotic": the normal
        interval with the variance ``tpr (1 - tpr) / n_pos + slope^2 fpr (1 - fpr) / n_neg``; the
        first part as Agresti and Coull have it, so that a rate of 1 is not certain, and the slope
        from the chord of the curve over ``fpr`` plus and minus ``n_neg^(-1/3) / 2``. It takes
        neither weights nor groups.
    n_points : int, default=101
        Size of the grid of fpr, both ends included.
    n_resamples : int, default=500
        Of the bootstrap.
    groups : array-like of shape (n_rows,), optional
        Rows of one group (a customer, a patient) may depend on each other.
    random_state : int, Generator, RandomState or None
        Of the bootstrap.

    Returns
    -------
    RocBand

    Examples
    --------
    >>> y, s = [0, 0, 0, 0, 1, 1, 1, 1], [1, 2, 3, 5, 4, 6, 7, 8]
    >>> band = roc_band(y, s, n_points=5)
    >>> band.tpr.tolist()
    [0.75, 1.0, 1.0, 1.0, 1.0]
    >>> bool((band.low <= band.tpr).all() and (band.tpr <= band.high).all())
    True
    """
    level, n_resamples = check_level(level), check_resamples(n_resamples)
    check_method(method, METHODS)
    grid = np.linspace(0.0, 1.0, _check_points(n_points))
    told = {"sample_weight": sample_weight, "pos_label": pos_label}
    curve = roc_curve(y_true, y_score, **told)
    tpr = height(curve, grid)
    if method == "asymptotic":
        _check_plain(sample_weight, groups)
        low, high = _asymptotic(curve, grid, level)
        return RocBand(grid, tpr, low, high, level, method)
    sample = read_sample(y_true, {"y_score": y_score}, **told)
    if method == "combined":
        rows = count_rows(sample, groups)
        low, high = _combined(tpr, rows, grid, level)
        return RocBand(grid, tpr, low, high, level, with_rows("combined intervals", rows))
    rng = make_generator(random_state)
    # Thinned in any case: with weights it is rows that are drawn, but the curves stay short.
    steps = thin(curve, _MOST_STEPS)
    draws, name = resampled_curves(steps, sample, groups, rng, most_steps=_MOST_STEPS)
    found = np.array([height(drawn, grid) for drawn in islice(draws, n_resamples)])
    low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], axis=0)
    # Resamples have more ties than rows, which can put the curve a hair outside its own band.
    return RocBand(grid, tpr, np.minimum(low, tpr), np.maximum(high, tpr), level, name)


def height(curve: RocCurve, fpr: Floats) -> Floats:
    """The tpr of a curve at any fpr; where the curve jumps, the upper end.

    Examples
    --------
    >>> height(roc_curve([0, 1, 0, 1], [1, 2, 3, 4]), np.array([0.0, 0.25, 0.5])).tolist()
    [0.5, 0.5, 1.0]
    """
    return np.interp(fpr, curve.fpr, curve.tpr)


def _combined(tpr: Floats, rows: Counted, grid: Floats, level: float) -> tuple[Floats, Floats]:
    """Intervals of tpr at each fpr from those of the threshold and of the tpr at it.

    The two errors are independent, since one comes from the negatives and one from the
    positives: distances to the ends add up in squares (the MOVER method).
    """
    tail = (1 - level) / 2
    pos, neg = rows.take(rows.positive), rows.take(~rows.positive)
    ranked_pos, ranked_neg = Ranked(pos, 0.5, tail), Ranked(neg, 0.5, tail)
    low, high = tpr.copy(), tpr.copy()
    for k, (at, fpr) in enumerate(zip(tpr.tolist(), grid.tolist(), strict=True)):
        n_pos = effective_rows(pos, pos.scores, at, tail)
        rate = wilson(at * n_pos, n_pos, level)
        cut = quantile_interval(ranked_neg.ask(fpr, tail), fpr, level)
        # Strictly above: within ties the curve is a line between two thresholds.
        least = min(ranked_pos.share_above(cut.high, strictly=True), at)
        most = max(ranked_pos.share_above(cut.low), at)
        low[k] = max(at - np.hypot(at - min(rate.low, at), at - least), 0.0)
        high[k] = min(at + np.hypot(max(rate.high, at) - at, most - at), 1.0)
    low[-1] = high[-1] = tpr[-1]  # every curve ends at (1, 1)
    return low, high


def _asymptotic(curve: RocCurve, grid: Floats, level: float) -> tuple[Floats, Floats]:
    """The normal interval of tpr at a fixed fpr, the threshold of which is estimated too."""
    z = normal_quantile(level)
    tpr = height(curve, grid)
    size = curve.n_pos + z**2
    share = (tpr * curve.n_pos + z**2 / 2) / size
    spread = share * (1 - share) / size
    spread += _slope(curve, grid) ** 2 * grid * (1 - grid) / curve.n_neg
    spread[-1] = 0.0  # every curve ends at (1, 1)
    reach = z * np.sqrt(spread)
    return np.maximum(tpr - reach, 0.0), np.minimum(tpr + reach, 1.0)


def _slope(curve: RocCurve, grid: Floats) -> Floats:
    """Slope of the chord around each fpr: the curve itself is a staircase and has none."""
    half = curve.n_neg ** (-1 / 3) / 2
    left, right = np.maximum(grid - half, 0.0), np.minimum(grid + half, 1.0)
    return (height(curve, right) - height(curve, left)) / (right - left)


def _check_points(n_points: Any) -> int:
    is_whole = isinstance(n_points, Integral) and not isinstance(n_points, bool)
    if not is_whole or n_points < 2:
        raise ValueError(f"n_points must be a whole number, 2 or more, got {n_points!r}")
    return int(n_points)


def _check_plain(sample_weight: Any, groups: Any) -> None:
    for name, value in (("sample_weight", sample_weight), ("groups", groups)):
        if value is not None:
            raise ValueError(f"method='asymptotic' takes no {name}; method='bootstrap' does")
