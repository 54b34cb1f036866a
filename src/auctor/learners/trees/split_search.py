"""Class histograms of the nodes of a level, and the best split of each."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.stumps import LEAST_GAIN
from auctor.kernels.trees import (
    Histograms,
    SplitFeatures,
    SplitNodes,
    SplitRule,
    Splits,
    best_splits,
    count_lists,
    no_splits,
    subtract_slots,
)
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.trees.node_rows import NodeRows

# The histograms of a level and of its parents are kept if they fit into this. Otherwise each node
# is counted anew, as many nodes at a time as fit into a quarter of it.
HISTOGRAM_BYTES = 2**26

# Maximum number of features of a tile: a row of a tile is half a cache line.
TILE = 32


def take_better(splits: Splits, other: Splits) -> None:
    """Replace splits by those of ``other`` where these are better, by the rule of best_splits."""
    is_equal = splits.gain <= other.gain + LEAST_GAIN
    is_larger = other.left.sum(axis=1) > splits.left.sum(axis=1)
    better = (other.gain > splits.gain + LEAST_GAIN) | (is_equal & is_larger)
    better &= other.feature >= 0
    pairs: Any = zip(splits, other, strict=True)
    for mine, theirs in pairs:
        mine[better] = theirs[better]


def check_splits(splits: Splits, data: RankingData) -> None:
    """Raise an error if splits of an earlier run cannot be splits of nodes of these data."""
    n_nodes = len(splits.feature)
    shapes = {"left": (n_nodes, 2), "goes_left": (n_nodes, data.n_codes)}
    for name, column in splits._asdict().items():
        if column.shape != shapes.get(name, (n_nodes,)):
            raise ValueError(f"has {name} of the shape {column.shape} for {n_nodes} nodes")
    feature = splits.feature
    if not ((feature >= -1) & (feature < data.n_features)).all():
        raise ValueError(f"has a feature that is not one of {data.n_features}")
    n_bins = np.array([f.n_bins for f in data.features])[feature]
    flags = (splits.above, splits.missing, splits.goes_left)
    if not all(((flag == 0) | (flag == 1)).all() for flag in flags):
        raise ValueError("has a side that is neither 0 nor 1")
    if not ((splits.cut >= 0) & (splits.cut <= n_bins)).all() or (splits.left < 0).any():
        raise ValueError("has numbers that no split has")


class Least(NamedTuple):
    """Minimum number of rows on each side of a split, and rows per unit of weight of each class."""

    rows: float
    units: Floats  # (negative, positive)


class Level(NamedTuple):
    """Nodes to be split; list ``lists[i]`` of the rows belongs to node i.

    ``parent`` is the slot of the histogram of its parent (-1 if there is none), ``sibling`` the
    list of its sibling. ``scale`` multiplies a unit of weight of each class.
    """

    lists: Ints
    totals: Ints  # (node, class)
    scale: Floats  # (node, class)
    parent: Ints
    sibling: Ints
    allowed: Bools  # (node, feature); empty if every feature is allowed


class _Plan(NamedTuple):
    """How the histograms of a level are computed: first lists are counted, then subtracted."""

    slot: Ints  # of each node
    copied: tuple[Ints, Ints]  # (slot, slot of the parent): before the count
    counted: tuple[Ints, Ints, Ints]  # (list, slot, sign)
    fresh: Ints  # slots that start at zero
    subtracted: tuple[Ints, Ints, Ints]  # (slot, slot of the parent, slot of the sibling)


class SplitSearch:
    """Finds the best split of all nodes of a level in one pass over half of their rows.

    Only the rows of the smaller of two siblings are counted. The histogram of the other one is the
    difference from that of their parent, which is exact because the sums are whole numbers. Each
    thread works on tiles of features, so that their histograms need not be added up.
    """

    def __init__(
        self,
        data: RankingData,
        rows: NodeRows,
        workers: Workers,
        least: Least,
        by_gini: bool,
        journal: Journal = NO_JOURNAL,
    ) -> None:
        self._data, self._rows, self._workers = data, rows, workers
        self._least, self._by_gini = least, by_gini
        self._log = journal.log("splits", Splits, lambda splits: check_splits(splits, data))
        # int32 if the sum of all weights fits: it needs half of the cache.
        dtype = np.dtype(np.int32 if rows.totals.sum() < 2**31 else np.int64)
        # The same number of tiles for each thread, if there are enough features. The members of a
        # group need the same tiles, whatever their numbers of threads.
        threads = workers.count if data.group.size == 1 else 1
        per_thread = -(-data.n_features // (TILE * threads))
        n_tiles = min(data.n_features, per_thread * threads)
        edges = [data.n_features * k // n_tiles for k in range(n_tiles + 1)]
        slot_bytes = 2 * data.n_features * data.n_codes * dtype.itemsize
        n_slots = HISTOGRAM_BYTES // slot_bytes
        self._slots = _Slots(n_slots)
        self._tiles = workers.map(lambda ends: _Tile(data, *ends, n_slots, dtype), pairwise(edges))

    def best(self, level: Level) -> tuple[Splits, Ints]:
        """The best splits, and the slots of the histograms; -1 if they were not kept."""
        slot = np.full(len(level.lists), -1)  # splits of an earlier run have no histograms

        def search() -> Splits:
            nonlocal slot
            splits, slot = self._search(level)
            return splits

        splits = self._log.next(search)
        if len(splits.feature) != len(level.lists):
            raise self._log.fail(f"has {len(splits.feature)} splits for {len(level.lists)} nodes")
        return splits, slot

    def _search(self, level: Level) -> tuple[Splits, Ints]:
        plan = self._plan(level)
        # The members of a group must add up their tiles in the same order.
        workers = self._workers if self._data.group.size == 1 else Workers(1)
        splits = workers.map(
            lambda tile: tile.search(plan, level, self._rows, self._least, self._by_gini),
            self._tiles,
        )
        for later in splits[1:]:
            take_better(splits[0], later)
        return splits[0], plan.slot

    def free(self, slots: Ints) -> None:
        """Release the slots of histograms that are no longer needed."""
        self._slots.free(slots)

    def _plan(self, level: Level) -> _Plan:
        slot = self._slots.take(len(level.lists))
        none = np.empty(0, dtype=np.int64)
        if len(slot) == 0 or slot[0] < 0:
            slot = np.full(len(level.lists), -1)
            return _Plan(slot, (none, none), (none, none, none), none, (none, none, none))
        sizes = self._rows.sizes
        of_list = np.full(len(sizes) + 1, -1)  # the last one is for "no sibling"
        of_list[level.lists] = slot
        twin = of_list[level.sibling]
        own, other = sizes[level.lists], sizes[level.sibling]
        # Of siblings of equal size the first is counted.
        is_less = (own < other) | ((own == other) & (level.lists < level.sibling))
        by_rows = (level.parent < 0) | is_less
        from_twin = ~by_rows & (twin >= 0)
        # The sibling is a leaf and has no histogram: its rows are counted and subtracted.
        from_rows = ~by_rows & (twin < 0)
        counted = (
            np.concatenate([level.lists[by_rows], level.sibling[from_rows]]),
            np.concatenate([slot[by_rows], slot[from_rows]]),
            np.repeat([1, -1], [by_rows.sum(), from_rows.sum()]),
        )
        return _Plan(
            slot,
            (slot[from_rows], level.parent[from_rows]),
            counted,
            slot[by_rows],
            (slot[from_twin], level.parent[from_twin], twin[from_twin]),
        )


class _Slots:
    """Which slots of the histograms are in use."""

    def __init__(self, most: int) -> None:
        self._most, self._used = most, 0
        self._free: list[int] = []

    def take(self, count: int) -> Ints:
        """Slots that are free; all -1 if there are too few."""
        again = min(count, len(self._free))
        if self._used + count - again > self._most:
            return np.full(count, -1)
        slots = self._free[:again] + list(range(self._used, self._used + count - again))
        self._free = self._free[again:]
        self._used += count - again
        return np.array(slots, dtype=np.int64)

    def free(self, slots: Ints) -> None:
        self._free += slots[slots >= 0].tolist()


class _Tile:
    """Some of the features: their codes row by row, and the histograms of all nodes."""

    def __init__(
        self, data: RankingData, first: int, last: int, n_slots: int, dtype: np.dtype[Any]
    ) -> None:
        self._first, self._n_codes, self._group = first, data.n_codes, data.group
        features = data.features[first:last]
        self._n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        is_category = np.array([feature.is_category for feature in features])
        self._category = np.where(is_category, np.cumsum(is_category) - 1, -1)
        # The codes of a row are neighbours in memory: the rows of a node are scattered, and one
        # cache line then has all codes of a row.
        self._codes = [np.ascontiguousarray(part.codes[first:last].T) for part in data.partitions]
        # np.empty does not touch the memory: a small tree uses only the part that it needs.
        self._kept = np.empty((2, n_slots, len(features) * data.n_codes), dtype=dtype)
        slot_bytes = self._kept.itemsize * 2 * self._kept.shape[2]
        own_bytes = HISTOGRAM_BYTES // 4 * (last - first) // data.n_features
        self._block_size = max(1, own_bytes // slot_bytes)

    def search(
        self, plan: _Plan, level: Level, rows: NodeRows, least: Least, by_gini: bool
    ) -> Splits:
        """The best splits over the features of this tile."""
        splits = no_splits(len(level.lists), self._n_codes)
        if len(level.lists) and plan.slot[0] >= 0:
            self._count(plan, rows, self._kept)
            self._search(self._kept, plan.slot, level, slice(None), least, by_gini, splits)
        else:
            self._search_in_blocks(level, rows, least, by_gini, splits)
        splits.feature[splits.feature >= 0] += self._first
        return splits

    def _search_in_blocks(
        self, level: Level, rows: NodeRows, least: Least, by_gini: bool, splits: Splits
    ) -> None:
        """Count and search a few nodes at a time, without keeping their histograms."""
        size = min(self._block_size, len(level.lists))
        counts = np.empty((2, size, self._kept.shape[2]), dtype=self._kept.dtype)
        none = np.empty(0, dtype=np.int64)
        for start in range(0, len(level.lists), max(size, 1)):
            block = slice(start, start + size)
            own = level.lists[block]
            slot = np.arange(len(own))
            counted = own, slot, np.ones(len(own), dtype=np.int64)
            plan = _Plan(slot, (none, none), counted, slot, (none, none, none))
            self._count(plan, rows, counts)
            self._search(counts, slot, level, block, least, by_gini, splits)

    def _count(self, plan: _Plan, rows: NodeRows, counts: npt.NDArray[Any]) -> None:
        counted, slot, sign = plan.counted
        target, whole = plan.copied
        for of_class in counts:
            of_class[plan.fresh] = 0
            of_class[target] = of_class[whole]
        if self._group.size == 1:
            self._count_lists(rows, counted, slot, sign, counts)
        else:
            own = np.zeros((2, len(slot), counts.shape[2]), dtype=counts.dtype)
            self._count_lists(rows, counted, np.arange(len(slot)), sign, own)
            counts[:, slot] += self._group.sum(own)
        for of_class in counts:
            subtract_slots(*plan.subtracted, of_class)

    def _count_lists(
        self, rows: NodeRows, counted: Ints, slot: Ints, sign: Ints, counts: npt.NDArray[Any]
    ) -> None:
        """Add the rows of some lists, times a sign, to the histograms in their slots."""
        for run in rows.runs:
            lists = run.order, run.amount, run.begin[counted], run.end[counted]
            count_lists(self._codes[run.partition], *lists, slot, sign, counts[run.label])

    def _by_fraction(self, counts: npt.NDArray[Any], slot: Ints) -> Ints:
        """Codes of each categorical feature at each node, the largest fraction of positives first.

        Codes with equal fractions keep their order; codes that do not occur come last.
        """
        features = np.flatnonzero(self._category >= 0).tolist()
        order = np.empty((len(features), len(slot), self._n_codes), dtype=np.int64)
        for k, j in enumerate(features):
            neg, pos = counts[:, slot, j * self._n_codes : (j + 1) * self._n_codes]
            both = (neg + pos).astype(np.float64)
            fraction = np.divide(pos, both, out=np.full(both.shape, -1.0), where=both > 0)
            order[k] = np.argsort(-fraction, axis=1, kind="stable")
        return order

    def _search(
        self,
        counts: npt.NDArray[Any],
        slot: Ints,
        level: Level,
        block: slice,
        least: Least,
        by_gini: bool,
        splits: Splits,
    ) -> None:
        last = self._first + len(self._n_bins)
        allowed = np.ascontiguousarray(level.allowed[block, self._first : last])
        best_splits(
            Histograms(counts[0], counts[1], slot),
            SplitNodes(level.totals[block], level.scale[block], allowed),
            SplitFeatures(self._n_bins, self._category, self._by_fraction(counts, slot)),
            SplitRule(least.rows, least.units, by_gini),
            Splits._make(column[block] for column in splits),
        )
