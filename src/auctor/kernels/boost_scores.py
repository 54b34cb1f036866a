"""Adding a boosted tree to the scores of rows."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel
from auctor.kernels.trees import TreeNodes

# The parts of the record of a node: cut (bits 0 to 15), shift (16), feature (17 to 48), child.
_CUT, _FEATURE = np.uint64(0xFFFF), np.uint64(0xFFFFFFFF)
_SHIFT_BIT, _FEATURE_BIT, _CHILD_BIT = np.uint64(16), np.uint64(17), np.uint64(49)
_ONE = np.uint64(1)


class TreeSteps(NamedTuple):
    """A tree in the layout of ``add_tree``, with a record of 64 bits for each node.

    The two children of a node are neighbours, and codes above the cut go to the second one. With
    shift 1 the codes are reduced by one, so that a missing value (code 0) becomes the largest
    number and goes with the codes above the cut. A leaf is its own child, so that every row takes
    the same number of steps and the processor has no branch to predict.
    """

    record: npt.NDArray[np.uint64]
    start: Ints  # of the sides of the codes of a category in ``table``; -1 for numbers
    table: Ints
    depth: int
    has_categories: bool


@inner_kernel
def _child(record: np.uint64, tile: npt.NDArray[Any], row: np.uint64) -> Any:
    """The number of the node that a row goes to, by a test of a number."""
    code = np.uint64(tile[row, (record >> _FEATURE_BIT) & _FEATURE])
    is_above = code - ((record >> _SHIFT_BIT) & _ONE) > (record & _CUT)
    return (record >> _CHILD_BIT) + np.uint64(is_above)


@inner_kernel
def _leaf_by_table(tile: npt.NDArray[Any], row: np.uint64, steps: TreeSteps) -> Any:
    """The leaf of a row in a tree that tests categories too."""
    k = np.uint64(0)
    for _ in range(steps.depth):
        record = steps.record[k]
        if steps.start[k] >= 0:
            code = np.int64(tile[row, (record >> _FEATURE_BIT) & _FEATURE])
            is_right = 1 - steps.table[steps.start[k] + code]
            k = (record >> _CHILD_BIT) + np.uint64(is_right)
        else:
            k = _child(record, tile, row)
    return k


@kernel
def add_tree(
    tile: npt.NDArray[Any],
    start: int,
    stop: int,
    steps: TreeSteps,
    value: Floats,
    weight: npt.NDArray[np.uint32],
    scores: Floats,
    cover: Ints,
) -> None:
    """Add the value of its leaf to the score of each of the rows start..stop of a tile.

    ``cover`` receives the weight of the rows in each leaf. Four rows walk at the same time: one
    row waits for memory at every step, and the others use that time.
    """
    records = steps.record
    i, end = np.uint64(start), np.uint64(stop)
    while i < end:
        if steps.has_categories or i + np.uint64(3) >= end:
            k = _leaf_by_table(tile, i, steps)
            scores[i] += value[k]
            cover[k] += np.int64(weight[i])
            i += _ONE
            continue
        a = b = c = d = records[0]
        for _ in range(steps.depth):
            a = records[_child(a, tile, i)]
            b = records[_child(b, tile, i + np.uint64(1))]
            c = records[_child(c, tile, i + np.uint64(2))]
            d = records[_child(d, tile, i + np.uint64(3))]
        for leaf in (a, b, c, d):  # a leaf is its own child
            k = leaf >> _CHILD_BIT
            scores[i] += value[k]
            cover[k] += np.int64(weight[i])
            i += _ONE


def tree_steps(nodes: TreeNodes) -> TreeSteps:
    """The steps of a tree: ``above`` is 0, and a right child follows its sibling and parent."""
    is_leaf = nodes.feature < 0
    shift = np.where(is_leaf, 0, 1 - nodes.missing)
    cut = np.where(is_leaf, int(_CUT), np.maximum(nodes.cut - shift, 0))
    child = np.where(is_leaf, np.arange(len(is_leaf)), nodes.left)
    record = child << int(_CHILD_BIT) | np.maximum(nodes.feature, 0) << int(_FEATURE_BIT)
    record |= shift << int(_SHIFT_BIT) | cut
    depth = [0] * len(is_leaf)
    inner = np.flatnonzero(~is_leaf)
    for k, left in zip(inner.tolist(), nodes.left[inner].tolist(), strict=True):
        depth[left] = depth[left + 1] = depth[k] + 1
    has_categories = bool((nodes.start >= 0).any())
    return TreeSteps(record.astype(np.uint64), nodes.start, nodes.table, max(depth), has_categories)
