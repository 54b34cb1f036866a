"""StoredTable: the columns of Parquet files as a table, read one at a time."""

from collections.abc import Iterator
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._typing import Floats, Ints
from auctor.data.columns import Categories, number_categories, read_column, to_categories, to_floats
from auctor.data.features import Category
from auctor.data.labels import join_labels, read_vector
from auctor.data.missing import count_missing
from auctor.data.stored.column_types import NUMBER
from auctor.data.stored.parquet_store import ParquetStore
from auctor.data.stored.spill import SpillFolder
from auctor.data.table import Buffer, Table

# Beyond this number the dictionary of a column takes gigabytes.
MOST_CATEGORIES = 2_000_000


class StoredTable(Table):
    """The features of a data set in files.

    Every call reads a column again, so that memory is used for one column at a time. Codes and
    copies of them are in the spill folder. All else is what a table in memory does, so that its
    bins and codes are the same.
    """

    def __init__(
        self,
        store: ParquetStore,
        names: tuple[str, ...],
        spill: SpillFolder,
        *,
        has_names: bool = True,
        spills_rows: bool = False,
    ) -> None:
        self._store, self._spill, self._spills_rows = store, spill, spills_rows
        self._kinds = store.kinds(names)
        self.names, self.has_names, self.n_rows = names, has_names, store.n_rows

    def is_text(self, j: int) -> bool:
        return self._kinds[self.names[j]] != NUMBER

    def empty_codes(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return self._spill.empty(shape, dtype)

    def empty_rows(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        return self._spill.empty(shape, dtype) if self._spills_rows else np.empty(shape, dtype)

    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        values = self.empty_rows((self.n_rows,), np.float64) if buffer is None else buffer
        start = 0
        for column in self._batches(j):
            values[start : start + len(column)] = to_floats(column)
            start += len(column)
        return values

    def categories(self, j: int) -> Categories:
        indices = self.empty_rows((self.n_rows,), np.int64)
        index_of: dict[Category, int] = {}
        start = 0
        for column in self._batches(j):
            batch = to_categories(column)
            if batch is None:
                batch = number_categories(to_floats(column))
            common = [index_of.setdefault(value, len(index_of)) for value in batch.values]
            # Index -1, a missing value, refers to the last entry.
            indices[start : start + len(column)] = np.array([*common, -1])[batch.indices]
            start += len(column)
            self._check_number(j, len(index_of))
        return Categories(list(index_of), indices)

    def row_batches(self) -> Iterator[pa.Table]:
        """The table in batches of rows."""
        for batch in self._store.batches(self.names):
            yield pa.Table.from_batches([batch]).select(list(self.names))

    def gather(self, rows: Ints) -> pa.Table:
        """Some rows, by their positions in ascending order, in memory."""
        parts, start = [], 0
        for batch in self.row_batches():
            first, last = np.searchsorted(rows, (start, start + batch.num_rows))
            if first < last:
                parts.append(batch.take(rows[first:last] - start))
            start += batch.num_rows
        return pa.concat_tables(parts, promote_options="permissive")

    def vector(self, name: str) -> npt.NDArray[Any]:
        """A column of labels or weights. Equal texts are one object in memory."""
        spilled = self._spilled_vector(name) if self._spills_rows else None
        if spilled is not None:
            return spilled
        batches = list(self._vector_batches(name))
        if any(map(count_missing, batches)):  # which is an error of its own
            return np.concatenate(batches)
        return join_labels(batches, f"column {name!r}")

    def _spilled_vector(self, name: str) -> npt.NDArray[Any] | None:
        """A column of numbers of one type in a file; None for other columns."""
        out, start = np.empty(0), 0
        for batch in self._vector_batches(name):
            if start == 0 and batch.dtype.kind in "buif":
                out = self.empty_rows((self.n_rows,), batch.dtype)
            if batch.dtype != out.dtype:
                return None
            out[start : start + len(batch)] = batch
            start += len(batch)
        return out

    def _vector_batches(self, name: str) -> Iterator[npt.NDArray[Any]]:
        distinct: dict[Any, Any] = {}
        for array in self._store.column(name):
            batch = read_vector(_series(array), name)
            if batch.dtype.kind == "O":
                batch[:] = [distinct.setdefault(value, value) for value in batch.tolist()]
            yield batch

    def _batches(self, j: int) -> Iterator[Any]:
        """Column j in batches that are ready for ``to_floats`` and ``to_categories``."""
        for array in self._store.column(self.names[j]):
            yield read_column(_series(array), self.names[j])

    def _check_number(self, j: int, n_categories: int) -> None:
        if n_categories > MOST_CATEGORIES:
            raise ValueError(
                f"column {self.names[j]!r} has more than {MOST_CATEGORIES:,} categories, as a "
                "column of identifiers has; leave it out, or group its values"
            )


def _series(array: pa.Array) -> Any:
    """An Arrow array as read_column takes it: floats as they are, others as narwhals Series."""
    if isinstance(array, pa.DoubleArray):
        return array
    return nw.from_native(pa.chunked_array([array]), series_only=True)
