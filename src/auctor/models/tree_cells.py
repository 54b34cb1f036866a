"""The ranking tree among the nodes of a TreeModel."""

from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.trees import TreeNodes


class Cells(NamedTuple):
    """Of each node that is a cell: the cells it is split into and its depth; -1 elsewhere."""

    upper: Ints
    lower: Ints
    depth: Ints


def find_cells(nodes: TreeNodes, is_cell: Bools, value: Floats) -> Cells:
    """Follow every split to the two cells it ends in; ValueError where it is no such split.

    The cell that holds the best leaf is the upper one.
    """
    n_nodes = len(is_cell)
    if not is_cell[0] or not is_cell[nodes.feature < 0].all():
        raise ValueError("1 for the root and for leaves")
    best = _best_leaf(nodes, value)
    upper, lower, depth = (np.full(n_nodes, -1) for _ in range(3))
    depth[0] = 0
    reached = np.zeros(n_nodes, dtype=np.bool_)
    reached[0] = True
    for cell in np.flatnonzero(is_cell & (nodes.feature >= 0)).tolist():
        inner, ends = _follow(nodes, is_cell, cell)
        # A node that two paths lead to would be a cell, and a cell has one parent.
        if len(ends) != 2 or reached[inner].any() or reached[ends].any():
            raise ValueError("such that every split of a cell is a tree that ends in two cells")
        reached[inner], reached[ends] = True, True
        upper[cell], lower[cell] = sorted(ends, key=lambda k: -best[k])
        depth[ends] = depth[cell] + 1
    if not reached.all():
        raise ValueError("such that every node is reached from the root")
    return Cells(upper, lower, depth)


def _follow(nodes: TreeNodes, is_cell: Bools, cell: int) -> tuple[list[int], list[int]]:
    """Inner nodes of a cell's split and the cells it ends in; none where paths meet before."""
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
