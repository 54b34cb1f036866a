"""Forests as arrays: every row's leaf in every tree, on small sizes."""

import numpy as np
import pytest

from auctor.kernels.trees import TreeNodes, find_leaves, forest_values


def random_tree(rng, n_inner):
    """Nodes over two numbers and a category (feature 2) of codes 0 to 4."""
    n = 2 * n_inner + 1
    feature = np.full(n, -1)
    feature[:n_inner] = rng.integers(0, 3, size=n_inner)
    is_set = feature == 2
    left = np.where(feature >= 0, 2 * np.arange(n) + 1, -1)
    return TreeNodes(
        feature=feature,
        cut=np.where((feature >= 0) & ~is_set, rng.integers(0, 5, size=n), 0),
        above=rng.integers(0, 2, size=n),
        missing=rng.integers(0, 2, size=n),
        start=np.where(is_set, 5 * (np.cumsum(is_set) - 1), -1),
        table=rng.integers(0, 2, size=5 * int(is_set.sum())),
        left=left,
        right=np.where(feature >= 0, left + 1, -1),
    )


@pytest.mark.parametrize("n_inner", [0, 1, 6, 15])
def test_ranks_are_those_of_the_leaves(n_inner):
    from auctor.models.forest import Walker

    rng = np.random.default_rng(n_inner)
    nodes, rank = random_tree(rng, n_inner), rng.random(2 * n_inner + 1)
    codes = rng.integers(0, 5, size=(3, 40)).astype(np.uint16)
    leaf = np.empty(40, dtype=np.int64)
    find_leaves(codes, nodes, leaf)
    result = Walker(nodes, np.array([0, 0]), rank).ranks(codes, 3, 20)
    assert np.array_equal(result, np.tile(rank[leaf[3:23]], (2, 1)))


def test_rows_that_end_at_different_depths():
    # x0 > 2 ends at once, the others are cut at 1; missing values go with the upper side
    nodes = np.array(
        [
            [0, 2, 1, 2, 1, -1, 1, 2],
            [-1, 0, -1, -1, -1, -1, -1, -1],
            [0, 1, 3, 4, 3, -1, 3, 4],
            [-1, 0, -1, -1, -1, -1, -1, -1],
            [-1, 0, -1, -1, -1, -1, -1, -1],
        ],
        dtype=np.int32,
    )
    tile = np.array([[3], [2], [1], [0]], dtype=np.uint8)
    out, (position, active) = np.empty((1, 4)), np.empty((2, 4), dtype=np.int64)
    value = np.array([9.0, 1.0, 9.0, 0.5, 0.0])
    table, roots = np.empty(0, dtype=np.int64), np.array([0])
    forest_values(tile, nodes, table, roots, value, position, active, out)
    assert out.tolist() == [[1.0, 0.5, 0.0, 1.0]]
