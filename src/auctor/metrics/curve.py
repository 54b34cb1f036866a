"""The empirical ROC curve: the scores are sorted once, and every number is read off the curve."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import check_number, check_one, check_rate, check_region, check_top
from auctor._text import count
from auctor._typing import Floats, Ints
from auctor.kernels import roc
from auctor.metrics.curve_blocks import (
    Axis,
    area_between,
    block_sum,
    count_from,
    first_largest,
)
from auctor.metrics.sample import Sample, read_sample, sort_classes


@dataclass(frozen=True, repr=False)
class OperatingPoint:
    """Rates of one point of a ROC curve: rows with ``score >= threshold`` are flagged.

    Attributes
    ----------
    threshold : float
        The threshold; infinity if no row is flagged. NaN for an interpolated point, which no
        threshold attains (only a random choice between two thresholds does).
    fpr, tpr : float
        Fractions of the negative and of the positive rows that are flagged.
    precision : float
        Fraction of positives among the flagged rows; NaN if no row is flagged.
    flagged : float
        Number of flagged rows; with weights, their weight.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> point = roc_curve(y, -X[:, 2]).at(fpr=0.1)
    >>> point.threshold, round(point.tpr, 3), round(point.specificity, 3), point.flagged
    (-3.0, 0.235, 0.906, 10.0)
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
        """Fraction of the negative rows that are not flagged."""
        return 1.0 - self.fpr

    def __repr__(self) -> str:
        return (
            f"tpr {self.tpr:.3f} at fpr {self.fpr:.3f}, precision {self.precision:.3f}, "
            f"{self.flagged:g} flagged, threshold {self.threshold:g}"
        )


@dataclass(frozen=True, repr=False, eq=False)
class RocCurve:
    """An empirical ROC curve with its thresholds and counts, returned by :func:`roc_curve`.

    A row is flagged (predicted positive) if its score is at least the threshold. The curve is
    linear between two thresholds, so that tied pairs count one half in the area.

    It unpacks as the result of scikit-learn's function of the same name does:
    ``fpr, tpr, thresholds = roc_curve(y_true, y_score)``.

    Attributes
    ----------
    thresholds : ndarray
        Infinity, at which no row is flagged, followed by the distinct scores in decreasing order.
    true_positives, false_positives : ndarray
        Number of positive and of negative rows flagged at each threshold; with weights, their
        weight.
    n_pos, n_neg : int
        Number of rows of each class, without rows of weight 0.
    pos_label : label
        The label of the positive class.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> curve = roc_curve(y, -X[:, 2])
    >>> round(curve.auc(), 3), round(curve.ks(), 3), round(curve.partial_auc(fpr_range=(0, 0.2)), 3)
    (0.824, 0.57, 0.072)
    >>> curve.at(budget=10).threshold
    -3.0
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

    def __iter__(self) -> Iterator[Floats]:
        """Yield ``fpr``, ``tpr`` and ``thresholds``."""
        return iter((self.fpr, self.tpr, self.thresholds))

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
        """Number of rows flagged at each threshold; with weights, their weight."""
        return self.true_positives + self.false_positives

    def auc(self) -> float:
        """Area under the curve.

        Examples
        --------
        >>> from auctor.metrics import roc_curve
        >>> roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8]).auc()
        0.875
        """
        # Counts instead of rates: sums of whole numbers are exact.
        doubled = block_sum(len(self.thresholds), self._double_areas)
        area = float(doubled / (2 * self.true_positives[-1] * self.false_positives[-1]))
        return min(area, 1.0)  # rounding of fractional weights can exceed 1

    def _double_areas(self, part: slice) -> Floats:
        heights = self.true_positives[part][1:] + self.true_positives[part][:-1]
        return np.asarray(heights * np.diff(self.false_positives[part]))

    def partial_auc(
        self,
        *,
        fpr_range: tuple[float, float] | None = None,
        tpr_range: tuple[float, float] | None = None,
        scaled: bool = False,
    ) -> float:
        """Area under a part of the curve; parameters as in :func:`auctor.metrics.partial_auc`.

        Examples
        --------
        >>> from auctor.metrics import roc_curve
        >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
        >>> curve.partial_auc(fpr_range=(0, 0.5))
        0.375
        >>> round(curve.partial_auc(fpr_range=(0, 0.5), scaled=True), 4)
        0.8333
        """
        name, region = check_one(fpr_range=fpr_range, tpr_range=tpr_range)
        low, high = check_region(region, name)
        fpr, tpr = axis_of(self, "fpr"), axis_of(self, "tpr")
        if name == "fpr_range":
            area = area_between(fpr, tpr, low, high)
            chance = (high**2 - low**2) / 2
        else:
            area = area_between(
                axis_of(self, "tpr"), axis_of(self, "fpr"), low, high, is_flipped=True
            )
            chance = ((1 - low) ** 2 - (1 - high) ** 2) / 2
        return (1 + (area - chance) / (high - low - chance)) / 2 if scaled else area

    def youden(self) -> OperatingPoint:
        """Return the point with the largest ``tpr - fpr``; among ties, the one with fewest flagged.

        Examples
        --------
        >>> from auctor.metrics import roc_curve
        >>> roc_curve([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9]).youden()
        tpr 0.667 at fpr 0.000, precision 1.000, 2 flagged, threshold 0.6
        """

        # Counts instead of rates, so that points of equal J compare as equal.
        def differences(part: slice) -> Floats:
            gain = self.true_positives[part] * self.false_positives[-1]
            loss = self.false_positives[part] * self.true_positives[-1]
            return np.asarray(gain - loss)

        return _point(self, first_largest(len(self.thresholds), differences))

    def ks(self) -> float:
        """Kolmogorov-Smirnov distance of the classes: the largest ``tpr - fpr``.

        The distance is one-sided (Csillag et al. 2021): it is 0 if the curve nowhere lies above
        the diagonal.

        Examples
        --------
        >>> from auctor.metrics import roc_curve
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
        """Return the point of the curve at a given fpr, tpr, threshold or budget.

        Give exactly one of the first four parameters.

        Parameters
        ----------
        fpr : float, optional
            Return the lowest threshold with at most this false positive rate. It has the highest
            ``tpr`` of all such thresholds, and estimates a quantile of the negatives' scores.
        tpr : float, optional
            Return the highest threshold with at least this true positive rate. It has the lowest
            ``fpr`` of all such thresholds, and estimates a quantile of the positives' scores.
        threshold : float, optional
            Return the rates of flagging all rows with a score of at least this.
        budget : int or float, optional
            Return the lowest threshold that flags at most this many rows: a whole number of rows
            (of weight, if the curve has weights), or a fraction of them strictly between 0 and 1.
        interpolate : bool, default=False
            Whether to interpolate between two thresholds, to attain ``fpr``, ``tpr`` or
            ``budget`` exactly. Not accepted with ``threshold``, for which the point is exact.

        Returns
        -------
        OperatingPoint

        Examples
        --------
        >>> from auctor.metrics import roc_curve
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
            flagged = axis_of(self, "flagged")
            most = check_top(value, flagged[-1], name, minimum=0)
            return _at_most(self, flagged, most, interpolate)
        if name == "fpr":
            return _at_fpr(self, check_rate(value, name), interpolate)
        return _at_tpr(self, check_rate(value, name), interpolate)

    def hull(self) -> "RocCurve":
        """Return the concave hull of the curve, as a curve with fewer thresholds.

        The hull is the smallest concave curve that lies nowhere below this one. Its corners are
        the thresholds that have the least expected cost for some costs of the two errors; a point
        between two corners is attained by choosing between their thresholds at random.

        Examples
        --------
        >>> from auctor.metrics import roc_curve
        >>> curve = roc_curve([0, 1, 0, 1, 1], [0.1, 0.3, 0.4, 0.6, 0.9])
        >>> curve.hull().thresholds.tolist(), round(curve.hull().auc(), 4)
        ([inf, 0.6, 0.3, 0.1], 0.9167)
        """
        corners = roc.upper_hull(self.false_positives, self.true_positives)
        return freeze(
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
    """Empirical ROC curve of a score, with one point for every distinct score.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.

    Returns
    -------
    RocCurve
        It has methods for areas and operating points, and unpacks into ``fpr, tpr, thresholds``
        as the result of scikit-learn's ``roc_curve`` with ``drop_intermediate=False``.

    Examples
    --------
    >>> from auctor.metrics import roc_curve
    >>> roc_curve(["good", "bad", "good", "bad"], [1, 2, 3, 4], pos_label="bad")
    ROC curve of 2 positives (label 'bad') and 2 negatives: 5 points, AUC 0.750
    >>> fpr, tpr, thresholds = roc_curve([0, 1, 0, 1], [1, 2, 3, 4])
    >>> tpr.tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    return curve_of_sample(sample)


def curve_of_sample(sample: Sample) -> RocCurve:
    """ROC curve of the first score of a sample."""
    classes = sort_classes(sample)
    thresholds, count_pos, count_neg = roc.curve_steps(classes.pos, classes.neg)
    curve = RocCurve(
        thresholds.copy(),  # frees the kernel's buffer, which is longer where scores are tied
        _weight_above(count_pos, classes.weight_pos),
        _weight_above(count_neg, classes.weight_neg),
        len(classes.pos),
        len(classes.neg),
        sample.pos_label,
    )
    return freeze(curve)


def _weight_above(counts: Ints, weight: Floats | None) -> Floats:
    """Weight of the ``counts`` rows with the highest scores; ``weight`` is by ascending score."""
    if weight is None:
        return counts.astype(np.float64)
    return np.concatenate(([0.0], np.cumsum(weight[::-1])))[counts]


def freeze(curve: RocCurve) -> RocCurve:
    """Make the arrays of a curve read-only."""
    for array in (curve.thresholds, curve.true_positives, curve.false_positives):
        array.flags.writeable = False
    return curve


def axis_of(curve: RocCurve, name: str) -> Axis:
    """The quantity "fpr", "tpr" or "flagged" at each threshold, which is not kept in memory."""
    if name == "flagged":
        return Axis((curve.true_positives, curve.false_positives))
    counts = curve.false_positives if name == "fpr" else curve.true_positives
    return Axis((counts,), float(counts[-1]))


def _point(
    curve: RocCurve, index: int, fraction: float = 0.0, threshold: float | None = None
) -> OperatingPoint:
    """The point at a ``fraction`` of the segment from point ``index`` to the next one."""
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
    """The point at which scores of at least ``threshold`` are flagged."""
    if interpolate:
        raise ValueError(
            "interpolate is True and threshold is given; give fpr, tpr or budget instead of "
            "threshold, or leave interpolate out"
        )
    index = count_from(curve.thresholds, threshold) - 1
    return _point(curve, index, threshold=threshold)


def _at_most(curve: RocCurve, axis: Axis, value: float, interpolate: bool) -> OperatingPoint:
    """The last point whose ``axis`` is at most ``value``, or the interpolated point at it."""
    index = axis.count_at_most(value) - 1
    if not interpolate or index == len(axis) - 1:
        return _point(curve, index)
    return _point(curve, index, float((value - axis[index]) / (axis[index + 1] - axis[index])))


def _at_fpr(curve: RocCurve, fpr: float, interpolate: bool) -> OperatingPoint:
    """The lowest threshold with at most this fpr."""
    # Of several points with the same tpr this is not the one with the smallest fpr: with few
    # positives, that one's threshold lies far above the one with this fpr in the population.
    return _at_most(curve, axis_of(curve, "fpr"), fpr, interpolate)


def _at_tpr(curve: RocCurve, tpr: float, interpolate: bool) -> OperatingPoint:
    """The highest threshold with at least this tpr."""
    axis = axis_of(curve, "tpr")
    first = axis.count_below(tpr)
    if interpolate and axis[first] > tpr:
        return _point(
            curve, first - 1, float((tpr - axis[first - 1]) / (axis[first] - axis[first - 1]))
        )
    return _point(curve, first)
