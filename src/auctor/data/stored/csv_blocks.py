"""A CSV file of any size in blocks of rows, each column with one type in all of them."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from auctor._text import first_few

# A column has the first of these types that all of its values can be converted to.
_TYPES = (pa.int64(), pa.float64(), pa.bool_(), pa.string())


def csv_columns(path: Path) -> tuple[str, ...]:
    """The names in the header."""
    with _csv_errors(path):
        names = tuple(_open(path, {}).schema.names)
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise ValueError(f"{path.name} has several columns {first_few(twice)}; rename them")
    return names


def read_csv_blocks(path: Path) -> Iterator[pa.Table]:
    """The blocks of a CSV file with a header, which may be compressed by gzip.

    The file is read twice, because the type of a column is known only at its end. Empty cells,
    "NA", "NaN" and the like are missing values.
    """
    names = csv_columns(path)
    with _csv_errors(path):
        types = find_types(_open(path, dict.fromkeys(names, pa.string())), names)
        for batch in _open(path, types):
            yield pa.Table.from_batches([batch])


@contextmanager
def _csv_errors(path: Path) -> Iterator[None]:
    """Errors of pyarrow as a ValueError that names the file."""
    try:
        yield
    except (pa.ArrowInvalid, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # of the file, which it names
            raise
        # Others are of the content, such as a compressed file that was cut off.
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path.name} cannot be read as a CSV file ({reason})") from None


def find_types(blocks: Iterable[pa.RecordBatch], names: Sequence[str]) -> dict[str, pa.DataType]:
    """The type of each column, from all of its values, which are read as text.

    Examples
    --------
    >>> block = pa.record_batch({"a": ["1", " 2"], "b": ["1", "x"]})
    >>> find_types([block], ["a", "b"])
    {'a': DataType(int64), 'b': DataType(string)}
    """
    rank = dict.fromkeys(names, 0)
    for block in blocks:
        for name in names:
            while not _can_be(block.column(name), _TYPES[rank[name]]):
                rank[name] += 1
    return {name: _TYPES[rank[name]] for name in names}


def _can_be(column: pa.Array, kind: pa.DataType) -> bool:
    if pa.types.is_string(kind):
        return True
    if not pa.types.is_boolean(kind):  # spaces around numbers are ignored when they are read
        column = pc.utf8_trim_whitespace(column)
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
