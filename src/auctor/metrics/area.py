"""Areas under the ROC curve: whole, partial, with a margin."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import check_number
from auctor._typing import Ints
from auctor.kernels import roc
from auctor.metrics.curve import roc_curve
from auctor.metrics.sample import SortedClasses, read_sorted


def auc(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under the ROC curve: the share of pairs in the right order, ties one half.

    The direction is never flipped: a score that is worse than chance has an AUC
    below 0.5.

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
    float
        Without weights the number of pairs is counted exactly and divided once.

    Examples
    --------
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    """
    return auc_of_sorted(read_sorted(y_true, y_score, sample_weight, pos_label))


def auc_of_sorted(classes: SortedClasses) -> float:
    """The AUC of scores that are already sorted by class."""
    if classes.weight_pos is None:
        return int(roc.count_double_wins(classes.pos, classes.neg)) / (2 * classes.n_pairs)
    below = roc.count_below(classes.pos, classes.neg)
    at_most = roc.count_at_most(classes.pos, classes.neg)
    return weighted_share(classes, below, at_most)


def weighted_share(classes: SortedClasses, below: Ints, at_most: Ints) -> float:
    """Weight of the pairs counted, as a share of the weight of all pairs."""
    assert classes.weight_pos is not None and classes.weight_neg is not None
    doubled = roc.double_weighted_wins(below, at_most, classes.weight_pos, classes.weight_neg)
    share = float(doubled / (2 * classes.weight_pos.sum() * classes.weight_neg.sum()))
    return min(share, 1.0)  # sums of fractions are rounded


def partial_auc(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    scaled: bool = False,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under a part of the ROC curve, interpolated at the ends of the region.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auc`.
    fpr : pair of floats, optional
        Region of false positive rates; the area is the integral of the true
        positive rate over it. Give either ``fpr`` or ``tpr``.
    tpr : pair of floats, optional
        Region of true positive rates; the area is the integral of one minus the
        false positive rate over it.
    scaled : bool, default=False
        McClish's scale, on which chance is 0.5 and a perfect score 1. A score worse
        than chance in the region comes out below 0.5, and can be negative.

    Returns
    -------
    float

    Examples
    --------
    >>> y, s = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.7, 0.9]
    >>> round(partial_auc(y, s, fpr=(0, 0.2)), 4)
    0.1333
    >>> round(partial_auc(y, s, tpr=(0.5, 1), scaled=True), 4)
    0.8519
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    return curve.partial_auc(fpr=fpr, tpr=tpr, scaled=scaled)


def margin_auc(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    rho: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Share of pairs in which the positive is at least ``rho`` above the negative.

    This is AUC with a margin, as in paper 001: a pair counts when
    ``s(x+) - s(x-) >= rho``, as computed in double precision. Unlike :func:`auc`
    it depends on the scale of the scores, and there are no halves: at ``rho=0``
    a tie counts in full.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auc`, but the scores must be finite.
    rho : float
        The margin.

    Returns
    -------
    float

    Examples
    --------
    >>> margin_auc([0, 0, 1, 1], [0.0, 0.5, 0.5, 1.0], rho=0.5)
    0.75
    """
    margin = check_number(rho, "rho")
    classes = read_sorted(y_true, y_score, sample_weight, pos_label)
    _check_finite(classes)
    counts = roc.count_margin(classes.pos, classes.neg, margin)
    if classes.weight_pos is None:
        return int(counts.sum()) / classes.n_pairs
    return weighted_share(classes, counts, counts)


def _check_finite(classes: SortedClasses) -> None:
    """A margin needs differences, and infinity less infinity is none."""
    n_infinite = sum(int(np.isinf(scores).sum()) for scores in (classes.pos, classes.neg))
    if n_infinite:
        raise ValueError(
            f"y_score has {n_infinite} infinite value(s); margin_auc needs finite scores"
        )
