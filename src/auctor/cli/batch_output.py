"""Columns that are written batch by batch to a CSV, Parquet or Feather file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from auctor._files import complete_file
from auctor.cli.output import data_stdout, open_csv_file, write_csv_header, write_csv_rows
from auctor.cli.tables import check_output_kind

Columns = Mapping[str, Sequence[Any]]
WriteBatch = Callable[[Columns], None]


@contextmanager
def batch_writer(path: Path | None, schema: pa.Schema) -> Iterator[WriteBatch]:
    """A function that appends rows to a table; None is CSV to standard output.

    The file has its name only at the end: after an error there is no file.
    """
    if path is None:
        yield _csv_writer(data_stdout(), schema)
        return
    kind = check_output_kind(str(path))
    with complete_file(path) as temporary:
        if kind == "csv":
            compressed = path.name.lower().endswith(".gz")
            with open_csv_file(temporary, compressed) as file:
                yield _csv_writer(file, schema)
        else:
            with _arrow_writer(kind, temporary, schema) as writer:
                yield lambda columns: writer.write_table(_as_table(columns, schema))


def _csv_writer(file: Any, schema: pa.Schema) -> WriteBatch:
    write_csv_header(schema.names, file)
    return lambda columns: write_csv_rows(columns, file)


def _arrow_writer(kind: str, path: Path, schema: pa.Schema) -> Any:
    if kind == "parquet":
        return pq.ParquetWriter(path, schema)
    packed = pa.ipc.IpcWriteOptions(compression="lz4")  # as Feather files are by default
    return pa.ipc.new_file(str(path), schema, options=packed)


def _as_table(columns: Columns, schema: pa.Schema) -> pa.Table:
    try:
        return pa.table(dict(columns), schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            f"the columns of the result change their type from batch to batch ({reason}); write "
            "a CSV file"
        ) from None


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type that a column has after its values were Python values.

    Examples
    --------
    >>> plain_type(pa.int16()), plain_type(pa.dictionary(pa.int8(), pa.large_string()))
    (DataType(int64), DataType(string))
    """
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if pa.types.is_signed_integer(kind) or kind in (pa.uint8(), pa.uint16(), pa.uint32()):
        return pa.int64()
    if pa.types.is_floating(kind):
        return pa.float64()
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.string()
    if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        return pa.timestamp("us", kind.tz)
    return kind
