"""Shapley values of the trees of a forest, from the weight of the training rows at its nodes."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.kernels.arrays import read_only
from auctor.kernels.tree_shap import TreePaths, expected_values, trace_paths, tree_shapley
from auctor.kernels.trees import TreeNodes

# Number of rows that go through a tree together: enough of them to use the factors of an edge
# often, few enough for the products at all nodes to stay in the cache.
_BLOCK = 128
_MOST_PRODUCTS = 2**20  # numbers in the buffer of a very large tree: fewer rows at a time
# How much the weight of a node and the sum of its children's may differ, as a fraction of it.
_TOLERANCE = 1e-6


def cover_fault(cover: Floats, nodes: TreeNodes) -> str | None:
    """What ``cover`` must be and is not, in words; None if it fits the nodes."""
    n_nodes = len(nodes.feature)
    if cover.shape != (n_nodes,):
        return f"a list of {n_nodes} numbers, one for each node"
    if not ((cover >= 0) & (cover < 1e300)).all():
        return "a list of weights of 0 or more"
    inner = np.flatnonzero(nodes.feature >= 0)
    children = nodes.left[inner], nodes.right[inner]
    if (np.bincount(np.concatenate(children), minlength=1) > 1).any():
        return "left out, since two nodes have the same child: its weight comes from both of them"
    gap = np.abs(cover[inner] - cover[children[0]] - cover[children[1]])
    if (gap > _TOLERANCE * cover[inner]).any():
        return "such that the weight of a node is the sum of those of its children"
    return None


class ShapleyTrees:
    """Trees in the layout of the kernel ``tree_shapley``.

    Attributes
    ----------
    expected : float
        The sum over the trees of the average value of the training rows.
    """

    def __init__(self, nodes: TreeNodes, roots: Ints, cover: Floats, value: Floats) -> None:
        nodes, value = TreeNodes(*map(read_only, nodes)), read_only(value)
        self._nodes, self._value = nodes, value
        self._paths = find_paths(nodes, roots, cover)
        self._n_nodes = int(np.diff(roots, append=len(value)).max())
        mean = value.copy()
        expected_values(nodes, self._paths, mean)
        self.expected = float(mean[roots].sum())

    def values(self, codes: npt.NDArray[Any]) -> Floats:
        """The sum over the trees of the Shapley values (features, rows) of rows given by codes.

        The values of a row and ``expected`` add up to the values of its leaves. They do not depend
        on the other rows.
        """
        out, edge = np.zeros(codes.shape), np.empty((self._n_nodes, 2))
        size = max(1, min(_BLOCK, _MOST_PRODUCTS // self._n_nodes))
        for start in range(0, codes.shape[1], size):
            block = np.ascontiguousarray(codes[:, start : start + size])
            shape = self._n_nodes, block.shape[1]
            state, product = np.empty(shape, dtype=np.uint8), np.empty(shape)
            part = np.zeros(block.shape)
            trees = self._nodes, self._paths, self._value
            tree_shapley(block, *trees, state, product, edge, part)
            out[:, start : start + size] = part
        return out


def find_paths(nodes: TreeNodes, roots: Ints, cover: Floats) -> TreePaths:
    """What the kernel needs to know of the paths of the trees."""
    n_nodes = len(nodes.feature)
    parent, previous = np.full(n_nodes, -2), np.full(n_nodes, -1)
    parent[roots] = -1
    fraction, joint = np.ones((2, n_nodes))
    n_tested = np.zeros(n_nodes, dtype=np.int64)
    nodes, cover, roots = TreeNodes(*map(read_only, nodes)), read_only(cover), read_only(roots)
    trace_paths(nodes, cover, parent, previous, fraction, joint, n_tested)
    inner = np.flatnonzero((nodes.feature >= 0) & (parent > -2))
    begin = np.searchsorted(inner, np.append(roots, n_nodes))
    # n points integrate polynomials of degree 2 n - 1; d features make one of degree d - 1.
    n_points = (np.maximum.reduceat(n_tested, roots) + 1) // 2
    rules = {n: _gauss_legendre(n) for n in np.unique(n_points).tolist()}
    points, weights = np.concatenate([rules[n] for n in n_points.tolist()], axis=1)
    rule = np.concatenate([[0], np.cumsum(n_points)])
    return TreePaths(roots, inner, begin, previous, fraction, joint, rule, points, weights)


def _gauss_legendre(n_points: int) -> Floats:
    """Points and weights (2, n_points) of the quadrature from 0 to 1."""
    if n_points == 0:  # a tree without a test
        return np.empty((2, 0))
    points, weights = np.polynomial.legendre.leggauss(n_points)
    return np.array([(points + 1.0) / 2.0, weights / 2.0])
