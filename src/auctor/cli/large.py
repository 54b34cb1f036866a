"""Tables that are read in batches of rows: when, and how many rows at a time."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa

from auctor.cli.tables import STDIN
from auctor.data.stored.dataset import FIXED_BYTES
from auctor.data.stored.memory import memory_text, read_memory

DEFAULT_MEMORY = "2GB"
# Bytes for each value of a batch: as it was read, as numbers, as text, and as it is written.
_CELL_BYTES = 100
_ROW_BYTES = 500
_FEWEST_ROWS, _MOST_ROWS = 1_000, 100_000


def is_large(table: str, max_memory: str | None) -> bool:
    """Whether a table is read in batches: with ``--max-memory``, and always if it is a folder."""
    if table == STDIN:
        if max_memory is not None:
            raise ValueError(
                "--max-memory cannot be used with a table from standard input, which is held in "
                "memory; give a file"
            )
        return False
    return max_memory is not None or Path(table).is_dir()


def batch_rows(max_memory: str | None, n_columns: int, parts: int = 1) -> int:
    """The number of rows that are read at a time.

    The rows may take one of ``parts`` equal parts of the memory that is not taken anyway.

    Examples
    --------
    >>> batch_rows("2GB", 20), batch_rows("300MB", 20)
    (100000, 20000)
    """
    most = read_memory(max_memory or DEFAULT_MEMORY, "--max-memory")
    row_bytes = _ROW_BYTES + _CELL_BYTES * n_columns
    n_rows = (most - FIXED_BYTES) // (parts * row_bytes)
    if n_rows < _FEWEST_ROWS:
        least = FIXED_BYTES + parts * _FEWEST_ROWS * row_bytes
        needed = memory_text(-(-least // 10**6) * 10**6)  # rounded up, so that it is enough
        raise ValueError(
            f"--max-memory is {memory_text(most)}, and this command needs about {needed} for "
            f"{n_columns} columns; give a larger --max-memory"
        )
    return min(n_rows, _MOST_ROWS)


def in_step(
    first: Iterator[pa.Table], second: Iterator[pa.Table]
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """Pairs of tables with the same rows, from two readings of one file in batches."""
    rest: list[pa.Table] = []
    empty = pa.table({})
    for one in first:
        while one.num_rows:
            other = rest.pop() if rest else next(second, empty)
            if other.num_columns == 0:
                raise ValueError("the table has changed while it was read; run the command again")
            n_rows = min(one.num_rows, other.num_rows)
            if n_rows:
                yield one.slice(0, n_rows), other.slice(0, n_rows)
            one = one.slice(n_rows)
            rest += [other.slice(n_rows)] if other.num_rows > n_rows else []
    if any(table.num_rows for table in chain(rest, second)):
        raise ValueError("the table has changed while it was read; run the command again")
