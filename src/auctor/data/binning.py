"""Binning of dense tables: the cuts or categories of each feature, and the code of each row."""

from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._threads import Workers
from auctor._typing import Bools, Floats, Ints
from auctor.data.cluster.bins import Bins, find_bins
from auctor.data.cluster.sorted_line import Line, count_sorted, count_values
from auctor.data.features import Category, Feature, category_feature, number_feature
from auctor.data.group import ALONE, Group
from auctor.data.row_arrays import EmptyArray, row_blocks
from auctor.data.table import Categories, Table
from auctor.kernels.arrays import read_only
from auctor.kernels.binning import code_numbers, find_centres, find_cuts
from auctor.kernels.sorting import sort_floats

MAX_BINS = 65_535


class Rows:
    """The kept rows of a table (those of positive weight), with their class and weight.

    Parameters
    ----------
    positive : ndarray of bool
        Whether each kept row is positive.
    weight : ndarray of int
        The weights of the kept rows; empty if every row has weight 1.
    kept : ndarray of bool or None
        Which rows of the table are kept; None if all are.
    """

    def __init__(
        self,
        positive: Bools,
        weight: Ints,
        kept: Bools | None,
    ) -> None:
        self.positive = positive
        self.weight = weight
        self.kept = kept
        self.n_pos = int(positive.sum())

    def pick(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of the kept rows, from one value for each row of the table."""
        return values if self.kept is None else np.ascontiguousarray(values[self.kept])

    def positives_first(
        self, values: npt.NDArray[Any], empty: EmptyArray = np.empty
    ) -> npt.NDArray[Any]:
        """The values of the kept rows, positives first; the order within a class is kept.

        ``empty`` makes the array.
        """
        out = empty((len(values),), values.dtype)
        next_pos, next_neg = 0, self.n_pos
        for rows in row_blocks(len(values)):
            own, positive = values[rows], self.positive[rows]
            of_class = own[positive]
            out[next_pos : next_pos + len(of_class)] = of_class
            next_pos += len(of_class)
            of_class = own[~positive]
            out[next_neg : next_neg + len(of_class)] = of_class
            next_neg += len(of_class)
        return out

    def positions(self) -> Ints:
        """The position of each row of the table in the partition; -1 if it is not kept."""
        n_kept = len(self.positive)
        position = np.empty(n_kept, dtype=np.int64)
        position[self.positives_first(np.arange(n_kept))] = np.arange(n_kept)
        if self.kept is None:
            return position
        out = np.full(len(self.kept), -1, dtype=np.int64)
        out[self.kept] = position
        return out


def bin_table(
    table: Table, rows: Rows, categorical: frozenset[int], max_bins: int, workers: Workers
) -> tuple[tuple[Feature, ...], npt.NDArray[Any]]:
    """The features, and their codes (features, rows) with positives first."""
    dtype = np.uint8 if max_bins <= 255 else np.uint16
    codes = table.empty_codes((table.n_columns, len(rows.positive)), dtype)
    if table.group.size > 1:
        return _bin_shared(table, rows, categorical, max_bins, workers, codes), codes
    # Each thread has buffers for a column, its sorted copy and the sort itself. Memory that threads
    # allocate and free for every column would not be returned to the system.
    buffers: SimpleQueue[Floats] = SimpleQueue()
    for _ in range(min(workers.count, table.n_columns)):
        buffers.put(table.empty_rows((3, table.n_rows), np.float64))

    def bin_column(j: int) -> Feature:
        name, out = table.names[j], codes[j]
        if j in categorical or table.is_text(j):
            return bin_categories(name, table.categories(j), rows, max_bins, out)
        buffer = buffers.get()
        try:
            values = rows.pick(table.numbers(j, buffer[0]))
            return _bin_numbers(name, values, rows, max_bins, buffer[1:], out)
        finally:
            buffers.put(buffer)

    return tuple(workers.map(bin_column, range(table.n_columns))), codes


def _bin_numbers(
    name: str,
    values: Floats,
    rows: Rows,
    max_bins: int,
    buffer: Floats,
    out: npt.NDArray[Any],
) -> Feature:
    """The feature of a column of numbers; its codes are written to ``out``, positives first."""
    (ordered, spare), weight = buffer[:, : len(values)], rows.weight
    if len(weight):
        order = np.argsort(values)  # NaN last
        np.take(values, order, out=ordered)
        weight = weight[order]
    else:
        sort_floats(values, ordered, spare)
    n_known = int(np.searchsorted(ordered, np.nan))
    ordered, weight = ordered[:n_known], weight[:n_known]
    cuts = find_cuts(ordered, weight, max_bins)
    return _code(name, values, Bins(cuts, find_centres(ordered, weight, cuts)), rows, out)


# Columns are binned together while their values are at most this many, so that a group of many
# members sends fewer messages, and together with their sorted copies take little memory.
_VALUES_AT_ONCE = 2**23


def _bin_shared(
    table: Table,
    rows: Rows,
    categorical: frozenset[int],
    max_bins: int,
    workers: Workers,
    codes: npt.NDArray[Any],
) -> tuple[Feature, ...]:
    """The features of a table whose other rows are held by other members of a group."""
    group, features = table.group, {}
    is_category = [j in categorical or table.is_text(j) for j in range(table.n_columns)]
    for j in np.flatnonzero(is_category).tolist():
        column = table.categories(j)
        features[j] = bin_categories(table.names[j], column, rows, max_bins, codes[j], group)
    numbers = np.flatnonzero(~np.array(is_category)).tolist()
    most_rows = max(group.gather(len(rows.positive)))
    at_once = max(1, _VALUES_AT_ONCE // max(most_rows, 1))
    for start in range(0, len(numbers), at_once):
        columns = numbers[start : start + at_once]
        values = workers.map(lambda j: rows.pick(table.numbers(j)), columns)
        lines = workers.map(lambda own: _known_values(own, rows.weight), values)
        results = zip(columns, values, find_bins(group, lines, max_bins), strict=True)
        coded = workers.map(lambda f: _code(table.names[f[0]], *f[1:], rows, codes[f[0]]), results)
        features.update(zip(columns, coded, strict=True))
    return tuple(features[j] for j in range(table.n_columns))


def _known_values(values: Floats, weight: Ints) -> Line:
    """The distinct values that are not missing, and their weights."""
    if len(weight):
        known = ~np.isnan(values)
        return count_values(values[known], weight[known][None])
    ordered, spare = np.empty((2, len(values)))
    sort_floats(values, ordered, spare)
    return count_sorted(ordered[: np.searchsorted(ordered, np.nan)])


def _code(name: str, values: Floats, bins: Bins, rows: Rows, out: npt.NDArray[Any]) -> Feature:
    """The feature of a column with these bins; its codes are written to ``out``."""
    code_numbers(read_only(values), read_only(bins.cuts), rows.positive, rows.n_pos, out)
    return number_feature(name, *bins)


def bin_categories(
    name: str,
    column: Categories,
    rows: Rows,
    max_bins: int,
    out: npt.NDArray[Any],
    group: Group = ALONE,
) -> Feature:
    """The feature of a column of categories; its codes are written to ``out``, positives first."""
    indices = rows.pick(column.indices)
    kept = _heaviest(column.values, indices, rows, max_bins, group)
    # There is one entry more than values: index -1 (missing) refers to it and gets code 0.
    code_of_index = np.zeros(len(column.values) + 1, dtype=np.int64)
    code_of_index[kept] = np.arange(1, len(kept) + 1)
    out[:] = rows.positives_first(code_of_index[indices])
    return category_feature(name, tuple(column.values[i] for i in kept))


def _heaviest(
    values: list[Category], indices: Ints, rows: Rows, max_bins: int, group: Group
) -> list[int]:
    """Indices of the ``max_bins`` categories of largest weight, in the order of their values.

    The other categories get code 0, like categories that did not occur in training.
    """
    weight = rows.weight if len(rows.weight) else np.ones(len(indices), dtype=np.int64)
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.add.at(total, indices, weight)
    total = group.sum(total)
    in_order = sorted((i for i in range(len(values)) if total[i] > 0), key=values.__getitem__)
    heaviest = set(sorted(in_order, key=lambda i: -total[i])[:max_bins])
    return [i for i in in_order if i in heaviest]


def code_categories(feature: Feature, column: Categories) -> Ints:
    """The codes of a column by the categories of a feature; 0 for missing and unseen ones."""
    code_of = {value: code for code, value in enumerate(feature.categories, start=1)}
    code_of_index = np.array([code_of.get(value, 0) for value in column.values] + [0])
    return code_of_index[column.indices]
