"""Shapley values of trees: what each feature adds to the value of a row's leaf.

The value of a set of features is the expected value of the tree if only these features of the row
are known (the path-dependent game of Lundberg et al. 2018, algorithm 1): a node that tests a known
feature sends the row to its side, any other node sends it to both sides in proportion to their
training rows. For one leaf this is a product over the features of its path. Feature i has the
factor o_i, 1 or 0, if it is known, where o_i says whether the row passes all tests of the feature,
and the factor z_i if it is not, the fraction of rows that pass them. The Shapley value of feature i
in such a game is an integral (Owen 1972):

    v (o_i - z_i) * integral over t from 0 to 1 of the product over j != i of z_j + t (o_j - z_j)

The integrand is a polynomial, so that Gauss-Legendre quadrature is exact. At each of its points one
pass down the tree multiplies the factors and one pass up adds the leaves below each edge: the cost
is proportional to leaves times depth, instead of leaves times the square of the depth as in
algorithm 2 of Lundberg et al., and no term is subtracted from a sum that contains it.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel
from auctor.kernels.trees import TreeNodes


class TreePaths(NamedTuple):
    """The paths of all trees, for nodes that have one parent at most.

    ``inner`` lists the nodes with children, parents first; those of tree t are ``begin[t]`` to
    ``begin[t + 1]``. ``previous`` is for node k the last node on the path to it, k included, that
    was reached by a test of the feature that k tests; -1 if there is none. For a node that is a
    child, ``fraction`` is the fraction of its parent's rows that reach it, and ``joint`` the
    product of these fractions over all tests of the same feature on its path. The quadrature of
    tree t has the points ``rule[t]`` to ``rule[t + 1]`` of ``points`` and ``weights``.
    """

    roots: Ints
    inner: Ints
    begin: Ints
    previous: Ints
    fraction: Floats
    joint: Floats
    rule: Ints
    points: Floats
    weights: Floats


@kernel
def trace_paths(
    nodes: TreeNodes,
    cover: Floats,
    parent: Ints,
    previous: Ints,
    fraction: Floats,
    joint: Floats,
    n_tested: Ints,
) -> None:
    """Fill ``previous``, ``fraction``, ``joint``, and the number of features on each path.

    ``parent`` is -1 for roots and -2 for other nodes; nodes without a parent keep the -2. Where no
    row reaches a node, its children have half of its rows each.
    """
    for k in range(len(parent)):
        if nodes.feature[k] < 0 or parent[k] == -2:
            continue
        last = k
        while parent[last] >= 0 and nodes.feature[parent[last]] != nodes.feature[k]:
            last = parent[last]
        previous[k] = last if parent[last] >= 0 else -1
        total = cover[nodes.left[k]] + cover[nodes.right[k]]
        for child in (nodes.left[k], nodes.right[k]):
            parent[child] = k
            fraction[child] = cover[child] / total if total > 0.0 else 0.5
            joint[child] = fraction[child]
            n_tested[child] = n_tested[k] + 1
            if previous[k] >= 0:
                joint[child] *= joint[previous[k]]
                n_tested[child] -= 1


@kernel
def expected_values(nodes: TreeNodes, paths: TreePaths, value: Floats) -> None:
    """Replace the value of each inner node by the expected value of its training rows."""
    for a in range(len(paths.inner) - 1, -1, -1):
        k = paths.inner[a]
        left, right = nodes.left[k], nodes.right[k]
        value[k] = paths.fraction[left] * value[left] + paths.fraction[right] * value[right]


# The state of a row at a child: the row failed an earlier test of the feature, it fails the test
# of the parent but passes the earlier ones, or it passes all of them.
_FAILED, _FAILS, _PASSES = 0, 1, 2


@inner_kernel
def find_states(
    codes: npt.NDArray[Any],
    nodes: TreeNodes,
    paths: TreePaths,
    tree: int,
    state: npt.NDArray[np.uint8],
) -> None:
    """Find the state (nodes of the tree, rows) of each row at each child of a tree."""
    root = paths.roots[tree]
    for a in range(paths.begin[tree], paths.begin[tree + 1]):
        k = paths.inner[a]
        column = codes[nodes.feature[k]]
        cut, start, last = nodes.cut[k], nodes.start[k], paths.previous[k]
        # A code above the cut and a missing value (code 0) have a side each.
        is_above, if_missing = nodes.above[k], nodes.missing[k]
        left, right = state[nodes.left[k] - root], state[nodes.right[k] - root]
        for i in range(codes.shape[1]):
            code = np.int64(column[i])
            if start >= 0:
                goes_left = nodes.table[start + code]
            elif code == 0:
                goes_left = if_missing
            else:
                goes_left = np.int64((code > cut) == (is_above == 1))
            passed = np.int64(1) if last < 0 else np.int64(state[last - root, i] == _PASSES)
            left[i] = passed * (1 + goes_left)
            right[i] = passed * (2 - goes_left)


@kernel
def tree_shapley(
    codes: npt.NDArray[Any],
    nodes: TreeNodes,
    paths: TreePaths,
    value: Floats,
    state: npt.NDArray[np.uint8],
    product: Floats,
    edge: Floats,
    out: Floats,
) -> None:
    """Add the Shapley values (features, rows) of all trees to ``out``.

    Rows are given by their codes (features, rows). The buffers ``state`` and ``product`` have a row
    for each node of the largest tree and a column for each row of the table. The buffer ``edge``
    has a row for each node: 1 and 1 - z, divided by z + t (1 - z), which is the factor of the
    feature that led to the node if the row passes its tests.
    """
    n_rows = codes.shape[1]
    for tree in range(len(paths.roots)):
        root, begin, end = paths.roots[tree], paths.begin[tree], paths.begin[tree + 1]
        find_states(codes, nodes, paths, tree, state)
        for q in range(paths.rule[tree], paths.rule[tree + 1]):
            t = paths.points[q]
            for i in range(n_rows):
                product[0, i] = paths.weights[q]
            for a in range(begin, end):
                k = paths.inner[a]
                p, last = np.uint64(k - root), paths.previous[k]
                before = edge[np.uint64(last - root), 0] if last >= 0 else 1.0
                for side in range(2):
                    c = nodes.left[k] if side == 0 else nodes.right[k]
                    here, z = np.uint64(c - root), paths.joint[c]
                    scale = value[c] if nodes.feature[c] < 0 else 1.0
                    factor = z + t * (1.0 - z)
                    edge[here, 0] = 1.0 / factor
                    edge[here, 1] = (1.0 - z) * edge[here, 0]
                    passes = scale * (factor * before)
                    fails = scale * (z * (1.0 - t) * before)
                    failed = scale * paths.fraction[c]
                    for i in range(n_rows):
                        s = state[here, i]
                        by = passes if s == _PASSES else (fails if s == _FAILS else failed)
                        product[here, i] = product[p, i] * by
            for a in range(end - 1, begin - 1, -1):
                k = paths.inner[a]
                f, p, last = np.uint64(nodes.feature[k]), np.uint64(k - root), paths.previous[k]
                left, right = np.uint64(nodes.left[k] - root), np.uint64(nodes.right[k] - root)
                # Leaves below a later test of the same feature count with that test instead.
                before = edge[np.uint64(last - root), 1] if last >= 0 else 0.0
                pass_left, pass_right = edge[left, 1] - before, edge[right, 1] - before
                fail = -1.0 / (1.0 - t) - before
                for i in range(n_rows):
                    # A row that passes the test of one side fails that of the other.
                    s, u, v = state[left, i], product[left, i], product[right, i]
                    add = u * pass_left + v * fail if s == _PASSES else u * fail + v * pass_right
                    out[f, i] += add if s != _FAILED else 0.0
                    product[p, i] = u + v
