"""`auctor show`: what a model file says about itself, above all its training record."""

import argparse
from typing import Any

import numpy as np

from auctor._learner_names import class_name
from auctor._text import aligned, count, first_few, interval, one_line, prediction_rule
from auctor.cli.output import emit
from auctor.models import ExplainedModel, Model, TrainingRecord, load
from auctor.models.explanation import shorten, value_text
from auctor.models.importance import can_rank_terms
from auctor.models.training_record import N_BANDS, ColumnSummary, Validation

_MOST_COLUMNS = 30
_LONGEST_NAME = 40
_MOST_CATEGORIES = 3
_MOST_PARAMETERS = 12
_LONGEST = 1_000  # characters of a line


def run(args: argparse.Namespace) -> None:
    """Print what a model says about itself."""
    show_model(args.model, as_json=args.json)


def show_model(path: str, *, as_json: bool) -> None:
    """Print the facts about a model, as text or as JSON."""
    model = load(path)
    facts = {
        "model": path,
        "form": model.form,
        "classes": list(model.classes),
        "threshold": model.threshold,
        "missing_codes": {name: list(codes) for name, codes in model.missing_codes.items()},
        "features": list(model.feature_names),
        "training": None if model.training is None else model.training.body(),
    }
    emit(facts, model_text(model, path), as_json)


def model_text(model: Model, path: str) -> str:
    """The facts about a model in lines of text."""
    features = count(len(model.feature_names), "feature")
    head = [
        f"{path}: a model of the form {model.form!r} with {features}",
        prediction_rule(model.classes, model.threshold),
    ]
    record = model.training
    if record is None:
        names = first_few(model.feature_names, 8)
        return "\n".join([*head, f"features: {names}", _NO_RECORD])
    lines = [*head, *_origin_lines(record), *_missing_lines(model), *_row_lines(record, model)]
    for validation in record.validations:
        lines += _validation_lines(validation)
    lines += ["", *_column_lines(record), *_pair_lines(model), "", *_band_lines(record)]
    return "\n".join(lines)


_NO_RECORD = (
    "There is no record of the training rows: the model was saved from Python without them, or by "
    "an earlier release. `estimator.save(path, X, y)` records them. `auctor explain MODEL` prints "
    "the model itself."
)


def _origin_lines(record: TrainingRecord) -> list[str]:
    origin = record.origin
    pairs = {
        "fitted": " ".join(
            text
            for text in (
                origin.date and f"on {origin.date}",
                origin.version and f"by auctor {origin.version}",
            )
            if text
        ),
        "learner": origin.learner and class_name(origin.learner),
        "trained for": origin.metric,
        "parameters": _parameters(origin.parameters),
        "table": origin.table,
        "SHA-256 of the table": origin.sha256,
        "target": origin.target,
    }
    return [
        f"{name}: {shorten(one_line(value), _LONGEST)}" for name, value in pairs.items() if value
    ]


def _missing_lines(model: Model) -> list[str]:
    """The values of ``--missing``, with the columns that have them."""
    columns: dict[tuple[Any, ...], list[str]] = {}
    for name, codes in model.missing_codes.items():
        columns.setdefault(tuple(value_text(code) for code in codes), []).append(name)
    parts = [
        f"{', '.join(codes)} in {'all columns' if _are_all(names, model) else first_few(names, 4)}"
        for codes, names in columns.items()
    ]
    return [f"values read as missing: {'; '.join(parts)}"] if parts else []


def _are_all(names: list[str], model: Model) -> bool:
    return len(names) == len(model.feature_names)


def _pair_lines(model: Model) -> list[str]:
    """What the importances have that those of `auctor fit` and the report do not have."""
    if not isinstance(model, ExplainedModel) or not can_rank_terms(model):
        return []
    if len(model.term_names) <= len(model.feature_names):
        return []
    return [
        "Half of the importance of a pair of features counts for each of them; `auctor fit` and "
        "the report list pairs by themselves."
    ]


def _parameters(parameters: dict[str, Any]) -> str:
    shown = [f"{name}={shorten(str(value))}" for name, value in parameters.items()]
    more = f", ... {len(shown) - _MOST_PARAMETERS} more" if len(shown) > _MOST_PARAMETERS else ""
    return ", ".join(shown[:_MOST_PARAMETERS]) + more


def _row_lines(record: TrainingRecord, model: Model) -> list[str]:
    positive_fraction = record.n_pos / max(record.n_rows, 1)
    line = (
        f"training rows: {record.n_rows:,}, {record.n_pos:,} of them positive "
        f"({model.classes[1]!r}, {positive_fraction:.1%})"
    )
    if record.has_weights:
        negative, positive = record.effective_rows
        line += (
            f"; with weights, effectively {negative:,.0f} negatives and {positive:,.0f} positives"
        )
    return [line]


def _validation_lines(validation: Validation) -> list[str]:
    title = one_line(f"{validation.kind} ({validation.description})")
    lines = []
    for name, metric in validation.metrics.items():
        known = name.upper() if name in ("auc", "ks") else name
        ends = interval(metric.low, metric.high, metric.level)
        lines.append(f"{title}: {known} {metric.value:.3f} ({ends})")
    return lines


def _column_lines(record: TrainingRecord) -> list[str]:
    """The features as a table, the most important ones first."""
    if not record.columns:
        return ["The features are not described: there are too many."]
    ordered = sorted(record.columns, key=lambda column: -(column.importance or 0.0))
    rows = [["feature", "importance", "missing", "values in training"]]
    rows += [_column_cells(column) for column in ordered[:_MOST_COLUMNS]]
    lines = aligned(rows)
    if len(ordered) > _MOST_COLUMNS:
        lines.append(f"... and {len(ordered) - _MOST_COLUMNS} more features; --json has them all")
    return lines


def _column_cells(column: ColumnSummary) -> list[str]:
    total = max(column.n_rows, 1)
    importance = "" if column.importance is None else f"{column.importance:.1%}"
    return [
        shorten(one_line(column.name), _LONGEST_NAME),
        importance,
        f"{column.n_missing / total:.1%}",
        _values(column, total),
    ]


def _values(column: ColumnSummary, total: int) -> str:
    if not column.is_category:
        if column.low is None:
            return "no value"
        return f"{column.low:g} to {column.high:g}"
    counts = column.counts.sum(axis=0)[1:]
    shown = [
        f"{shorten(one_line(str(name)))} {number / total:.1%}"
        for name, number in zip(column.categories, counts.tolist(), strict=False)
    ][:_MOST_CATEGORIES]
    more = ", ..." if column.n_categories > len(shown) else ""
    noun = "category" if column.n_categories == 1 else "categories"
    return f"{column.n_categories} {noun}: {', '.join(shown)}{more}"


def _band_lines(record: TrainingRecord) -> list[str]:
    """Score bands from the highest to the lowest; rates of rows that the model had not seen.

    The record has finer bands; here they are of a tenth of the training rows, as on the page.
    """
    validation = record.validations[0] if record.validations else None
    counts = record.scores.counts if validation is None else validation.counts
    where = "the training rows" if validation is None else validation.kind
    first = record.scores.coarser(N_BANDS)
    counts = np.add.reduceat(counts, first, axis=1)
    edges = [f"{cut:.4g}" for cut in record.scores.cuts[first[1:] - 1]]
    lows, highs = ["", *edges], [*edges, ""]
    rows = [["score above", "up to", "rows", "positive"]]
    for k in reversed(range(len(lows))):
        negative, positive = counts[:, k].tolist()
        n = negative + positive
        rows.append([lows[k], highs[k], f"{n:,}", f"{positive / n:.1%}" if n else ""])
    weights = ", each row counting once" if record.has_weights else ""
    title = f"bands of a tenth of the training rows by score, rates of {where}{weights}:"
    return [title, *aligned(rows)]
