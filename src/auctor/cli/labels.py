"""Target, weight and group columns, and numbers read as text: errors name column and cells."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from auctor._text import count, first_few
from auctor._typing import Bools, Floats
from auctor.cli.errors import nearest
from auctor.cli.options import ColumnRoles
from auctor.data import Categories, read_table, read_weights
from auctor.data.missing import count_missing
from auctor.data.times import read_moments
from auctor.models.explanation import shorten

# The line of the file in which a row begins, both counted from 1; None where it is not known.
LineOf = Callable[[int], int | None]

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
# 1,169.00 and 0,5; 1.169,00; 1 169,00 and 1'169.00
_COMMAS = re.compile(
    r"-?\d{1,3}(,\d{3})+(\.\d+)?|-?\d+,\d+(e-?\d+)?|-?\d{1,3}(\.\d{3})+,\d+"
    r"|-?\d{1,3}([\s'\u2019]\d{3})+([.,]\d+)?"
)
_UNIT = re.compile(r"([$\u20ac\u00a3]?)\s*-?\d[\d.,]*(\s*[%$\u20ac\u00a3]|\s+[A-Za-z]{1,8})?\s*")
_LARGEST_FRACTION = 0.1  # of odd cells: a column with more of them is probably meant as text
_FEWEST = 20  # known cells that are needed to judge the fraction
_MOST_SHOWN = 3


class OddCells(NamedTuple):
    """The few cells of a column that are not numbers."""

    words: str  # how many, and where the first ones are
    values: list[str]  # the distinct ones


def odd_cells(column: Categories, line_of: LineOf) -> OddCells | None:
    """The few cells of a column that are not numbers; None if it is not such a column."""
    is_number = np.array([_NUMBER.fullmatch(str(v)) is not None for v in column.values], dtype=bool)
    rows = np.flatnonzero(column.indices >= 0)
    if len(rows) < _FEWEST or not is_number.any() or is_number.all():
        return None
    codes = column.indices[rows]
    is_odd = ~is_number[codes]
    n_odd = int(np.count_nonzero(is_odd))
    if n_odd > _LARGEST_FRACTION * len(rows):
        return None
    _, first = np.unique(codes[is_odd], return_index=True)
    shown = [
        f"{shorten(str(column.values[codes[is_odd][k]]))!r} in {where(int(row) + 1, line_of)}"
        for k, row in sorted((k, rows[is_odd][k]) for k in first)[:_MOST_SHOWN]
    ]
    more = ", ..." if len(first) > _MOST_SHOWN else ""
    words = f"{n_odd:,} of {len(column.indices):,} cells: {', '.join(shown)}{more}"
    return OddCells(words, [str(column.values[codes[is_odd][k]]) for k in first])


def has_comma(text: str) -> bool:
    """Whether a text begins with a number that has a decimal comma or thousands separators."""
    return _COMMAS.match(text) is not None


def common_unit(values: Sequence[Any]) -> str | None:
    """The sign or word that stands beside the number in all values; None if there is none.

    Examples
    --------
    >>> common_unit(["5.2 %", "11 %"]), common_unit(["$3", "$4.50"]), common_unit(["3", "4 m"])
    ('%', '$', None)
    """
    matches = [_UNIT.fullmatch(str(value)) for value in values]
    units = {match and (match[1] or (match[2] or "").strip()) for match in matches}
    return (units.pop() or None) if len(units) == 1 else None


def count_commas(column: Categories) -> int:
    """The number of cells of a text column that are numbers with commas."""
    chosen = [i for i, value in enumerate(column.values) if has_comma(str(value))]
    return int(np.isin(column.indices, chosen).sum())


def first_comma(column: Categories) -> Any:
    """The first value that is a number with a comma; None where there is none."""
    return next((value for value in column.values if has_comma(str(value))), None)


def where(row: int, line_of: LineOf) -> str:
    """A row, from 1, in words, with its line of the file if that is known."""
    line = line_of(row)
    return f"row {row:,}" if line is None else f"row {row:,} (line {line:,} of the file)"


Label = str | int | float | bool


def read_target(column: pa.ChunkedArray, name: str) -> npt.NDArray[Any]:
    """The labels as an array of text, numbers or truth values; a missing label is an error."""
    _check_complete(column, name, "label")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if pa.types.is_decimal(kind) or pa.types.is_floating(kind):
        values = column.cast(pa.float64()).to_numpy()
        if np.isnan(values).any():  # Parquet distinguishes NaN from null
            return read_target(pa.chunked_array([pa.array(values, from_pandas=True)]), name)
        return values
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or _is_text(kind):
        return column.to_numpy()
    raise ValueError(
        f"column {name!r} is of type {kind}; give labels that are text, whole numbers or "
        "true and false"
    )


def two_labels(target: npt.NDArray[Any], name: str) -> tuple[Label, Label]:
    """The two labels in ascending order; any other number of labels is an error."""
    if count_missing(target):
        raise incomplete(count_missing(target), name, "label")
    labels = np.unique(target).tolist()
    if len(labels) != 2:
        noun = "value" if len(labels) == 1 else "different values"
        raise ValueError(
            f"column {name!r} has {len(labels)} {noun} ({first_few(labels)}); "
            "the target needs exactly two"
        )
    if any(isinstance(label, float) and not label.is_integer() for label in labels):
        raise ValueError(
            f"column {name!r} has the values {first_few(labels)}; give labels that are text or "
            "whole numbers"
        )
    return labels[0], labels[1]


def choose_positive(labels: tuple[Label, Label], wanted: str | None, name: str) -> Label:
    """The label that ``--positive`` names, compared as text; by default the larger one."""
    if wanted is None:
        return labels[1]
    for label in labels:
        if wanted in (str(label), label_text(label)) or (
            isinstance(label, bool) and wanted.lower() == label_text(label)
        ):
            return label
    known = [label_text(label) for label in labels]
    raise ValueError(
        f"--positive {wanted!r} is not a label of column {name!r}{nearest(wanted, known)}"
    )


def match_labels(target: npt.NDArray[Any], classes: Sequence[Label], name: str) -> Bools:
    """Which rows have the model's positive label; a label that the model lacks is an error."""
    positive = find_positives(target, classes, name)
    if positive.all() or not positive.any():
        raise one_label(target[:1].tolist()[0], name)
    return positive


def find_positives(target: npt.NDArray[Any], classes: Sequence[Label], name: str) -> Bools:
    """Which rows have the model's positive label; they may all be of one class."""
    labels, codes = np.unique(target, return_inverse=True)
    known = [label_text(label) for label in classes]
    texts = [label_text(label) for label in labels.tolist()]
    unknown = [
        label for label, text in zip(labels.tolist(), texts, strict=True) if text not in known
    ]
    if unknown:
        raise ValueError(
            f"column {name!r} has labels that the model does not know: {first_few(unknown)}; "
            f"it knows {first_few(classes)}"
        )
    return np.array([text == known[1] for text in texts], dtype=bool)[codes]


def one_label(label: Label, name: str) -> ValueError:
    """The error for rows of one class."""
    return ValueError(
        f"column {name!r} has only the label {label!r}; evaluation needs rows of both classes"
    )


def label_text(label: Label) -> str:
    """A label as a CSV file has it, whatever type it was read as: 1.0 as 1, True as true."""
    if isinstance(label, bool):
        return str(label).lower()
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def read_weight_and_group(
    table: pa.Table, roles: ColumnRoles, line_of: LineOf
) -> tuple[Floats | None, npt.NDArray[Any] | None]:
    """The weight and the group of each row; None where there is no such column."""
    weight = groups = None
    if roles.weight is not None:
        weight = read_weight(table[roles.weight], roles.weight, line_of)
    if roles.group is not None:
        groups = read_group(table[roles.group], roles.group)
    return weight, groups


def read_weight(column: pa.ChunkedArray, name: str, line_of: LineOf) -> Floats | None:
    """Row weights: numbers, none missing, none negative, not all zero."""
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        odd = odd_cells(read_table(pa.table({name: column})).categories(0), line_of)
        why = f"is read as text because of {odd.words}" if odd else f"is of type {kind}"
        raise ValueError(f"column {name!r} {why}; give weights that are numbers")
    _check_complete(column, name, "weight")
    values = column.cast(pa.float64()).to_numpy()
    return read_weights(values, len(values), name=f"column {name!r}")


def read_group(column: pa.ChunkedArray, name: str) -> npt.NDArray[Any]:
    """The group of each row as text; a missing one is an error."""
    _check_complete(column, name, "group")
    try:
        texts = column.cast(pa.string())
    except pa.ArrowNotImplementedError:
        raise ValueError(
            f"column {name!r} is of type {column.type}; give groups that are text or numbers"
        ) from None
    values = texts.to_numpy()
    if len(np.unique(values)) < 2:
        raise ValueError(f"column {name!r} has only one group; leave out --group")
    return values


def read_time(column: pa.ChunkedArray, name: str) -> npt.NDArray[Any]:
    """When each row was observed, as whole numbers in the order of time."""
    _check_complete(column, name, "time")
    kind = column.type
    is_ordered = pa.types.is_temporal(kind) or pa.types.is_integer(kind) or _is_text(kind)
    if not is_ordered and not pa.types.is_floating(kind):
        raise ValueError(
            f"column {name!r} is of type {kind}; give numbers, or dates such as 2024-01-31"
        )
    return read_moments(column.to_numpy(), f"column {name!r}")[1]


def _check_complete(column: pa.ChunkedArray, name: str, role: str) -> None:
    """Raise an error for missing values."""
    if column.null_count:
        raise incomplete(column.null_count, name, role)


def missing_labels(column: pa.ChunkedArray) -> int:
    """The number of rows without a label: null, or NaN, which Parquet tells from null."""
    is_float = pa.types.is_floating(column.type)
    return column.null_count + (int(pc.sum(pc.is_nan(column)).as_py() or 0) if is_float else 0)


def incomplete(n_missing: int, name: str, role: str) -> ValueError:
    missing = count(n_missing, "missing value")
    return ValueError(f"column {name!r} has {missing}; every row needs a {role}")


def _is_text(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )
