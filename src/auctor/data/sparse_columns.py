"""Any scipy sparse matrix as clean columns: one entry a cell, float64, rows in order."""

from typing import Any

import numpy as np
from scipy import sparse


def clean_columns(matrix: Any) -> sparse.csc_array:
    """The matrix by columns, duplicate entries added up; the given one is left as it is.

    Duplicates are added in the order they are stored in, as float64: what a dense column
    gets, to the last bit. Entries of value 0 may remain.
    """
    columns = sparse.csc_array(matrix)
    try:
        columns.check_format(full_check=True)  # kernels do not check their indices
    except ValueError as error:
        raise ValueError(f"X is a damaged sparse matrix: {error}") from None
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
