"""Any scipy sparse matrix as clean columns: one entry a cell, float64, rows in order."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor._typing import Bools, Ints
from auctor.data.features import Feature

Array = npt.NDArray[Any]


def check_sparse(matrix: Any) -> None:
    """Refuse indices that are not there, before any code that trusts them sees the matrix.

    scipy's conversions do not check them: they write where an index says, in whose memory ever.

    Examples
    --------
    >>> matrix = sparse.csr_array(([1.0], [0], [0, 1]), shape=(1, 2))
    >>> matrix.indices[0] = 7
    >>> check_sparse(matrix)
    Traceback (most recent call last):
    ...
    ValueError: X is a damaged sparse matrix: a column index is 7, and X has 2 columns
    """
    if matrix.ndim != 2:
        raise ValueError(
            f"X must be a table with 2 dimensions, got a sparse array of {matrix.ndim}"
        )
    if matrix.format == "lil":
        _check_lists(matrix)
    elif matrix.format in ("csr", "csc", "bsr"):
        _check_compressed(matrix)
    elif matrix.format == "dia":
        _check_diagonals(matrix)
    else:  # coo, and dok, whose keys become one
        try:
            entries = matrix.tocoo()
        except ValueError as error:  # scipy looks at the keys itself
            raise _damaged(str(error)) from None
        _check_lengths(entries.row, entries.col, entries.data)
        _check_indices(entries.row, matrix.shape[0], "row")
        _check_indices(entries.col, matrix.shape[1], "column")


def _check_compressed(matrix: Any) -> None:
    """Rows, columns or blocks one after the other, with a list of where each begins."""
    names, shape = ("row", "column"), list(matrix.shape)
    if matrix.format == "csc":
        names, shape = names[::-1], shape[::-1]
    elif matrix.format == "bsr":
        if matrix.data.ndim != 3 or 0 in (size := matrix.data.shape[1:]):
            raise _damaged("its blocks are not of one size")
        shape = [n // block for n, block in zip(shape, size, strict=True)]
        names = ("block row", "block column")
    starts = matrix.indptr
    _check_lengths(matrix.indices, matrix.data)
    if starts.ndim != 1 or starts.dtype.kind not in "iu" or len(starts) != shape[0] + 1:
        raise _damaged(f"indptr must hold {shape[0] + 1} whole numbers for {shape[0]} {names[0]}s")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > len(matrix.indices):
        raise _damaged(f"indptr must rise from 0 to at most {len(matrix.indices)} entries")
    _check_indices(matrix.indices, shape[1], names[1])


def _check_lists(matrix: Any) -> None:
    """A list of columns and one of values for each row."""
    n_rows = matrix.shape[0]
    if len(matrix.rows) != n_rows or len(matrix.data) != n_rows:
        raise _damaged(f"it must hold {n_rows} lists, one for each row")
    for columns, values in zip(matrix.rows, matrix.data, strict=True):
        _check_lengths(np.asarray(columns, dtype=np.int64), np.asarray(values))
    _check_indices(np.array([j for row in matrix.rows for j in row]), matrix.shape[1], "column")


def _check_diagonals(matrix: Any) -> None:
    offsets = matrix.offsets
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or matrix.data.ndim != 2:
        raise _damaged("its offsets must be whole numbers, one for each line of the data")
    if len(offsets) != len(matrix.data) or len(np.unique(offsets)) != len(offsets):
        raise _damaged("each offset must occur once and have a line of the data")


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
        raise _damaged(f"a {name} index is {bad}, and X has {size} {name}s")


def _damaged(text: str) -> ValueError:
    return ValueError(f"X is a damaged sparse matrix: {text}")


def clean_columns(matrix: Any) -> sparse.csc_array:
    """The matrix by columns, duplicate entries added up; the given one is left as it is.

    Duplicates are added in the order they are stored in, as float64: what a dense column
    gets, to the last bit. Entries of value 0 may remain.
    """
    check_sparse(matrix)
    if matrix.dtype == np.float16:  # which scipy's conversions do not know
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
    """Codes (features, rows) of which only those are kept that are not their feature's default.

    All codes of all features stand in one line of cells: code c of feature j is cell
    ``first[j] + c``. Features may so differ in their number of codes, and a histogram
    of the cells is no larger than it must be. The rows of a cell are
    ``rows[starts[cell] : starts[cell + 1]]`` in increasing order; the positives, which are
    first in a partition, end at ``middles[cell]``. The cell of a default is empty.
    """

    first: Ints  # (features + 1)
    default: Ints  # (features)
    starts: Ints  # (cells + 1)
    middles: Ints  # (cells)
    rows: npt.NDArray[np.uint32]
    n_rows: int

    def __post_init__(self) -> None:
        for array in (self.first, self.default, self.starts, self.middles, self.rows):
            array.flags.writeable = False

    @property
    def shape(self) -> tuple[int, int]:
        """(features, rows), as that of dense codes."""
        return len(self.default), self.n_rows

    @property
    def n_cells(self) -> int:
        """Number of codes of all features together."""
        return len(self.middles)

    def __getitem__(self, j: int) -> npt.NDArray[np.uint16]:
        """The code of every row for feature j, as a line of dense codes has it."""
        low, high = self.first[j], self.first[j + 1]
        line = np.full(self.n_rows, self.default[j], dtype=np.uint16)
        sizes = np.diff(self.starts[low : high + 1])
        codes = np.repeat(np.arange(high - low, dtype=np.uint16), sizes)
        line[self.rows[self.starts[low] : self.starts[high]]] = codes
        return line

    def take(self, chosen: Bools) -> "SparseCodes":
        """The codes of the chosen rows."""
        kept = chosen[self.rows]
        kept_before = np.concatenate([[0], np.cumsum(kept)])
        place = np.cumsum(chosen) - 1
        return SparseCodes(
            self.first,
            self.default,
            kept_before[self.starts],
            kept_before[self.middles],
            place[self.rows[kept]].astype(np.uint32),
            int(chosen.sum()),
        )


def gather_codes(
    features: Sequence[Feature],
    default: Ints,
    entries: tuple[Ints, Ints, Ints],
    n_rows: int,
    n_pos: int,
) -> SparseCodes:
    """Sparse codes from (feature, row, code) of the entries, each row once in a feature.

    Rows are places in the partition. Entries of a default code are dropped.
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
