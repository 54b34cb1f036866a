"""The trees of a forest in the layout of the kernels ``packed_sums`` and ``packed_values``."""

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.forest import PackedTrees
from auctor.kernels.trees import TreeNodes

_MAX_CODE = 65_535  # a cut has 16 bits
_MAX_COLUMNS = 2**15  # and a column 15

# After this number of steps at most, rows that are in a leaf are left out.
_MAX_TOGETHER = 64


def pack_trees(nodes: TreeNodes, roots: Ints, value: Floats) -> PackedTrees | None:
    """The trees with a record for each node; None if they do not fit into the layout.

    Two nodes may have the same child, whose record is then stored with each of them.
    """
    inner = nodes.feature >= 0
    if (nodes.cut[inner] > _MAX_CODE).any():
        return None
    below, above, cut, shift = _tests(nodes)
    tests, column = np.unique((2 * nodes.feature + shift)[inner], return_inverse=True)
    if len(tests) > _MAX_COLUMNS:
        return None
    child = len(roots) + 2 * (np.cumsum(inner) - 1)  # of inner nodes; the roots come first
    node = np.concatenate([roots, np.column_stack([below, above])[inner].ravel()])
    test = np.full(len(inner), _MAX_CODE | 1 << 31)  # of a leaf, which no code is above
    test[inner] = cut[inner] | column << 16
    ends = np.where(inner[node], child[node], np.arange(len(node)))
    record = ends.astype(np.uint64) << np.uint64(32) | test[node].astype(np.uint64)
    start, side = _sides(nodes, child, len(node))
    return PackedTrees(
        record=record,
        value=value[node],
        root=np.arange(len(roots)),
        together=_steps_together(nodes, roots),
        by_table=_any_in_tree(_tests_category(nodes), roots),
        start=start,
        side=side,
        feature=tests // 2,
        shift=tests % 2,
    )


def _tests_category(nodes: TreeNodes) -> Bools:
    """Whether each node tests a category; the start of a leaf in a file may be any number."""
    return (nodes.feature >= 0) & (nodes.start >= 0)


def _tests(nodes: TreeNodes) -> tuple[Ints, Ints, Ints, Ints]:
    """Children up to and above the cut of each node, the cut, and the shift of the codes."""
    is_set = _tests_category(nodes)
    is_left = is_set | (nodes.above == 1)  # the second child is the one above the cut
    above = np.where(is_left, nodes.left, nodes.right)
    below = np.where(is_left, nodes.right, nodes.left)
    shift = ~is_set & ((nodes.missing == 1) == is_left)  # missing values go with codes above
    cut = np.where(is_set, _MAX_CODE, nodes.cut - shift)
    below = np.where(cut < 0, above, below)  # all codes are above, and the missing values too
    return below, above, np.maximum(cut, 0), shift.astype(np.int64)


def _sides(nodes: TreeNodes, child: Ints, n_records: int) -> tuple[Ints, npt.NDArray[np.uint8]]:
    """The start of each test by its child, and the table; both are empty without categories."""
    is_set = _tests_category(nodes)
    if not is_set.any():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint8)
    start = np.zeros(n_records, dtype=np.int64)
    start[child[is_set]] = nodes.start[is_set] + _MAX_CODE + 1
    zeros = np.zeros(_MAX_CODE + 1, dtype=np.uint8)  # for tests of numbers
    return start, np.concatenate([zeros, nodes.table.astype(np.uint8)])


def _any_in_tree(flag: Bools, roots: Ints) -> Bools:
    """Whether a node of each tree has a flag; the nodes of a tree follow its root."""
    starts, tree = np.unique(roots, return_inverse=True)
    return np.logical_or.reduceat(flag, starts)[tree]


def _steps_together(nodes: TreeNodes, roots: Ints) -> Ints:
    """Number of steps of each tree that at least half of the rows take, if tests halve the rows.

    A step for all rows costs about half of what it costs to take a step with rows of a list, but
    rows in leaves take it in vain.
    """
    starts, tree = np.unique(roots, return_inverse=True)
    steps = np.zeros(len(starts), dtype=np.int64)
    node, mass = starts, np.ones(len(starts))
    for _ in range(_MAX_TOGETHER):
        inner = nodes.feature[node] >= 0
        node, mass = node[inner], mass[inner]
        owner = np.searchsorted(starts, node, side="right") - 1
        goes_on = np.bincount(owner, mass, len(starts)) >= 0.5
        steps += goes_on
        if not goes_on.any():
            break
        node, mass = _halve(nodes, node[goes_on[owner]], mass[goes_on[owner]])
    return steps[tree]


def _halve(nodes: TreeNodes, node: Ints, mass: Floats) -> tuple[Ints, Floats]:
    """Send half of the mass of each node to each child."""
    children = np.concatenate([nodes.left[node], nodes.right[node]])
    total = np.zeros(len(nodes.feature))
    np.add.at(total, children, np.tile(mass / 2.0, 2))
    reached: Ints = np.flatnonzero(total)
    return reached, total[reached]
