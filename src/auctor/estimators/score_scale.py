"""Scores of one model on the scale of another, by ranks among the training scores of each."""

from typing import Any

import numpy as np

from auctor._typing import Floats


def training_ranks(training: Floats, weight: Floats | None, scores: Floats) -> Floats:
    """The ranks of scores among a model's scores of its training rows.

    Two numbers for each score: the (weighted) fraction of the training rows below it, and the
    fraction at or below it. For a score that no training row has the two are equal, and
    interpolated between its two neighbours.

    Examples
    --------
    >>> training_ranks(np.array([1.0, 1.0, 2.0, 4.0]), None, np.array([1.0, 3.0, 9.0])).tolist()
    [[0.0, 0.5], [0.75, 0.75], [1.0, 1.0]]
    """
    values, above = _steps(training, weight)
    at = np.searchsorted(values, scores)
    last = len(values) - 1
    is_known = values[np.minimum(at, last)] == scores
    low = np.where(is_known, above[at], 0.0)
    high = np.where(is_known, above[np.minimum(at, last) + 1], 0.0)
    outside = (at == 0) | (at > last)
    between = np.where(outside, above[at], np.interp(scores, values, _middles(above)))
    return np.column_stack([np.where(is_known, low, between), np.where(is_known, high, between)])


def scores_at(training: Floats, weight: Floats | None, ranks: Floats) -> Floats:
    """The scores of a model at given ranks among its own training scores.

    Where the two numbers of a rank differ, as in a leaf of a tree, the result is the model's own
    score at the middle rank. Where they are equal, it is interpolated.

    Examples
    --------
    >>> scores_at(np.array([1.0, 3.0, 3.0, 7.0]), None, np.array([[0.0, 0.5], [0.6875, 0.6875]]))
    array([3., 5.])
    """
    values, above = _steps(training, weight)
    middle = ranks.mean(axis=1)
    at = np.clip(np.searchsorted(above, middle, side="right") - 1, 0, len(values) - 1)
    between = np.interp(middle, _middles(above), values)
    return np.where(ranks[:, 1] > ranks[:, 0], values[at], between)


def _steps(training: Any, weight: Floats | None) -> tuple[Floats, Floats]:
    """The distinct scores, increasing, and the fraction of the weight below each; 1 at the end."""
    counted = np.ones(len(training)) if weight is None else np.asarray(weight, dtype=np.float64)
    values, codes = np.unique(np.asarray(training)[counted > 0], return_inverse=True)
    sums = np.cumsum(np.bincount(codes, weights=counted[counted > 0]))
    return values.astype(np.float64), np.concatenate(([0.0], sums / sums[-1]))


def _middles(above: Floats) -> Floats:
    """The middle rank of each distinct score."""
    return np.asarray((above[1:] + above[:-1]) / 2)
