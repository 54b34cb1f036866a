"""Sparse tables: checks of scipy's matrices, their columns, and sparse codes.

``check_sparse`` refuses damaged matrices, ``clean_columns`` gives the columns of a matrix in a
canonical form, and `SparseCodes` has the codes of a binned sparse table.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor._text import count
from auctor._typing import Bools, Ints
from auctor.data.features import Feature

Array = npt.NDArray[Any]


def check_sparse(matrix: Any) -> None:
    """Raise an error for a sparse matrix whose indices are out of range.

    scipy's conversions do not check indices, and would read and write memory outside the arrays.

    Examples
    --------
    >>> matrix = sparse.csr_array(([1.0], [0], [0, 1]), shape=(1, 2))
    >>> matrix.indices[0] = 7
    >>> check_sparse(matrix)
    Traceback (most recent call last):
    ...
    ValueError: X is a damaged sparse matrix: a column index is 7, but X has 2 columns; ...
    """
    if matrix.ndim != 2:
        dimensions = count(matrix.ndim, "dimension")
        raise ValueError(f"X is a sparse array of {dimensions}; give a table with 2 dimensions")
    if matrix.format == "lil":
        _check_lists(matrix)
    elif matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix)
    elif matrix.format == "dia":
        _check_diagonals(matrix)
    else:  # coo, or dok, which is converted to coo
        try:
            entries = matrix.tocoo()
        except ValueError as error:  # scipy checks the keys of dok
            raise _damaged(str(error)) from None
        _check_lengths(entries.row, entries.col, entries.data)
        _check_indices(entries.row, matrix.shape[0], "row")
        _check_indices(entries.col, matrix.shape[1], "column")


def _check_compressed(matrix: Any) -> None:
    """Check the formats csr, csc and bsr, in which indptr has the start of each row or column."""
    names, shape = ("row", "column"), list(matrix.shape)
    if matrix.format == "csc":
        names, shape = names[::-1], shape[::-1]
    elif matrix.format == "bsr":
        if matrix.data.ndim != 3 or 0 in (size := matrix.data.shape[1:]):
            raise _damaged("its blocks are not all of the same size")
        shape = [n // block for n, block in zip(shape, size, strict=True)]
        names = ("block row", "block column")
    starts = matrix.indptr
    _check_lengths(matrix.indices, matrix.data)
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) != shape[0] + 1:
        rows = count(shape[0], names[0])
        raise _damaged(f"indptr does not consist of {shape[0] + 1} whole numbers for {rows}")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > len(matrix.indices):
        n_entries = len(matrix.indices)
        raise _damaged(
            f"indptr does not increase from 0 to at most {n_entries}, the number of entries"
        )
    _check_indices(matrix.indices, shape[1], names[1])


def _check_lists(matrix: Any) -> None:
    """Check the format lil, with a list of columns and a list of values for each row."""
    n_rows = matrix.shape[0]
    if len(matrix.rows) != n_rows or len(matrix.data) != n_rows:
        raise _damaged(f"it does not have {n_rows} lists, one for each row")
    for columns, values in zip(matrix.rows, matrix.data, strict=True):
        _check_lengths(np.asarray(columns, dtype=np.int64), np.asarray(values))
    _check_indices(np.array([j for row in matrix.rows for j in row]), matrix.shape[1], "column")


def _check_diagonals(matrix: Any) -> None:
    """Check the format dia, with an offset and a row of data for each diagonal."""
    offsets = matrix.offsets
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or matrix.data.ndim != 2:
        raise _damaged("its array offsets does not consist of whole numbers, one for each diagonal")
    if len(offsets) != len(matrix.data) or len(np.unique(offsets)) != len(offsets):
        raise _damaged("its array offsets does not have a different value for each diagonal")


def _check_lengths(*parts: Array) -> None:
    if len({len(part) for part in parts}) > 1:
        sizes = ", ".join(str(len(part)) for part in parts)
        raise _damaged(f"its arrays of indices and values differ in length ({sizes})")


def _check_indices(indices: Array, size: int, name: str) -> None:
    if len(indices) == 0:
        return
    if indices.ndim != 1 or indices.dtype.kind not in "iu":
        raise _damaged(f"its {name} indices are of type {indices.dtype}, not whole numbers")
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size:
        bad = low if low < 0 else high
        raise _damaged(f"a {name} index is {bad}, but X has {count(size, name)}")


def _damaged(text: str) -> ValueError:
    return ValueError(f"X is a damaged sparse matrix: {text}; build it again")


def clean_columns(matrix: Any) -> sparse.csc_array:
    """A copy of the matrix in CSC format, in float64 and with duplicate entries added.

    Rows are in order within each column. Duplicates are added in the order in which they are
    stored, so that the bits are those of the dense matrix. Entries of value 0 may remain.
    """
    check_sparse(matrix)
    if matrix.dtype == np.float16:  # which scipy's conversions do not support
        matrix = matrix.astype(np.float32)
    columns = sparse.csc_array(matrix)
    with np.errstate(over="ignore"):
        values = columns.data.astype(np.float64)
    if columns.has_canonical_format:
        return _columns(values, columns.indices, columns.indptr, columns.shape)
    column = np.repeat(np.arange(columns.shape[1]), np.diff(columns.indptr))
    order = np.lexsort((columns.indices, column))  # stable
    column, row = column[order], columns.indices[order]
    is_first = np.ones(len(row), dtype=np.bool_)
    is_first[1:] = (np.diff(column) != 0) | (np.diff(row) != 0)
    sums = np.zeros(int(is_first.sum()))
    with np.errstate(over="ignore", invalid="ignore"):
        np.add.at(sums, np.cumsum(is_first) - 1, values[order])
    sizes = np.bincount(column[is_first], minlength=columns.shape[1])
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return _columns(sums, row[is_first], starts, columns.shape)


def _columns(values: Any, rows: Any, starts: Any, shape: tuple[int, ...]) -> sparse.csc_array:
    return sparse.csc_array((values, rows, starts), shape=shape)


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Codes (features, rows) that list only rows without the default code of a feature.

    Each code of each feature has a cell: code c of feature j is cell ``first[j] + c``. Features may
    differ in their number of codes. The rows of a cell are
    ``rows[starts[cell] : starts[cell + 1]]``, in increasing order; its positives, which are first
    in a partition, are those before ``middles[cell]``. The cell of a default code is empty.

    Attributes
    ----------
    first : ndarray of shape (n_features + 1,)
        The first cell of each feature.
    default : ndarray of shape (n_features,)
        The code that is not listed, usually that of the value 0.
    starts : ndarray of shape (n_cells + 1,)
    middles : ndarray of shape (n_cells,)
    rows : ndarray
    n_rows : int
    """

    first: Ints
    default: Ints
    starts: Ints
    middles: Ints
    rows: npt.NDArray[np.uint32]
    n_rows: int

    def __post_init__(self) -> None:
        for array in (self.first, self.default, self.starts, self.middles, self.rows):
            array.flags.writeable = False

    @property
    def shape(self) -> tuple[int, int]:
        """(features, rows), as for dense codes."""
        return len(self.default), self.n_rows

    @property
    def n_cells(self) -> int:
        """Total number of codes of all features."""
        return len(self.middles)

    def __getitem__(self, j: int) -> npt.NDArray[np.uint16]:
        """The codes of all rows for feature j, as a dense array."""
        low, high = self.first[j], self.first[j + 1]
        dense = np.full(self.n_rows, self.default[j], dtype=np.uint16)
        sizes = np.diff(self.starts[low : high + 1])
        codes = np.repeat(np.arange(high - low, dtype=np.uint16), sizes)
        dense[self.rows[self.starts[low] : self.starts[high]]] = codes
        return dense

    def take(self, chosen: Bools) -> "SparseCodes":
        """The codes of the chosen rows."""
        kept = chosen[self.rows]
        kept_before = np.concatenate([[0], np.cumsum(kept)])
        new_row = np.cumsum(chosen) - 1
        return SparseCodes(
            self.first,
            self.default,
            kept_before[self.starts],
            kept_before[self.middles],
            new_row[self.rows[kept]].astype(np.uint32),
            int(chosen.sum()),
        )


def gather_codes(
    features: Sequence[Feature],
    default: Ints,
    entries: tuple[Ints, Ints, Ints],
    n_rows: int,
    n_pos: int,
) -> SparseCodes:
    """Sparse codes from entries (feature, row, code); a feature has at most one entry for a row.

    Rows are positions in the partition. Entries with the default code are dropped.
    """
    first = np.concatenate([[0], np.cumsum([feature.n_bins + 1 for feature in features])])
    feature, row, code = entries
    listed = code != default[feature]
    cell, row = (first[feature] + code)[listed], row[listed]
    order = np.lexsort((row, cell))
    n_cells = int(first[-1])
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_cells))])
    middles = starts[:-1] + np.bincount(cell[row < n_pos], minlength=n_cells)
    return SparseCodes(first, default, starts, middles, row[order].astype(np.uint32), n_rows)
