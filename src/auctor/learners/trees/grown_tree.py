"""Grown trees, before they become models, and the builder that makes them."""

from dataclasses import dataclass

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.trees import TreeNodes


@dataclass(frozen=True, eq=False)
class GrownTree:
    """Nodes over the codes of the training table, with the weight of each class at each node.

    A cell is a part of the input space with a rank: ``upper`` and ``lower`` are the cells that it
    was split into, -1 if it is a leaf. The split of a cell may be a small tree, whose inner nodes
    are not cells (``is_cell`` is False) and whose leaves lead to one of the two cells.
    """

    nodes: TreeNodes
    counts: Ints  # (node, class), in units of weight
    is_cell: Bools
    upper: Ints
    lower: Ints
    gain: Floats  # of a node's own test: the value of the criterion that it was chosen by

    @property
    def splits(self) -> Ints:
        """Cells that are split, parents before children."""
        return np.flatnonzero(self.upper >= 0)

    def double_gains(self, counts: Ints) -> list[int]:
        """Twice the number of pairs by which each of ``splits`` improves the order.

        ``counts`` are the weights (node, class). A pair in the cell counted one half and counts 1
        or 0 after the split. Python integers, because the product of two sums of weights can have
        80 bits.
        """
        neg, pos = (counts[:, label].tolist() for label in (0, 1))
        pairs = zip(self.upper[self.splits].tolist(), self.lower[self.splits].tolist(), strict=True)
        return [pos[up] * neg[low] - neg[up] * pos[low] for up, low in pairs]

    def gains(self, counts: Ints | None = None) -> Floats:
        """The gain in AUC of each of ``splits``, on the training rows or on those of ``counts``."""
        counts = self.counts if counts is None else counts
        pairs = 2 * int(counts[0, 0]) * int(counts[0, 1])
        return np.array([double / pairs for double in self.double_gains(counts)])

    def depths(self) -> Ints:
        """Depth of each cell; 0 for nodes that are not cells."""
        return self._walk()[0]

    def leaves(self, order: str = "tree") -> tuple[Ints, Ints]:
        """Leaves from the best to the worst, and the score 2^D - k of each.

        k is the index of the leaf in the complete tree of depth D, from the left; a leaf at a
        smaller depth has the first index below it. With ``order="rate"`` the leaves are ordered by
        their fraction of positives, the largest first, and get the same scores.
        """
        is_leaf = self.is_cell & (self.upper < 0)
        deepest, k = self._indices()
        from_left = self.in_order("tree")
        values = 2**deepest - k[from_left[is_leaf[from_left]]]
        cells = self.in_order(order)
        return cells[is_leaf[cells]], values

    def in_order(self, order: str) -> Ints:
        """All cells from left to right ("tree"), or by their fraction of positives ("rate")."""
        cells = np.flatnonzero(self.is_cell)
        _, k = self._indices()
        if order == "tree":
            return cells[np.argsort(k[cells], kind="stable")]
        neg, pos = self.counts[cells].T
        return cells[np.lexsort((k[cells], -pos / (pos + neg)))]

    def _indices(self) -> tuple[int, Ints]:
        """The depth D of the tree, and the index of each cell in the complete tree of depth D."""
        depth, index = self._walk()
        deepest = int(depth.max())
        return deepest, index << (deepest - depth)

    def _walk(self) -> tuple[Ints, Ints]:
        """Depth of each cell, and its index from the left at that depth."""
        depth = np.zeros(len(self.upper), dtype=np.int64)
        index = np.zeros(len(self.upper), dtype=np.int64)
        for cell in self.splits.tolist():
            children = [self.upper[cell], self.lower[cell]]
            depth[children] = depth[cell] + 1
            index[children] = 2 * index[cell], 2 * index[cell] + 1
        return depth, index

    def pruned(self, kept: Bools) -> "GrownTree":
        """The tree with the marked ``splits`` only; a split may be kept only if its parent is."""
        ends = np.zeros(len(self.upper), dtype=np.bool_)
        ends[self.splits[~kept]] = True
        feature = np.where(ends, -1, self.nodes.feature)
        reached = np.zeros(len(feature), dtype=np.bool_)
        reached[0] = True
        for k in range(len(feature)):
            if reached[k] and feature[k] >= 0:
                reached[[self.nodes.left[k], self.nodes.right[k]]] = True
        number = np.append(np.cumsum(reached) - 1, -1)  # index -1 takes the last entry, -1
        is_leaf = feature < 0

        def renumber(child: Ints) -> Ints:
            return number[np.where(is_leaf, -1, child)][reached]

        nodes = TreeNodes(
            feature=feature[reached],
            cut=np.where(is_leaf, 0, self.nodes.cut)[reached],
            above=np.where(is_leaf, 0, self.nodes.above)[reached],
            missing=np.where(is_leaf, 0, self.nodes.missing)[reached],
            start=np.where(is_leaf, -1, self.nodes.start)[reached],
            table=self.nodes.table,
            left=renumber(self.nodes.left),
            right=renumber(self.nodes.right),
        )
        return GrownTree(
            nodes,
            self.counts[reached],
            self.is_cell[reached],
            number[np.where(ends, -1, self.upper)][reached],
            number[np.where(ends, -1, self.lower)][reached],
            np.where(is_leaf, 0.0, self.gain)[reached],
        )


class TreeBuilder:
    """Collects nodes while a tree grows, and turns them into arrays at the end."""

    def __init__(self) -> None:
        self._columns: dict[str, list[int]] = {name: [] for name in TreeNodes._fields}
        self._counts: list[list[int]] = []  # (negatives, positives)
        self._is_cell: list[bool] = []
        self._upper: list[int] = []
        self._lower: list[int] = []
        self._gain: list[float] = []

    def add(self, counts: list[int], is_cell: bool) -> int:
        """Add a leaf with its weights of negatives and positives; returns its number."""
        for name in ("feature", "start", "left", "right"):
            self._columns[name].append(-1)
        for name in ("cut", "above", "missing"):
            self._columns[name].append(0)
        self._counts.append(counts)
        self._is_cell.append(is_cell)
        self._upper.append(-1)
        self._lower.append(-1)
        self._gain.append(0.0)
        return len(self._is_cell) - 1

    def test(self, k: int, test: list[int], sides: list[int], gain: float) -> None:
        """Set the test (feature, cut, above, missing) of node k.

        ``sides`` has the side of each code of a categorical feature and is empty for others.
        """
        for name, value in zip(("feature", "cut", "above", "missing"), test, strict=True):
            self._columns[name][k] = value
        self._gain[k] = gain
        if sides:
            self._columns["start"][k] = len(self._columns["table"])
            self._columns["table"] += sides

    def lead(self, k: int, side: int, child: int) -> None:
        """Set the left (side 0) or right (side 1) child of node k."""
        self._columns[("left", "right")[side]][k] = child

    def children(self, k: int) -> tuple[int, int]:
        return self._columns["left"][k], self._columns["right"][k]

    def order(self, k: int, upper: int, lower: int) -> None:
        """Set the cells that cell k was split into."""
        self._upper[k], self._lower[k] = upper, lower

    def untest(self, k: int) -> None:
        """Make node k a leaf again."""
        self.test(k, [-1, 0, 0, 0], [], 0.0)
        for name in ("left", "right", "start"):
            self._columns[name][k] = -1

    def build(self) -> GrownTree:
        columns = {name: np.array(c, dtype=np.int64) for name, c in self._columns.items()}
        return GrownTree(
            TreeNodes(**columns),
            np.array(self._counts, dtype=np.int64),
            np.array(self._is_cell),
            np.array(self._upper, dtype=np.int64),
            np.array(self._lower, dtype=np.int64),
            np.array(self._gain),
        )
