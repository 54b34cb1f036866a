"""Forests as arrays: the values of every row's leaves and their sum, on small sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.forest import forest_values
from auctor.kernels.trees import TreeNodes, leaves_of

N_CODES = 5


def random_nodes(rng, n_inner, shared=True):
    """Nodes over two numbers and a category (feature 2); some children have two parents."""
    n = 2 * n_inner + 1
    feature = np.full(n, -1)
    feature[:n_inner] = rng.integers(0, 3, size=n_inner)
    is_set = feature == 2
    left, right = 2 * np.arange(n) + 1, 2 * np.arange(n) + 2
    if shared:
        left = np.where(rng.random(n) < 0.3, np.minimum(left + 1, n - 1), left)
    return TreeNodes(
        feature=feature,
        cut=np.where((feature >= 0) & ~is_set, rng.integers(0, N_CODES, size=n), 0),
        above=rng.integers(0, 2, size=n),
        missing=rng.integers(0, 2, size=n),
        start=np.where(is_set, N_CODES * (np.cumsum(is_set) - 1), -1),
        table=rng.integers(0, 2, size=N_CODES * int(is_set.sum())),
        left=np.where(feature >= 0, left, -1),
        right=np.where(feature >= 0, right, -1),
    )


def random_forest(rng, sizes):
    """Trees of different sizes; every second one tests numbers only."""
    from auctor.learners.trees.forest import join_trees

    trees = [random_nodes(rng, n_inner) for n_inner in sizes]
    for k in range(0, len(trees), 2):
        is_set = trees[k].start >= 0
        feature, start = np.where(is_set, 1, trees[k].feature), np.full(len(is_set), -1)
        trees[k] = trees[k]._replace(feature=feature, start=start)
    roots, nodes = join_trees(trees)
    return nodes, roots, rng.integers(-8, 8, size=len(nodes.feature)) / 16


def random_codes(rng, n_rows, dtype=np.uint16):
    return rng.integers(0, N_CODES, size=(3, n_rows)).astype(dtype)


def slow_values(codes, nodes, roots, value):
    """The value of the leaf of each row in each tree, one tree after the other."""
    out = np.empty((len(roots), codes.shape[1]))
    for t, root in enumerate(roots):
        moved = (np.where(child >= 0, child - root, -1) for child in (nodes.left, nodes.right))
        left, right = (child[root:] for child in moved)
        columns = {name: getattr(nodes, name)[root:] for name in TreeNodes._fields[:5]}
        leaf = leaves_of(codes, TreeNodes(**columns, table=nodes.table, left=left, right=right))
        out[t] = value[root + leaf]
    return out


def check_walker(nodes, roots, value, codes):
    """Values and sums of the packed trees must be those of the slow version, bit for bit."""
    from auctor.models.forest import Walker

    walker, n_rows = Walker(nodes, roots, value), codes.shape[1]
    wanted = slow_values(codes, nodes, roots, value)
    assert np.array_equal(walker.ranks(codes, 0, n_rows), wanted)
    assert np.array_equal(walker.sums(codes, 0, n_rows), wanted.sum(axis=0))
    wide = codes.astype(np.uint32)  # these codes go through the kernel without packed nodes
    assert np.array_equal(walker.ranks(wide, 0, n_rows), wanted)
    assert np.array_equal(walker.sums(wide, 0, n_rows), wanted.sum(axis=0))


@pytest.mark.parametrize("n_inner", [0, 1, 6, 15])
def test_ranks_are_those_of_the_leaves(n_inner):
    from auctor.models.forest import Walker

    rng = np.random.default_rng(n_inner)
    nodes, rank = random_nodes(rng, n_inner), rng.random(2 * n_inner + 1)
    codes = random_codes(rng, 40)
    leaf = leaves_of(codes, nodes)
    ranks = Walker(nodes, np.array([0, 0]), rank).ranks(codes, 3, 20)
    assert np.array_equal(ranks, np.tile(rank[leaf[3:23]], (2, 1)))


@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.integers(0, 12), min_size=1, max_size=4),
    n_rows=st.integers(1, 20),
    dtype=st.sampled_from([np.uint8, np.uint16]),
)
def test_packed_trees_find_the_same_leaves(seed, sizes, n_rows, dtype):
    rng = np.random.default_rng(seed)
    check_walker(*random_forest(rng, sizes), random_codes(rng, n_rows, dtype))


@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(1, 12))
def test_sides_are_only_names(seed, n_rows):
    """Exchanging left and right everywhere changes no value."""
    from auctor.models.forest import Walker

    rng = np.random.default_rng(seed)
    nodes, roots, value = random_forest(rng, [5, 7])
    codes = random_codes(rng, n_rows)
    mirrored = TreeNodes(
        nodes.feature,
        nodes.cut,
        1 - nodes.above,
        1 - nodes.missing,
        nodes.start,
        1 - nodes.table,
        nodes.right,
        nodes.left,
    )
    both = [Walker(n, roots, value).ranks(codes, 0, n_rows) for n in (nodes, mirrored)]
    assert np.array_equal(*both)


@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 19))
def test_rows_do_not_depend_on_each_other(seed, cut):
    from auctor.models.forest import Walker

    rng = np.random.default_rng(seed)
    walker = Walker(*random_forest(rng, [9, 3, 6]))
    codes = random_codes(rng, 20)
    parts = [walker.sums(codes, 0, cut), walker.sums(codes, cut, 20 - cut)]
    assert np.array_equal(np.concatenate(parts), walker.sums(codes, 0, 20))
    order = rng.permutation(20)
    assert np.array_equal(
        walker.sums(np.ascontiguousarray(codes[:, order]), 0, 20), walker.sums(codes, 0, 20)[order]
    )


def stump(cut, above, missing):
    """One test of one feature; the left leaf is node 1."""
    columns = [[0, -1, -1], [cut, 0, 0], [above, 0, 0], [missing, 0, 0], [-1, -1, -1]]
    children = [[1, -1, -1], [2, -1, -1]]
    table = np.empty(0, dtype=np.int64)
    return TreeNodes(*map(np.array, columns), table, *map(np.array, children))


@pytest.mark.parametrize("cut", [0, 1, 254, 255, 65_534, 65_535])
@pytest.mark.parametrize("above", [0, 1])
@pytest.mark.parametrize("missing", [0, 1])
def test_first_and_last_codes(cut, above, missing):
    codes = np.array([[0, 1, 2, 254, 255, 256, 65_534, 65_535]], dtype=np.uint16)
    check_walker(stump(cut, above, missing), np.array([0]), np.array([9.0, 1.0, 0.5]), codes)


@pytest.mark.parametrize("last", [65_534, 65_535])
def test_categories_with_the_largest_codes(last):
    table = np.arange(last + 1) % 2
    nodes = stump(0, 0, 0)._replace(start=np.array([0, -1, -1]), table=table)
    codes = np.array([[0, 1, last - 1, last]], dtype=np.uint16)
    check_walker(nodes, np.array([0]), np.array([9.0, 1.0, 0.5]), codes)


def test_cuts_that_need_more_than_16_bits():
    from auctor.models.forest import Walker
    from auctor.models.packed_trees import pack_trees

    nodes, value = stump(70_000, 1, 0), np.array([9.0, 1.0, 0.5])
    assert pack_trees(nodes, np.array([0]), value) is None
    codes = np.array([[0, 70_000, 70_001]], dtype=np.uint32)
    assert Walker(nodes, np.array([0]), value).sums(codes, 0, 3).tolist() == [0.5, 0.5, 1.0]


def test_a_path_of_many_tests():
    """Test k sends code k + 1 to a leaf of its own, so that rows end at all depths."""
    n = 100
    feature = np.append(np.tile([0, -1], n), -1)
    number = np.arange(2 * n + 1)
    nodes = TreeNodes(
        feature,
        np.where(feature == 0, number // 2 + 1, 0),
        np.zeros(2 * n + 1, dtype=np.int64),
        np.zeros(2 * n + 1, dtype=np.int64),
        np.full(2 * n + 1, -1),
        np.empty(0, dtype=np.int64),
        np.where(feature == 0, number + 1, -1),
        np.where(feature == 0, number + 2, -1),
    )
    codes = np.arange(0, n + 2, 9, dtype=np.uint8)[None]
    check_walker(nodes, np.array([0]), number / 4, codes)


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
    tile = np.array([[3], [2], [1], [0]], dtype=np.uint32)
    out, (place, active) = np.empty((1, 4)), np.empty((2, 4), dtype=np.int64)
    value = np.array([9.0, 1.0, 9.0, 0.5, 0.0])
    table, roots = np.empty(0, dtype=np.int64), np.array([0])
    forest_values(tile, nodes, table, roots, value, place, active, out)
    assert out.tolist() == [[1.0, 0.5, 0.0, 1.0]]
