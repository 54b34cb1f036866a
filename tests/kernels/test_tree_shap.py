"""Shapley values of trees: against their definition, and what holds for all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference.tree_shap import shapley_values

from auctor.kernels.trees import TreeNodes, leaves_of
from auctor.models.tree_shapley import ShapleyTrees, find_paths

N_CODES = 5  # 0 is missing


def random_tree(rng, n_inner, n_features):
    """A tree over numbers and, as the last feature, a category; and its cover and values."""
    n = 2 * n_inner + 1
    columns = {name: np.zeros(n, dtype=np.int64) for name in ("cut", "above", "missing")}
    feature, start, left, right = np.full((4, n), -1)
    table, leaves = [], [0]
    for child in range(1, n, 2):
        k = leaves.pop(int(rng.integers(len(leaves))))
        feature[k] = rng.integers(n_features)
        left[k], right[k] = rng.permutation([child, child + 1])
        leaves += [child, child + 1]
        columns["above"][k], columns["missing"][k] = rng.integers(0, 2, size=2)
        if feature[k] == n_features - 1:
            start[k] = len(table)
            table += rng.integers(0, 2, size=N_CODES).tolist()
        else:
            columns["cut"][k] = rng.integers(0, N_CODES)
    table = np.array(table, dtype=np.int64)
    nodes = TreeNodes(feature, **columns, start=start, table=table, left=left, right=right)
    return nodes, random_cover(rng, nodes), rng.normal(size=n)


def random_cover(rng, nodes):
    """Weights of rows: some leaves have none, and every node the sum of its children."""
    cover = np.round(rng.exponential(2.0, size=len(nodes.feature)))
    for k in np.flatnonzero(nodes.feature >= 0)[::-1]:
        cover[k] = cover[nodes.left[k]] + cover[nodes.right[k]]
    return cover


def join(trees):
    """Nodes, roots, cover and values of several trees in one list."""
    sizes = [len(cover) for _, cover, _ in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    tables = np.cumsum([0, *(len(nodes.table) for nodes, _, _ in trees)])
    shifts = {"left": roots, "right": roots, "start": tables[:-1]}
    columns = {}
    for name in TreeNodes._fields:
        parts = [getattr(nodes, name) for nodes, _, _ in trees]
        if name in shifts:
            moved = zip(parts, shifts[name], strict=True)
            parts = [np.where(part >= 0, part + by, -1) for part, by in moved]
        columns[name] = np.concatenate(parts)
    cover, value = (np.concatenate([tree[i] for tree in trees]) for i in (1, 2))
    return TreeNodes(**columns), roots, cover, value


def random_codes(rng, n_features, n_rows):
    return rng.integers(0, N_CODES, size=(n_features, n_rows)).astype(np.uint16)


@pytest.mark.parametrize(
    ("n_inner", "n_features"), [(0, 2), (1, 1), (2, 2), (5, 2), (7, 4), (9, 1), (14, 6)]
)
def test_they_are_those_of_the_definition(n_inner, n_features):
    rng = np.random.default_rng(n_inner)
    trees = [random_tree(rng, n_inner, n_features), random_tree(rng, 3, n_features)]
    codes = random_codes(rng, n_features, 6)
    found = ShapleyTrees(*join(trees))
    values = found.values(codes)
    for i, row in enumerate(codes.T.tolist()):
        slow = [shapley_values(nodes, cover, value, 0, row) for nodes, cover, value in trees]
        assert values[:, i] == pytest.approx(sum(one for one, _ in slow), abs=1e-13)
        assert found.expected == pytest.approx(sum(base for _, base in slow), abs=1e-13)


def test_a_stump_by_hand():
    # x0 > 2 goes left, to the value 10, as 3 of 4 rows do; the others have the value 2
    nodes = TreeNodes(
        *([0, -1, -1], [2, 0, 0], [1, 0, 0], [0, 0, 0], [-1, -1, -1], [], [1, -1, -1], [2, -1, -1])
    )
    nodes = TreeNodes(*(np.array(column, dtype=np.int64) for column in nodes))
    trees = ShapleyTrees(nodes, np.array([0]), np.array([4.0, 3, 1]), np.array([9.0, 10, 2]))
    assert trees.expected == 8.0
    codes = np.array([[0, 1, 2, 3], [1, 1, 1, 1]], dtype=np.uint16)
    assert trees.values(codes) == pytest.approx(np.array([[-6.0, -6, -6, 2], [0, 0, 0, 0]]))


def test_few_points_of_quadrature_are_exact():
    rng = np.random.default_rng(0)
    trees = [random_tree(rng, n_inner, 6) for n_inner in (0, 1, 30)]
    nodes, roots, cover, _ = join(trees)
    paths = find_paths(nodes, roots, cover)
    n_points = np.diff(paths.rule).tolist()
    assert n_points[:2] == [0, 1] and 2 <= n_points[2] <= 3


@given(st.integers(0, 10**6), st.integers(0, 12), st.integers(1, 9))
def test_what_holds_for_every_tree(seed, n_inner, n_features):
    rng = np.random.default_rng(seed)
    tree = nodes, cover, value = random_tree(rng, n_inner, n_features)
    codes = random_codes(rng, n_features, 7)
    one, two = ShapleyTrees(*join([tree])), ShapleyTrees(*join([tree, tree]))
    values = one.values(codes)
    leaf = leaves_of(codes, nodes)
    assert one.expected + values.sum(axis=0) == pytest.approx(value[leaf], abs=1e-12)
    unused = np.setdiff1d(np.arange(n_features), nodes.feature)
    assert (values[unused] == 0.0).all()
    assert two.values(codes) == pytest.approx(2.0 * values, abs=1e-12)
    # The scale of the weights does not matter, nor do the other rows.
    scaled = ShapleyTrees(nodes, np.array([0]), 3.5 * cover, value)
    assert scaled.values(codes) == pytest.approx(values, abs=1e-12)
    assert (one.values(codes[:, [3]])[:, 0] == values[:, 3]).all()


def test_features_that_play_the_same_part_get_the_same():
    # x0 > 1 and x1 > 1, whichever is asked first
    rng = np.random.default_rng(0)
    trees = []
    for first, second in ((0, 1), (1, 0)):
        columns = [[first, second, -1, -1, -1], [1, 1, 0, 0, 0], [1] * 5, [0] * 5, [-1] * 5, []]
        children = [[1, 3, -1, -1, -1], [2, 4, -1, -1, -1]]
        nodes = TreeNodes(*(np.array(c, dtype=np.int64) for c in (*columns, *children)))
        trees.append((nodes, np.array([4.0, 2, 2, 1, 1]), np.array([0.0, 0, 0, 1, 0])))
    values = ShapleyTrees(*join(trees)).values(random_codes(rng, 2, 20))
    codes = random_codes(rng, 1, 20)
    same = ShapleyTrees(*join(trees)).values(np.vstack([codes, codes]))
    assert same[0] == pytest.approx(same[1])
    assert not np.allclose(values[0], values[1])


def test_blocks_of_rows_change_nothing():
    rng = np.random.default_rng(4)
    trees = ShapleyTrees(*join([random_tree(rng, 6, 3)]))
    codes = random_codes(rng, 3, 300)
    parts = [trees.values(part) for part in np.array_split(codes, 7, axis=1)]
    assert (np.concatenate(parts, axis=1) == trees.values(codes)).all()


def test_nodes_that_no_path_leads_to_do_not_count():
    # Nodes 3 to 7 are a tree of their own below no other node.
    columns = [[0, -1, -1, 1, 1, -1, -1, -1], [1] * 8, [1] * 8, [0] * 8, [-1] * 8, []]
    children = [[1, -1, -1, 4, 6, -1, -1, -1], [2, -1, -1, 5, 7, -1, -1, -1]]
    nodes = TreeNodes(*(np.array(c, dtype=np.int64) for c in (*columns, *children)))
    cover, value = np.array([4.0, 1, 3, 8, 4, 4, 2, 2]), np.array([0.0, 1, 5, 0, 0, 7, 9, 8])
    trees = ShapleyTrees(nodes, np.array([0]), cover, value)
    assert find_paths(nodes, np.array([0]), cover).inner.tolist() == [0]
    assert trees.expected == 4.0
    codes = np.array([[1, 2], [1, 2]], dtype=np.uint16)
    assert trees.values(codes) == pytest.approx(np.array([[1.0, -3.0], [0.0, 0.0]]))


def test_a_row_may_reach_a_node_that_no_training_row_reached():
    # x0 > 1 leads to a test of x1, without a training row below
    columns = [[0, 1, -1, -1, -1], [1] * 5, [1] * 5, [0] * 5, [-1] * 5, []]
    children = [[1, 3, -1, -1, -1], [2, 4, -1, -1, -1]]
    nodes = TreeNodes(*(np.array(c, dtype=np.int64) for c in (*columns, *children)))
    cover, value = np.array([2.0, 0, 2, 0, 0]), np.array([0.0, 0, 1, 5, 7])
    found = ShapleyTrees(nodes, np.array([0]), cover, value)
    expected, base = shapley_values(nodes, cover, value, 0, (2, 2))
    assert base == found.expected == 1.0
    assert expected.tolist() == [4.5, -0.5]  # x1 counts only if x0 is known: 6 on average, then 5
    values = found.values(np.array([[2], [2]], dtype=np.uint16))
    assert values[:, 0] == pytest.approx(expected)
