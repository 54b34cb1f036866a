"""From a weak ranker to a two-sided weak classifier (Long & Servedio 2007, Lemma 4).

A two-sided classifier has the same error rate on positives and on negatives. The scores of the
ranker are cut at the threshold theta that minimises p+ + p-, the error rates of the two classes.
Then a biased coin is tossed for the rows on one side of theta, so that the two rates become equal.
The coin is replaced by its expected value: the classifier is a step function with values in
[-1, 1].
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.stumps import LEAST_GAIN


class TwoSided(NamedTuple):
    """The classifier: the expected label below and above a threshold, and its error rate."""

    cut: int  # groups from this one on lie above the threshold
    below: float
    above: float
    epsilon: float  # the error rate, the same for positives and negatives

    def values(self, n_groups: int) -> Floats:
        """The expected label of each group, the lowest score first."""
        return np.where(np.arange(n_groups) < self.cut, self.below, self.above)


class Sides(NamedTuple):
    """The two-sided classifiers of many rankers: the fields of TwoSided as arrays."""

    cut: Ints
    below: Floats
    above: Floats
    epsilon: Floats


def two_sided(negative: npt.ArrayLike, positive: npt.ArrayLike) -> TwoSided:
    """The two-sided classifier of groups of rows, in ascending order of their score.

    Parameters
    ----------
    negative, positive : array-like of shape (n_groups,)
        Weight of each class in each group. A group holds the rows with the same score.

    Examples
    --------
    >>> two_sided([3, 1], [2, 2])  # p+ = 1/2, p- = 1/4: one in five below is called positive
    TwoSided(cut=1, below=-0.6, above=1.0, epsilon=0.4)
    """
    neg, pos = (np.asarray(group, dtype=np.float64)[None] for group in (negative, positive))
    cut, below, above, epsilon = (field[0] for field in two_sided_of_rankers(neg, pos))
    return TwoSided(int(cut), float(below), float(above), float(epsilon))


def two_sided_of_rankers(negative: Floats, positive: Floats) -> Sides:
    """``two_sided`` for many rankers at once, from weights (ranker, group).

    A ranker with fewer groups than there are columns has empty groups at the end.
    """
    total_neg, total_pos = (group.sum(axis=1, keepdims=True) for group in (negative, positive))
    if not (bool((total_neg > 0).all()) and bool((total_pos > 0).all())):
        raise ValueError("the weight of one class is 0; give rows of both classes")
    below_neg, below_pos = np.zeros((2, len(negative), negative.shape[1] + 1))
    np.divide(np.cumsum(negative, axis=1), total_neg, out=below_neg[:, 1:])
    np.divide(np.cumsum(positive, axis=1), total_pos, out=below_pos[:, 1:])
    # p+ = below_pos and p- = 1 - below_neg, so that their sum is smallest where this gap is
    # largest. Among cuts that are equally good up to rounding, the first is taken.
    gap = below_neg - below_pos
    cut = np.argmax(gap >= gap.max(axis=1, keepdims=True) - LEAST_GAIN, axis=1)
    rankers = np.arange(len(cut))
    p_pos, p_neg = below_pos[rankers, cut], 1.0 - below_neg[rankers, cut]
    difference = np.abs(p_pos - p_neg)
    coin = difference / (1.0 + difference)
    epsilon = np.maximum(p_pos, p_neg) / (1.0 + difference)  # equation (1)
    calls_positive = p_neg <= p_pos  # some of the rows below are called positive
    below = np.where(calls_positive, 2.0 * coin - 1.0, -1.0)
    above = np.where(calls_positive, 1.0, 1.0 - 2.0 * coin)
    return Sides(cut, below, above, epsilon)


def two_sided_from_scores(
    scores: Floats,
    positive: Bools,
    weight: Floats,
) -> tuple[float, TwoSided]:
    """The threshold on real scores and its classifier; rows at the threshold count as above it."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    groups = [
        np.add.reduceat(np.where(keep, weight, 0.0)[order], first) for keep in (~positive, positive)
    ]
    side = two_sided(*groups)
    return _threshold(ordered[first], side.cut), side


def _threshold(scores: Floats, cut: int) -> float:
    """The middle between the last distinct score below the cut and the first one above it.

    A threshold equal to a score would put its row on another side if the last bit changed.
    """
    if cut == 0:
        return float("-inf")
    if cut == len(scores):
        return float("inf")
    low, high = float(scores[cut - 1]), float(scores[cut])
    middle = low / 2 + high / 2
    return middle if low < middle <= high else high
