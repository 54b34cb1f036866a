"""`auctor score` of a table larger than memory: rows are read, scored and written in batches."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from auctor._spreadsheet import spreadsheet_safe
from auctor.cli.batch_output import batch_writer, plain_type
from auctor.cli.large import batch_rows, in_step
from auctor.cli.model_rows import check_strict, feature_batches, needed_columns, training_warnings
from auctor.cli.output import warn
from auctor.cli.score_columns import Scorer, as_written
from auctor.cli.table_file import TableFile
from auctor.models import Model, Scorecard
from auctor.models.new_rows import RowComparison


@dataclass(frozen=True)
class Batched:
    """How rows are scored in batches."""

    name: str  # the model's file
    keep: list[str]
    out: Path | None  # None for standard output
    strict: bool
    digits: int | None  # None if the result is not CSV
    spreadsheet_safe: bool
    max_memory: str | None


def score_batches(
    model: Model | Scorecard, scorer: Scorer, source: TableFile, options: Batched
) -> dict[str, Any]:
    """Write the scores of all rows; the number of rows and the warnings.

    Rows are compared with the training rows while they are scored. With ``--strict`` an error at
    the end leaves no file.
    """
    names, _ = needed_columns(model, source, options.keep, ())
    n_rows = batch_rows(options.max_memory, len(names) + len(scorer.schema))
    comparison = RowComparison(model) if isinstance(model, Model) else None
    if isinstance(model, Model):
        check_strict(model, options.strict, options.name)
    batches = _batches(model, source, options.keep, n_rows)
    first = next(batches)
    schema = _schema(first[1], scorer, safe=options.spreadsheet_safe)
    total, warnings = 0, []
    with batch_writer(options.out, schema) as write:
        for rows, kept in _chain(first, batches):
            if comparison is not None:
                comparison.add(rows.select(list(model.feature_names)))
            columns = {} if kept is None else kept.to_pydict()
            written = as_written(
                columns, scorer.columns(rows), scorer, options.digits, options.spreadsheet_safe
            )
            write({**written[0], **written[1]})
            total += rows.num_rows
        if comparison is not None:
            warnings = training_warnings(comparison.findings(), options.strict)
    warn(warnings)
    return {"rows": total} | ({} if comparison is None else {"warnings": warnings})


Batch = tuple[pa.Table, pa.Table | None]


def _batches(
    model: Model | Scorecard, source: TableFile, keep: list[str], n_rows: int
) -> Iterator[Batch]:
    """The features of some rows, and their kept columns."""
    features = feature_batches(model, source, n_rows)
    if not keep:
        yield from ((rows, None) for rows in features)
        return
    yield from in_step(features, source.verbatim_batches(keep, n_rows))


def _chain(first: Batch, rest: Iterator[Batch]) -> Iterator[Batch]:
    yield first
    yield from rest


def _schema(kept: pa.Table | None, scorer: Scorer, *, safe: bool) -> pa.Schema:
    """The columns of the result and their types."""
    fields = [] if kept is None else [(field.name, plain_type(field.type)) for field in kept.schema]
    fields += [(field.name, field.type) for field in scorer.schema]
    if safe:
        names = spreadsheet_safe({name: [] for name, _ in fields})
        fields = [(name, kind) for name, (_, kind) in zip(names, fields, strict=True)]
    return pa.schema(fields)
