"""A table that a command can read, whatever its format."""

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from auctor.cli.errors import missing_column


@dataclass(eq=False)
class TableColumns:
    """The columns of a table; ``name`` is that of the table, for messages."""

    name: str
    columns: tuple[str, ...]

    def require(self, names: Collection[str]) -> None:
        """Raise an error for the first name that is not a column."""
        for name in names:
            if name not in self.columns:
                raise missing_column(name, self.columns, self.name)


class TableFile(TableColumns, ABC):
    """A table that can be read."""

    @abstractmethod
    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        """The named columns in that order; CSV columns in ``text`` are not parsed as numbers."""

    @abstractmethod
    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        """The named columns exactly as in the file: a CSV cell stays the text that it is."""

    def read(self, names: Sequence[str], text: Collection[str] = ()) -> pa.Table:
        """The named columns in that order, with at least one row.

        A CSV file has no types. The columns in ``text`` stay text even if all their cells look
        like numbers ("007", or "1" in a file that happens to have no "A").
        """
        table = self._read(names, text)
        if table.num_rows == 0:
            raise ValueError(f"{self.name} has a header but no rows")
        return table

    def batches(
        self, names: Sequence[str], text: Collection[str], n_rows: int
    ) -> Iterator[pa.Table]:
        """The rows of ``read`` in tables of at most ``n_rows`` rows.

        A format that can only be read as a whole is divided afterwards.
        """
        return self._divided(self.read(names, text), n_rows)

    def verbatim_batches(self, names: Sequence[str], n_rows: int) -> Iterator[pa.Table]:
        """The rows of ``read_verbatim`` in tables of at most ``n_rows`` rows."""
        return self._divided(self.read_verbatim(names), n_rows)

    @staticmethod
    def _divided(table: pa.Table, n_rows: int) -> Iterator[pa.Table]:
        return (table.slice(start, n_rows) for start in range(0, table.num_rows, n_rows))

    def line_of(self, row: int) -> int | None:
        """The line of the file in which a row begins, both from 1; None if there are no lines."""
        return None

    def sha256(self) -> str:
        """The SHA-256 of the file, as ``sha256sum`` prints it."""
        with Path(self.name).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _refuse_duplicates(self) -> None:
        twice = [name for name, count in Counter(self.columns).items() if count > 1]
        if twice:
            raise ValueError(
                f"{self.name} has more than one column named {twice[0]!r}; rename one of them"
            )
