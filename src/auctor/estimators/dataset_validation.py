"""How good a fit to a data set is on rows that it has not seen: one fold is held out."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from auctor._typing import Bools, Floats
from auctor.data import read_labels
from auctor.data.stored.dataset import StoredRows
from auctor.estimators.base import FitInput, RankingEstimator
from auctor.estimators.folds import draw_folds
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.metrics import AucInterval, auc_ci
from auctor.models import Model

# Drawing folds needs about as many bytes for each row as the search of SmoothAUCBoostCV.
FOLD_BYTES = 100


class HeldOutFold(NamedTuple):
    """The AUC of a model on the fold that it has not seen."""

    n_rows: int
    n_pos: int
    auc: AucInterval


def fit_rows(
    estimator: RankingEstimator, rows: StoredRows, checkpoint: Checkpoint | None = None
) -> None:
    """Fit an estimator to all rows of an open data set."""
    estimator._fit_rows(rows, checkpoint)


def hold_out_fold(
    estimator: RankingEstimator,
    rows: StoredRows,
    n_folds: int,
    seed: int,
    checkpoint: Checkpoint | None = None,
) -> HeldOutFold:
    """Fit a copy of the estimator without the first of ``n_folds`` folds, and score that fold.

    Folds are stratified, and copies of a row are in the same fold. Held-out rows have weight 0 in
    the fit, which is the same as if they were absent, and are scored in batches.
    """
    given = FitInput(rows.table, rows.table, rows.y, rows.weight)
    held = draw_folds(
        n_folds,
        given,
        pos_label=estimator.pos_label,
        categorical_features=estimator.categorical_features,
        random_state=seed,
        instead="--cv 0",
    )[0][1]
    mask = np.zeros(len(rows.y), dtype=bool)
    mask[held] = True
    weight = np.ones(len(rows.y)) if rows.weight is None else np.array(rows.weight, dtype=float)
    weight[mask] = 0.0
    model = clone(estimator)._fit_rows(rows._replace(weight=weight), checkpoint).model_
    labels = read_labels(rows.y, pos_label=estimator.pos_label)
    scores = _score_rows(model, rows, mask)
    tested: dict[str, Any] = {}
    if rows.weight is not None:
        tested["sample_weight"] = np.asarray(rows.weight)[mask]
    positive = labels.positive[mask]
    return HeldOutFold(len(positive), int(positive.sum()), auc_ci(positive, scores, **tested))


def _score_rows(model: Model, rows: StoredRows, mask: Bools) -> Floats:
    """The scores of the chosen rows, batch by batch."""
    scores, start = [], 0
    for batch in rows.table.row_batches():
        chosen = np.flatnonzero(mask[start : start + batch.num_rows])
        start += batch.num_rows
        if len(chosen):
            scores.append(model.decision_function(batch.take(chosen)))
    return np.concatenate(scores)
