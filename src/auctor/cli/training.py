"""The training record of `auctor fit`: what the model file remembers of the table and the folds."""

from dataclasses import replace

from auctor import __version__
from auctor._text import file_name
from auctor.cli.fit_result import FitResult
from auctor.cli.holdout import HoldoutResult
from auctor.cli.validation import Validated, describe_folds
from auctor.data import read_table
from auctor.estimators.recording import measured, now, out_of_fold, plain_parameters
from auctor.models import Model, TrainingRecord, make_record
from auctor.models.make_record import make_validation
from auctor.models.training_record import Measured, Origin, Validation


def recorded_model(result: FitResult, sha256: str) -> Model:
    """The fitted model with its training record."""
    problem = result.problem
    model = result.estimator.model_
    origin = Origin(
        version=__version__,
        date=now(),
        learner=result.learner,
        parameters=plain_parameters(result.parameters),
        metric=str(result.metric),
        target=problem.target,
        table=file_name(problem.table),
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
    """The cross-validation of the fit."""
    problem, folds = result.problem, validated.result
    rows = problem.X, problem.positive, problem.weight
    metrics = _metrics(result, validated)
    own = out_of_fold(result.estimator.model_, record, folds, *rows, metrics)
    return replace(own, description=describe_folds(folds, problem))


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
