"""AUC, partial AUC and AUC with a margin."""

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
    """Area under the ROC curve (AUC).

    The AUC is the fraction of pairs of a positive and a negative row in which the positive row
    has the higher score; a tie counts one half. The direction is never flipped: a score that is
    worse than chance has an AUC below 0.5.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels with two distinct values. The larger value is the positive class unless
        ``pos_label`` is given, as in scikit-learn's ``roc_auc_score``: 1 of 0 and 1, but "good" of
        "bad" and "good".
    y_score : array-like of shape (n_rows,)
        Scores; a higher score means that the row is more likely to be positive. Infinite scores
        are accepted, NaN is not.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows. A row of weight 0 is ignored; a row of weight 2 counts as two rows.
    pos_label : label, optional
        The label of the positive class, which should have the high scores. Give it for labels that
        are text; without it a warning says so if the scores rank the other way round.

    Returns
    -------
    float
        Without weights the pairs are counted exactly, so that the only rounding is that of one
        division.

    Examples
    --------
    >>> from auctor.metrics import auc
    >>> auc([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    >>> auc(["good", "good", "bad", "bad"], [0.1, 0.4, 0.4, 0.8], pos_label="bad")
    0.875
    """
    return auc_of_sorted(read_sorted(y_true, y_score, sample_weight, pos_label))


def auc_of_sorted(classes: SortedClasses) -> float:
    """AUC of the sorted scores of both classes."""
    if classes.weight_pos is None:
        return int(roc.count_double_wins(classes.pos, classes.neg)) / (2 * classes.n_pairs)
    below = roc.count_below(classes.pos, classes.neg)
    at_most = roc.count_at_most(classes.pos, classes.neg)
    return _weighted_fraction(classes, below, at_most)


def _weighted_fraction(classes: SortedClasses, below: Ints, at_most: Ints) -> float:
    """Weight of the counted pairs divided by the weight of all pairs."""
    assert classes.weight_pos is not None and classes.weight_neg is not None
    doubled = roc.double_weighted_wins(below, at_most, classes.weight_pos, classes.weight_neg)
    fraction = float(doubled / (2 * classes.weight_pos.sum() * classes.weight_neg.sum()))
    return min(fraction, 1.0)  # rounding of fractional weights can exceed 1


def partial_auc(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    scaled: bool = False,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Area under a part of the ROC curve.

    The curve is interpolated linearly at the ends of the region.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auc`.
    fpr_range : pair of floats, optional
        Range of false positive rates, such as ``(0, 0.1)``. The area is the integral of the true
        positive rate over this range. Give either ``fpr_range`` or ``tpr_range``.
    tpr_range : pair of floats, optional
        Range of true positive rates, such as ``(0.9, 1)``. The area is the integral of the
        specificity, one minus the false positive rate, over this range.
    scaled : bool, default=False
        Whether to rescale the area as McClish (1989) does: 0.5 is chance and 1 a perfect score.
        A score that is worse than chance in the region has a value below 0.5, which can be
        negative.

    Returns
    -------
    float

    Examples
    --------
    >>> from auctor.metrics import partial_auc
    >>> y, s = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.7, 0.9]
    >>> round(partial_auc(y, s, fpr_range=(0, 0.2)), 4)
    0.1333
    >>> round(partial_auc(y, s, tpr_range=(0.5, 1), scaled=True), 4)
    0.8519
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    return curve.partial_auc(fpr_range=fpr_range, tpr_range=tpr_range, scaled=scaled)


def margin_auc(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    rho: float,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Fraction of pairs in which the positive row scores at least ``rho`` above the negative one.

    This is the AUC with a margin of Suehiro, Hatano and Takimoto (2011): a pair counts if
    ``s(x+) - s(x-) >= rho``, computed in double precision. Unlike :func:`auc` it depends on the
    scale of the scores, and ties are not halved: with ``rho=0`` a tie counts in full.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auc`, but infinite scores are not accepted.
    rho : float
        The margin.

    Returns
    -------
    float

    Examples
    --------
    >>> from auctor.metrics import margin_auc
    >>> margin_auc([0, 0, 1, 1], [0.0, 0.5, 0.5, 1.0], rho=0.5)
    0.75
    """
    margin = check_number(rho, "rho")
    classes = read_sorted(y_true, y_score, sample_weight, pos_label)
    _check_finite(classes)
    counts = roc.count_margin(classes.pos, classes.neg, margin)
    if classes.weight_pos is None:
        return int(counts.sum()) / classes.n_pairs
    return _weighted_fraction(classes, counts, counts)


def _check_finite(classes: SortedClasses) -> None:
    """Refuse infinite scores: the difference of two of them is not defined."""
    n_infinite = sum(int(np.isinf(scores).sum()) for scores in (classes.pos, classes.neg))
    if n_infinite:
        raise ValueError(f"y_score has {n_infinite} infinite value(s); give finite scores")
