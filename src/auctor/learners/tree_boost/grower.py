"""Growing one boosted tree, level by level, with threads over features and rows.

A small table is grown in one call of a kernel (`grow_alone`), a large one level by level: threads
count histograms and search splits for tiles of features, and then send blocks of rows to the
children. Both ways call the same kernels on whole numbers and give the same tree.
"""

from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.boost_rows import gather_packed, mix
from auctor.kernels.boost_splits import BoostNodes, BoostRule, BoostSplits, no_boost_splits
from auctor.kernels.boosted_trees import (
    BoostLevel,
    CountPlan,
    FeatureGroups,
    GrowingTree,
    allow_features,
    boost_level,
    grow_alone,
    growing_tree,
    plan_counts,
    plant,
    send_children,
    split_level,
)
from auctor.kernels.trees import TreeNodes
from auctor.learners.tree_boost.row_blocks import boost_blocks, boost_workers, row_codes
from auctor.learners.tree_boost.tiles import Run, Tile, describe_features, share_counts

# Maximum number of features of a tile: a row of a tile is half a cache line. A table of few cells
# is a single tile, since Python between the kernels would take longer than what a tile saves.
_TILE = 32
_SINGLE_TILE_CELLS = 2**23
# Histograms are kept for the next level if they fit into this; else every node is counted.
_HISTOGRAM_BYTES = 2**29
_MOST_NODES = 2**14  # of a tree; kernels pack the number of a node into 15 bits


class Tree(NamedTuple):
    """A grown tree: its nodes, the value of each leaf and the gain of each split."""

    nodes: TreeNodes
    value: Floats
    gain: Floats

    @property
    def n_leaves(self) -> int:
        return int((self.nodes.feature < 0).sum())


def check_tree(tree: Tree, data: RankingData) -> None:
    """Raise an error if a tree of an earlier run cannot be one of these data.

    Every index is checked here, because the kernels that add the tree to the scores do not.
    """
    nodes, number = tree.nodes, np.arange(len(tree.value))
    columns = (*(getattr(nodes, name) for name in nodes._fields if name != "table"), tree.gain)
    if len(number) == 0 or any(column.shape != number.shape for column in columns):
        raise ValueError("has columns of different lengths")
    if not ((nodes.feature >= -1) & (nodes.feature < data.n_features)).all():
        raise ValueError(f"has a feature that is not one of {data.n_features}")
    is_leaf, n_nodes = nodes.feature < 0, len(number)
    n_bins = np.array([feature.n_bins for feature in data.features])[nodes.feature]
    by_table = np.array([f.is_category for f in data.features])[nodes.feature] & ~is_leaf
    is_child = (nodes.left > number) & (nodes.left < n_nodes - 1) & (nodes.right == nodes.left + 1)
    if n_nodes > _MOST_NODES or not (is_child | is_leaf).all():
        raise ValueError("has nodes whose children do not follow them")
    in_table = (nodes.start >= 0) & (nodes.start + n_bins < len(nodes.table))
    if not np.where(by_table, in_table, nodes.start == -1).all():
        raise ValueError("has a category without its entries in the table")
    flags = (nodes.missing, nodes.table, nodes.above)
    are_flags = all(((flag == 0) | (flag == 1)).all() for flag in flags) and not nodes.above.any()
    in_bins = ((nodes.cut >= 0) & (nodes.cut <= n_bins)) | is_leaf
    if not (are_flags and in_bins.all() and np.isfinite(tree.value).all()):
        raise ValueError("has numbers that no tree has")


class TreeGrower:
    """Grows trees on the rows of ``data``, whose packed slopes are given for each tree.

    Parameters
    ----------
    data : RankingData
        The rows.
    workers : Workers
        The threads.
    max_depth : int
        Maximum number of tests on a path.
    n_drawn : int
        Number of features drawn for each node; 0 for all.
    signs : ndarray of shape (n_features,)
        1 or -1 for features in which the score must increase or decrease, else 0.
    groups : FeatureGroups
        Features that may be tested on one path; without groups there is no constraint.
    """

    def __init__(
        self,
        data: RankingData,
        workers: Workers,
        *,
        max_depth: int,
        n_drawn: int,
        signs: Ints,
        groups: FeatureGroups,
    ) -> None:
        self._data, self._workers = data, boost_workers(data, workers)
        self._max_depth, self._n_drawn, self._groups = max_depth, n_drawn, groups
        blocks = boost_blocks(data, workers)
        # The largest blocks come first, so that threads that take one after another end together.
        largest_first = sorted(chain.from_iterable(blocks), key=lambda b: b.start - b.stop)
        empty = [part.empty_rows for part in data.partitions]
        self.runs = [Run.of(block, max_depth, empty[block.partition]) for block in largest_first]
        # The members of a group need the same tiles, whatever their numbers of rows.
        edges = _tile_edges(data, max(data.group.gather(len(blocks))))
        self._tiles = [Tile(data, a, b, signs, workers) for a, b in pairwise(edges)]
        self._features = describe_features(data, 0, data.n_features, signs)
        n_slots = 2 ** (max_depth - 1)
        n_bytes = 16 * n_slots * sum(tile.n_bins for tile in self._tiles)
        self._keeps = n_bytes <= _HISTOGRAM_BYTES
        for tile in self._tiles:
            tile.keep(n_slots if self._keeps else 0)
        of_categories = [f.n_bins + 1 for f in data.features if f.is_category]
        self._n_sides = max(of_categories, default=1)
        self._tree = growing_tree(max_depth, self._n_sides)
        # The whole rows, which a finished tree is added to.
        only = self._tiles[0].codes if len(self._tiles) == 1 else None
        self.codes = only or row_codes(data, workers)
        has_groups = len(groups.member) > 0
        self._levels = boost_level(max_depth, has_groups), boost_level(max_depth, has_groups)
        # The slots of the nodes of a level among the own histograms, and those of their children.
        self._own_slots = self._levels[0].slot.copy(), self._levels[0].slot.copy()
        self._splits = no_boost_splits(2**max_depth, self._n_sides)

    def grow(self, packed: list[Ints], totals: Ints, rule: BoostRule, seed: np.uint64) -> Tree:
        """Grow a tree on the rows of the runs, from their packed slopes and the sums of these.

        In a group, slopes and sums are those of the rows of this member.
        """
        labels = sorted(run.block.label for run in self.runs)
        is_small = len(self._tiles) == 1 and self._keeps and self._data.group.size == 1
        if is_small and labels == [0, 1] and len(self._data.partitions) == 1:
            self._grow_alone(packed[0], totals, rule, seed)
        else:
            self._grow_levels(packed, totals, rule, seed)
        return _finished(self._tree)

    def _grow_alone(self, packed: Ints, totals: Ints, rule: BoostRule, seed: np.uint64) -> None:
        negative, positive = sorted(self.runs, key=lambda run: run.block.label)
        tile = self._tiles[0]
        grow_alone(
            tile.codes[0], self._data.partitions[0].dense_codes, packed, negative.lists,
            positive.lists, totals, self._features, self._groups, self._data.n_codes, rule,
            self._max_depth, self._n_drawn, seed, tile.histogram, self._splits, *self._levels,
            self._tree,
        )  # fmt: skip

    def _grow_levels(
        self, packed: list[Ints], totals: Ints, rule: BoostRule, seed: np.uint64
    ) -> None:
        level, children = self._levels
        root = np.zeros(1, dtype=np.int64)
        level.slot[0] = self._own_slots[0][0] = 0
        plan, n_nodes = CountPlan(root, root, root[:0]), 1
        self._share(plan, plan, root)
        plant(self._tree, level, self._whole_totals(totals), rule)
        split = np.empty(2**self._max_depth, dtype=np.int64)
        for depth in range(self._max_depth):
            splits = self._search(
                plan, level, n_nodes, rule, np.uint64(mix(seed, np.uint64(depth)))
            )
            n_split = split_level(
                splits, n_nodes, self._features, self._tree, level, split, children
            )
            if n_split == 0 or depth + 1 == self._max_depth:
                break
            self._send(splits, split, n_split)
            plan = self._plan(packed, split, n_split, level, children)
            level, children, n_nodes = children, level, 2 * n_split

    def _whole_totals(self, totals: Ints) -> Ints:
        """The packed sums of all rows: those of any feature over its bins in the root."""
        if self._data.group.size == 1:
            return totals
        if not self._keeps:
            return self._data.group.sum(totals)
        tile = self._tiles[0]
        return tile.histogram[:, 0, : tile.features.n_bins[0] + 1].sum(axis=1)

    def _share(self, plan: CountPlan, own_plan: CountPlan, own_slot: Ints) -> None:
        """Count the rows of a level with the other members of a group, if there are any."""
        if self._keeps and self._data.group.size > 1:
            self._workers.map(lambda tile: tile.count(self.runs, own_plan), self._tiles)
            share_counts(self._tiles, own_slot, plan)

    def _search(
        self, plan: CountPlan, level: BoostLevel, n_nodes: int, rule: BoostRule, seed: np.uint64
    ) -> BoostSplits:
        """The best splits of a level; of equal ones that of the first feature."""
        allowed = allow_features(
            level, n_nodes, self._data.n_features, self._groups, self._n_drawn, seed
        )
        slot = level.slot[:n_nodes]
        nodes = BoostNodes(slot, level.totals[:n_nodes], level.bounds[:n_nodes], allowed)
        is_alone = self._data.group.size == 1

        def search(tile: Tile) -> BoostSplits:
            if not self._keeps:
                return tile.search_parts(self.runs, nodes, rule, self._n_sides)
            if is_alone:  # the members of a group have counted before
                tile.count(self.runs, plan)
            return tile.search(nodes, rule, self._n_sides)

        # Members of a group that count while they search must do so in the same order.
        workers = self._workers if is_alone or self._keeps else Workers(1)
        best, *others = workers.map(search, self._tiles)
        for other in others:
            is_better = (other.gain > best.gain) & (other.feature >= 0)
            pairs: Any = zip(best, other, strict=True)
            for mine, theirs in pairs:
                mine[is_better] = theirs[is_better]
        return best

    def _send(self, splits: BoostSplits, split: Ints, n_split: int) -> None:
        def send(run: Run) -> None:
            codes = self._data.partitions[run.block.partition].dense_codes
            run.lists = send_children(codes, run.lists, splits, split, n_split, self._data.n_codes)

        self._workers.map(send, self.runs)

    def _gather(self, packed: list[Ints], lists: Ints) -> None:
        def gather(run: Run) -> None:
            own, rows = packed[run.block.partition], run.lists
            gather_packed(rows.order, own, rows.begin, rows.end, lists, rows.amount)

        self._workers.map(gather, self.runs)

    def _plan(
        self,
        packed: list[Ints],
        split: Ints,
        n_split: int,
        level: BoostLevel,
        children: BoostLevel,
    ) -> CountPlan:
        """What is counted for the next level: the smaller children, or all if nothing is kept."""
        if not self._keeps:
            every = np.arange(2 * n_split)
            children.slot[: 2 * n_split] = every
            self._gather(packed, every)
            return CountPlan(every, every, every[:0])
        none = np.zeros(2**self._max_depth, dtype=np.int64)
        sizes = np.sum([none, *(run.sizes for run in self.runs)], axis=0)
        is_alone = self._data.group.size == 1
        plan = CountPlan(*np.empty((3, n_split), dtype=np.int64))
        # Members of a group agree on the left children without knowing the numbers of rows.
        plan_counts(split, n_split, sizes if is_alone else none, level, children, plan)
        if is_alone:
            self._gather(packed, plan.lists)
            return plan
        own_plan = CountPlan(*np.empty((3, n_split), dtype=np.int64))
        before, after = self._own_slots
        own_levels = level._replace(slot=before), children._replace(slot=after)
        plan_counts(split, n_split, sizes, *own_levels, own_plan)
        self._own_slots = after, before
        self._gather(packed, own_plan.lists)
        self._share(plan, own_plan, after[: 2 * n_split : 2])
        return plan


def _tile_edges(data: RankingData, n_workers: int) -> list[int]:
    """Where tiles begin and end: an equal number for each thread, if there are enough features."""
    n_features = data.n_features
    if n_workers == 1 and data.n_rows * n_features <= _SINGLE_TILE_CELLS:
        return [0, n_features]
    per_worker = -(-n_features // (_TILE * n_workers))
    n_tiles = min(n_features, per_worker * n_workers)
    return [n_features * k // n_tiles for k in range(n_tiles + 1)]


def _finished(tree: GrowingTree) -> Tree:
    """A copy of the part of the arrays that the tree uses."""
    n_nodes, n_table = tree.size.tolist()
    feature, cut, missing, start, left, right = (
        column[:n_nodes].copy()
        for column in (tree.feature, tree.cut, tree.missing, tree.start, tree.left, tree.right)
    )
    table, above = tree.table[:n_table].copy(), np.zeros(n_nodes, dtype=np.int64)
    nodes = TreeNodes(feature, cut, above, missing, start, table, left, right)
    return Tree(nodes, tree.value[:n_nodes].copy(), tree.gain[:n_nodes].copy())
