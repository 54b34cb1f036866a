"""Checksums of rows, which tell whether two tables are the same.

A checksum is a sum over rows of a hash of the row and its index in the table, modulo 2^64. It does
not depend on partitions, and those of parts of a table add up to that of the whole table. Members
of a group therefore add theirs up.
"""

from typing import NamedTuple

import numpy as np

from auctor._typing import Hashes
from auctor.data.copies import column_salt
from auctor.data.ranking import Partition, RankingData
from auctor.data.sparse import SparseCodes
from auctor.kernels.copies import mix_column

# Rows that are hashed at a time, so that tables in files need no memory for it.
_BLOCK = 2**16
_MODULUS = 2**64


class RowChecksums(NamedTuple):
    """Checksums of the codes, of the weights, and of which rows are positive."""

    codes: int
    weights: int
    labels: int


def row_checksums(data: RankingData) -> RowChecksums:
    """The checksums of the rows of all partitions, and of all members of the group.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> row_checksums(data) == row_checksums(data.split(3))
    True
    """
    sums = [0, 0, 0]
    for part in data.partitions:
        for start in range(0, part.n_rows, _BLOCK):
            rows = slice(start, min(start + _BLOCK, part.n_rows))
            positive = np.arange(rows.start, rows.stop) < part.n_pos
            weight = part.weight[rows].astype(np.uint64)
            columns = (_hash_codes(part, rows), weight, positive.astype(np.uint64))
            for k, column in enumerate(columns):
                sums[k] += _sum(column, part, rows)
        if isinstance(part.codes, SparseCodes):
            sums[0] += _sum_sparse(part.codes, part)
    # Sums of 64 bits without a sign are taken modulo 2^64.
    own = np.array([total % _MODULUS for total in sums], dtype=np.uint64)
    return RowChecksums(*data.group.sum(own).tolist())


def _sum(column: Hashes, part: Partition, rows: slice) -> int:
    """The sum of the hashes of one number and the index of each row."""
    mixed = np.zeros(len(column), dtype=np.uint64)
    mix_column(column, np.uint64(0), mixed)
    return _sum_of(mixed ^ column_salt(part.rows[rows]))


def _sum_of(hashes: Hashes) -> int:
    out = np.zeros_like(hashes)
    mix_column(hashes, np.uint64(0), out)
    return int(out.sum(dtype=np.uint64))


def _hash_codes(part: Partition, rows: slice) -> Hashes:
    """A hash of the codes of each row; 0 where the codes are sparse."""
    out = np.zeros(rows.stop - rows.start, dtype=np.uint64)
    if part.is_sparse:
        return out
    for column, salt in zip(
        part.dense_codes, column_salt(np.arange(len(part.dense_codes))), strict=True
    ):
        mix_column(column[rows].astype(np.uint64), salt, out)
    return out


def _sum_sparse(codes: SparseCodes, part: Partition) -> int:
    """The sum of the hashes of the stored entries, each of a cell and a row."""
    cell = np.repeat(np.arange(codes.n_cells), np.diff(codes.starts))
    row = np.zeros(len(cell), dtype=np.uint64)
    mix_column(part.rows[codes.rows].astype(np.uint64), np.uint64(0), row)
    return _sum_of(row ^ column_salt(cell))
