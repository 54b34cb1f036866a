"""Copies of rows in a table, and the distinct rows of a matrix.

Oversampled tables and bootstrap samples contain copies of rows. Copies have equal features and the
same label. Rows with equal features but different labels do not count as copies: the table then has
few distinct rows, and new rows will repeat them as well. Copies are not independent. They belong in
the same fold, because otherwise a model would be tested on rows that it was trained on; and if at
least half of a class consists of copies, the effective number of its rows counts each group once
(``RankingData.effective_rows``).

A matrix is reduced to its distinct rows, each with the total weight of the rows equal to it.
Their order depends on their values alone, so that results do not depend on the order of the table,
and are the same for a row of weight 2 and for the row twice.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor._typing import Bools, Floats, Hashes, Ints
from auctor.data.row_arrays import EmptyArray, row_blocks, row_numbers, take_rows
from auctor.data.table import SparseTable, Table
from auctor.kernels.copies import mix_column
from auctor.kernels.sorting import sorted_hashes


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
    return hash_sparse(matrix) if sparse.issparse(matrix) else hash_dense(matrix)


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


def hash_dense(matrix: Floats) -> Hashes:
    """A hash of each row of an array."""
    out = np.zeros(len(matrix), dtype=np.uint64)
    for j, salt in enumerate(column_salt(np.arange(matrix.shape[1]))):
        out += _mix(value_bits(matrix[:, j]), salt)
    return out


def hash_sparse(matrix: Any) -> Hashes:
    """The same hash of each row of a sparse table in rows (CSR)."""
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


# A group of copies with more than this fraction of the rows of its class in a fold is divided among
# the folds, because a fold with the whole group would have few other rows.
_LARGEST_FRACTION = 0.25

# Rows without copies are dropped early if at most this fraction of the rows has copies.
DROP_BELOW = 0.5


def find_copies(
    table: Table,
    kept: Bools | None,
    positive: Bools,
    categorical: frozenset[int] = frozenset(),
) -> Ints | None:
    """The index of the first copy of each row, or None if no row has a copy.

    Indices are those of the kept rows (``kept`` is None if all rows are).

    Examples
    --------
    >>> from auctor.data.table import read_table
    >>> table = read_table([[1.0], [2.0], [1.0], [3.0], [3.0]])
    >>> find_copies(table, None, np.array([True, True, True, True, False])).tolist()
    [0, 1, 0, 3, 4]
    """
    kept_rows = None if kept is None else np.flatnonzero(kept)
    repeated, hashes = _repeated_rows(table, kept_rows, categorical)
    if len(repeated) == 0:
        return None
    copies = row_numbers(len(positive), table.empty_rows)
    has_copies = False
    for own in _hash_groups(hashes):
        rows = repeated[own]
        _, first, group = np.unique(hashes[own], return_index=True, return_inverse=True)
        n_pos = np.bincount(group, positive[rows])
        is_copy = ((n_pos == 0) | (n_pos == np.bincount(group)))[group]
        copies[rows[is_copy]] = rows[first[group[is_copy]]]
        has_copies = has_copies or bool(is_copy.any())
    return copies if has_copies else None


def _repeated_rows(
    table: Table, kept_rows: Ints | None, categorical: frozenset[int]
) -> tuple[Ints, Hashes]:
    """Indices (among the kept rows) and hashes of the rows that occur more than once.

    ``kept_rows`` is None if all rows are kept: an index for each row of a long table takes as much
    memory as a column. Rows that are already unique are dropped after 1, 2, 4, 8, ... columns, so
    that little is read if the first columns have many distinct values.
    """
    empty = table.empty_rows
    if isinstance(table, SparseTable):
        hashes = row_hashes(table.columns.tocsr())
        return _still_repeated(None, hashes if kept_rows is None else hashes[kept_rows], empty)
    rows: Ints | None = None  # all
    hashes = empty((table.n_rows if kept_rows is None else len(kept_rows),), np.uint64)
    hashes[:] = 0
    salts = column_salt(np.arange(table.n_columns))
    for n_read, (j, is_category) in enumerate(reading_order(table, categorical), start=1):
        bits = column_bits(table, j, is_category)
        for chosen in (kept_rows, rows):
            bits = bits if chosen is None else bits[chosen]
        mix_column(bits, salts[j], hashes)
        if n_read & (n_read - 1) == 0:
            rows, hashes = _still_repeated(rows, hashes, empty, DROP_BELOW)
        if len(hashes) == 0:
            break
    return _still_repeated(rows, hashes, empty)


def reading_order(table: Table, categorical: frozenset[int]) -> list[tuple[int, bool]]:
    """The columns with whether they are categories.

    Numbers come first, because most rows differ in these and text takes longer to read.
    """
    is_category = [j in categorical or table.is_text(j) for j in range(table.n_columns)]
    return [(j, is_category[j]) for j in np.argsort(is_category, kind="stable").tolist()]


def column_bits(table: Table, j: int, is_category: bool) -> Hashes:
    """The bits of the values of a column: those of numbers, or of the indices of categories."""
    values: Any = table.categories(j).indices if is_category else table.numbers(j)
    return np.asarray(values.view(np.uint64))


def _still_repeated(
    rows: Ints | None, hashes: Hashes, empty: EmptyArray, max_fraction: float = 1.0
) -> tuple[Ints, Hashes]:
    """The rows whose hash is repeated; all rows if more than ``max_fraction`` of them are.

    ``rows`` is None for all rows.
    """
    n_again = sum(map(_count_sorted, (hashes[own] for own in _hash_groups(hashes))))
    if n_again == 0:
        return np.empty(0, dtype=np.int64), hashes[:0]
    if rows is None:
        rows = row_numbers(len(hashes), empty)
    if n_again > max_fraction * len(rows):
        return rows, hashes
    again = np.zeros(len(rows), dtype=np.bool_)
    for own in _hash_groups(hashes):
        again[own] = _is_again(hashes[own])
    return take_rows(rows, again, empty), take_rows(hashes, again, empty)


def _is_again(hashes: Hashes) -> Bools:
    """Whether each hash occurs more than once."""
    order = np.argsort(hashes, kind="stable")
    equal = hashes[order[1:]] == hashes[order[:-1]]
    again = np.zeros(len(hashes), dtype=np.bool_)
    again[order[1:][equal]] = True
    again[order[:-1][equal]] = True
    return again


# Hashes of more rows are sorted in groups of about this size, by their highest bits, because
# sorting needs copies of what is sorted.
_MANY_ROWS = 2**20
_MOST_BITS = 7


def _hash_groups(hashes: Hashes) -> Iterator[slice | Ints]:
    """The indices of hashes in groups: equal hashes are in the same group."""
    bits = min(_MOST_BITS, (len(hashes) // _MANY_ROWS).bit_length())
    if bits == 0:
        yield slice(None)
        return
    high = np.empty(len(hashes), dtype=np.uint8)
    for rows in row_blocks(len(hashes)):
        high[rows] = hashes[rows] >> np.uint64(64 - bits)
    for group in range(2**bits):
        yield np.flatnonzero(high == group)


def _count_sorted(hashes: Hashes) -> int:
    """The number of hashes that are equal to an earlier one."""
    ordered = sorted_hashes(hashes)  # many times as fast as argsort
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def draw_units(copies: Ints | None, rows: Ints, n_folds: float) -> tuple[Ints, Ints]:
    """The units that are assigned to folds: (the first row of each unit, the unit of each row).

    ``rows`` are the indices of the rows of one class. A group of copies is one unit, unless it is
    large compared with the rows of the class in a fold; then each of its rows is a unit.

    Examples
    --------
    >>> first, unit = draw_units(np.array([0, 0, 2, 3, 4, 4, 4, 7]), np.arange(8), n_folds=1)
    >>> first.tolist(), unit.tolist()
    ([0, 2, 3, 4, 5, 6, 7], [0, 0, 1, 2, 3, 4, 5, 6])
    """
    if copies is None:
        return rows, np.arange(len(rows))
    group = copies[rows]
    size = np.bincount(group)[group]
    group = np.where(size <= _LARGEST_FRACTION * len(rows) / n_folds, group, rows)
    _, first, unit = np.unique(group, return_index=True, return_inverse=True)
    return rows[first], unit


def unit_of_rows(copies: Ints | None, positive: Bools, n_folds: float) -> Ints:
    """For each row the first row of its unit (see ``draw_units``), separately in each class.

    Examples
    --------
    >>> copies = np.array([0, 0, 2, 3, 4, 4, 4, 7])
    >>> unit_of_rows(copies, np.zeros(8, dtype=bool), n_folds=1).tolist()
    [0, 0, 2, 3, 4, 5, 6, 7]
    """
    first_of = np.arange(len(positive))
    if copies is None:
        return first_of
    for rows in (np.flatnonzero(~positive), np.flatnonzero(positive)):
        first, unit = draw_units(copies, rows, n_folds)
        first_of[rows] = first[unit]
    return first_of


def mostly_copies(copies: Ints | None, rows: Ints) -> bool:
    """Whether at least half of ``rows``, those of one class, are copies of others."""
    if copies is None:
        return False
    count = np.zeros(len(copies), dtype=np.uint32)
    for block in row_blocks(len(rows)):
        np.add.at(count, copies[rows[block]], np.uint32(1))
    n_copied = sum(int(own[own > 1].sum()) for own in (count[b] for b in row_blocks(len(count))))
    return 2 * n_copied >= len(rows) > 0
