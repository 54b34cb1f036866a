"""A tree over slots on the line of scores: the largest sum from the left, as rows come and go."""

from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.kernels.jit import kernel


class Tree(NamedTuple):
    """A binary tree over the slots in order; the leaves are the second half of the arrays.

    ``sums`` are of what the rows in them add, ``bests`` the largest sum from the left, or 0.
    """

    sums: Floats
    bests: Floats


@kernel
def join(tree: Tree, node: int) -> None:
    """A node from its two children."""
    left, right = np.uint64(2 * node), np.uint64(2 * node + 1)
    here = np.uint64(node)
    tree.sums[here] = tree.sums[left] + tree.sums[right]
    tree.bests[here] = max(tree.bests[left], tree.sums[left] + tree.bests[right])


@kernel
def set_leaf(tree: Tree, leaf: int, value: float) -> None:
    """The content of a slot."""
    place = np.uint64(len(tree.sums) // 2 + leaf)
    tree.sums[place] = value
    tree.bests[place] = max(value, 0.0)


@kernel
def put_leaf(tree: Tree, leaf: int, value: float) -> None:
    """Change the content of a slot, and put the nodes above it right."""
    set_leaf(tree, leaf, value)
    node = (len(tree.sums) // 2 + leaf) // 2
    while node > 0:
        join(tree, node)
        node //= 2


@kernel
def replace_leaf(tree: Tree, old: int, new: int, value: float) -> None:
    """Move a row from one slot to another, and put the nodes above both right."""
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
    """All nodes from their leaves."""
    for node in range(len(tree.sums) // 2 - 1, 0, -1):
        join(tree, node)


@kernel
def make_tree(n_slots: int) -> Tree:
    """Room for so many slots, all empty."""
    n_leaves = 1
    while n_leaves < n_slots:
        n_leaves *= 2
    return Tree(np.zeros(2 * n_leaves), np.zeros(2 * n_leaves))
