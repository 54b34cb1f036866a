"""Parquet files as one table, of which one column at a time is read in batches of rows."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from auctor.data.stored.column_types import Part, common_kinds

# Rows that are converted at the same time: a batch of floats has 2 MB.
_BATCH_ROWS = 2**18

# pandas stores the index of a data frame under such a name; it is not a column of the table.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


class ParquetStore:
    """Parquet files with the same columns, in the order of their rows.

    Columns of a Parquet file lie apart from each other, so that reading the table column by column
    takes about as long as reading it by rows, and needs the memory of one column.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        heads = [(path, *_read_head(path)) for path in paths]
        self.n_rows = sum(n_rows for _, _, n_rows in heads)
        # Programs write empty files without the types of their columns.
        self.paths = [path for path, _, n_rows in heads if n_rows > 0]
        self.parts = [Part(path.name, schema) for path, schema, n_rows in heads if n_rows > 0]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the first file that has rows, without the index of pandas."""
        return _columns(self.parts[0]) if self.parts else ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """The columns of all files, those of the first one first.

        A fit uses them, so that a column that the first file lacks is an error and not left out.
        """
        return tuple(dict.fromkeys(name for part in self.parts for name in _columns(part)))

    def kinds(self, names: tuple[str, ...]) -> dict[str, str]:
        """The kind of each column; an error if the files differ."""
        return common_kinds(self.parts, names)

    def column(self, name: str) -> Iterator[pa.Array]:
        """A column in batches, in the order of the rows."""
        return (batch.column(0) for batch in self.batches([name]))

    def batches(self, names: Sequence[str], n_rows: int | None = None) -> Iterator[pa.RecordBatch]:
        """Some columns in batches of ``n_rows``.

        By default a batch has about as many values for any number of columns.
        """
        size = n_rows or max(1, _BATCH_ROWS // max(1, len(names)))
        for path in self.paths:
            with pq.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
                yield from file.iter_batches(size, columns=list(names), use_threads=False)


def _columns(part: Part) -> tuple[str, ...]:
    return tuple(name for name in part.schema.names if not _PANDAS_INDEX.fullmatch(name))


def _read_head(path: Path) -> tuple[pa.Schema, int]:
    """The columns, with the types that they were written with, and the number of rows."""
    try:
        with pq.ParquetFile(path) as file:
            return file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowInvalid, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path} cannot be read as a Parquet file ({reason})") from None
