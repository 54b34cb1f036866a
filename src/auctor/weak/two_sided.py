"""From a weak ranker to a two-sided weak classifier (paper 000, Lemma 4).

A two-sided classifier errs equally often on positives and on negatives. The ranker's
scores are cut at the threshold theta that minimises p+ + p-, the error rates of the two
classes; then a coin is tossed for the rows on one side of it, biased so that the rates
become equal. The coin enters as its expectation: the classifier is a step function with
values in [-1, 1].
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints

_ROUNDING = 2.0**-40


class TwoSided(NamedTuple):
    """The classifier: the expected label below and above a threshold, and its error rate."""

    cut: int  # groups from this one on lie above the threshold
    below: float
    above: float
    epsilon: float  # of the positives and of the negatives alike

    def values(self, n_groups: int) -> Floats:
        """The expected label of each group, the lowest score first."""
        return np.where(np.arange(n_groups) < self.cut, self.below, self.above)


class Sides(NamedTuple):
    """The two-sided classifiers of many rankers: TwoSided, an array a field."""

    cut: Ints
    below: Floats
    above: Floats
    epsilon: Floats


def two_sided(negative: npt.ArrayLike, positive: npt.ArrayLike) -> TwoSided:
    """The two-sided classifier of groups in the order of their score, the lowest first.

    Parameters
    ----------
    negative, positive : array-like of shape (n_groups,)
        Weight of each class in each group; a group holds the rows of one score.

    Examples
    --------
    >>> two_sided([3, 1], [2, 2])  # p+ = 1/2, p- = 1/4: one in five below is called positive
    TwoSided(cut=1, below=-0.6, above=1.0, epsilon=0.4)
    """
    neg, pos = (np.asarray(group, dtype=np.float64)[None] for group in (negative, positive))
    cut, below, above, epsilon = (field[0] for field in two_sided_lines(neg, pos))
    return TwoSided(int(cut), float(below), float(above), float(epsilon))


def two_sided_lines(negative: Floats, positive: Floats) -> Sides:
    """``two_sided`` for every line of groups (rankers, groups) at once.

    Rankers may have fewer groups than there are columns, the last ones empty.
    """
    total_neg, total_pos = (group.sum(axis=1, keepdims=True) for group in (negative, positive))
    if not (bool((total_neg > 0).all()) and bool((total_pos > 0).all())):
        raise ValueError("two_sided needs weight of both classes, one of them has none")
    room = np.zeros((2, len(negative), negative.shape[1] + 1))
    below_neg, below_pos = room
    np.divide(np.cumsum(negative, axis=1), total_neg, out=below_neg[:, 1:])
    np.divide(np.cumsum(positive, axis=1), total_pos, out=below_pos[:, 1:])
    # p+ = below_pos, p- = 1 - below_neg: the smallest sum is where this is largest. Of cuts
    # that are equally good up to rounding the first is taken.
    gap = below_neg - below_pos
    cut = np.argmax(gap >= gap.max(axis=1, keepdims=True) - _ROUNDING, axis=1)
    lines = np.arange(len(cut))
    p_pos, p_neg = below_pos[lines, cut], 1.0 - below_neg[lines, cut]
    differ = np.abs(p_pos - p_neg)
    coin = differ / (1.0 + differ)
    epsilon = np.maximum(p_pos, p_neg) / (1.0 + differ)  # equation (1)
    calls_positive = p_neg <= p_pos  # some of the rows below are called positive
    below = np.where(calls_positive, 2.0 * coin - 1.0, -1.0)
    above = np.where(calls_positive, 1.0, 1.0 - 2.0 * coin)
    return Sides(cut, below, above, epsilon)


def two_sided_from_scores(
    scores: Floats,
    positive: Bools,
    weight: Floats,
) -> tuple[float, TwoSided]:
    """The threshold on real scores and the classifier it gives; rows at or above it lie above."""
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    groups = [
        np.add.reduceat(np.where(keep, weight, 0.0)[order], first) for keep in (~positive, positive)
    ]
    side = two_sided(*groups)
    return _threshold(ordered[first], side.cut), side


def _threshold(scores: Floats, cut: int) -> float:
    """Between the last distinct score below and the first above: a row on it would change sides
    with the last bit of its score."""
    if cut == 0:
        return float("-inf")
    if cut == len(scores):
        return float("inf")
    low, high = float(scores[cut - 1]), float(scores[cut])
    middle = low / 2 + high / 2
    return middle if low < middle <= high else high
