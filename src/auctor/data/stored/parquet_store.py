"""Parquet files as one table, of which one column at a time is read in batches of rows."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from auctor.data.stored.column_types import Part, common_kinds

# Rows that are converted at the same time: a batch of floats has 2 MB.
_BATCH_ROWS = 2**18


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
        """The columns of the first file that has rows."""
        return tuple(self.parts[0].schema.names) if self.parts else ()

    def kinds(self, names: tuple[str, ...]) -> dict[str, str]:
        """The kind of each column; an error if the files differ."""
        return common_kinds(self.parts, names)

    def column(self, name: str) -> Iterator[pa.Array]:
        """A column in batches, in the order of the rows."""
        for path in self.paths:
            with pq.ParquetFile(path, memory_map=True, pre_buffer=False) as file:
                for batch in file.iter_batches(_BATCH_ROWS, columns=[name], use_threads=False):
                    yield batch.column(0)


def _read_head(path: Path) -> tuple[pa.Schema, int]:
    """The columns, with the types that they were written with, and the number of rows."""
    try:
        with pq.ParquetFile(path) as file:
            return file.schema_arrow, file.metadata.num_rows
    except (pa.ArrowInvalid, OSError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ValueError(f"{path.name} cannot be read as a Parquet file ({reason})") from None
