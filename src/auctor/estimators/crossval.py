"""Cross-validation: every row scored by a model that has not seen it, and the AUC of that."""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing, check_random_state

from auctor.data import read_labels, read_vector, read_weights
from auctor.metrics import AucInterval, auc_ci
from auctor.metrics.intervals import normal_quantile

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]

# Enough for a standard error; percentiles would need more.
_N_RESAMPLES = 500


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What cross-validation found.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Out-of-fold scores: each by the model that was fitted without the row's fold.
        Scores of different folds come from different models and do not compare.
    folds : ndarray of shape (n_rows,)
        The fold of each row, from 0.
    auc : AucInterval
        Mean of the AUCs within the folds, and its interval.
    """

    scores: Floats
    folds: npt.NDArray[np.int64]
    auc: AucInterval


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    n_folds: int = 5,
    random_state: Any = 0,
) -> CrossValidation:
    """Fit a clone for each of several stratified, shuffled folds and score the fold with it.

    Parameters
    ----------
    estimator : classifier with ``decision_function``
        It is cloned, never fitted itself.
    X : table
        Of any kind that the estimator takes: numpy, pandas, polars, pyarrow, sparse.
    y : array-like of shape (n_rows,)
        Two labels; which one is positive is the estimator's ``pos_label``.
    sample_weight : array-like of shape (n_rows,), optional
        Used in fitting and in the AUC. DeLong's variance is not defined with weights: that
        of each fold is then taken from a bootstrap of its rows.
    n_folds : int, default=5
        Each class needs two rows (of weight above zero) in every fold.
    random_state : int, RandomState or None, default=0
        Shuffles the rows.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import RankBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = cross_validate(RankBoost(n_estimators=20), X, y, n_folds=3)
    >>> found.scores.shape, found.auc.n_folds
    ((569,), 3)
    """
    labels = read_vector(y, "y")
    positive = read_labels(labels, pos_label=getattr(estimator, "pos_label", None)).positive
    weight = read_weights(sample_weight, len(labels))
    rng = check_random_state(random_state)
    folds = _draw_folds(positive, weight, n_folds, rng)
    table = _collected(X)
    _check_length(table, len(labels))
    scores = np.empty(len(labels))
    for fold in range(n_folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        weights = {} if weight is None else {"sample_weight": weight[train]}
        fitted = clone(estimator).fit(_take(table, train), labels[train], **weights)
        scores[test] = fitted.decision_function(_take(table, test))
    if weight is None:
        interval = auc_ci(positive, scores, folds=folds)
    else:
        interval = _weighted_interval(positive, scores, folds, weight, rng)
    return CrossValidation(scores, folds, interval)


def _draw_folds(
    positive: npt.NDArray[np.bool_],
    weight: Floats | None,
    n_folds: int,
    rng: np.random.RandomState,
) -> npt.NDArray[np.int64]:
    """A fold for each row: stratified and shuffled, rows of weight zero not counted."""
    if not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        raise ValueError(f"n_folds is {n_folds!r}; give a whole number, 2 or more")
    # A row of weight zero is absent: it is scored, but must not decide the fold of another.
    folds = np.arange(len(positive), dtype=np.int64) % n_folds
    present = np.arange(len(positive)) if weight is None else np.flatnonzero(weight > 0)
    n_pos = int(positive[present].sum())
    smallest = min(n_pos, len(present) - n_pos)
    if smallest < 2 * n_folds:
        raise ValueError(
            f"n_folds={n_folds} needs {2 * n_folds} rows of each class, two in every fold; "
            f"the smaller class has {smallest}"
        )
    seed = int(rng.randint(2**31 - 1))
    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    for fold, (_, test) in enumerate(splitter.split(present, positive[present])):
        folds[present[test]] = fold
    return folds


def _weighted_interval(
    positive: npt.NDArray[np.bool_],
    scores: Floats,
    folds: npt.NDArray[np.int64],
    weight: Floats,
    rng: np.random.RandomState,
) -> AucInterval:
    """Mean of the weighted AUCs of the folds, each with its variance from a bootstrap."""
    parts = [
        auc_ci(
            positive[rows],
            scores[rows],
            method="bootstrap",
            n_resamples=_N_RESAMPLES,
            sample_weight=weight[rows],
            random_state=rng,
        )
        for rows in (folds == fold for fold in range(int(folds.max()) + 1))
    ]
    # As without weights: folds are independent, so that their variances add up.
    value = sum(part.value for part in parts) / len(parts)
    error = sqrt(sum(part.standard_error**2 for part in parts)) / len(parts)
    level = parts[0].level
    reach = normal_quantile(level) * error
    return AucInterval(
        value=value,
        low=max(value - reach, 0.0),
        high=min(value + reach, 1.0),
        level=level,
        method="stratified bootstrap within folds",
        standard_error=error,
        n_pos=sum(part.n_pos for part in parts),
        n_neg=sum(part.n_neg for part in parts),
        n_folds=len(parts),
    )


def _collected(X: Any) -> Any:
    """A narwhals frame where X is a data frame of any library, else X."""
    frame = nw.from_native(X, pass_through=True)
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _check_length(table: Any, n_labels: int) -> None:
    n_rows = table.shape[0] if hasattr(table, "shape") else len(table)
    if n_rows != n_labels:
        raise ValueError(f"X and y have inconsistent numbers of samples: {n_rows} and {n_labels}")


def _take(table: Any, rows: Rows) -> Any:
    """Some rows of a table, as a table of the same kind."""
    if isinstance(table, nw.DataFrame):
        return table[rows, :].to_native()
    return _safe_indexing(table, rows)
