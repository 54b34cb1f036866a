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
