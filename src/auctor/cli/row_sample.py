"""A random sample of the rows of a table that is read in batches."""

from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa

from auctor.cli.table_file import TableFile


class RowSample:
    """Rows drawn at random without replacement; the same ones for any batches.

    Each row has a random number, and those with the smallest numbers are kept.

    Parameters
    ----------
    n_rows : int
        The size of the sample.
    seed : int
    columns : sequence of str
        Columns of the sample beside the features and the target.

    Examples
    --------
    >>> sample = RowSample(2, seed=0)
    >>> for start in (0, 3):
    ...     sample.add(pa.table({"a": range(start, start + 3)}))
    >>> sample.table()["a"].to_pylist()
    [2, 3]
    """

    def __init__(self, n_rows: int, seed: int, columns: Sequence[str] = ()) -> None:
        self.columns = tuple(columns)
        self._size, self._rng = n_rows, np.random.default_rng(seed)
        self._parts: list[pa.Table] = []
        self._keys = np.empty(0)  # of the rows of all parts
        self.n_seen = 0

    def add(self, rows: pa.Table) -> None:
        """Draw from further rows."""
        keys = self._rng.random(rows.num_rows)
        self.n_seen += rows.num_rows
        limit = np.inf if len(self._keys) < self._size else float(self._keys.max())
        near = np.flatnonzero(keys < limit)
        if len(near):
            self._parts.append(rows.take(near))
            self._keys = np.concatenate([self._keys, keys[near]])
        if len(self._keys) > 2 * self._size:
            self._drop()

    def table(self) -> pa.Table:
        """The sample, in the order of the rows."""
        self._drop()
        return pa.concat_tables(self._parts, promote_options="permissive")

    def _drop(self) -> None:
        """Forget rows that are not of the sample any more."""
        if len(self._keys) <= self._size:
            return
        limit = np.partition(self._keys, self._size - 1)[self._size - 1]
        kept, start = [], 0
        for part in self._parts:
            own = self._keys[start : start + part.num_rows] <= limit
            start += part.num_rows
            kept.append(part.take(np.flatnonzero(own)))
        self._parts = [part for part in kept if part.num_rows]
        self._keys = self._keys[self._keys <= limit]


class SampledTable(TableFile):
    """A sample of rows as a table that commands can read."""

    def __init__(self, name: str, table: pa.Table) -> None:
        self.name, self.columns, self._table = name, tuple(table.column_names), table

    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        return self._table.select(list(names))

    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        return self._table.select(list(names))
