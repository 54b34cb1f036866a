"""The ranking tree of a TreeModel: which cell is split into which two."""

from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.trees import TreeNodes


class Cells(NamedTuple):
    """For each node the two cells that it is split into, and its depth; -1 if it is no cell.

    ``upper`` and ``lower`` are -1 for leaves as well.
    """

    upper: Ints
    lower: Ints
    depth: Ints


def find_cells(nodes: TreeNodes, is_cell: Bools, value: Floats) -> Cells:
    """Follow the split of every cell to the two cells that it leads to.

    The cell with the leaf of the highest value is the upper one. A ValueError says what
    ``is_cell`` has to be where a split does not lead to two cells.
    """
    n_nodes = len(is_cell)
    if not is_cell[0] or not is_cell[nodes.feature < 0].all():
        raise ValueError("1 for the root and for every leaf")
    best = _best_leaf(nodes, value)
    upper, lower, depth = (np.full(n_nodes, -1) for _ in range(3))
    depth[0] = 0
    reached = np.zeros(n_nodes, dtype=np.bool_)
    reached[0] = True
    for cell in np.flatnonzero(is_cell & (nodes.feature >= 0)).tolist():
        inner, ends = _follow(nodes, is_cell, cell)
        # Only a cell can be reached on two paths, and a cell has one parent.
        if len(ends) != 2 or reached[inner].any() or reached[ends].any():
            raise ValueError("such that every split of a cell is a tree that ends in two cells")
        reached[inner], reached[ends] = True, True
        upper[cell], lower[cell] = sorted(ends, key=lambda k: -best[k])
        depth[ends] = depth[cell] + 1
    if not reached.all():
        raise ValueError("such that every node is reached from the root")
    return Cells(upper, lower, depth)


def _follow(nodes: TreeNodes, is_cell: Bools, cell: int) -> tuple[list[int], list[int]]:
    """Inner nodes of the split of a cell, and the cells that it leads to.

    No cells are returned if two paths meet at an inner node.
    """
    inner: list[int] = []
    ends: set[int] = set()
    waiting = [cell]
    seen: set[int] = set()
    while waiting:
        k = waiting.pop()
        for child in (int(nodes.left[k]), int(nodes.right[k])):
            if is_cell[child]:
                ends.add(child)
            elif child in seen:
                return inner, []
            else:
                seen.add(child)
                inner.append(child)
                waiting.append(child)
    return inner, sorted(ends)


def _best_leaf(nodes: TreeNodes, value: Floats) -> Floats:
    """The largest value among the leaves below each node."""
    best = value.copy()
    for k in range(len(best) - 1, -1, -1):
        if nodes.feature[k] >= 0:
            best[k] = max(best[nodes.left[k]], best[nodes.right[k]])
    return best
