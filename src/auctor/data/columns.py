"""Columns of any type as numbers (float64, NaN where missing) or as categories.

A column comes as a narwhals Series, an Arrow array or a numpy vector of Python objects. Numeric
columns are kept as they are until their numbers are needed; text becomes a dictionary array of
Arrow.
"""

from collections import Counter
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from auctor._typing import Floats, Ints
from auctor.data.features import Category
from auctor.data.labels import is_unicode
from auctor.data.missing import is_missing


class Categories(NamedTuple):
    """A column of categories: the distinct values, and for each row the index of its value."""

    values: list[Category]
    indices: Ints  # -1 for missing values


def read_column(column: Any, name: str) -> Any:
    """A column that is ready for ``to_floats`` or ``to_categories``.

    Numeric columns are returned unchanged. Text, and numbers of a categorical type, become
    dictionary arrays. Errors name the column.
    """
    if isinstance(column, pa.DoubleArray):
        return column
    if isinstance(column, nw.Series) and _is_numeric(column):
        return column
    try:
        arrow = to_arrow(column) if isinstance(column, nw.Series) else _objects_to_arrow(column)
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
            f"column {name!r} has values of types that cannot be used {_type_names(column)}; "
            "give only text, or only numbers"
        ) from None
    return _categories_or_numbers(arrow, name)


def _type_names(column: Any) -> str:
    """The types of the values of a column, and the first value of the rarest type."""
    types = [None if is_missing(value) else type(value).__name__ for value in column]
    counts = Counter(name for name in types if name is not None)
    names = ", ".join(sorted(counts))
    if len(counts) < 2:
        return f"({names})"
    rarest = min(sorted(counts), key=lambda name: counts[name])
    row = types.index(rarest)
    value = next(value for value, name in zip(column, types, strict=True) if name == rarest)
    return f"({names}; the first {rarest} is {str(value)[:40]!r} in row {row + 1})"


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
    # With from_pandas, NaN among objects is a missing value.
    return _whole(pa.array(column, from_pandas=True))


def to_arrow(column: nw.Series[Any]) -> pa.Array:
    """A column as one Arrow array."""
    # Under another name: polars panics if Arrow does not allow the name, such as one with a NUL.
    return _whole(column.alias("column").to_arrow())


def _whole(arrow: Any) -> pa.Array:
    """The chunks of a column as one array."""
    return arrow.combine_chunks() if isinstance(arrow, pa.ChunkedArray) else arrow


def _categories_or_numbers(arrow: pa.Array, name: str) -> pa.Array:
    """A dictionary array for text and dictionaries, or the array itself for numbers.

    Each value of the dictionary occurs in the column, and no value is null or repeated.
    """
    kind, is_dictionary = arrow.type, pa.types.is_dictionary(arrow.type)
    if is_dictionary:
        kind = kind.value_type
    if _is_text(kind):
        text = arrow.dictionary_decode() if is_dictionary else arrow
        return pc.dictionary_encode(text.cast(pa.large_string()))
    if not _is_number(kind):
        hint = " (a date as a number of days, for instance)" if pa.types.is_temporal(kind) else ""
        raise TypeError(  # scikit-learn's checks look for "argument must be a string or a number"
            f"column {name!r} is of type {kind}: argument must be a string or a number{hint}"
        )
    return _number_dictionary(arrow.dictionary_decode(), name) if is_dictionary else arrow


def _number_dictionary(arrow: pa.Array, name: str) -> pa.DictionaryArray:
    """Numbers in a column of a categorical type; NaN among them is a missing value."""
    if not (pa.types.is_integer(arrow.type) or pa.types.is_boolean(arrow.type)):
        values = _arrow_to_float(arrow)
        if np.isinf(values).any():
            raise infinite_error(name, values)
        arrow = pa.array(values, from_pandas=True)
    return pc.dictionary_encode(arrow)


def _is_text(kind: pa.DataType) -> bool:
    return (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _is_number(kind: pa.DataType) -> bool:
    is_plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return is_plain or pa.types.is_decimal(kind) or pa.types.is_null(kind)


def to_floats(column: Any) -> Floats:
    """The numbers of a column that ``read_column`` returned, NaN for missing values."""
    if not isinstance(column, nw.Series):
        return _arrow_to_float(column)
    kind = column.dtype
    if kind in (nw.Int128, nw.UInt128):  # neither numpy nor Arrow has these
        column = column.cast(nw.Float64())
    elif kind == nw.Decimal or (
        (kind.is_integer() or kind == nw.Boolean) and column.null_count() > 0
    ):
        return _arrow_to_float(to_arrow(column))
    # Without a copy for columns that hold numpy arrays; missing floats become NaN.
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _arrow_to_float(column: pa.Array) -> Floats:
    if isinstance(column, pa.DoubleArray) and column.null_count == 0:
        return np.asarray(column)  # without a copy
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.string())  # Arrow's cast to float is not correctly rounded
    # Unsafe means that whole numbers beyond 2^53 are rounded.
    floats = column.cast(pa.float64(), safe=False).fill_null(float("nan"))
    return np.asarray(floats.to_numpy(zero_copy_only=False))


def number_categories(values: npt.NDArray[Any]) -> Categories:
    """Numbers as categories; whole numbers become ints."""
    known = ~np.isnan(values)
    distinct, indices = np.unique(values[known], return_inverse=True)
    out = np.full(len(values), -1, dtype=np.int64)
    out[known] = indices
    return Categories([_plain(value) for value in distinct.tolist()], out)


def to_categories(column: Any) -> Categories | None:
    """The categories of a column that ``read_column`` returned; None if it is one of floats."""
    if isinstance(column, nw.Series) and column.dtype.is_integer():
        column = to_arrow(column).dictionary_encode()  # exact beyond 2^53
    if not isinstance(column, pa.DictionaryArray):
        return None
    indices = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return Categories(column.dictionary.to_pylist(), indices)


def _plain(value: float) -> Category:
    """A whole number as an int if it is below 2^53, where no two ints have the same float."""
    return int(value) if abs(value) < 2.0**53 and value == int(value) else value


def infinite_error(name: str, values: Floats) -> ValueError:
    """The error for a column with infinite values."""
    return ValueError(
        f"column {name!r} holds {int(np.isinf(values).sum())} infinity value(s); "
        "replace them by a finite number, or by NaN for missing"
    )
