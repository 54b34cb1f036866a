"""Out-of-fold scores, and how they are brought to the scale of the final model.

That is done by their ranks among the training scores of each model.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Indices, Ints
from auctor.data import read_weights
from auctor.metrics import AucInterval


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


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Out-of-fold scores and their AUC, as returned by :func:`auctor.cross_val_auc`.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Out-of-fold scores: each comes from the model that was fitted without the row's fold.
        Scores of different folds come from different models and cannot be compared.
    folds : ndarray of shape (n_rows,)
        The fold of each row, numbered from 0.
    auc : AucInterval
        Mean of the AUCs within the folds, and its confidence interval. It estimates the expected
        AUC, on new rows, of a model fitted to as many rows as the training set of a fold has; a
        model fitted to all rows is slightly better.
    instability : float
        The fraction of the variance of that mean that comes from the choice of the training sets,
        between 0 and 1 (:func:`auctor.metrics.fold_instability`). The interval includes it.
    scores_by_fold : ndarray of shape (n_rows, n_folds)
        The score of each row by the model of every fold, for ``fold_instability``. Scores of a row
        by models that were fitted with it say nothing about their quality. In large tables only
        some rows of each class are scored by all models; the other entries are NaN.
    ranks : ndarray of shape (n_rows, 2) or None
        The fraction of the training rows that the fold's model scores below the row, and at or
        below it: a scale that is common to all folds. None for estimators of other libraries.
    groups : ndarray of shape (n_rows,) or None
        Rows that the interval counts as one: the given groups; without groups, the copies of a
        row where at least half of a class are copies; otherwise None.
    rows : ndarray or None
        With ``time``: the positions in the table of the rows that were tested, all but the
        earliest. The other arrays have an entry for each of these. None if all rows were tested.

    Examples
    --------
    >>> from auctor import RankBoost, cross_val_auc
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> result = cross_val_auc(RankBoost(n_estimators=10), X, y, cv=4)
    >>> result.folds[:6].tolist(), result.scores_by_fold.shape
    ([0, 1, 1, 1, 1, 2], (81, 4))
    >>> print(f"{result.auc.value:.3f}, {result.auc.low:.3f} to {result.auc.high:.3f}")
    0.830, 0.595 to 0.948
    """

    scores: Floats
    folds: Ints
    auc: AucInterval
    instability: float
    scores_by_fold: Floats
    ranks: Floats | None = None
    groups: npt.NDArray[Any] | None = None
    rows: Indices | None = None

    def tested(self, values: Any) -> Any:
        """The values of the rows that were tested, from one value for each row; None stays None."""
        return values if self.rows is None or values is None else values[self.rows]

    def scores_of(self, model: Any, X: Any, sample_weight: Any = None) -> Floats:
        """The out-of-fold scores on the scale of a model that was fitted to all rows.

        Parameters
        ----------
        model : Model or fitted estimator
            A model of all rows.
        X : table
            The rows that were cross-validated, which ``model`` was fitted to.
        sample_weight : array-like of shape (n_rows,), default=None
            The weights that ``model`` was fitted with.

        Returns
        -------
        ndarray of shape (n_rows,)
            Each score is replaced by the score of ``model`` that has the same rank among the
            training rows. A threshold then selects out-of-fold rows as the model selects new ones,
            for every kind of model. (Calibrated probabilities cannot replace the ranks: those of a
            tree with few leaves differ between folds.)
        """
        if self.ranks is None:
            return self.scores
        training = np.asarray(model.decision_function(X), dtype=np.float64)
        return scores_at(training, read_weights(sample_weight, len(training)), self.ranks)
