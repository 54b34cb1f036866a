"""The training record of `auctor fit`: what the model file remembers of the table and the folds."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

import numpy as np

from auctor import __version__
from auctor.cli.fit_result import FitResult
from auctor.cli.holdout import HoldoutResult
from auctor.cli.validation import Validated, describe_folds
from auctor.data import read_table
from auctor.metrics import AucInterval, MetricInterval
from auctor.models import Model, TrainingRecord, make_record
from auctor.models.make_record import make_validation
from auctor.models.training_record import Measured, Origin, Validation

_LONGEST_LIST = 100
_LONGEST_TEXT = 200


def recorded_model(result: FitResult, sha256: str) -> Model:
    """The fitted model with its training record."""
    problem = result.problem
    model = result.estimator.model_
    origin = Origin(
        version=__version__,
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        learner=result.learner,
        parameters=plain_parameters(result.parameters),
        metric=str(result.metric),
        target=problem.target,
        table=PurePath(problem.table).name,  # names of folders may be private
        sha256=sha256,
    )
    record = make_record(
        model,
        read_table(problem.X),
        problem.positive,
        problem.weight,
        origin=origin,
        importances=result.all_importances,
    )
    if record is None:
        return model
    validations = []
    if result.validated is not None:
        validations.append(_out_of_fold(result, result.validated, record))
    if result.holdout is not None:
        validations.append(_held_out(result.holdout, model, record))
    record = replace(record, validations=tuple(validations))
    return replace(model, training=record)


def _out_of_fold(result: FitResult, validated: Validated, record: TrainingRecord) -> Validation:
    """The cross-validation, with out-of-fold scores on the scale of the final model."""
    model, problem, folds = result.estimator.model_, result.problem, validated.result
    scores = folds.scores_of(model, problem.X, problem.weight)
    weight = folds.tested(problem.weight)
    present = np.ones(len(scores), dtype=bool) if weight is None else weight > 0
    return make_validation(
        model,
        record,
        scores[present],
        folds.tested(problem.positive)[present],
        _metrics(result, validated),
        kind="cross-validation",
        description=describe_folds(folds, problem),
        weight=None if weight is None else weight[present],
    )


def _held_out(holdout: HoldoutResult, model: Model, record: TrainingRecord) -> Validation:
    return make_validation(
        model,
        record,
        holdout.scores,
        holdout.positive,
        {name: measured(metric) for name, metric in holdout.metrics.items()},
        kind="holdout",
        description=holdout.table,
    )


def _metrics(result: FitResult, validated: Validated) -> dict[str, Measured]:
    metrics = {"auc": measured(validated.result.auc), "ks": measured(validated.ks)}
    if validated.metric_value is not None:
        metrics[str(result.metric)] = measured(validated.metric_value)
    return metrics


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
