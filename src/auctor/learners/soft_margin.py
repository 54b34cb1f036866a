"""The soft margin of scores over pairs of rows, counted without forming a pair.

With weights, a row of weight w stands for w rows; where the nu-th row lies inside such a row,
the part of it that is needed counts.
"""

from math import ceil
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData
from auctor.learners.finish import sorted_class
from auctor.models import GRID

# Whole weights of a class add up to 40 bits; products of two classes are summed in two parts.
_LOW_BITS = 22


class ClassScores(NamedTuple):
    """Distinct scores of a class, ascending, and the weight at each: the order of rows is gone."""

    values: npt.NDArray[np.float64]
    weight: npt.NDArray[np.int64]

    @property
    def negated(self) -> "ClassScores":
        """The scores with their sign turned, ascending again."""
        return ClassScores(-self.values[::-1], self.weight[::-1])


def class_scores(
    data: RankingData, scores: list[npt.NDArray[np.float64]], label: int
) -> ClassScores:
    """Scores of one class (0 negative, 1 positive), from scores beside the partitions."""
    values, weight = sorted_class(data, scores, label)
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return ClassScores(values[first], np.add.reduceat(weight.astype(np.int64), first))


def mean_of_lowest(scores: ClassScores, nu: float) -> float:
    """Mean of the lowest scores that weigh ``nu`` together.

    That is the least that a distribution with no row above its weight / nu can make of the
    scores.

    Examples
    --------
    >>> scores = ClassScores(np.array([1.0, 2.0, 5.0]), np.array([1, 1, 2]))
    >>> mean_of_lowest(scores, 2.5)
    2.2
    """
    below = np.cumsum(scores.weight) - scores.weight
    taken = np.clip(nu - below, 0.0, scores.weight)
    return float((taken * scores.values).sum() / taken.sum())


def lowest_at(scores: ClassScores, nu: float) -> float:
    """The nu-th lowest score: less than ``nu`` of the weight lies below it.

    Examples
    --------
    >>> scores = ClassScores(np.array([1.0, 2.0, 5.0]), np.array([1, 1, 2]))
    >>> lowest_at(scores, 2.0), lowest_at(scores, 2.5)
    (2.0, 5.0)
    """
    at = int(np.searchsorted(np.cumsum(scores.weight), nu))
    return float(scores.values[min(at, len(scores.values) - 1)])


def share_with_margin(positive: ClassScores, negative: ClassScores, margin: float) -> float:
    """Share of the pairs whose scores, multiples of GRID, differ by ``margin`` or more.

    Examples
    --------
    >>> positive = ClassScores(np.array([1.0, 3.0]), np.array([1, 1]))
    >>> negative = ClassScores(np.array([0.0, 2.0]), np.array([1, 1]))
    >>> share_with_margin(positive, negative, 1.0)
    0.75
    """
    # Differences lie on the grid as the scores do: the margin moved up to it asks for the same
    # pairs, and can be taken from a score without rounding.
    step = ceil(margin / GRID) * GRID
    reached = np.searchsorted(negative.values, positive.values - step, side="right")
    below = np.concatenate([[0], np.cumsum(negative.weight)])[reached]
    low = below & ((1 << _LOW_BITS) - 1)
    count = int(positive.weight @ low) + (int(positive.weight @ (below >> _LOW_BITS)) << _LOW_BITS)
    return count / (int(positive.weight.sum()) * int(negative.weight.sum()))
