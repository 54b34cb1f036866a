"""`auctor evaluate`: how well a model ranks rows whose labels are known."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from auctor.cli.breakdown import Compare, read_breakdown, read_compare, subgroup_text
from auctor.cli.errors import UsageError
from auctor.cli.evaluate_batches import read_in_batches
from auctor.cli.evaluated_rows import (
    FPR_RANGE,
    TOP,
    Criterion,
    EvaluatedRows,
    Measures,
    RowsInMemory,
    budget_warning,
    measure_lines,
)
from auctor.cli.facts import auc_facts, interval_facts
from auctor.cli.labels import Label
from auctor.cli.large import is_large
from auctor.cli.model_rows import (
    Labelled,
    check_strict,
    compare_with_training,
    read_labelled,
    training_warnings,
)
from auctor.cli.options import ColumnRoles
from auctor.cli.output import emit, warn
from auctor.cli.table_file import TableFile
from auctor.cli.tables import open_table
from auctor.data.stored.spill import SpillFolder
from auctor.metrics import GroupTable, OperatingPoint, Threshold, by_group
from auctor.models import Model, load


@dataclass(frozen=True)
class EvaluateOptions:
    """The options of ``auctor evaluate``."""

    model: str
    table: str
    delimiter: str | None
    roles: ColumnRoles
    criteria: tuple[Criterion, ...]
    confidence: float | None
    by: tuple[str, ...]
    compare: Compare
    strict: bool
    seed: int
    as_json: bool
    max_memory: str | None
    spill_dir: str | None


@dataclass(frozen=True, eq=False)
class Evaluated:
    """The result of an evaluation: what is printed."""

    table: str  # its name
    positive: Label
    n_pos: int
    n_neg: int
    measures: Measures
    thresholds: list[Threshold]  # one for each criterion
    subgroups: dict[str, GroupTable]  # by the column
    warnings: list[str]


def run(args: argparse.Namespace) -> None:
    """Read the options and evaluate the model."""
    criteria = tuple(parse_criterion(text) for text in args.at)
    _check_confidence(args.confidence, criteria)
    if is_large(args.table, args.max_memory):
        _refuse_in_batches(args)
    evaluate_model(
        EvaluateOptions(
            model=args.model,
            table=args.table,
            delimiter=args.delimiter,
            roles=ColumnRoles.for_evaluation(args),
            criteria=criteria,
            confidence=args.confidence,
            by=tuple(args.by),
            compare=read_compare(args),
            strict=args.strict,
            seed=args.seed,
            as_json=args.json,
            max_memory=args.max_memory,
            spill_dir=args.spill_dir,
        )
    )


def evaluate_model(options: EvaluateOptions) -> None:
    """Score a table, compare with its labels, print the measures."""
    model = load(options.model)
    source = open_table(options.table, options.delimiter)
    if is_large(options.table, options.max_memory):
        check_strict(model, options.strict, options.model)
        with SpillFolder(options.spill_dir) as spill:
            stored, findings = read_in_batches(
                model, source, options.roles, options.max_memory, spill
            )
            unlike = training_warnings(findings, options.strict)
            evaluated = _evaluate(model, source, stored, unlike, options)
    else:
        rows = read_labelled(model, source, options.roles)
        breakdown = read_breakdown(source, rows.X, options.by, None, options.roles.target)
        unlike = compare_with_training(model, rows.X, options.strict, options.model)
        evaluated = _evaluate(model, source, RowsInMemory(rows), unlike, options)
        thresholds = evaluated.thresholds
        cut = thresholds[0].value if thresholds else model.threshold
        for name, values in breakdown.by.items():
            evaluated.subgroups[name] = _subgroups(model, rows, values, cut, options.compare)
    emit(_facts(evaluated, options), _text(evaluated, options), options.as_json)


def _evaluate(
    model: Model,
    source: TableFile,
    rows: EvaluatedRows,
    unlike: list[str],
    options: EvaluateOptions,
) -> Evaluated:
    """The measures of scored rows; ``unlike`` are warnings about rows unlike the training rows."""
    budgets = (budget_warning(criterion, rows) for criterion in options.criteria)
    warnings = [
        *unlike,
        *rows.seen(model, source.sha256()),
        *(sentence for sentences in budgets for sentence in sentences),
    ]
    warn(warnings)
    return Evaluated(
        table=source.name,
        positive=model.classes[1],
        n_pos=rows.n_pos,
        n_neg=rows.n_neg,
        thresholds=[rows.threshold(each, options.confidence) for each in options.criteria],
        measures=rows.measure(model.threshold, options.seed),
        subgroups={},
        warnings=warnings,
    )


def _refuse_in_batches(args: argparse.Namespace) -> None:
    """Raise an error for options that need all rows in memory."""
    for name in ("weight", "group", "by"):
        if getattr(args, name) not in (None, []):
            raise UsageError(
                f"--{name} needs all rows in memory, and these are read in batches; give a file "
                "without --max-memory"
            )


def _facts(evaluated: Evaluated, options: EvaluateOptions) -> dict[str, Any]:
    """The evaluation in plain values."""
    return {
        "model": options.model,
        "table": evaluated.table,
        "target": options.roles.target,
        "rows": evaluated.n_pos + evaluated.n_neg,
        "positive": evaluated.positive,
        "n_pos": evaluated.n_pos,
        "n_neg": evaluated.n_neg,
        **_measure_facts(evaluated.measures),
        "at": [
            {
                **criterion.arguments(),
                "confidence": options.confidence,
                **_threshold_facts(threshold),
            }
            for criterion, threshold in zip(options.criteria, evaluated.thresholds, strict=True)
        ],
        "by": {name: table.to_dict() for name, table in evaluated.subgroups.items()},
        "warnings": evaluated.warnings,
    }


def _text(evaluated: Evaluated, options: EvaluateOptions) -> str:
    """The evaluation in lines of text."""
    table_line = (
        f"{evaluated.table}: {evaluated.n_pos + evaluated.n_neg} rows, {evaluated.n_pos} of them "
        f"positive ({options.roles.target} = {evaluated.positive})"
    )
    thresholds = (_threshold_lines(each, options.model) for each in evaluated.thresholds)
    groups = subgroup_text(evaluated.subgroups)
    return "\n".join([table_line, *measure_lines(evaluated.measures), *thresholds, *groups])


def parse_criterion(text: str) -> Criterion:
    """Read ``fpr=0.1``, ``tpr=0.9``, ``precision=0.5``, ``budget=100`` or ``cost=5``.

    Examples
    --------
    >>> parse_criterion("budget=100")
    Criterion(kind='budget', value=100)
    """
    kind, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if kind not in ("fpr", "tpr", "precision", "budget", "cost") or math.isnan(number):
        raise UsageError(
            f"--at is {text!r}; give fpr=0.1, tpr=0.9, precision=0.5, budget=100 or cost=5"
        )
    if kind in ("fpr", "tpr", "precision") and not 0 <= number <= 1:
        raise UsageError(f"--at is {text!r}; give a rate between 0 and 1")
    if number < 0 or (kind == "cost" and not 0 < number < math.inf):
        raise UsageError(f"--at is {text!r}; give a number above 0")
    is_count = kind == "budget" and number >= 1
    if is_count and not number.is_integer():
        raise UsageError(
            f"--at is {text!r}; give a whole number of rows, or a fraction of them below 1"
        )
    return Criterion(kind, int(number) if is_count else number)


def _check_confidence(confidence: float | None, criteria: Sequence[Criterion]) -> None:
    if confidence is None:
        return
    if not criteria:
        raise UsageError("--confidence needs --at, such as --at fpr=0.1 --confidence 0.95")
    if not 0 < confidence < 1:
        raise UsageError(f"--confidence is {confidence:g}; give a number between 0 and 1")
    others = [each.kind for each in criteria if each.kind in ("cost", "precision")]
    if others:
        raise UsageError(
            f"--confidence works with fpr, tpr and budget, not with --at {others[0]}=..."
        )


def _subgroups(
    model: Model, rows: Labelled, values: Any, threshold: float, compare: Compare
) -> GroupTable:
    """The quality in each group of rows."""
    return by_group(
        rows.positive,
        rows.scores,
        values,
        threshold=threshold,
        compare=compare,
        probability=model.probabilities(rows.scores)[:, 1],
        clusters=rows.groups,
        sample_weight=rows.weight,
    )


def _measure_facts(measures: Measures) -> dict[str, Any]:
    return {
        **auc_facts(measures.auc),
        **interval_facts("ks", measures.ks),
        **interval_facts("partial_auc", measures.partial_auc),
        "partial_auc_fpr": list(FPR_RANGE),
        **interval_facts("precision_at_top", measures.precision),
        "top": TOP,
        "at_threshold": _point_facts(measures.point, measures.threshold),
    }


def _threshold_facts(threshold: Threshold) -> dict[str, Any]:
    """A threshold in plain values, with its sentence."""
    return {
        **_point_facts(threshold.point, threshold.value),
        "low": threshold.low,
        "high": threshold.high,
        "intervals": {name: list(getattr(threshold, name)) for name in ("tpr", "fpr", "precision")},
        "sentence": str(threshold),
    }


def _point_facts(point: OperatingPoint, threshold: float) -> dict[str, float]:
    return {
        "threshold": threshold,
        "tpr": point.tpr,
        "fpr": point.fpr,
        "precision": point.precision,
        "flagged": point.flagged,
    }


def _threshold_lines(threshold: Threshold, model: str) -> str:
    """The sentence of a threshold, and the command that uses it."""
    value = threshold.value
    if not math.isfinite(value):
        return str(threshold)
    return (
        f"{threshold}\n  to predict with this threshold: "
        f"auctor score {model} NEW_TABLE --threshold {value!r}"
    )
