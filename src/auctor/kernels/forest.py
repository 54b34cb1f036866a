"""Forests: the values of the leaves of rows in all trees, and their sum.

``packed_values`` and ``packed_sums`` read nodes of eight bytes; ``forest_values`` is for forests
that do not fit into them. A block of rows goes through all trees before the next one, so that its
codes stay in the cache.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel

# The parts of a record: cut (bits 0 to 15), column (16 to 30), whether it is a leaf (31), child.
_CUT, _COLUMN = np.uint64(0xFFFF), np.uint64(0x7FFF)
_COLUMN_BIT, _LEAF_BIT, _CHILD_BIT = np.uint64(16), np.uint64(31), np.uint64(32)
_ONE = np.uint64(1)

# Number of rows that walk at the same time: one row waits for memory at every step, and the others
# use that time. The state of eight rows fits into the registers.
_LANES = 8


class PackedTrees(NamedTuple):
    """The trees of a forest with a record of 64 bits for each node.

    The two children of a node are next to each other: the record ``child`` and the one after it,
    where codes above the cut go. Code 0 (missing) is not above any cut. Where missing values go
    with the codes above the cut, the test reads a column whose codes are shifted by one, so that
    code 0 becomes the largest one. The child of a leaf is the leaf itself.
    """

    record: npt.NDArray[np.uint64]
    value: Floats  # of each record, used for leaves
    root: Ints  # the record of each tree's root
    together: Ints  # number of steps that all rows take before the rows in leaves are left out
    by_table: Bools  # whether a tree tests categories; ``together`` is then not used
    start: Ints  # by child: where the codes of its parent's test begin in ``side``
    side: npt.NDArray[np.uint8]  # 1 for codes that go to the second child; zeros for numbers
    feature: Ints  # of each column
    shift: Ints  # what is subtracted from the codes of each column: 0 or 1


@kernel
def packed_sums(
    codes: npt.NDArray[Any],
    first: int,
    trees: PackedTrees,
    tile: npt.NDArray[np.uint16],
    state: npt.NDArray[np.uint64],
    active: npt.NDArray[np.uint32],
    out: Floats,
) -> None:
    """Add up the values of the leaves of each row, in the order of the trees.

    ``codes`` is (features, rows), and ``out`` is for its rows from ``first`` on. ``tile`` (columns,
    rows of a block), ``state`` and ``active`` (rows of a block) are buffers.
    """
    records, values = trees.record, trees.value
    for begin in range(0, len(out), len(state)):
        n_rows = min(len(state), len(out) - begin)
        _fill_tile(codes, first + begin, n_rows, trees, tile)
        for t in range(len(trees.root)):
            root = records[trees.root[t]]
            if trees.by_table[t]:
                _walk_by_table(tile, trees, root, n_rows, state, active)
            else:
                _walk(tile, records, root, trees.together[t], n_rows, state, active)
            for i in range(n_rows):
                value = values[state[i] >> _CHILD_BIT]
                out[begin + i] = value if t == 0 else out[begin + i] + value


@kernel
def packed_values(
    codes: npt.NDArray[Any],
    first: int,
    trees: PackedTrees,
    tile: npt.NDArray[np.uint16],
    state: npt.NDArray[np.uint64],
    active: npt.NDArray[np.uint32],
    out: Floats,
) -> None:
    """Find the value of the leaf of each row in each tree; ``out`` is (trees, rows)."""
    records, values = trees.record, trees.value
    for begin in range(0, out.shape[1], len(state)):
        n_rows = min(len(state), out.shape[1] - begin)
        _fill_tile(codes, first + begin, n_rows, trees, tile)
        for t in range(len(trees.root)):
            root = records[trees.root[t]]
            if trees.by_table[t]:
                _walk_by_table(tile, trees, root, n_rows, state, active)
            else:
                _walk(tile, records, root, trees.together[t], n_rows, state, active)
            for i in range(n_rows):
                out[t, begin + i] = values[state[i] >> _CHILD_BIT]


@inner_kernel
def _fill_tile(
    codes: npt.NDArray[Any],
    first: int,
    n_rows: int,
    trees: PackedTrees,
    tile: npt.NDArray[np.uint16],
) -> None:
    """Copy the codes that the trees test; a shifted code 0 becomes 65535."""
    for c in range(len(trees.feature)):
        feature, shift = trees.feature[c], trees.shift[c]
        for i in range(n_rows):
            tile[c, i] = (np.int64(codes[feature, first + i]) - shift) & 0xFFFF


@inner_kernel
def _walk(
    tile: npt.NDArray[np.uint16],
    records: npt.NDArray[np.uint64],
    root: np.uint64,
    n_together: int,
    n_rows: int,
    state: npt.NDArray[np.uint64],
    active: npt.NDArray[np.uint32],
) -> None:
    """Write the record of each row's leaf to ``state``, in a tree that tests numbers only."""
    if n_rows >= _LANES:
        _walk_together(tile, records, root, n_together, n_rows, state)
    else:
        for i in range(n_rows):
            state[i] = root
    if n_rows == 1:  # without a list
        record = root
        while (record >> _LEAF_BIT) & _ONE == 0:
            record = _next(record, tile, np.uint64(0), records)
        state[0] = record
    else:
        _walk_on(tile, records, n_rows, state, active)


@inner_kernel
def _walk_together(
    tile: npt.NDArray[np.uint16],
    records: npt.NDArray[np.uint64],
    root: np.uint64,
    n_steps: int,
    n_rows: int,
    state: npt.NDArray[np.uint64],
) -> None:
    """Take ``n_steps`` steps from the root with each row, eight rows at a time.

    The last eight rows overlap the ones before them, which then take the same steps again.
    """
    for group in range(0, n_rows, _LANES):
        i = np.uint64(min(group, n_rows - _LANES))
        a = b = c = d = e = f = g = h = root
        for _ in range(n_steps):
            a = _next(a, tile, i, records)
            b = _next(b, tile, i + np.uint64(1), records)
            c = _next(c, tile, i + np.uint64(2), records)
            d = _next(d, tile, i + np.uint64(3), records)
            e = _next(e, tile, i + np.uint64(4), records)
            f = _next(f, tile, i + np.uint64(5), records)
            g = _next(g, tile, i + np.uint64(6), records)
            h = _next(h, tile, i + np.uint64(7), records)
        state[i], state[i + np.uint64(1)] = a, b
        state[i + np.uint64(2)], state[i + np.uint64(3)] = c, d
        state[i + np.uint64(4)], state[i + np.uint64(5)] = e, f
        state[i + np.uint64(6)], state[i + np.uint64(7)] = g, h


@inner_kernel
def _walk_on(
    tile: npt.NDArray[np.uint16],
    records: npt.NDArray[np.uint64],
    n_rows: int,
    state: npt.NDArray[np.uint64],
    active: npt.NDArray[np.uint32],
) -> None:
    """Take steps with the rows that are not in a leaf, until all rows are in leaves."""
    n_active = _list_active(n_rows, state, active)
    while n_active > 0:
        n_next = np.uint64(0)
        for a in range(n_active):
            row = np.uint64(active[a])
            record = _next(state[row], tile, row, records)
            state[row] = record
            active[n_next] = row
            n_next += _ONE - ((record >> _LEAF_BIT) & _ONE)
        n_active = n_next


@inner_kernel
def _walk_by_table(
    tile: npt.NDArray[np.uint16],
    trees: PackedTrees,
    root: np.uint64,
    n_rows: int,
    state: npt.NDArray[np.uint64],
    active: npt.NDArray[np.uint32],
) -> None:
    """Write the record of each row's leaf to ``state``, in a tree that tests categories too."""
    for i in range(n_rows):
        state[i] = root
    n_active = _list_active(n_rows, state, active)
    while n_active > 0:
        n_next = np.uint64(0)
        for a in range(n_active):
            row = np.uint64(active[a])
            record = _next_by_table(state[row], tile, row, trees)
            state[row] = record
            active[n_next] = row
            n_next += _ONE - ((record >> _LEAF_BIT) & _ONE)
        n_active = n_next


@inner_kernel
def _list_active(
    n_rows: int, state: npt.NDArray[np.uint64], active: npt.NDArray[np.uint32]
) -> np.uint64:
    """List the rows that are not in a leaf, and return their number."""
    n_active = np.uint64(0)
    for i in range(n_rows):
        active[n_active] = i
        n_active += _ONE - ((state[i] >> _LEAF_BIT) & _ONE)
    return n_active


@inner_kernel
def _next(
    record: np.uint64,
    tile: npt.NDArray[np.uint16],
    row: np.uint64,
    records: npt.NDArray[np.uint64],
) -> Any:
    """The record of the child that a row goes to, by a test of a number."""
    code = np.uint64(tile[(record >> _COLUMN_BIT) & _COLUMN, row])
    return records[(record >> _CHILD_BIT) + np.uint64(code > (record & _CUT))]


@inner_kernel
def _next_by_table(
    record: np.uint64, tile: npt.NDArray[np.uint16], row: np.uint64, trees: PackedTrees
) -> Any:
    """The record of the child that a row goes to, by a test of a number or a category.

    No code is above the cut of a category, and the table of a number has zeros only, so that both
    kinds of test are made without a branch.
    """
    code = np.uint64(tile[(record >> _COLUMN_BIT) & _COLUMN, row])
    child = record >> _CHILD_BIT
    is_set = np.uint64(trees.side[np.uint64(trees.start[child]) + code])
    return trees.record[child + (np.uint64(code > (record & _CUT)) | is_set)]


@kernel
def forest_values(
    tile: npt.NDArray[Any],
    nodes: npt.NDArray[np.int32],
    table: Ints,
    roots: Ints,
    value: Floats,
    node: Ints,
    active: Ints,
    out: Floats,
) -> None:
    """Find the value of the leaf of each row of ``tile`` (rows, features) in each tree.

    The result ``out`` is (trees, rows). A row of ``nodes`` is (feature, cut, child above the cut,
    child up to it, child of missing values, start in ``table``, left child, right child), which is
    half a cache line. All rows take one step before any row takes the next, so that the steps are
    independent of each other and have no branch to mispredict. ``node`` and ``active`` are buffers
    with one number per row.
    """
    for t in range(out.shape[0]):
        n_active = np.int64(len(node) if nodes[roots[t], 0] >= 0 else 0)
        for i in range(len(node)):
            node[i] = roots[t]
            active[i] = i
        while n_active > 0:
            n_next = np.uint64(0)
            for a in range(n_active):
                row = np.uint64(active[a])
                k = np.uint64(node[row])
                code = np.int64(tile[row, np.uint64(nodes[k, 0])])
                if nodes[k, 5] >= 0:
                    child = np.uint64(7 - table[np.uint64(nodes[k, 5] + code)])
                else:
                    child = np.uint64(2 + np.int64(code <= nodes[k, 1]) + np.int64(code == 0))
                following = nodes[k, child]
                node[row] = following
                active[n_next] = row
                n_next += np.uint64(nodes[np.uint64(following), 0] >= 0)
            n_active = np.int64(n_next)
        for i in range(len(node)):
            out[t, i] = value[np.uint64(node[i])]
