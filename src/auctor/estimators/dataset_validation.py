"""How good a fit to a data set is on rows that it has not seen: one fold is held out."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from auctor._typing import Bools, Floats, Ints
from auctor.data import read_labels, read_weights
from auctor.data.stored.dataset import StoredRows
from auctor.estimators.base import RankingEstimator
from auctor.estimators.fit_input import FitInput
from auctor.estimators.folds import draw_folds
from auctor.estimators.out_of_fold import scores_at, training_ranks
from auctor.estimators.recording import measured, record_rows
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.metrics import AucInterval, MetricInterval, auc_ci, ks_ci
from auctor.models import Model
from auctor.models.batches import scores_of_table
from auctor.models.make_record import make_validation
from auctor.models.training_record import Origin

# Drawing folds needs about as many bytes for each row as the search of SmoothAUCBoostCV.
FOLD_BYTES = 100


class HeldOutFold(NamedTuple):
    """The AUC and the KS of a model on the fold that it has not seen."""

    n_rows: int
    n_pos: int
    auc: AucInterval
    ks: MetricInterval
    rows: Ints  # positions of the held-out rows
    positive: Bools
    weight: Floats | None
    ranks: Floats  # of the scores among those of the training rows, as in CrossValidation


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
    scores = scores_of_table(model, rows.table)
    positive, tested = labels.positive[mask], None
    if rows.weight is not None:
        tested = np.asarray(rows.weight, dtype=np.float64)[mask]
    training = None if rows.weight is None else weight[~mask]
    return HeldOutFold(
        len(positive),
        int(positive.sum()),
        auc_ci(positive, scores[mask], sample_weight=tested),
        ks_ci(positive, scores[mask], sample_weight=tested),
        np.flatnonzero(mask),
        positive,
        tested,
        training_ranks(scores[~mask], training, scores[mask]),
    )


class RecordedRows(NamedTuple):
    """A model with its training record, and scores of the held-out rows on its scale."""

    model: Model
    held_out_scores: Floats | None


def recorded_rows(
    estimator: RankingEstimator,
    rows: StoredRows,
    origin: Origin,
    fold: HeldOutFold | None,
    n_folds: int,
) -> RecordedRows:
    """The model fitted to all rows of a data set, with its training record.

    The record has the same numbers as that of the table in memory. The held-out fold stands in the
    place of a cross-validation.
    """
    model: Model = estimator.model_
    positive = read_labels(rows.y, pos_label=estimator.pos_label).positive
    weight = read_weights(rows.weight, len(positive))
    scores = scores_of_table(model, rows.table)
    record = record_rows(estimator, rows.table, positive, weight, origin, scores)
    held = None if fold is None else scores_at(scores, weight, fold.ranks)
    if record is None:
        return RecordedRows(model, held)
    if fold is not None and held is not None:
        validation = make_validation(
            model,
            record,
            held,
            fold.positive,
            {"auc": measured(fold.auc), "ks": measured(fold.ks)},
            kind="cross-validation",
            description=f"one of {n_folds} folds",
            weight=fold.weight,
        )
        record = replace(record, validations=(validation,))
    return RecordedRows(replace(model, training=record), held)
