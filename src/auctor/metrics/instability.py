"""How much of an AUC's variance comes from the training set: models of several folds compared."""

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
    """Share of the variance of a cross-validated AUC that comes from the training sets.

    For each row, its contribution to the AUC of its fold is compared between the model that was
    fitted without the fold and the models of the other folds. Models of two folds share all but
    ``1 / (n_folds - 1)`` of their rows, so that ``1 - correlation`` is multiplied by
    ``n_folds - 1``. The other models were fitted with the row, which makes them differ a little
    more: for learners that fit their training rows closely the share errs upwards.

    Parameters
    ----------
    y_true, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    scores : array-like of shape (n_rows, n_folds)
        Scores of every row by the model of every fold; the columns are in the sorted order of the
        folds' names. Rows with a missing value (NaN) are left out: a sample of rows is enough.
    folds : array-like of shape (n_rows,)
        The fold of each row.
    scores_b : array-like of shape (n_rows, n_folds), optional
        Scores of a second learner: the share is then that of the difference of the two AUCs.
    groups : array-like of shape (n_rows,), optional
        Rows that vary together.

    Returns
    -------
    float
        Between 0 (one fixed model) and 1 (nothing that the models have in common), for the
        argument ``instability`` of :func:`auctor.metrics.auc_ci` and of the comparisons.

    Examples
    --------
    >>> y, s = [0, 1, 0, 1, 0, 1, 0, 1], [1, 2, 4, 3, 2, 5, 1, 3]
    >>> same = np.column_stack([s, s])
    >>> fold_instability(y, same, [0, 0, 0, 0, 1, 1, 1, 1])
    0.0
    """
    tables = [_read_scores(table, name) for name, table in _given(scores, scores_b).items()]
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
    return _share(cut_folds(sample, own_folds, None, own_groups), n_folds, len(tables) == 2)


def _given(scores: Any, scores_b: Any) -> dict[str, Any]:
    return {"scores": scores} | ({} if scores_b is None else {"scores_b": scores_b})


def _pairs(tables: list[Floats]) -> list[tuple[Floats, int]]:
    """All columns of all tables, one table after the other."""
    return [(table, k) for table in tables for k in range(table.shape[1])]


def _read_scores(scores: Any, name: str) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"{name} has shape {table.shape}; give a row for each row and a column for each fold"
        )
    return table


def _check_columns(n_folds: int, folds: Any, sample: Sample) -> None:
    found = len(read_codes(folds, sample, "folds")[0])
    if found != n_folds:
        raise ValueError(f"scores has {n_folds} columns for {found} folds; give one for each fold")


def _share(parts: list[Part], n_folds: int, is_difference: bool) -> float:
    """(n_folds - 1) (1 - r), r the correlation of the influences under own and other models."""
    shared = own = others = 0.0
    for k, part in enumerate(parts):
        found = [_influences(part.sample, c, n_folds, is_difference) for c in range(n_folds)]
        for c in range(n_folds):
            if c == k:
                continue
            shared += product(found[k], found[c], part.sample, part.groups)
            own += product(found[k], found[k], part.sample, part.groups)
            others += product(found[c], found[c], part.sample, part.groups)
    if own == 0.0 and others == 0.0:
        return 0.0 if is_difference else 1.0
    correlation = shared / math.sqrt(own * others) if own * others > 0 else 0.0
    # Rounding aside, equal models have a correlation of exactly 1.
    return float(np.clip(round((n_folds - 1) * (1 - correlation), 12), 0.0, 1.0))


def _influences(sample: Sample, column: int, n_folds: int, is_difference: bool) -> Influences:
    found = influences(sample, column)
    if not is_difference:
        return found
    return difference(found, influences(sample, n_folds + column))
