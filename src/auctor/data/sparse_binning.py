"""Binning of sparse tables, in which columns of numbers are never made dense.

The zeros of a column are treated as one value with the total weight of their rows, which gives the
same cuts and centres as the single rows. The cost is that of sorting the entries, and little for
each column.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data.binning import Rows, bin_categories
from auctor.data.features import Feature, number_feature
from auctor.data.sparse import SparseCodes, gather_codes
from auctor.data.table import SparseTable
from auctor.kernels.binning import find_centres, find_cuts


class _Entries(NamedTuple):
    """The nonzero values of the kept rows, column by column."""

    column: Ints
    row: Ints  # position in the partition
    value: Floats


def bin_sparse(
    table: SparseTable, rows: Rows, categorical: frozenset[int], max_bins: int
) -> tuple[tuple[Feature, ...], SparseCodes]:
    """The same features as ``bin_table`` gives, and sparse codes."""
    table.refuse_infinities()
    entries = _entries(table, rows, categorical)
    features = _number_features(entries, rows, table.names, max_bins)
    code, default = _code(entries, [feature.cuts for feature in features])
    lists = [(entries.column, entries.row, code)]
    for j in sorted(categorical):
        features[j], default[j], more = _bin_category(table, j, rows, max_bins)
        lists.append(more)
    column, row, code = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    codes = gather_codes(features, default, (column, row, code), len(rows.positive), rows.n_pos)
    return tuple(features), codes


def _entries(table: SparseTable, rows: Rows, categorical: frozenset[int]) -> _Entries:
    """The entries of the table, without zeros, rows of weight 0 and columns of categories."""
    columns = table.columns
    column = np.repeat(np.arange(table.n_columns), np.diff(columns.indptr))
    row = rows.positions()[columns.indices]
    is_number = np.ones(table.n_columns, dtype=np.bool_)
    is_number[list(categorical)] = False
    kept = (columns.data != 0) & (row >= 0) & is_number[column]
    return _Entries(column[kept], row[kept], columns.data[kept])


def _number_features(
    entries: _Entries, rows: Rows, names: Sequence[str], max_bins: int
) -> list[Feature]:
    """The feature of each column, from its values in order and the weight of its zeros."""
    n_columns = len(names)
    weight = np.ones(len(rows.positive), dtype=np.int64)
    if len(rows.weight):
        weight = rows.positives_first(rows.weight)
    listed = weight[entries.row]
    # Sums of weights are below 2^41, so that float64 is exact.
    zeros = weight.sum() - np.bincount(entries.column, listed, n_columns).astype(np.int64)
    with_zeros = np.flatnonzero(zeros)
    known = ~np.isnan(entries.value)
    column = np.concatenate([entries.column[known], with_zeros])
    value = np.concatenate([entries.value[known], np.zeros(len(with_zeros))])
    mass = np.concatenate([listed[known], zeros[with_zeros]])
    order = np.lexsort((value, column))
    value, mass = value[order], mass[order]
    ends = np.cumsum(np.bincount(column, minlength=n_columns)).tolist()
    spans = zip(names, pairwise([0, *ends]), strict=True)
    return [_number_feature(name, value[a:b], mass[a:b], max_bins) for name, (a, b) in spans]


def _number_feature(name: str, ordered: Floats, weight: Ints, max_bins: int) -> Feature:
    cuts = find_cuts(ordered, weight, max_bins)
    return number_feature(name, cuts, find_centres(ordered, weight, cuts))


def _code(entries: _Entries, cuts: list[Floats]) -> tuple[Ints, Ints]:
    """The code of each entry, and the code of 0 in each column."""
    ends = np.searchsorted(entries.column, np.arange(len(cuts) + 1)).tolist()
    code = np.empty(len(entries.value), dtype=np.int64)
    for cut, (a, b) in zip(cuts, pairwise(ends), strict=True):
        code[a:b] = 1 + cut.searchsorted(entries.value[a:b])
    code[np.isnan(entries.value)] = 0
    return code, np.array([1 + cut.searchsorted(0.0) for cut in cuts], dtype=np.int64)


def _bin_category(
    table: SparseTable, j: int, rows: Rows, max_bins: int
) -> tuple[Feature, int, tuple[Ints, Ints, Ints]]:
    """Feature, default code and entries of a column of categories, which is made dense."""
    codes = np.empty(len(rows.positive), dtype=np.int64)
    feature = bin_categories(table.names[j], table.categories(j), rows, max_bins, codes)
    default = int(np.bincount(codes).argmax())
    row = np.flatnonzero(codes != default)
    return feature, default, (np.full(len(row), j), row, codes[row])
