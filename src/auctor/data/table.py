"""Any table as named columns: of numbers (float64, NaN where missing) or of categories."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from auctor.data.features import Category


class Categories(NamedTuple):
    """A column of categories: the distinct values and each row's place among them."""

    values: list[Category]
    places: npt.NDArray[np.int64]  # -1 where missing


class Table(ABC):
    """Columns by position, whatever the table was made of."""

    names: tuple[str, ...]
    has_names: bool
    n_rows: int

    @property
    def n_columns(self) -> int:
        return len(self.names)

    @abstractmethod
    def is_text(self, j: int) -> bool:
        """Whether column j is one of categories by its type."""

    @abstractmethod
    def _numbers(self, j: int) -> npt.NDArray[np.float64]:
        """Column j as contiguous float64; only asked where it is not text."""

    @abstractmethod
    def categories(self, j: int) -> Categories:
        """Column j as categories, whatever its type."""

    def numbers(self, j: int) -> npt.NDArray[np.float64]:
        """Column j as contiguous float64, missing values as NaN; infinities are refused."""
        if self.is_text(j):
            raise ValueError(
                f"column {self.names[j]!r} holds text or categories where numbers are expected"
            )
        values = self._numbers(j)
        # One pass that stays finite tells that all is well; NaN and infinities need a second.
        if not np.isfinite(values.sum()) and np.isinf(values).any():
            raise ValueError(
                f"column {self.names[j]!r} holds {int(np.isinf(values).sum())} infinity value(s); "
                "replace them by a finite number, or by NaN for missing"
            )
        return values


class ArrayTable(Table):
    """A two-dimensional numpy array of numbers."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array
        self.n_rows = len(array)
        self.names = default_names(array.shape[1])
        self.has_names = False

    def is_text(self, j: int) -> bool:
        return False

    def _numbers(self, j: int) -> npt.NDArray[np.float64]:
        return np.ascontiguousarray(self._array[:, j], dtype=np.float64)

    def categories(self, j: int) -> Categories:
        return _number_categories(self.numbers(j))


class SparseTable(ArrayTable):
    """A scipy sparse matrix; one column at a time is made dense."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(np.empty((matrix.shape[0], 0)))
        self._columns = sparse.csc_array(matrix)
        self.names = default_names(matrix.shape[1])

    def _numbers(self, j: int) -> npt.NDArray[np.float64]:
        start, stop = self._columns.indptr[j : j + 2]
        column = np.zeros(self.n_rows)
        # Duplicate entries of one cell add up, as scipy defines them.
        np.add.at(column, self._columns.indices[start:stop], self._columns.data[start:stop])
        return column


class ColumnTable(Table):
    """Columns of any type: a data frame, or an array of Python objects."""

    def __init__(self, columns: Sequence[Any], names: Sequence[Any], has_names: bool) -> None:
        self.names = tuple(map(str, names))
        self.has_names = has_names
        _refuse_duplicates(self.names)
        self._columns = [
            _read_column(column, name) for column, name in zip(columns, self.names, strict=True)
        ]
        self.n_rows = len(columns[0]) if len(columns) else 0

    def is_text(self, j: int) -> bool:
        return isinstance(self._columns[j], pa.DictionaryArray)

    def _numbers(self, j: int) -> npt.NDArray[np.float64]:
        return np.ascontiguousarray(_to_float(self._columns[j]), dtype=np.float64)

    def categories(self, j: int) -> Categories:
        column = self._columns[j]
        if not isinstance(column, pa.DictionaryArray):
            return _number_categories(self.numbers(j))
        places = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        return Categories(column.dictionary.to_pylist(), places)


def read_table(X: Any, *, accept_sparse: bool = False) -> Table:
    """Any table as a ``Table``: numpy, list, pandas, polars, pyarrow, scipy sparse.

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
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        table = _read_frame(frame) if isinstance(frame, nw.DataFrame) else _read_array(X)
    if table.n_rows == 0:
        raise ValueError(f"X has 0 sample(s) (shape=(0, {table.n_columns})): a table without rows")
    if table.n_columns == 0:
        raise ValueError(
            f"X has 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
        )
    return table


def default_names(n_columns: int) -> tuple[str, ...]:
    """Names for the columns of a table that has none."""
    return tuple(f"x{j}" for j in range(n_columns))


def _read_sparse(X: Any, accept_sparse: bool) -> SparseTable:
    if not accept_sparse:
        raise TypeError(
            "X is a scipy sparse matrix, and this learner takes dense tables only; "
            "use X.toarray() where it fits into memory"
        )
    if X.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers")
    return SparseTable(X)


def _read_frame(frame: nw.DataFrame[Any]) -> ColumnTable:
    columns = [frame[:, j] for j in range(len(frame.columns))]
    has_names = all(isinstance(name, str) for name in frame.columns)
    return ColumnTable(columns, frame.columns, has_names)


def _read_array(X: Any) -> Table:
    # Lists of mixed types become text in numpy unless asked to stay objects.
    array = np.asarray(X)
    if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
        array = np.asarray(X, dtype=object)
    if array.ndim != 2:
        raise ValueError(
            f"X must be a table with 2 dimensions, got an array of shape {array.shape}. Reshape "
            "your data: X.reshape(-1, 1) for a single feature, X.reshape(1, -1) for a single sample"
        )
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: X holds complex numbers")
    if array.dtype.kind in "buif":
        return ArrayTable(array)
    if array.dtype.kind in "OUST":
        return ColumnTable(list(array.T), default_names(array.shape[1]), has_names=False)
    raise ValueError(
        f"X has dtype {array.dtype}; give numbers, or text for categories "
        "(a date as a number of days, for instance)"
    )


def _read_column(column: Any, name: str) -> Any:
    """A narwhals Series or numpy vector: kept if numeric, else as an Arrow array."""
    if isinstance(column, nw.Series) and (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        return column
    try:
        arrow = column.to_arrow() if isinstance(column, nw.Series) else _objects_to_arrow(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        kinds = sorted({type(v).__name__ for v in column if v is not None})
        raise ValueError(
            f"column {name!r} mixes or holds types that make no column ({', '.join(kinds)}); "
            "each value must be a string or a number"
        ) from None
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    return _categories_or_numbers(arrow, name)


def _objects_to_arrow(column: npt.NDArray[Any]) -> pa.Array:
    if column.dtype.kind == "S":
        column = column.astype(str)
    # from_pandas: NaN among objects is a missing value.
    return pa.array(column.tolist(), from_pandas=True)


def _categories_or_numbers(arrow: pa.Array, name: str) -> pa.Array:
    kind = arrow.type
    if pa.types.is_dictionary(kind):
        return _without_unused(arrow)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pc.dictionary_encode(arrow.cast(pa.large_string()))
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
    if is_number or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        return arrow
    hint = " (a date as a number of days, for instance)" if pa.types.is_temporal(kind) else ""
    raise TypeError(
        f"column {name!r} is of type {kind}: argument must be a string or a number{hint}"
    )


def _without_unused(arrow: pa.DictionaryArray) -> pa.DictionaryArray:
    """A dictionary array whose dictionary has each value once and no null."""
    return pc.dictionary_encode(arrow.dictionary_decode())


def _to_float(column: Any) -> npt.NDArray[np.float64]:
    if isinstance(column, nw.Series):
        # numpy-backed columns first, without a copy; nullable ones become NaN.
        if column.null_count() == 0:
            return np.asarray(column.to_numpy(), dtype=np.float64)
        return np.asarray(column.cast(nw.Float64()).to_numpy(), dtype=np.float64)
    return np.asarray(
        column.cast(pa.float64()).fill_null(float("nan")).to_numpy(zero_copy_only=False)
    )


def _number_categories(values: npt.NDArray[np.float64]) -> Categories:
    """Numbers that stand for categories; whole numbers are kept as ints."""
    known = ~np.isnan(values)
    distinct, places = np.unique(values[known], return_inverse=True)
    out = np.full(len(values), -1, dtype=np.int64)
    out[known] = places
    named: list[Category] = [int(v) if v.is_integer() else v for v in distinct.tolist()]
    return Categories(named, out)


def _refuse_duplicates(names: tuple[str, ...]) -> None:
    if len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"X has columns of the same name ({', '.join(twice)}); rename them")
