"""A segment tree over slots in the order of scores: the largest prefix sum after each update."""

from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.kernels.jit import kernel


class Tree(NamedTuple):
    """A binary tree over the slots in order; the leaves are the second half of the arrays.

    For the slots below each node ``sums`` has the sum of their values, and ``bests`` the largest
    prefix sum, or 0 if that is negative.
    """

    sums: Floats
    bests: Floats


@kernel
def join(tree: Tree, node: int) -> None:
    """Compute a node from its two children."""
    left, right = np.uint64(2 * node), np.uint64(2 * node + 1)
    here = np.uint64(node)
    tree.sums[here] = tree.sums[left] + tree.sums[right]
    tree.bests[here] = max(tree.bests[left], tree.sums[left] + tree.bests[right])


@kernel
def set_leaf(tree: Tree, leaf: int, value: float) -> None:
    """Set the value of a slot, but not the nodes above it."""
    node = np.uint64(len(tree.sums) // 2 + leaf)
    tree.sums[node] = value
    tree.bests[node] = max(value, 0.0)


@kernel
def put_leaf(tree: Tree, leaf: int, value: float) -> None:
    """Set the value of a slot, and update the nodes above it."""
    set_leaf(tree, leaf, value)
    node = (len(tree.sums) // 2 + leaf) // 2
    while node > 0:
        join(tree, node)
        node //= 2


@kernel
def replace_leaf(tree: Tree, old: int, new: int, value: float) -> None:
    """Move a row from one slot to another, and update the nodes above both."""
    set_leaf(tree, old, 0.0)
    set_leaf(tree, new, value)
    a, b = (len(tree.sums) // 2 + old) // 2, (len(tree.sums) // 2 + new) // 2
    while a != b:
        join(tree, a)
        join(tree, b)
        a //= 2
        b //= 2
    while a > 0:
        join(tree, a)
        a //= 2


@kernel
def join_all(tree: Tree) -> None:
    """Compute all nodes from the leaves."""
    for node in range(len(tree.sums) // 2 - 1, 0, -1):
        join(tree, node)


@kernel
def make_tree(n_slots: int) -> Tree:
    """A tree of ``n_slots`` empty slots."""
    n_leaves = 1
    while n_leaves < n_slots:
        n_leaves *= 2
    return Tree(np.zeros(2 * n_leaves), np.zeros(2 * n_leaves))
