"""A grown tree, before it becomes a model."""

from dataclasses import dataclass

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.trees import TreeNodes


@dataclass(frozen=True, eq=False)
class GrownTree:
    """Nodes over the codes of the training table, with the weight of each class at each.

    A cell is a part of the input space with a place in the order: ``upper`` and ``lower`` are
    the cells that it was split into, -1 where it is a leaf. A cell's split may be a small tree,
    whose inner nodes are no cells (``is_cell``) and whose leaves lead to one of the two.
    """

    nodes: TreeNodes
    counts: Ints  # (node, class), in units of weight
    is_cell: Bools
    upper: Ints
    lower: Ints
    worth: Floats  # of a node's own test: the criterion that it was chosen by

    @property
    def splits(self) -> Ints:
        """Cells that are split, parents before children."""
        return np.flatnonzero(self.upper >= 0)

    def double_gains(self, counts: Ints) -> list[int]:
        """Twice the pairs that each of ``splits`` brings into order, by counts (node, class).

        Half of Ent: pairs in the cell, of which one half counted, come apart. Whole numbers of
        Python, because the product of two sums of weights can take 80 bits.
        """
        neg, pos = (counts[:, label].tolist() for label in (0, 1))
        pairs = zip(self.upper[self.splits].tolist(), self.lower[self.splits].tolist(), strict=True)
        return [pos[up] * neg[low] - neg[up] * pos[low] for up, low in pairs]

    def gains(self, counts: Ints | None = None) -> Floats:
        """AUC that each of ``splits`` adds, on the training rows or on other ones."""
        counts = self.counts if counts is None else counts
        pairs = 2 * int(counts[0, 0]) * int(counts[0, 1])
        return np.array([double / pairs for double in self.double_gains(counts)])

    def depths(self) -> Ints:
        """Depth of each cell; 0 for inner nodes, too."""
        return self._walk()[0]

    def leaves(self, order: str = "tree") -> tuple[Ints, Ints]:
        """Leaves from the best to the worst, and the value 2^D - k of each.

        k is the place of the leaf in the complete tree of depth D; a leaf higher up takes the
        first of the places below it. With ``order="rate"`` the same values go to the leaves by
        their share of positives, the largest first.
        """
        is_leaf = self.is_cell & (self.upper < 0)
        deepest, k = self._places()
        from_left = self.in_order("tree")
        values = 2**deepest - k[from_left[is_leaf[from_left]]]
        cells = self.in_order(order)
        return cells[is_leaf[cells]], values

    def in_order(self, order: str) -> Ints:
        """All cells from left to right, or by their share of positives and then so."""
        cells = np.flatnonzero(self.is_cell)
        _, k = self._places()
        if order == "tree":
            return cells[np.argsort(k[cells], kind="stable")]
        neg, pos = self.counts[cells].T
        return cells[np.lexsort((k[cells], -pos / (pos + neg)))]

    def _places(self) -> tuple[int, Ints]:
        """The depth D of the tree, and the first place below each cell in the complete one."""
        depth, place = self._walk()
        deepest = int(depth.max())
        return deepest, place << (deepest - depth)

    def _walk(self) -> tuple[Ints, Ints]:
        """Depth of each cell, and its place from the left at that depth."""
        depth = np.zeros(len(self.upper), dtype=np.int64)
        place = np.zeros(len(self.upper), dtype=np.int64)
        for cell in self.splits.tolist():
            children = [self.upper[cell], self.lower[cell]]
            depth[children] = depth[cell] + 1
            place[children] = 2 * place[cell], 2 * place[cell] + 1
        return depth, place

    def pruned(self, kept: Bools) -> "GrownTree":
        """The tree with those of its ``splits`` that are marked; no other may hang below one."""
        ends = np.zeros(len(self.upper), dtype=np.bool_)
        ends[self.splits[~kept]] = True
        feature = np.where(ends, -1, self.nodes.feature)
        reached = np.zeros(len(feature), dtype=np.bool_)
        reached[0] = True
        for k in range(len(feature)):
            if reached[k] and feature[k] >= 0:
                reached[[self.nodes.left[k], self.nodes.right[k]]] = True
        number = np.append(np.cumsum(reached) - 1, -1)  # the last entry keeps -1 as it is
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
            np.where(is_leaf, 0.0, self.worth)[reached],
        )


class TreeBuilder:
    """Nodes as they are found; turned into arrays in the end."""

    def __init__(self) -> None:
        self._columns: dict[str, list[int]] = {name: [] for name in TreeNodes._fields}
        self._counts: list[list[int]] = []  # (negatives, positives)
        self._is_cell: list[bool] = []
        self._upper: list[int] = []
        self._lower: list[int] = []
        self._worth: list[float] = []

    def add(self, counts: list[int], is_cell: bool) -> int:
        """A new leaf with its weight of negatives and positives; returns its number."""
        for name in ("feature", "start", "left", "right"):
            self._columns[name].append(-1)
        for name in ("cut", "above", "missing"):
            self._columns[name].append(0)
        self._counts.append(counts)
        self._is_cell.append(is_cell)
        self._upper.append(-1)
        self._lower.append(-1)
        self._worth.append(0.0)
        return len(self._is_cell) - 1

    def test(self, k: int, found: list[int], sides: list[int], worth: float) -> None:
        """Give node k its test; ``sides`` are those of the codes of a category, else empty."""
        for name, value in zip(("feature", "cut", "above", "missing"), found, strict=True):
            self._columns[name][k] = value
        self._worth[k] = worth
        if sides:
            self._columns["start"][k] = len(self._columns["table"])
            self._columns["table"] += sides

    def lead(self, k: int, side: int, child: int) -> None:
        """Where the rows of node k go from its left (0) or right (1)."""
        self._columns[("left", "right")[side]][k] = child

    def children(self, k: int) -> tuple[int, int]:
        return self._columns["left"][k], self._columns["right"][k]

    def order(self, k: int, upper: int, lower: int) -> None:
        """The cells that cell k was split into."""
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
            np.array(self._worth),
        )
