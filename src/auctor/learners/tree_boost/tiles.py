"""Histograms of boosted trees, for tiles of features.

Threads count a tile each. The members of a group count their own rows, and add up what they have
counted in one message for each level of a tree. Every member then subtracts twice: of its own rows
it counts the child of a split that has fewer of them, which may be another one for each member,
and subtracts it from the parent; what is added up is the left child, which each member subtracts
from the parent of all rows. So no message is needed about the numbers of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.data.row_arrays import EmptyArray
from auctor.kernels.boost_rows import clear_slots, count_packed, subtract_packed
from auctor.kernels.boost_splits import (
    BoostFeatures,
    BoostNodes,
    BoostRule,
    BoostSplits,
    find_boost_splits,
    no_boost_splits,
)
from auctor.kernels.boosted_trees import CountPlan, RowLists
from auctor.learners.common.blocks import Block
from auctor.learners.tree_boost.row_blocks import row_codes

# Where histograms are not kept, as many nodes are counted at a time as fit into this.
_PART_BYTES = 2**27


@dataclass(eq=False)
class Run:
    """The rows of a block that were drawn for a tree, as lists of the nodes of a level."""

    block: Block
    lists: RowLists

    @classmethod
    def of(cls, block: Block, max_depth: int, empty: EmptyArray) -> "Run":
        """Empty lists that are large enough for the block; ``empty`` makes their arrays."""
        n_rows = block.stop - block.start
        order, spare, buffer = empty((3, n_rows), np.uint32)
        amount = empty((n_rows,), np.int64)
        begin, end = np.zeros((2, 2**max_depth), dtype=np.int64)
        return cls(block, RowLists(order, spare, buffer, amount, begin, end))

    def begin(self, n_rows: int) -> None:
        """Make the first rows of the order the list of the root."""
        self.lists.begin[0], self.lists.end[0] = 0, n_rows

    @property
    def sizes(self) -> Ints:
        """Number of rows of each list."""
        return self.lists.end - self.lists.begin


class Tile:
    """Some of the features: their codes row by row, and the histograms of the nodes of a level.

    ``histogram`` (class, slot, bin) is that of all rows, and ``own`` that of the rows of this
    process. They are the same array unless other members of a group hold rows.
    """

    def __init__(
        self, data: RankingData, first: int, last: int, signs: Ints, workers: Workers
    ) -> None:
        self.first, self.last, self._group = first, last, data.group
        self.features = describe_features(data, first, last, signs)
        self.codes = row_codes(data, workers, slice(first, last))
        self.keep(0)

    @property
    def n_bins(self) -> int:
        """Number of bins of all features together."""
        return int((self.features.n_bins + 1).sum())

    def keep(self, n_slots: int) -> None:
        """Make a histogram for each class and slot; memory is taken when a slot is used."""
        self.histogram = np.empty((2, n_slots, self.n_bins), dtype=np.int64)
        self.own = self.histogram if self._group.size == 1 else np.empty_like(self.histogram)

    def count(self, runs: list[Run], plan: CountPlan) -> None:
        """Count the own rows of the lists of a plan, and subtract them from their parents."""
        _count(self, self.own, runs, plan)
        for of_class in self.own:
            subtract_packed(plan.whole, plan.slot[: len(plan.whole)], of_class)

    def search(self, nodes: BoostNodes, rule: BoostRule, n_sides: int) -> BoostSplits:
        """The best splits of a level by the features of this tile."""
        splits = no_boost_splits(len(nodes.slot), n_sides)
        find_boost_splits(*self.histogram, self._of_tile(nodes), self.features, rule, splits)
        splits.feature[splits.feature >= 0] += self.first
        return splits

    def search_parts(
        self, runs: list[Run], nodes: BoostNodes, rule: BoostRule, n_sides: int
    ) -> BoostSplits:
        """Count and search as many nodes at a time as fit into memory; no histogram is kept."""
        splits, own = no_boost_splits(len(nodes.slot), n_sides), self._of_tile(nodes)
        size = max(1, _PART_BYTES // (16 * self.n_bins))
        histogram = np.empty((2, min(size, len(nodes.slot)), self.n_bins), dtype=np.int64)
        for first in range(0, len(nodes.slot), size):
            part = slice(first, first + size)
            lists = np.arange(first, min(first + size, len(nodes.slot)))
            slot = lists - first
            _count(self, histogram, runs, CountPlan(lists, slot, slot[:0]))
            whole = self._group.sum(histogram[:, : len(slot)])
            of_part = BoostNodes(slot, own.totals[part], own.bounds[part], own.allowed[part])
            columns: Any = (column[part] for column in splits)
            find_boost_splits(*whole, of_part, self.features, rule, BoostSplits(*columns))
        splits.feature[splits.feature >= 0] += self.first
        return splits

    def _of_tile(self, nodes: BoostNodes) -> BoostNodes:
        allowed = nodes.allowed[:, self.first : self.last]
        return nodes._replace(allowed=np.ascontiguousarray(allowed))


def _count(tile: Tile, histogram: Ints, runs: list[Run], plan: CountPlan) -> None:
    for of_class in histogram:
        clear_slots(plan.slot, of_class)
    for run in runs:
        lists = run.lists
        count_packed(
            tile.codes[run.block.partition], tile.features.first_bin, lists.order, lists.amount,
            lists.begin, lists.end, plan.lists, plan.slot, histogram[run.block.label],
        )  # fmt: skip


def share_counts(tiles: Sequence[Tile], own_slot: Ints, plan: CountPlan) -> None:
    """Add up what the members of a group have counted in some slots, in one message.

    ``plan`` says where it belongs among the histograms of all rows.
    """
    group = tiles[0]._group
    parts = [tile.own[:, own_slot] for tile in tiles]
    counted = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
    edges = np.cumsum([tile.n_bins for tile in tiles])[:-1]
    for tile, whole in zip(tiles, np.split(group.sum(counted), edges, axis=2), strict=True):
        tile.histogram[:, plan.slot] = whole
        for of_class in tile.histogram:
            subtract_packed(plan.whole, plan.slot[: len(plan.whole)], of_class)


def describe_features(data: RankingData, first: int, last: int, signs: Ints) -> BoostFeatures:
    """The features of a tile for the kernels; the bins of a feature follow those before it."""
    features = data.features[first:last]
    n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
    is_category = np.array([feature.is_category for feature in features])
    return BoostFeatures(np.cumsum(n_bins + 1) - n_bins - 1, n_bins, is_category, signs[first:last])
