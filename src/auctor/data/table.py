"""Any table as named columns: of numbers (float64, NaN where missing) or of categories."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from auctor._typing import Floats, Ints
from auctor.data.features import Category
from auctor.data.labels import is_unicode
from auctor.data.missing import is_missing, unmask
from auctor.data.sparse import clean_columns

Room = Floats | None


class Categories(NamedTuple):
    """A column of categories: the distinct values and each row's place among them."""

    values: list[Category]
    places: Ints  # -1 where missing


class Table(ABC):
    """Columns by position, whatever the table was made of."""

    names: tuple[str, ...]
    has_names: bool
    n_rows: int

    @property
    def n_columns(self) -> int:
        return len(self.names)

    def check_columns(self) -> None:
        """Raise for a column of a type that no learner can use."""
        for j in range(self.n_columns):
            self.is_text(j)

    @abstractmethod
    def is_text(self, j: int) -> bool:
        """Whether column j is one of categories by its type."""

    @abstractmethod
    def _numbers(self, j: int, room: Room) -> Floats:
        """Column j as contiguous float64, in ``room`` if that helps; never asked of text."""

    @abstractmethod
    def categories(self, j: int) -> Categories:
        """Column j as categories, whatever its type."""

    def numbers(self, j: int, room: Room = None) -> Floats:
        """Column j as contiguous float64, missing values as NaN; infinities are refused.

        ``room`` is an array of one float64 a row that may be written to and returned.
        """
        if self.is_text(j):
            return self._missing_text(j)
        with np.errstate(over="ignore", invalid="ignore"):
            values = self._numbers(j, room)
            # A sum that stays finite tells that all is well; NaN and infinities need a look.
            total = values.sum()
        if not np.isfinite(total) and np.isinf(values).any():
            self._refuse(j, values)
        return values

    def _refuse(self, j: int, values: Floats) -> NoReturn:
        raise _infinite(self.names[j], values)

    def _missing_text(self, j: int) -> Floats:
        """A column of text that holds no text at all: every number is missing."""
        values, places = self.categories(j)
        if values:
            # What is no number is what the user has to look for.
            odd = next((k for k, value in enumerate(values) if not _reads_as_number(value)), 0)
            row = int(np.argmax(places == odd)) + 1
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

    def _numbers(self, j: int, room: Room) -> Floats:
        column = self._array[:, j]
        if room is None or (column.dtype == np.float64 and column.flags.c_contiguous):
            return np.ascontiguousarray(column, dtype=np.float64)
        room[:] = column
        return room

    def categories(self, j: int) -> Categories:
        if self._array.dtype.kind in "ui":  # exact beyond 2^53, where float64 is not
            return _number_categories(self._array[:, j])
        return _number_categories(self.numbers(j))


class SparseTable(ArrayTable):
    """A scipy sparse matrix: its entries by column, or one column at a time made dense."""

    def __init__(self, matrix: Any) -> None:
        super().__init__(np.empty((matrix.shape[0], 0)))
        self.columns = clean_columns(matrix)
        self.names = default_names(matrix.shape[1])

    def _numbers(self, j: int, room: Room) -> Floats:
        rows, values = self.entries(j)
        column = np.zeros(self.n_rows)
        column[rows] = values
        return column

    def entries(self, j: int) -> tuple[npt.NDArray[Any], Floats]:
        """Rows in which column j has an entry, each once and in order, and the values there."""
        start, stop = self.columns.indptr[j : j + 2]
        return self.columns.indices[start:stop], self.columns.data[start:stop]

    def refuse_infinities(self) -> None:
        """Raise what ``numbers`` would for the first column that holds one."""
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
        """Column j, looked into on first use: a column that nobody asks for may hold anything."""
        if j not in self._read:
            self._read[j] = _read_column(self._given[j], self.names[j])
        return self._read[j]

    def is_text(self, j: int) -> bool:
        return isinstance(self._column(j), pa.DictionaryArray)

    def _numbers(self, j: int, room: Room) -> Floats:
        return np.ascontiguousarray(_to_float(self._column(j)), dtype=np.float64)

    def categories(self, j: int) -> Categories:
        column = self._column(j)
        if isinstance(column, nw.Series) and column.dtype.is_integer():
            column = _to_arrow(column).dictionary_encode()  # exact beyond 2^53
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
        frame = _as_frame(X)
        table = _read_array(X) if frame is None else _read_frame(frame)
    if table.n_rows == 0:
        raise ValueError(f"X has 0 sample(s) (shape=(0, {table.n_columns})): a table without rows")
    if table.n_columns == 0:
        raise ValueError(
            f"X has 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required."
        )
    return table


def _infinite(name: str, values: Floats) -> ValueError:
    return ValueError(
        f"column {name!r} holds {int(np.isinf(values).sum())} infinity value(s); "
        "replace them by a finite number, or by NaN for missing"
    )


def _reads_as_number(value: Category) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


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
    if X.dtype.kind not in "buif":
        raise ValueError(f"X is a sparse matrix of type {X.dtype}; give numbers")
    return SparseTable(X)


def _as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """A data frame of any library; None where X is none."""
    try:
        if isinstance(X, pa.RecordBatch):
            X = pa.Table.from_batches([X])
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
    except nw.exceptions.DuplicateError as error:
        found = " ".join(str(error).split())
        raise ValueError(f"X has columns of the same name; rename them ({found})") from None
    return frame if isinstance(frame, nw.DataFrame) else None


def _read_frame(frame: nw.DataFrame[Any]) -> ColumnTable:
    names = frame.columns
    # 0, 1, 2, ... is what pandas calls columns that were given no names.
    has_names = names != list(range(len(names)))
    native = frame.to_native()
    columns = _arrow_columns(native) if isinstance(native, pa.Table) else frame.iter_columns()
    return ColumnTable(list(columns), names, len(frame), has_names)


def _arrow_columns(table: pa.Table) -> Iterator[Any]:
    """The columns of an Arrow table, floats as Arrow arrays and others as narwhals Series.

    In a wide table nearly all columns are floats, and 20,000 Series cost more than a fit.
    """
    for column in table.columns:
        is_float = column.type == pa.float64()
        if is_float:  # a single chunk is not copied
            yield column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        else:
            yield nw.from_native(column, series_only=True)


def _read_array(X: Any) -> Table:
    array = _to_array(X)
    if array.ndim == 0 and not isinstance(X, (np.ndarray, np.generic)):
        raise ValueError(
            f"X must be a table with 2 dimensions, got an object of type {type(X).__name__}; give "
            "a numpy array, a list of rows, or a pandas, polars or pyarrow table"
        )
    if array.dtype.names is not None:
        raise ValueError("X is a structured array; give a data frame, as in pandas.DataFrame(X)")
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
        # Lists of mixed types become text in numpy unless asked to stay objects.
        if array.dtype.kind in "US" and not isinstance(X, np.ndarray):
            array = np.asarray(X, dtype=object)
    except ValueError as error:
        raise ValueError(f"X is no table; its rows may differ in length: {error}") from None
    return array


def _read_column(column: Any, name: str) -> Any:
    """A narwhals Series or numpy vector: kept if numeric, else as an Arrow array."""
    if isinstance(column, pa.DoubleArray):
        return column
    if isinstance(column, nw.Series) and _is_numeric(column):
        return column
    try:
        arrow = _to_arrow(column) if isinstance(column, nw.Series) else _objects_to_arrow(column)
    except OverflowError:
        raise ValueError(
            f"column {name!r} holds whole numbers beyond 64 bits; give them as floats"
        ) from None
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeError):
        odd = next((v for v in column if isinstance(v, str) and not is_unicode(v)), None)
        if odd is not None:
            raise ValueError(
                f"column {name!r} holds {str(odd)!r}, which is not valid Unicode text; replace it"
            ) from None
        raise ValueError(
            f"column {name!r} mixes or holds types that make no column {_kinds(column)}; "
            "each value must be a string or a number"
        ) from None
    return _categories_or_numbers(arrow, name)


def _kinds(column: Any) -> str:
    """The types of a column's values, and where the rarest of several is found first."""
    kinds = [None if is_missing(value) else type(value).__name__ for value in column]
    counts = Counter(kind for kind in kinds if kind is not None)
    names = ", ".join(sorted(counts))
    if len(counts) < 2:
        return f"({names})"
    rarest = min(sorted(counts), key=lambda kind: counts[kind])
    row = kinds.index(rarest)
    value = next(value for value, kind in zip(column, kinds, strict=True) if kind == rarest)
    return f"({names}), the first {rarest} being {str(value)[:40]!r} in row {row + 1}"


def _is_numeric(column: nw.Series[Any]) -> bool:
    if column.dtype.is_numeric() or column.dtype == nw.Boolean:
        return True
    # Big-endian, extended precision and sparse columns of pandas have no narwhals type.
    dtype = getattr(column.to_native(), "dtype", None)
    return getattr(dtype, "kind", None) in ("b", "u", "i", "f")


def _objects_to_arrow(column: npt.NDArray[Any]) -> pa.Array:
    if column.dtype.kind == "S":
        column = np.char.decode(column, "utf-8")
    elif column.dtype.kind == "T":
        column = column.astype(object)
    # from_pandas: NaN among objects is a missing value.
    return _whole(pa.array(column, from_pandas=True))


def _to_arrow(column: nw.Series[Any]) -> pa.Array:
    """A column as one Arrow array."""
    # Without its name: polars panics over one that Arrow cannot have, as with a NUL in it.
    return _whole(column.alias("column").to_arrow())


def _whole(arrow: Any) -> pa.Array:
    """The chunks of a column as one array."""
    return arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow


def _categories_or_numbers(arrow: pa.Array, name: str) -> pa.Array:
    """Text and dictionaries as a dictionary array: each value once, no null, none unused."""
    kind, is_dictionary = arrow.type, pa.types.is_dictionary(arrow.type)
    if is_dictionary:
        kind = kind.value_type
    if _is_text(kind):
        text = arrow.dictionary_decode() if is_dictionary else arrow
        return pc.dictionary_encode(text.cast(pa.large_string()))
    if not _is_number(kind):
        hint = " (a date as a number of days, for instance)" if pa.types.is_temporal(kind) else ""
        raise TypeError(
            f"column {name!r} is of type {kind}: argument must be a string or a number{hint}"
        )
    return _number_dictionary(arrow.dictionary_decode(), name) if is_dictionary else arrow


def _number_dictionary(arrow: pa.Array, name: str) -> pa.DictionaryArray:
    """Numbers that are categories by their type; NaN among them is a missing value."""
    if not (pa.types.is_integer(arrow.type) or pa.types.is_boolean(arrow.type)):
        values = _arrow_to_float(arrow)
        if np.isinf(values).any():
            raise _infinite(name, values)
        arrow = pa.array(values, from_pandas=True)
    return pc.dictionary_encode(arrow)


def _is_text(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    is_plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return is_plain or pa.types.is_decimal(kind) or pa.types.is_null(kind)


def _to_float(column: Any) -> Floats:
    if not isinstance(column, nw.Series):
        return _arrow_to_float(column)
    kind = column.dtype
    if kind in (nw.Int128, nw.UInt128):  # neither numpy nor Arrow has these
        column = column.cast(nw.Float64())
    elif kind == nw.Decimal or (
        (kind.is_integer() or kind == nw.Boolean) and column.null_count() > 0
    ):
        return _arrow_to_float(_to_arrow(column))
    # numpy-backed columns without a copy; what is missing among floats becomes NaN.
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _arrow_to_float(column: pa.Array) -> Floats:
    if isinstance(column, pa.DoubleArray) and column.null_count == 0:
        return np.asarray(column)  # no copy, and no look at the values
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())  # Arrow's own way to floats misses the nearest one
    # Unsafe means: whole numbers beyond 2^53 are rounded.
    floats = column.cast(pa.float64(), safe=False).fill_null(float("nan"))
    return np.asarray(floats.to_numpy(zero_copy_only=False))


def _number_categories(values: npt.NDArray[Any]) -> Categories:
    """Numbers that stand for categories; whole numbers are kept as ints."""
    known = ~np.isnan(values)
    distinct, places = np.unique(values[known], return_inverse=True)
    out = np.full(len(values), -1, dtype=np.int64)
    out[known] = places
    return Categories([_plain(value) for value in distinct.tolist()], out)


def _plain(value: float) -> Category:
    """A whole number as an int, as far as every int has a float of its own."""
    return int(value) if abs(value) < 2.0**53 and value == int(value) else value


def _check_names(names: tuple[str, ...]) -> None:
    """Names that occur once and can be written down."""
    odd = [name for name in names if not is_unicode(name)]
    if odd:
        raise ValueError(f"X has a column {odd[0]!r}, whose name is not valid Unicode; rename it")
    if len(set(names)) < len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"X has columns of the same name ({', '.join(twice)}); rename them")
