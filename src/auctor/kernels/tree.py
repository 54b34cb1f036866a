"""Trees as arrays, and the way of rows through them."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


class TreeNodes(NamedTuple):
    """The nodes of a tree; node 0 is the root, and children stand behind their parents.

    At a node of a number the codes above ``cut`` go left where ``above`` is 1, the others
    where it is 0; missing values (code 0) go left where ``missing`` is 1. A node of a category
    looks its side up in ``table``, from ``start`` on (-1 for numbers), 1 for left. Feature -1
    marks a leaf. Two nodes may share a child: a union of boxes is a cell of the tree, too.
    """

    feature: npt.NDArray[np.int64]
    cut: npt.NDArray[np.int64]
    above: npt.NDArray[np.int64]
    missing: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]
    right: npt.NDArray[np.int64]


@kernel
def find_leaves(codes: npt.NDArray[Any], nodes: TreeNodes, leaf: npt.NDArray[np.int64]) -> None:
    """The leaf that each row (features, rows) comes to."""
    for row in range(len(leaf)):
        k = np.int64(0)
        while nodes.feature[k] >= 0:
            code = np.int64(codes[nodes.feature[k], row])
            if nodes.start[k] >= 0:
                goes_left = nodes.table[nodes.start[k] + code]
            elif code == 0:
                goes_left = nodes.missing[k]
            else:
                goes_left = np.int64((code > nodes.cut[k]) == (nodes.above[k] == 1))
            k = nodes.left[k] if goes_left == 1 else nodes.right[k]
        leaf[row] = k


@kernel
def forest_values(
    tile: npt.NDArray[Any],
    nodes: npt.NDArray[np.int32],
    table: npt.NDArray[np.int64],
    roots: npt.NDArray[np.int64],
    value: npt.NDArray[np.float64],
    place: npt.NDArray[np.int64],
    active: npt.NDArray[np.int64],
    out: npt.NDArray[np.float64],
) -> None:
    """The value of the leaf that each row (rows, features) comes to in each tree (trees, rows).

    A line of ``nodes`` is (feature, cut, child above the cut, child up to it, child of missing
    values, start in ``table``, left child, right child): half a line of the cache, whole. All
    rows take a step before any takes the next: the steps do not wait for one another, and there
    is no branch to mispredict. ``place`` and ``active`` are room for a number per row.
    """
    for t in range(out.shape[0]):
        n_active = np.int64(len(place) if nodes[roots[t], 0] >= 0 else 0)
        for i in range(len(place)):
            place[i] = roots[t]
            active[i] = i
        while n_active > 0:
            n_left = np.uint64(0)
            for a in range(n_active):
                row = np.uint64(active[a])
                k = np.uint64(place[row])
                code = np.int64(tile[row, np.uint64(nodes[k, 0])])
                if nodes[k, 5] >= 0:
                    child = np.uint64(7 - table[np.uint64(nodes[k, 5] + code)])
                else:
                    child = np.uint64(2 + np.int64(code <= nodes[k, 1]) + np.int64(code == 0))
                following = nodes[k, child]
                place[row] = following
                active[n_left] = row
                n_left += np.uint64(nodes[np.uint64(following), 0] >= 0)
            n_active = np.int64(n_left)
        for i in range(len(place)):
            out[t, i] = value[np.uint64(place[i])]
