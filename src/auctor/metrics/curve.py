"""The ROC curve: one sort of the scores, and every number read off it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import check_number, check_one, check_rate, check_region, check_top
from auctor._text import count
from auctor._typing import Floats, Ints
from auctor.kernels import roc
from auctor.metrics.sample import Sample, read_sample, sort_classes


@dataclass(frozen=True, repr=False)
class OperatingPoint:
    """What happens to the rows when those with ``score >= threshold`` are flagged.

    Attributes
    ----------
    threshold : float
        The cut; infinity when nothing is flagged. NaN for a point between two
        thresholds, which only chance between the two could attain.
    fpr, tpr : float
        Shares of the negatives and of the positives that are flagged.
    precision : float
        Share of positives among the flagged; NaN when nothing is flagged.
    flagged : float
        Number (or weight) of rows flagged.
    """

    threshold: float
    fpr: float
    tpr: float
    precision: float
    flagged: float

    @property
    def youden(self) -> float:
        """Youden's J: ``tpr - fpr``."""
        return self.tpr - self.fpr

    @property
    def specificity(self) -> float:
        """Share of the negatives that are not flagged."""
        return 1.0 - self.fpr

    def __repr__(self) -> str:
        return (
            f"tpr {self.tpr:.3f} at fpr {self.fpr:.3f}, precision {self.precision:.3f}, "
            f"{self.flagged:g} flagged, threshold {self.threshold:g}"
        )


@dataclass(frozen=True, repr=False, eq=False)
class RocCurve:
    """An empirical ROC curve with its thresholds and counts; made by :func:`roc_curve`.

    A row is predicted positive when its score is at least the threshold. Between
    two thresholds the curve is a straight line, so that tied rows count one half.

    Attributes
    ----------
    thresholds : ndarray
        The distinct scores, decreasing; before them plus infinity, at which
        nothing is flagged.
    true_positives, false_positives : ndarray
        Weight of the positive and negative rows flagged at each threshold; without
        weights, their number.
    n_pos, n_neg : int
        Number of rows of each class (of weight above zero).
    pos_label : label
        The label that counts as positive.
    """

    thresholds: Floats
    true_positives: Floats
    false_positives: Floats
    n_pos: int
    n_neg: int
    pos_label: Any

    def __repr__(self) -> str:
        return (
            f"ROC curve of {count(self.n_pos, 'positive')} (label {self.pos_label!r}) and "
            f"{count(self.n_neg, 'negative')}: {len(self.thresholds)} points, AUC {self.auc():.3f}"
        )

    @property
    def fpr(self) -> Floats:
        """False positive rate at each threshold."""
        return self.false_positives / self.false_positives[-1]

    @property
    def tpr(self) -> Floats:
        """True positive rate at each threshold."""
        return self.true_positives / self.true_positives[-1]

    @property
    def flagged(self) -> Floats:
        """Number (or weight) of rows at or above each threshold."""
        return self.true_positives + self.false_positives

    def auc(self) -> float:
        """Area under the curve.

        Examples
        --------
        >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]).auc()
        0.875
        """
        # In counts, not rates: whole numbers add up without rounding.
        heights = self.true_positives[1:] + self.true_positives[:-1]
        doubled = np.sum(heights * np.diff(self.false_positives))
        area = float(doubled / (2 * self.true_positives[-1] * self.false_positives[-1]))
        return min(area, 1.0)  # sums of fractional weights are rounded

    def partial_auc(
        self,
        *,
        fpr: tuple[float, float] | None = None,
        tpr: tuple[float, float] | None = None,
        scaled: bool = False,
    ) -> float:
        """Area over a region of ``fpr`` or of ``tpr``; see :func:`auctor.metrics.partial_auc`.

        Examples
        --------
        >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
        >>> curve.partial_auc(fpr=(0, 0.5)), round(curve.partial_auc(fpr=(0, 0.5), scaled=True), 4)
        (0.375, 0.8333)
        """
        name, region = check_one(fpr=fpr, tpr=tpr)
        low, high = check_region(region, name)
        if name == "fpr":
            area = _area_between(self.fpr, self.tpr, low, high)
            chance = (high**2 - low**2) / 2
        else:
            area = _area_between(self.tpr, 1 - self.fpr, low, high)
            chance = ((1 - low) ** 2 - (1 - high) ** 2) / 2
        return (1 + (area - chance) / (high - low - chance)) / 2 if scaled else area

    def youden(self) -> OperatingPoint:
        """The point with the largest ``tpr - fpr``; of several, the one that flags least.

        Examples
        --------
        >>> roc_curve([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9]).youden()
        tpr 0.667 at fpr 0.000, precision 1.000, 2 flagged, threshold 0.6
        """
        # In counts, so that two points of equal J are seen to be equal.
        gain = self.true_positives * self.false_positives[-1]
        loss = self.false_positives * self.true_positives[-1]
        return _point(self, int(np.argmax(gain - loss)))

    def ks(self) -> float:
        """Kolmogorov-Smirnov distance of the classes: the largest ``tpr - fpr``.

        Only positives above negatives count (paper 004), so it is 0 for a score
        that is nowhere better than chance.

        Examples
        --------
        >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]).ks()
        0.5
        """
        return self.youden().youden

    def at(
        self,
        *,
        fpr: float | None = None,
        tpr: float | None = None,
        threshold: float | None = None,
        budget: float | None = None,
        interpolate: bool = False,
    ) -> OperatingPoint:
        """The point of the curve at one given quantity.

        Parameters
        ----------
        fpr : float, optional
            The lowest threshold whose ``fpr`` is not above this. It has the highest ``tpr``
            of all such thresholds, and estimates a quantile of the negatives' scores.
        tpr : float, optional
            The highest threshold whose ``tpr`` is not below this. It has the lowest ``fpr``
            of all such thresholds, and estimates a quantile of the positives' scores.
        threshold : float, optional
            Rows with a score of at least this are flagged.
        budget : int or float, optional
            As many rows as a threshold can flag without going over: a whole number
            of rows (of weight, if the curve has weights), or a share in (0, 1).
        interpolate : bool, default=False
            Give the point on the line between two thresholds instead of one that
            a threshold attains. Every ``threshold`` is attained, so it takes none.

        Returns
        -------
        OperatingPoint

        Examples
        --------
        >>> curve = roc_curve([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.6, 0.9])
        >>> curve.at(fpr=0.2)
        tpr 0.500 at fpr 0.000, precision 1.000, 1 flagged, threshold 0.9
        >>> curve.at(fpr=0.2, interpolate=True).tpr
        0.8
        >>> curve.at(budget=3).threshold
        0.6
        """
        name, value = check_one(fpr=fpr, tpr=tpr, threshold=threshold, budget=budget)
        if name == "threshold":
            return _at_threshold(self, check_number(value, name), interpolate)
        if name == "budget":
            most = check_top(value, float(self.flagged[-1]), name, least=0)
            return _at_most(self, self.flagged, most, interpolate)
        if name == "fpr":
            return _at_fpr(self, check_rate(value, name), interpolate)
        return _at_tpr(self, check_rate(value, name), interpolate)

    def hull(self) -> "RocCurve":
        """The smallest concave curve above this one, as a curve with fewer thresholds.

        Its corners are the thresholds that are best for some cost of the two errors;
        points on a line between two corners need chance between the two.

        Examples
        --------
        >>> curve = roc_curve([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9])
        >>> curve.hull().thresholds.tolist(), round(curve.hull().auc(), 4)
        ([inf, 0.6, 0.3, 0.1], 0.9167)
        """
        corners = roc.upper_hull(self.false_positives, self.true_positives)
        return _freeze(
            replace(
                self,
                thresholds=self.thresholds[corners],
                true_positives=self.true_positives[corners],
                false_positives=self.false_positives[corners],
            )
        )


def roc_curve(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> RocCurve:
    """The empirical ROC curve of a score, with a point for every distinct score.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels of two values; the larger one is positive unless ``pos_label`` says.
    y_score : array-like of shape (n_rows,)
        Scores, larger means more likely positive. Infinities are fine, NaN is not.
    sample_weight : array-like of shape (n_rows,), optional
        Weight 0 is an absent row, weight 2 is the row twice.
    pos_label : label, optional
        The positive one of the two labels.

    Returns
    -------
    RocCurve

    Examples
    --------
    >>> roc_curve(["good", "bad", "good", "bad"], [1, 2, 3, 4], pos_label="bad")
    ROC curve of 2 positives (label 'bad') and 2 negatives: 5 points, AUC 0.750
    """
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    return curve_of_sample(sample)


def curve_of_sample(sample: Sample) -> RocCurve:
    """The curve of the first score of rows that have been read."""
    classes = sort_classes(sample)
    thresholds, count_pos, count_neg = roc.curve_steps(classes.pos, classes.neg)
    curve = RocCurve(
        thresholds.copy(),  # lets go of the room for scores without ties
        _weight_above(count_pos, classes.weight_pos),
        _weight_above(count_neg, classes.weight_neg),
        len(classes.pos),
        len(classes.neg),
        sample.pos_label,
    )
    return _freeze(curve)


def _weight_above(counts: Ints, weight: Floats | None) -> Floats:
    """Weight of the ``counts`` rows with the highest scores; weights go up the scores."""
    if weight is None:
        return counts.astype(np.float64)
    return np.concatenate(([0.0], np.cumsum(weight[::-1])))[counts]


def _freeze(curve: RocCurve) -> RocCurve:
    """The same curve with arrays that cannot be written to."""
    for array in (curve.thresholds, curve.true_positives, curve.false_positives):
        array.flags.writeable = False
    return curve


def _area_between(x: Floats, y: Floats, low: float, high: float) -> float:
    """Integral over [low, high] of the line through points of non-decreasing x."""
    width = np.diff(x)
    left = np.clip(x[:-1], low, high)
    right = np.clip(x[1:], low, high)
    slope = np.divide(np.diff(y), width, out=np.zeros_like(width), where=width > 0)
    middle = y[:-1] + slope * ((left + right) / 2 - x[:-1])
    return float(np.sum(middle * (right - left)))


def _point(
    curve: RocCurve, index: int, fraction: float = 0.0, threshold: float | None = None
) -> OperatingPoint:
    """The point a ``fraction`` of the way from point ``index`` to the next."""
    after = min(index + 1, len(curve.thresholds) - 1)
    true_pos, false_pos = (
        float((1 - fraction) * total[index] + fraction * total[after])
        for total in (curve.true_positives, curve.false_positives)
    )
    if threshold is None:
        threshold = float(curve.thresholds[index]) if fraction == 0 else float("nan")
    flagged = true_pos + false_pos
    return OperatingPoint(
        threshold=threshold,
        fpr=false_pos / float(curve.false_positives[-1]),
        tpr=true_pos / float(curve.true_positives[-1]),
        precision=true_pos / flagged if flagged > 0 else float("nan"),
        flagged=flagged,
    )


def _at_threshold(curve: RocCurve, threshold: float, interpolate: bool) -> OperatingPoint:
    """The point that flags the scores of at least ``threshold``."""
    if interpolate:
        raise ValueError("interpolate=True takes fpr, tpr or budget; a threshold is exact already")
    index = int(np.searchsorted(-curve.thresholds, -threshold, side="right")) - 1
    return _point(curve, index, threshold=threshold)


def _at_most(curve: RocCurve, axis: Floats, value: float, interpolate: bool) -> OperatingPoint:
    """The last point whose ``axis`` is at most ``value``, or the one between it and the next."""
    index = int(np.searchsorted(axis, value, side="right")) - 1
    if not interpolate or index == len(axis) - 1:
        return _point(curve, index)
    return _point(curve, index, float((value - axis[index]) / (axis[index + 1] - axis[index])))


def _at_fpr(curve: RocCurve, fpr: float, interpolate: bool) -> OperatingPoint:
    """The highest tpr with at most this fpr."""
    # Among points of equal tpr not the one of the smallest fpr: with few positives that one lies
    # far above the threshold that has this fpr in the population.
    return _at_most(curve, curve.fpr, fpr, interpolate)


def _at_tpr(curve: RocCurve, tpr: float, interpolate: bool) -> OperatingPoint:
    """The lowest fpr with at least this tpr."""
    axis = curve.tpr
    first = int(np.searchsorted(axis, tpr))
    if interpolate and axis[first] > tpr:
        return _point(
            curve, first - 1, float((tpr - axis[first - 1]) / (axis[first] - axis[first - 1]))
        )
    return _point(curve, first)
