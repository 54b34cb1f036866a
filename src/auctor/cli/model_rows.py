"""The rows of a table as a fitted model needs them: features, labels, scores, reference."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from auctor._text import count, first_few
from auctor._typing import Bools, Floats
from auctor.cli.labels import (
    count_commas,
    first_comma,
    match_labels,
    odd_cells,
    read_target,
    read_weight_and_group,
    where,
)
from auctor.cli.missing import recode
from auctor.cli.options import ColumnRoles
from auctor.cli.tables import TableFile, open_table
from auctor.data import read_table
from auctor.models import ExplainedModel, Model, Scorecard, compare_rows
from auctor.models.explanation import shorten
from auctor.models.new_rows import Finding


def read_features(
    model: Model | Scorecard, source: TableFile, more: Sequence[str] = (), text: Sequence[str] = ()
) -> pa.Table:
    """The columns that a model needs, and ``more`` of them, with the types of the training data.

    Columns that the model does not use are not parsed, so that a date among them does no harm.
    """
    names, as_text = needed_columns(model, source, more, text)
    table = _recode(model, source.read(names, text=as_text))
    for column in model._columns:
        if not column.is_category:
            _check_numbers(table[column.name], column.name, source)
    return table


def feature_batches(
    model: Model | Scorecard,
    source: TableFile,
    n_rows: int,
    more: Sequence[str] = (),
    text: Sequence[str] = (),
) -> Iterator[pa.Table]:
    """The rows of :func:`read_features` in tables of at most ``n_rows`` rows."""
    names, as_text = needed_columns(model, source, more, text)
    start = 0
    for batch in source.batches(names, as_text, n_rows):
        table = _recode(model, batch)
        for column in model._columns:
            if not column.is_category:
                table = _with_numbers(table, column.name, source, start)
        start += table.num_rows
        yield table
    if start == 0:
        raise ValueError(f"{source.name} has a header but no rows")


def needed_columns(
    model: Model | Scorecard, source: TableFile, more: Sequence[str], text: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The columns to read, and those that stay text even if they look like numbers."""
    _require_features(model, source)
    names = list(dict.fromkeys([*_needed(model), *more]))
    return names, [*model.text_features, *text]


def _recode(model: Model | Scorecard, table: pa.Table) -> pa.Table:
    """The table with missing values in place of the model's codes for them."""
    present = table.column_names
    codes = {name: own for name, own in model.missing_codes.items() if name in present}
    return recode(table, codes)[0]


def _with_numbers(table: pa.Table, name: str, source: TableFile, start: int) -> pa.Table:
    """The table with numbers in this column, which is text where any cell of the file is.

    ``start`` is the number of rows before these.
    """
    column = table[name]
    if not _is_text(column.type):
        return table
    trimmed = pc.utf8_trim_whitespace(column)
    try:
        numbers = trimmed.cast(pa.float64())
    except pa.ArrowInvalid:
        row = next(i for i, cell in enumerate(trimmed.to_pylist()) if not _is_number(cell))
        raise ValueError(
            f"column {name!r} holds numbers in the model, and {shorten(column[row].as_py())!r} in "
            f"{where(start + row + 1, source.line_of)} of {source.name} is text; leave cells with "
            "missing values empty, and correct the others"
        ) from None
    return table.set_column(table.column_names.index(name), name, numbers)


def _is_number(cell: str | None) -> bool:
    try:
        pa.scalar(cell, pa.string()).cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def _check_numbers(column: pa.ChunkedArray, name: str, source: TableFile) -> None:
    """Raise an error for text where the model has numbers, with the cells to correct."""
    if not _is_text(column.type):
        return
    cells = read_table(pa.table({name: column})).categories(0)
    n_commas = count_commas(cells)
    if n_commas:
        raise ValueError(
            f"column {name!r} holds numbers in the model; {n_commas:,} of {len(column):,} cells of "
            f"{source.name} have commas, such as {str(first_comma(cells))!r}: save them with a "
            "decimal point and without thousands separators"
        )
    odd = odd_cells(cells, source.line_of)
    if odd:
        raise ValueError(
            f"column {name!r} holds numbers in the model and is read as text because of "
            f"{odd.words}; leave cells with missing values empty, and correct the others"
        )


def _needed(model: Model | Scorecard) -> tuple[str, ...]:
    """The columns that a table must have."""
    return model.used_features if isinstance(model, Scorecard) else model.feature_names


def _require_features(model: Model | Scorecard, source: TableFile) -> None:
    missing = [name for name in _needed(model) if name not in source.columns]
    if not missing:
        return
    advice = "where the values are not known, add the column with empty cells"
    if len(missing) == 1:
        try:
            source.require(missing)  # its error suggests the nearest name
        except ValueError as error:
            end = f" {advice.capitalize()}." if str(error).endswith("?") else f"; {advice}"
            raise ValueError(f"{error}{end}") from None
    raise ValueError(
        f"{source.name} lacks {len(missing)} columns that the model needs: {first_few(missing)}; "
        f"{advice}"
    )


_MOST_WARNINGS = 10


def compare_with_training(model: Model, X: pa.Table, strict: bool, name: str) -> list[str]:
    """Warnings about rows that differ from the training rows; with ``--strict`` an error.

    ``name`` is the model's file.
    """
    check_strict(model, strict, name)
    return training_warnings(compare_rows(model, X), strict)


def check_strict(model: Model, strict: bool, name: str) -> None:
    """Raise an error for ``--strict`` with a model that has no record of its training rows."""
    if strict and (model.training is None or not model.training.columns):
        raise ValueError(
            f"--strict compares with the training rows, and {name} has no record of them; fit the "
            "model again with `auctor fit`, or save it in Python with estimator.save(path, X, y)"
        )


def training_warnings(findings: Sequence[Finding], strict: bool) -> list[str]:
    """Findings as sentences, of which a few are shown; with ``--strict`` they are an error."""
    sentences = [str(finding) for finding in findings[:_MOST_WARNINGS]]
    if len(findings) > len(sentences):
        left = {finding.column for finding in findings[_MOST_WARNINGS:]}
        sentences.append(
            f"and so on: {count(len(left), 'more column')} of lower importance, such as "
            f"{first_few(sorted(left), 3)}"
        )
    if strict and sentences:
        listed = "; ".join(sentences[:3]) + ("; ..." if len(sentences) > 3 else "")
        raise ValueError(f"--strict: the rows differ from the training rows: {listed}")
    return sentences


class Labelled(NamedTuple):
    """Scored rows whose labels are known."""

    X: pa.Table
    positive: Bools
    scores: Floats
    weight: Floats | None
    groups: npt.NDArray[Any] | None


def read_labelled(model: Model, source: TableFile, roles: ColumnRoles) -> Labelled:
    """Read and score the rows of a table that has labels."""
    others = list(roles.special.values())
    source.require(others)
    # Labels that were text in training are read as text, even if they look like numbers.
    text = [roles.target] if isinstance(model.classes[1], str) else []
    table = read_features(model, source, others, text)
    target = read_target(table[roles.target], roles.target)
    positive = match_labels(target, model.classes, roles.target)
    weight, groups = read_weight_and_group(table, roles, source.line_of)
    _check_counts(positive, weight, roles.target)
    X = table.select(list(model.feature_names))
    return Labelled(X, positive, model.decision_function(X), weight, groups)


def _check_counts(positive: Bools, weight: Floats | None, name: str) -> None:
    counted = positive if weight is None else positive[weight > 0]
    n_pos = int(np.count_nonzero(counted))
    weighted = "" if weight is None else " with a weight above 0"
    check_class_counts(n_pos, len(counted) - n_pos, name, weighted)


def check_class_counts(n_pos: int, n_neg: int, name: str, weighted: str = "") -> None:
    """Without two rows of each class an AUC has no confidence interval."""
    if min(n_pos, n_neg) < 2:
        raise ValueError(
            f"column {name!r} has {count(n_pos, 'positive row')} and "
            f"{count(n_neg, 'negative row')}{weighted}; evaluation needs at least two of each"
        )


def model_with_reference(
    model: Model, name: str, reference: str | None, delimiter: str | None
) -> ExplainedModel:
    """A model that can explain rows, with the row that they are compared with.

    ``name`` is the model's file, ``reference`` the table of ``--reference`` if there is one.
    """
    if not isinstance(model, ExplainedModel):
        raise ValueError(
            f"{name} is a {model.form} model; only additive and linear models, forests with the "
            "cover of their nodes, and sums of these can explain rows. "
            f"`auctor explain {name}` prints the model itself"
        )
    if model.why_unexplained is not None:
        raise ValueError(f"{name}: {model.why_unexplained}")
    if reference is not None:
        rows = read_features(model, open_table(reference, delimiter))
        return model.with_reference(rows, name=f"the average row of {reference}")
    if model.average_row is None:
        raise ValueError(
            f"{name} has no reference row to compare with: an earlier release of auctor saved it; "
            "fit the model again, or give the training table with --reference TABLE"
        )
    return model
