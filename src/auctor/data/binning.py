"""Columns to bins: the cuts or categories of each feature, and the code of each row."""

from queue import SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._threads import Workers
from auctor._typing import Bools, Floats, Ints
from auctor.data.features import Category, Feature, category_feature, number_feature
from auctor.data.table import Categories, Table
from auctor.kernels.binning import code_numbers, find_centres, find_cuts

MAX_BINS = 65_535


class Rows:
    """The rows that count: which of the table's, of which class, with which weight."""

    def __init__(
        self,
        positive: Bools,
        weight: Ints,
        kept: Bools | None,
    ) -> None:
        self.positive = positive
        self.weight = weight  # in the table's order; empty where each row counts once
        self.kept = kept  # None where all are
        self.n_pos = int(positive.sum())

    def pick(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of the rows that count."""
        return values if self.kept is None else np.ascontiguousarray(values[self.kept])

    def positives_first(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of the kept rows, those of positives in front, order otherwise kept."""
        return np.concatenate([values[self.positive], values[~self.positive]])

    def places(self) -> Ints:
        """Where each row of the table stands when positives are first; -1 where it is absent."""
        n_kept = len(self.positive)
        place = np.empty(n_kept, dtype=np.int64)
        place[self.positives_first(np.arange(n_kept))] = np.arange(n_kept)
        if self.kept is None:
            return place
        out = np.full(len(self.kept), -1, dtype=np.int64)
        out[self.kept] = place
        return out


def bin_table(
    table: Table, rows: Rows, categorical: frozenset[int], max_bins: int, workers: Workers
) -> tuple[tuple[Feature, ...], npt.NDArray[Any]]:
    """Features and codes, one line of codes per feature, positives first."""
    dtype = np.uint8 if max_bins <= 255 else np.uint16
    codes = np.empty((table.n_columns, len(rows.positive)), dtype=dtype)
    # Room for a column and its sorted copy, made once for each thread: what threads allocate
    # and free for every column would stay with them as memory of the process.
    rooms: SimpleQueue[Floats] = SimpleQueue()
    for _ in range(min(workers.count, table.n_columns)):
        rooms.put(np.empty((2, table.n_rows)))

    def bin_column(j: int) -> Feature:
        name, out = table.names[j], codes[j]
        if j in categorical or table.is_text(j):
            return bin_categories(name, table.categories(j), rows, max_bins, out)
        room = rooms.get()
        try:
            values = rows.pick(table.numbers(j, room[0]))
            return _bin_numbers(name, values, rows, max_bins, room[1], out)
        finally:
            rooms.put(room)

    return tuple(workers.map(bin_column, range(table.n_columns))), codes


def _bin_numbers(
    name: str,
    values: Floats,
    rows: Rows,
    max_bins: int,
    room: Floats,
    out: npt.NDArray[Any],
) -> Feature:
    ordered, weight = room[: len(values)], rows.weight
    if len(weight):
        order = np.argsort(values)  # NaN last
        np.take(values, order, out=ordered)
        weight = weight[order]
    else:
        ordered[:] = values
        ordered.sort()
    n_known = int(np.searchsorted(ordered, np.nan))
    ordered, weight = ordered[:n_known], weight[:n_known]
    cuts = find_cuts(ordered, weight, max_bins)
    code_numbers(values, cuts, rows.positive, rows.n_pos, out)
    return number_feature(name, cuts, find_centres(ordered, weight, cuts))


def bin_categories(
    name: str, column: Categories, rows: Rows, max_bins: int, out: npt.NDArray[Any]
) -> Feature:
    """The feature of a column of categories; writes the codes, positives first."""
    places = rows.pick(column.places)
    kept = _heaviest(column.values, places, rows, max_bins)
    # One more entry than values, so that place -1 (missing) finds code 0 at the end.
    code_of_place = np.zeros(len(column.values) + 1, dtype=np.int64)
    code_of_place[kept] = np.arange(1, len(kept) + 1)
    out[:] = rows.positives_first(code_of_place[places])
    return category_feature(name, tuple(column.values[place] for place in kept))


def _heaviest(values: list[Category], places: Ints, rows: Rows, max_bins: int) -> list[int]:
    """Places of the heaviest ``max_bins`` categories, in the order of their values.

    The rest are too rare for a bin of their own and share that of unseen categories.
    """
    weight = rows.weight if len(rows.weight) else np.ones(len(places), dtype=np.int64)
    heavy = np.zeros(len(values) + 1, dtype=np.int64)
    np.add.at(heavy, places, weight)
    in_order = sorted((i for i in range(len(values)) if heavy[i] > 0), key=values.__getitem__)
    heaviest = sorted(in_order, key=lambda place: -heavy[place])[:max_bins]
    chosen = set(heaviest)
    return [place for place in in_order if place in chosen]


def code_categories(feature: Feature, column: Categories) -> Ints:
    """Codes of a column under the categories of a feature; unseen ones are missing."""
    code_of = {value: code for code, value in enumerate(feature.categories, start=1)}
    code_of_place = np.array([code_of.get(value, 0) for value in column.values] + [0])
    return code_of_place[column.places]
