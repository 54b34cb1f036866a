"""A CSV file of any size in blocks of rows, each column with one type in all of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

# A column has the first of these types that all of its values can be converted to.
_TYPES = (pa.int64(), pa.float64(), pa.bool_(), pa.string())


def csv_columns(path: Path) -> tuple[str, ...]:
    """The names in the header."""
    with _csv_errors(path):
        return tuple(_open(path, {}).schema.names)


def read_csv_blocks(path: Path) -> Iterator[pa.Table]:
    """The blocks of a CSV file with a header, which may be compressed by gzip.

    The file is read twice, because the type of a column is known only at its end. Empty cells,
    "NA", "NaN" and the like are missing values.
    """
    names = csv_columns(path)
    with _csv_errors(path):
        types = _find_types(path, names)
        for batch in _open(path, types):
            yield pa.Table.from_batches([batch])


@contextmanager
def _csv_errors(path: Path) -> Iterator[None]:
    """Errors of pyarrow as a ValueError that names the file."""
    try:
        yield
    except pa.ArrowInvalid as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path.name} cannot be read as a CSV file ({reason})") from None


def _find_types(path: Path, names: tuple[str, ...]) -> dict[str, pa.DataType]:
    """The type of each column, from all of its values."""
    rank = dict.fromkeys(names, 0)
    for batch in _open(path, dict.fromkeys(names, pa.string())):
        for name in names:
            while not _can_be(batch.column(name), _TYPES[rank[name]]):
                rank[name] += 1
    return {name: _TYPES[rank[name]] for name in names}


def _can_be(column: pa.Array, kind: pa.DataType) -> bool:
    try:
        column.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


def _open(path: Path, types: dict[str, pa.DataType]) -> Any:
    is_tabbed = ".tsv" in "".join(path.suffixes).lower()
    return arrow_csv.open_csv(
        path,
        parse_options=arrow_csv.ParseOptions(
            delimiter="\t" if is_tabbed else ",", newlines_in_values=True
        ),
        convert_options=arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=True),
    )
