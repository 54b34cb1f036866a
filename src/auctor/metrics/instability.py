"""Fraction of the variance of a cross-validated AUC that comes from the training sets."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.metrics.folds import Part, cut_folds
from auctor.metrics.influence import Influences, difference, influences, product
from auctor.metrics.sample import Sample, read_codes, read_sample


def fold_instability(
    y_true: npt.ArrayLike,
    scores: npt.ArrayLike,
    folds: npt.ArrayLike,
    *,
    scores_b: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Fraction of the variance of a cross-validated AUC that comes from the training sets.

    The influence of each row on the AUC of its fold is computed with the model that was fitted
    without the fold and with the models of the other folds. The result is
    ``(n_folds - 1) * (1 - r)``, cut to [0, 1], where r is the correlation of the two influences
    over all rows: the training sets of two folds share all but a fraction ``1 / (n_folds - 1)`` of
    their rows, hence the factor. The other models were fitted with the row itself, which makes
    them differ a little more. For learners that fit their training rows closely, the result
    therefore tends to be too large.

    Parameters
    ----------
    y_true, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    scores : array-like of shape (n_rows, n_folds)
        The score of every row by the model of every fold, with columns in the sorted order of the
        values of ``folds``. Rows with a missing value (NaN) are ignored, so that the scores of a
        sample of rows are enough.
    folds : array-like of shape (n_rows,)
        The fold of each row.
    scores_b : array-like of shape (n_rows, n_folds), optional
        The scores of a second learner. The result is then that for the difference of the two AUCs.
    groups : array-like of shape (n_rows,), optional
        The group of each row, if rows of one group depend on each other.

    Returns
    -------
    float
        A number between 0 (all models rank the rows in the same way) and 1 (the models have
        nothing in common), for the parameter ``instability`` of :func:`auctor.metrics.auc_ci`,
        :func:`auctor.metrics.compare_auc` and the other intervals and comparisons.

    Examples
    --------
    >>> y, folds = [0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [1, 2, 4, 3, 2, 5, 1, 3]
    >>> fold_instability(y, np.column_stack([s, s]), folds)
    0.0
    >>> round(fold_instability(y, np.column_stack([s, [1, 3, 5, 3, 4, 5, 1, 3]]), folds), 3)
    0.184
    """
    tables = [_read_scores(table, name) for name, table in _by_name(scores, scores_b).items()]
    n_folds = tables[0].shape[1]
    known = np.isfinite(np.column_stack(tables)).all(axis=1)
    columns = {f"column {j}": table[known, k] for j, (table, k) in enumerate(_pairs(tables))}
    weight = None if sample_weight is None else np.asarray(sample_weight)[known]
    sample = read_sample(
        np.asarray(y_true)[known], columns, sample_weight=weight, pos_label=pos_label
    )
    own_folds = np.asarray(folds)[known]
    own_groups = None if groups is None else np.asarray(groups)[known]
    _check_columns(n_folds, own_folds, sample)
    return _fraction(cut_folds(sample, own_folds, None, own_groups), n_folds, len(tables) == 2)


def _by_name(scores: Any, scores_b: Any) -> dict[str, Any]:
    return {"scores": scores} | ({} if scores_b is None else {"scores_b": scores_b})


def _pairs(tables: list[Floats]) -> list[tuple[Floats, int]]:
    """All columns of all tables, table by table."""
    return [(table, k) for table in tables for k in range(table.shape[1])]


def _read_scores(scores: Any, name: str) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"{name} has shape {table.shape}; give an array of shape (n_rows, n_folds) with at "
            "least two folds"
        )
    return table


def _check_columns(n_folds: int, folds: Any, sample: Sample) -> None:
    n_given = len(read_codes(folds, sample, "folds")[0])
    if n_given != n_folds:
        raise ValueError(
            f"scores has {n_folds} columns for {n_given} folds; give one column per fold"
        )


def _fraction(parts: list[Part], n_folds: int, is_difference: bool) -> float:
    """(n_folds - 1) (1 - r), r the correlation of the influences under own and other models."""
    shared = own = others = 0.0
    for k, part in enumerate(parts):
        models = [_influences(part.sample, c, n_folds, is_difference) for c in range(n_folds)]
        for c in range(n_folds):
            if c == k:
                continue
            shared += product(models[k], models[c], part.sample, part.groups)
            own += product(models[k], models[k], part.sample, part.groups)
            others += product(models[c], models[c], part.sample, part.groups)
    if own == 0.0 and others == 0.0:
        return 0.0 if is_difference else 1.0
    correlation = shared / math.sqrt(own * others) if own * others > 0 else 0.0
    # Rounded, so that equal models, whose correlation is 1 up to rounding, give exactly 0.
    return float(np.clip(round((n_folds - 1) * (1 - correlation), 12), 0.0, 1.0))


def _influences(sample: Sample, column: int, n_folds: int, is_difference: bool) -> Influences:
    """Influences under the model of one fold; for two learners, those on the difference."""
    of_a = influences(sample, column)
    if not is_difference:
        return of_a
    return difference(of_a, influences(sample, n_folds + column))
