"""Any source of a data set as Parquet files: those of the user, or a copy in the spill folder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from auctor.data.stored.column_types import without_dictionaries
from auctor.data.stored.csv_blocks import csv_columns, read_csv_blocks
from auctor.data.stored.parquet_store import ParquetStore
from auctor.data.stored.spill import SpillFolder
from auctor.data.table import as_frame, default_names

PARQUET = (".parquet", ".pq")
CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
_WANTED = (
    "give the path of a Parquet file, of a folder of Parquet files or of a CSV file, a list of "
    "tables, a function that returns an iterator of tables, or a numpy array"
)
_BLOCK_ROWS = 2**16


def check_source(source: Any) -> None:
    """Raise an error for a source that cannot be read, before any work."""
    if isinstance(source, (str, Path)):
        _check_path(Path(source))
    elif isinstance(source, np.ndarray):
        if source.ndim != 2 or source.dtype.kind not in "buif":
            raise ValueError(
                f"source is an array of shape {source.shape} and type {source.dtype}; give two "
                "dimensions of numbers"
            )
    elif isinstance(source, Iterator):
        raise ValueError(
            "source is an iterator, which can be read only once; give a function that returns a "
            "new one, or a list of tables"
        )
    elif not (callable(source) or isinstance(source, Iterable)) or isinstance(source, dict):
        raise ValueError(f"source is of type {type(source).__name__}; {_WANTED}")


def is_parquet(source: Any) -> bool:
    """Whether the source is Parquet files, which are read where they are."""
    if not isinstance(source, (str, Path)):
        return False
    return Path(source).is_dir() or Path(source).suffix.lower() in PARQUET


def open_parquet(source: str | Path) -> ParquetStore:
    """The Parquet file, or those of a folder and its subfolders in the order of their paths."""
    path = Path(source)
    files = sorted(p for p in path.rglob("*") if _is_table(p)) if path.is_dir() else [path]
    if not files:
        endings = " or ".join(PARQUET)
        raise ValueError(
            f"folder {str(path)!r} has no Parquet files; give one with files that end in {endings}"
        )
    store = ParquetStore(files)
    if path.is_dir() and store.n_rows == 0:  # the files may not even have their columns
        raise ValueError(f"source has no rows: all Parquet files of {str(path)!r} are empty")
    return store


def file_columns(path: str | Path) -> tuple[str, ...]:
    """The columns of a Parquet file, of all files of a folder of them, or of a CSV file."""
    check_source(path)
    return open_parquet(path).all_names if is_parquet(path) else csv_columns(Path(path))


def table_batches(source: Any, names: Sequence[str] | None, n_rows: int) -> Iterator[Any]:
    """The rows of a source in batches, without a copy in files.

    ``names`` are the columns to read of Parquet files; None reads all.
    """
    if is_parquet(source):
        store = open_parquet(source)
        wanted = store.names if names is None else tuple(names)
        store.kinds(wanted)  # an error that names the columns that are missing
        for batch in store.batches(wanted, n_rows):
            yield pa.Table.from_batches([batch]).select(list(wanted))
    elif isinstance(source, np.ndarray):
        yield from (source[start : start + n_rows] for start in range(0, len(source), n_rows))
    elif isinstance(source, (str, Path)):
        for table in read_csv_blocks(Path(source)):
            yield table if names is None else table.select(list(names))
    else:
        yield from (source() if callable(source) else source)


def open_store(source: Any, spill: SpillFolder) -> ParquetStore:
    """The files of the user, or a copy of another source in the spill folder."""
    if is_parquet(source):
        return open_parquet(source)
    return ParquetStore(_write(_tables(source), spill))


def _check_path(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(f"source {str(path)!r} does not exist")
    if not path.is_dir() and not path.name.lower().endswith((*PARQUET, *CSV)):
        raise ValueError(f"source {path.name!r} has an unknown file extension; {_WANTED}")


def _is_table(path: Path) -> bool:
    # Names with _ or . are marks and metadata of the programs that write such folders.
    return path.suffix.lower() in PARQUET and not path.name.startswith(("_", "."))


def _tables(source: Any) -> Iterator[pa.Table]:
    """The tables of a source in turn."""
    if isinstance(source, (str, Path)):
        return read_csv_blocks(Path(source))
    if isinstance(source, np.ndarray):
        return map(_array_table, _array_blocks(source))
    given: Callable[[], Any] | Iterable[Any] = source
    return map(_as_table, given() if callable(given) else given)


def _array_blocks(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """Blocks of rows of a few megabytes, so that little of a memory map is in memory."""
    size = max(1, min(_BLOCK_ROWS, 2**25 // max(1, array.shape[1] * array.itemsize)))
    return (array[start : start + size] for start in range(0, len(array), size))


def _array_table(array: npt.NDArray[Any]) -> pa.Table:
    names = default_names(array.shape[1])
    return pa.table({name: np.ascontiguousarray(array[:, j]) for j, name in enumerate(names)})


def _as_table(given: Any) -> pa.Table:
    """A table of any library as an Arrow table."""
    if isinstance(given, np.ndarray):
        check_source(given)
        return _array_table(given)
    frame = as_frame(given)
    if frame is None:
        raise ValueError(
            f"source yields an object of type {type(given).__name__}; give tables of pandas, "
            "polars or pyarrow, or numpy arrays"
        )
    return without_dictionaries(frame.to_arrow())


def _write(tables: Iterator[pa.Table], spill: SpillFolder) -> list[Path]:
    """Write tables to files, tables with the same columns and types to the same file."""
    paths: list[Path] = []
    writer = None
    try:
        for number, table in enumerate(tables, start=1):
            if writer is None or not writer.schema.equals(table.schema, check_metadata=True):
                if writer is not None:
                    writer.close()
                paths.append(spill.path / f"table {number}.parquet")
                writer = _writer(paths[-1], table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
    return paths


def _writer(path: Path, schema: pa.Schema) -> pq.ParquetWriter:
    text = [field.name for field in schema if not pa.types.is_floating(field.type)]
    return pq.ParquetWriter(
        path, schema, compression="lz4", use_dictionary=text, write_statistics=False
    )
