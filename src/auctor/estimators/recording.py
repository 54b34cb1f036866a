"""The training record of a fitted estimator: its rows in aggregate, for the file of its model."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from auctor import __version__
from auctor._text import count
from auctor._typing import Bools, Floats
from auctor.data import Table, read_labels, read_weights, select
from auctor.data.labelled import check_lengths
from auctor.estimators.out_of_fold import CrossValidation
from auctor.metrics import AucInterval, MetricInterval, ks_ci
from auctor.metrics.training_metric import Metric
from auctor.models import ExplainedModel, Model, TrainingRecord, make_record
from auctor.models.importance import can_rank_terms, feature_importances, term_importances
from auctor.models.make_record import make_validation
from auctor.models.training_record import Measured, Origin, Validation

_LONGEST_LIST = 100
_LONGEST_TEXT = 200
# What the parameter ``metric`` of a learner is called in a record and on the command line.
_KINDS = {"auc": "auc", "ks": "ks", "precision_at_k": "p@k", "partial_auc": "pauc"}


def recorded_model(
    estimator: Any,
    table: Table,
    y: Any,
    sample_weight: Any,
    validation: Any,
    *,
    target: Any = None,
) -> Model:
    """The model of a fitted estimator with a record of its training rows.

    The arguments are those of ``RankingEstimator.save``; ``table`` is X as the estimator reads it,
    and ``target`` the name of y where y does not have it.
    """
    model: Model = estimator.model_
    labels = read_labels(y, pos_label=estimator.pos_label_)
    if set(labels.classes.tolist()) != set(estimator.classes_.tolist()):
        raise ValueError(
            f"y has the labels {labels.classes.tolist()}, and the model was fitted to "
            f"{estimator.classes_.tolist()}; give the rows of the fit"
        )
    positive = labels.positive
    check_lengths(table.n_rows, len(positive))
    weight = read_weights(sample_weight, len(positive))
    folds = None if validation is None else _check_validation(validation, len(positive))
    target = getattr(y, "name", target)
    record = record_rows(estimator, table, positive, weight, make_origin(estimator, target))
    if record is None:
        return model
    if folds is not None:
        description = count(int(folds.folds.max()) + 1, "fold")
        if folds.rows is not None:
            description += " in the order of time"
        own = out_of_fold(
            model, record, folds, table, positive, weight, _metrics(folds, positive, weight)
        )
        record = replace(record, validations=(replace(own, description=description),))
    return replace(model, training=record)


def record_rows(
    estimator: Any,
    table: Table,
    positive: Bools,
    weight: Floats | None,
    origin: Origin,
    scores: Floats | None = None,
) -> TrainingRecord | None:
    """The record of the training rows, in memory or in files; ``scores`` if they are known."""
    importances = _importances(estimator, table, positive, weight)
    return make_record(
        estimator.model_,
        table,
        positive,
        weight,
        origin=origin,
        importances=importances,
        scores=scores,
    )


def _check_validation(validation: Any, n_rows: int) -> CrossValidation:
    if not isinstance(validation, CrossValidation):
        raise ValueError(
            f"validation is of type {type(validation).__name__}; give the result of "
            "auctor.cross_val_auc on the rows of the fit"
        )
    n_tested = len(validation.scores)
    is_same = n_tested == n_rows if validation.rows is None else validation.rows[-1] < n_rows
    if not is_same:
        raise ValueError(
            f"validation is of {n_tested} rows, and X has {n_rows}; give the result of "
            "auctor.cross_val_auc on the rows of the fit"
        )
    return validation


def make_origin(estimator: Any, target: Any) -> Origin:
    """Where a model comes from: the estimator, its parameters, the time."""
    metric = training_metric(estimator)
    return Origin(
        version=__version__,
        date=now(),
        learner=type(estimator).__name__,
        parameters=plain_parameters(recorded_parameters(estimator)),
        metric=None if metric is None else str(metric),
        target=target if isinstance(target, str) else None,
    )


def now() -> str:
    """The time, as a record has it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def recorded_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters of an estimator, without folds that are lists of rows."""
    return {
        name: value
        for name, value in estimator.get_params().items()
        if name != "cv" or value is None or isinstance(value, int)
    }


def training_metric(estimator: Any) -> Metric | None:
    """The metric that an estimator trains for; None for a metric of the user's own.

    Examples
    --------
    >>> from auctor import ExactBoost, SmoothAUCBoost
    >>> str(training_metric(ExactBoost(metric="precision_at_k", k=0.1)))
    'p@k:0.1'
    >>> str(training_metric(SmoothAUCBoost(fpr_range=(0, 0.2))))
    'pauc:0-0.2'
    """
    parameters = estimator.get_params(deep=False)
    name = parameters.get("metric", estimator._trains_for)
    fpr_range = parameters.get("fpr_range")
    kind = _KINDS.get(name) if isinstance(name, str) else None
    if fpr_range is not None:
        return Metric("pauc", fpr_range=(float(fpr_range[0]), float(fpr_range[1])))
    if kind is None or kind == "pauc":
        return None
    return Metric(kind, k=parameters["k"] if kind == "p@k" else None)


def _importances(
    estimator: Any, table: Table, positive: Bools, weight: Floats | None
) -> Floats | None:
    """The importance of each feature, as on the page of a report; None if it is not known."""
    model = estimator.model_
    if isinstance(model, ExplainedModel) and can_rank_terms(model):
        columns = select(table, model.feature_names, type(model).__name__)
        counted = np.ones(table.n_rows) if weight is None else weight
        terms = term_importances(model, table, columns, positive, counted)
        return feature_importances(model, terms)
    values = getattr(estimator, "feature_importances_", None)
    return None if values is None else np.asarray(values, dtype=np.float64)


def out_of_fold(
    model: Model,
    record: TrainingRecord,
    folds: CrossValidation,
    X: Any,
    positive: Bools,
    weight: Floats | None,
    metrics: dict[str, Measured],
) -> Validation:
    """A cross-validation, with out-of-fold scores on the scale of the model of all rows."""
    scores = folds.scores_of(model, X, weight)
    tested = folds.tested(weight)
    present = np.ones(len(scores), dtype=bool) if tested is None else tested > 0
    return make_validation(
        model,
        record,
        scores[present],
        folds.tested(positive)[present],
        metrics,
        kind="cross-validation",
        description="",
        weight=None if tested is None else tested[present],
    )


def _metrics(folds: CrossValidation, positive: Bools, weight: Floats | None) -> dict[str, Measured]:
    ks = ks_ci(
        folds.tested(positive),
        folds.scores,
        folds=folds.folds,
        instability=folds.instability,
        sample_weight=folds.tested(weight),
        groups=folds.groups,
    )
    return {"auc": measured(folds.auc), "ks": measured(ks)}


def measured(metric: AucInterval | MetricInterval) -> Measured:
    """A metric with its interval, as the record keeps it."""
    return Measured(float(metric.value), float(metric.low), float(metric.high), float(metric.level))


def plain_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as JSON values; whatever JSON cannot hold as short text.

    Examples
    --------
    >>> plain_parameters({"k": None, "rates": (0.1, 0.2), "rng": np.int64(3)})
    {'k': None, 'rates': [0.1, 0.2], 'rng': 3}
    """
    return {str(name): _plain(value) for name, value in parameters.items()}


def _plain(value: Any, depth: int = 2) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, (list, tuple)) and depth and len(value) <= _LONGEST_LIST:
        return [_plain(item, depth - 1) for item in value]
    if isinstance(value, dict) and depth and len(value) <= _LONGEST_LIST:
        return {str(name): _plain(item, depth - 1) for name, item in value.items()}
    return str(value)[:_LONGEST_TEXT]
