"""Tables of any library as named columns of numbers or of categories."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse

from auctor._text import first_few
from auctor._typing import Bools, Floats, Ints
from auctor.data.columns import (
    Categories,
    infinite_error,
    number_categories,
    read_column,
    to_categories,
    to_floats,
)
from auctor.data.features import Category
from auctor.data.group import ALONE, Group
from auctor.data.labels import is_unicode
from auctor.data.missing import unmask
from auctor.data.row_arrays import row_numbers
from auctor.data.sparse import clean_columns

Buffer = Floats | None  # an array of one float64 for each row, which may be overwritten


class Table(ABC):
    """A table whose columns are read by index, as numbers or as categories."""

    names: tuple[str, ...]
    has_names: bool
    n_rows: int
    group: Group = ALONE  # the members that hold the other rows of the table

    @property
    def n_columns(self) -> int:
        return len(self.names)

    def empty_codes(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array for codes of this table, not initialised; a table in files has it in a file."""
        return np.empty(shape, dtype=dtype)

    def empty_rows(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array with a number for each row, not initialised; in a file if memory is short."""
        return np.empty(shape, dtype=dtype)

    def positions(self, kept: Bools | None) -> Ints:
        """The index of each kept row among the kept rows of the whole table; None keeps all."""
        return row_numbers(self.n_rows if kept is None else int(kept.sum()), self.empty_rows)

    def check_columns(self) -> None:
        """Raise an error for a column of a type that no learner can use."""
        for j in range(self.n_columns):
            self.is_text(j)

    @abstractmethod
    def is_text(self, j: int) -> bool:
        """Whether column j holds text, or is of a categorical type."""

    @abstractmethod
    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        """Column j as contiguous float64, in ``buffer`` if that helps; not called for text."""

    @abstractmethod
    def categories(self, j: int) -> Categories:
        """Column j as categories, whatever its type is."""

    def numbers(self, j: int, buffer: Buffer = None) -> Floats:
        """Column j as contiguous float64, with NaN for missing values; infinities are refused.

        ``buffer`` is an array of one float64 for each row that may be overwritten and returned.
        """
        if self.is_text(j):
            return self._missing_text(j)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._numbers(j, buffer)
            # If the sum is finite, so are all values. Otherwise they are checked one by one.
            total = values.sum()
        if not np.isfinite(total) and np.isinf(values).any():
            self._refuse(j, values)
        return values

    def has_values(self, j: int) -> bool:
        """Whether column j, which is one of numbers, has a value that is not missing."""
        values = self.numbers(j)
        return not (np.isnan(values[0]) and np.isnan(values).all())

    def take(self, rows: Ints) -> "Table":
        """Some rows of the table, as a table; columns are read when they are needed.

        Examples
        --------
        >>> read_table([[1, 2], [3, 4], [5, 6]]).take(np.array([2, 0])).numbers(1).tolist()
        [6.0, 2.0]
        """
        return _TakenTable(self, rows)

    def _refuse(self, j: int, values: Floats) -> NoReturn:
        raise infinite_error(self.names[j], values)

    def _missing_text(self, j: int) -> Floats:
        """NaN for every row of a text column without a value; an error if there is a value."""
        values, indices = self.categories(j)
        if values:
            # The first text that is not a number is shown, since it is what has to be corrected.
            odd = next((k for k, value in enumerate(values) if not _reads_as_number(value)), 0)
            row = int(np.argmax(indices == odd)) + 1
            raise ValueError(
                f"column {self.names[j]!r} holds text or categories where numbers are expected: "
                f"{values[odd]!r} in row {row}"
            )
        return np.full(self.n_rows, np.nan)


class ArrayTable(Table):
    """A two-dimensional numpy array of numbers."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        self.n_rows = len(array)
        self.names = default_names(array.shape[1])
        self.has_names = False

    def is_text(self, j: int) -> bool:
        return False

    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        column = self._array[:, j]
        if buffer is None or (column.dtype == np.float64 and column.flags.c_contiguous):
            return np.ascontiguousarray(column, dtype=np.float64)
        buffer[:] = column
        return buffer

    def has_values(self, j: int) -> bool:
        # Most columns have a value in their first row, and need no copy.
        known = self._array.shape[1] > 0 and not np.isnan(self._array[:1, j]).all()
        return known or super().has_values(j)

    def categories(self, j: int) -> Categories:
        if self._array.dtype.kind in "ui":  # exact beyond 2^53, where float64 is not
            return number_categories(self._array[:, j])
        return number_categories(self.numbers(j))


class SparseTable(ArrayTable):
    """A scipy sparse matrix: the entries of each column, or one dense column at a time."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(np.empty((matrix.shape[0], 0)))
        self.columns = clean_columns(matrix)
        self.names = default_names(matrix.shape[1])

    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        rows, values = self.entries(j)
        column = np.zeros(self.n_rows)
        column[rows] = values
        return column

    def entries(self, j: int) -> tuple[npt.NDArray[Any], Floats]:
        """The rows in which column j has an entry, in increasing order, and the values there."""
        start, stop = self.columns.indptr[j : j + 2]
        return self.columns.indices[start:stop], self.columns.data[start:stop]

    def refuse_infinities(self) -> None:
        """Raise a ValueError for the first column with an infinite value."""
        infinite = np.flatnonzero(np.isinf(self.columns.data))
        if len(infinite):
            j = int(np.searchsorted(self.columns.indptr, infinite[0], side="right")) - 1
            self._refuse(j, self.entries(j)[1])


class ColumnTable(Table):
    """Columns of any type: a data frame, or an array of Python objects."""

    def __init__(
        self, columns: Sequence[Any], names: Sequence[Any], n_rows: int, has_names: bool
    ) -> None:
        self.names = tuple(map(str, names))
        self.has_names = has_names
        _check_names(self.names)
        self._given = columns
        self._read: dict[int, Any] = {}
        self.n_rows = n_rows

    def _column(self, j: int) -> Any:
        """Column j, checked on first use: columns that are not used may have any type."""
        if j not in self._read:
            self._read[j] = read_column(self._given[j], self.names[j])
        return self._read[j]

    def is_text(self, j: int) -> bool:
        return isinstance(self._column(j), pa.DictionaryArray)

    def arrow_type(self, j: int) -> pa.DataType:
        """The type of column j: a dictionary for text and categories; null if all are missing."""
        column = self._column(j)
        return pa.float64() if isinstance(column, nw.Series) else column.type

    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        return np.ascontiguousarray(to_floats(self._column(j)), dtype=np.float64)

    def categories(self, j: int) -> Categories:
        categories = to_categories(self._column(j))
        return number_categories(self.numbers(j)) if categories is None else categories


class _TakenTable(Table):
    """Some rows of another table."""

    def __init__(self, table: Table, rows: Ints) -> None:
        self._table, self._rows = table, rows
        self.names, self.has_names, self.n_rows = table.names, table.has_names, len(rows)

    def is_text(self, j: int) -> bool:
        return self._table.is_text(j)

    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        return self._table.numbers(j)[self._rows]

    def categories(self, j: int) -> Categories:
        values, indices = self._table.categories(j)
        return Categories(values, indices[self._rows])


def read_table(X: Any, *, accept_sparse: bool = False) -> Table:
    """Read a numpy array, list of rows, pandas, polars or pyarrow table, or scipy sparse matrix.

    Examples
    --------
    >>> table = read_table([[1, 2], [3, 4]])
    >>> table.names, table.numbers(1).tolist()
    (('x0', 'x1'), [2.0, 4.0])
    """
    if isinstance(X, Table):
        return X
    if sparse.issparse(X):
        table: Table = _read_sparse(X, accept_sparse)
    else:
        frame = as_frame(X)
        table = _read_array(X) if frame is None else _read_frame(frame)
    if table.n_rows == 0:
        raise ValueError(
            f"X has 0 sample(s) (shape=(0, {table.n_columns})); give a table with rows"
        )
    if table.n_columns == 0:
        raise ValueError(
            f"X has 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
        )
    return table


def _reads_as_number(value: Category) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def default_names(n_columns: int) -> tuple[str, ...]:
    """The names x0, x1, ... for the columns of a table without names."""
    return tuple(f"x{j}" for j in range(n_columns))


def _read_sparse(X: Any, accept_sparse: bool) -> SparseTable:
    if not accept_sparse:
        raise TypeError(
            "X is a scipy sparse matrix, but this learner needs a dense table; "
            "give X.toarray() if it fits into memory"
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers")
    if X.dtype.kind not in "buif":
        raise ValueError(f"X is a sparse matrix of type {X.dtype}; give numbers")
    return SparseTable(X)


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """X as a narwhals DataFrame; None if it is not a data frame."""
    if isinstance(X, (np.ndarray, list, tuple)):  # narwhals tries many libraries before it says so
        return None
    try:
        if isinstance(X, pa.RecordBatch):
            X = pa.Table.from_batches([X])
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"X has columns of the same name; rename them ({reason})") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _read_frame(frame: nw.DataFrame[Any]) -> ColumnTable:
    names = frame.columns
    # pandas calls columns without names 0, 1, 2, ...
    has_names = names != list(range(len(names)))
    native = frame.to_native()
    columns = _arrow_columns(native) if isinstance(native, pa.Table) else frame.iter_columns()
    return ColumnTable(list(columns), names, len(frame), has_names)


def _arrow_columns(table: pa.Table) -> Iterator[Any]:
    """The columns of an Arrow table: floats as Arrow arrays, others as narwhals Series.

    Most columns of a wide table are floats, and making 20,000 Series takes longer than a fit.
    """
    for column in table.columns:
        is_float = column.type == pa.float64()
        if is_float:  # without a copy if there is a single chunk
            yield column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        else:
            yield nw.from_native(column, series_only=True)


def _read_array(X: Any) -> Table:
    array = _to_array(X)
    if array.ndim == 0 and not isinstance(X, (np.ndarray, np.generic)):
        raise ValueError(
            f"X is an object of type {type(X).__name__}; give a table with 2 dimensions: a numpy "
            "array, a list of rows, or a pandas, polars or pyarrow table"
        )
    if array.dtype.names is not None:
        raise ValueError("X is a structured array; give a data frame, as in pandas.DataFrame(X)")
    if array.ndim != 2:
        raise ValueError(
            f"X is an array of shape {array.shape}; give a table with 2 dimensions. Reshape your "
            "data: X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single sample"
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers")
    if array.dtype.kind in "buif":
        return ArrayTable(array)
    if array.dtype.kind in "OUST":
        names = default_names(array.shape[1])
        return ColumnTable(list(array.T), names, len(array), has_names=False)
    raise ValueError(
        f"X has dtype {array.dtype}; give numbers, or text for categories "
        "(a date as a number of days, for instance)"
    )


def _to_array(X: Any) -> npt.NDArray[Any]:
    if isinstance(X, np.ma.MaskedArray):
        return unmask(X)
    try:
        array = np.asarray(X)
        # numpy turns lists of mixed types into text.
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.asarray(X, dtype=object)
    except ValueError as error:
        raise ValueError(f"X is not a table; its rows may differ in length: {error}") from None
    return array


def _check_names(names: tuple[str, ...]) -> None:
    """Raise an error for names that are not valid Unicode or occur twice."""
    odd = [name for name in names if not is_unicode(name)]
    if odd:
        raise ValueError(f"X has a column {odd[0]!r}, whose name is not valid Unicode; rename it")
    if len(set(names)) < len(names):
        twice = sorted(name for name, n_times in Counter(names).items() if n_times > 1)
        shown = first_few(twice, quote=False)
        raise ValueError(f"X has columns of the same name ({shown}); rename them")
