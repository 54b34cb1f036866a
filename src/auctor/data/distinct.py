"""The distinct rows of a matrix, each with the total weight of the rows equal to it.

Their order depends on their values alone, so that results do not depend on the order of the table,
and are the same for a row of weight 2 and for the row twice.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor._typing import Floats, Hashes, Ints


def distinct_rows(matrix: Any, weight: npt.NDArray[Any]) -> tuple[Ints, Ints]:
    """An index of each distinct row, and the total weight of the rows equal to it.

    ``matrix`` is a float64 array or CSR array, and weights are whole numbers. NaN equals NaN.

    Examples
    --------
    >>> rows, weight = distinct_rows(np.array([[1.0], [2.0], [1.0]]), np.array([1, 1, 3]))
    >>> sorted(zip(rows.tolist(), weight.tolist()))
    [(0, 4), (1, 1)]
    """
    hashes = row_hashes(matrix)
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    # Two different rows of 100,000 have the same hash with a probability of about 10^-9.
    if not _are_equal(matrix, first[group]):
        return np.arange(len(weight)), np.asarray(weight, dtype=np.int64)
    totals = np.zeros(len(first), dtype=np.int64)
    np.add.at(totals, group, np.asarray(weight, dtype=np.int64))
    return first, totals


def row_hashes(matrix: Any) -> Hashes:
    """A hash of the values of each row of a float64 array or CSR array."""
    return _hash_sparse(matrix) if sparse.issparse(matrix) else _hash_dense(matrix)


def _mix(bits: Hashes, column: Hashes | np.uint64) -> Hashes:
    """A hash of each value and its column (splitmix64); 0 for 0, which sparse rows do not list."""
    x = bits ^ column
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.where(bits == 0, np.uint64(0), x ^ (x >> np.uint64(31)))


def column_salt(column: npt.NDArray[Any]) -> Hashes:
    """A number for each column, so that equal values in two columns have different hashes."""
    return (column.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)


def value_bits(values: Floats) -> Hashes:
    """The bits of each value, equal for all NaN and for 0 and -0."""
    known = np.where(np.isnan(values), np.nan, values + 0.0)
    return known.view(np.uint64)


def _hash_dense(matrix: Floats) -> Hashes:
    out = np.zeros(len(matrix), dtype=np.uint64)
    for j, salt in enumerate(column_salt(np.arange(matrix.shape[1]))):
        out += _mix(value_bits(matrix[:, j]), salt)
    return out


def _hash_sparse(matrix: Any) -> Hashes:
    out = np.zeros(matrix.shape[0], dtype=np.uint64)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    np.add.at(out, row, _mix(value_bits(matrix.data), column_salt(matrix.indices)))
    return out


def _are_equal(matrix: Any, twin: Ints) -> bool:
    """Whether each row i equals row ``twin[i]``."""
    moved = np.flatnonzero(twin != np.arange(len(twin)))
    if len(moved) == 0:
        return True
    a, b = matrix[moved], matrix[twin[moved]]
    if sparse.issparse(matrix):
        a, b = a.copy(), b.copy()
        for side in (a, b):
            side.data[np.isnan(side.data)] = 1e300  # any number that is equal to itself
        return (a != b).nnz == 0
    return bool(((a == b) | (np.isnan(a) & np.isnan(b))).all())
