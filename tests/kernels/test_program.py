"""The kernels of branching programs against their slow versions."""

import numpy as np
import pytest
from scipy.stats import chisquare

from auctor.kernels.arrays import read_only
from auctor.kernels.program import OUT, Nodes, count_nodes, expect, route, route_and_count
from tests.reference.martirank import coin, expected_value


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_counts_equal_the_sum_row_by_row(n_features):
    rng = np.random.default_rng(n_features)
    n_rows, n_nodes, n_codes = 300, 4, 6
    codes = rng.integers(0, n_codes, size=(n_features, n_rows)).astype(np.uint8)
    node = rng.integers(0, n_nodes, size=n_rows).astype(np.uint16)
    node[::11] = OUT
    weight = rng.integers(1, 4, size=n_rows).astype(np.uint32)
    counts = np.zeros((n_features, (n_nodes + 1) * n_codes), dtype=np.int64)
    for part in ((0, 100), (100, 300)):  # blocks add up
        count_nodes(
            read_only(codes), node, read_only(weight), part, (0, n_features), n_nodes, counts
        )
    expected = np.zeros((n_features, n_nodes + 1, n_codes), dtype=np.int64)
    for j in range(n_features):
        for i in range(n_rows):
            expected[j, min(int(node[i]), n_nodes), codes[j, i]] += weight[i]
    assert np.array_equal(counts.reshape(expected.shape), expected)


@pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")
@pytest.mark.parametrize("n_features", [2, 3])
def test_arrivals_are_the_rows_that_went_right(n_features):
    rng = np.random.default_rng(1)
    n_rows, n_nodes, n_codes, coins = 300, 4, 4, (5, 4)
    codes = rng.integers(0, n_codes, size=(n_features, n_rows)).astype(np.uint8)
    before = rng.integers(0, n_nodes, size=n_rows).astype(np.uint16)
    before[::9] = OUT
    ids = rng.permutation(1000)[:n_rows]
    weight = rng.integers(1, 4, size=n_rows).astype(np.uint32)
    feature = np.array([0, 1, 0, 1, 0])
    base = np.array([0, 1, OUT, 3, OUT])  # node 2 is frozen
    right = rng.integers(0, 2**53, size=(n_nodes + 1, n_codes))
    right[base == OUT] = 0
    gates = feature, right, base
    node, expected_node = before.copy(), before.copy()
    counts = np.zeros((n_features, (n_nodes + 1) * n_codes), dtype=np.int32)
    for part in ((0, 120), (120, 300)):  # blocks add up
        rows = read_only(codes), read_only(ids), read_only(weight)
        route_and_count(*rows, part, *gates, coins, node, counts)
    route(read_only(codes), read_only(ids), (0, n_rows), *gates, coins, expected_node)
    assert np.array_equal(node, expected_node)
    expected = np.zeros((n_features, n_nodes + 1, n_codes), dtype=np.int32)
    for i in np.flatnonzero((node != OUT) & (node == before + 1)):
        for j in range(n_features):
            expected[j, node[i], codes[j, i]] += weight[i]
    assert expected.sum() > 0
    assert np.array_equal(counts.reshape(expected.shape), expected)


# Without compilation numpy warns of products that are meant to wrap around.
@pytest.mark.filterwarnings("ignore:overflow encountered in scalar multiply")
def test_rows_follow_their_coins():
    rng = np.random.default_rng(0)
    n_rows, seed, layer = 200, 123, 7
    codes = rng.integers(0, 3, size=(2, n_rows)).astype(np.uint8)
    ids = rng.permutation(1000)[:n_rows]
    node = rng.integers(0, 3, size=n_rows).astype(np.uint16)
    node[::13] = OUT
    before = node.copy()
    chance = rng.random((3, 3))
    chance[0, 0], chance[0, 1] = 0.0, 1.0
    feature = np.array([0, 1, 0, 0])
    base = np.array([0, 1, OUT, OUT])  # node 2 is frozen
    right = np.zeros((4, 3), dtype=np.int64)
    right[:2] = np.ceil(chance[:2] * 2.0**53)
    route(read_only(codes), read_only(ids), (0, n_rows), feature, right, base, (seed, layer), node)
    for k in range(n_rows):
        i = int(before[k])
        if i in (2, OUT):
            assert node[k] == OUT
        else:
            p = chance[i, codes[feature[i], k]]
            assert node[k] == i + (coin(seed, int(ids[k]), layer, i) < p)


def test_coins_are_even_and_do_not_follow_one_another():
    tosses = np.array([[coin(s, row, 3, 1) for row in range(2000)] for s in (0, 1)])
    assert chisquare(np.histogram(tosses[0], bins=20, range=(0, 1))[0]).pvalue > 1e-3
    neighbours = np.corrcoef(tosses[0, :-1], tosses[0, 1:])[0, 1]
    seeds = np.corrcoef(tosses)[0, 1]
    layers = np.corrcoef(tosses[0], [coin(0, row, 4, 1) for row in range(2000)])[0, 1]
    assert max(abs(neighbours), abs(seeds), abs(layers)) < 0.08  # 3.5 standard errors


def test_expectation_equals_the_sum_over_paths():
    rng = np.random.default_rng(5)
    T, n_features, n_rows = 5, 3, 700  # more rows than go side by side
    n_nodes = T * (T + 1) // 2
    feature = rng.integers(0, n_features, size=n_nodes)
    feature[[3, 9]] = -1
    is_category = feature == 2
    nodes = Nodes(
        feature=feature,
        cut=rng.integers(0, 4, size=n_nodes),
        low=rng.random(n_nodes),
        high=rng.random(n_nodes),
        missing=rng.random(n_nodes),
        start=np.where(is_category, 4 * np.cumsum(is_category) - 4, -1),
        table=rng.random(4 * max(1, int(is_category.sum()))),
        value=rng.random(n_nodes),
    )
    final = rng.random(T + 1)
    codes = rng.integers(0, 4, size=(n_features, n_rows)).astype(np.uint16)
    out = np.empty(n_rows)
    expect(codes, nodes, final, out)

    def chance(k: int, row: int) -> float | None:
        j = int(nodes.feature[k])
        if j < 0:
            return None
        code = int(codes[j, row])
        if nodes.start[k] >= 0:
            return float(nodes.table[nodes.start[k] + code])
        if code == 0:
            return float(nodes.missing[k])
        return float(nodes.high[k] if code > nodes.cut[k] else nodes.low[k])

    layers = [range(t * (t - 1) // 2, t * (t + 1) // 2) for t in range(1, T + 1)]
    for row in (*range(20), 511, 512, 699):
        expected = expected_value(
            [[chance(k, row) for k in layer] for layer in layers],
            [[float(nodes.value[k]) for k in layer] for layer in layers],
            final.tolist(),
        )
        assert out[row] == pytest.approx(expected, abs=1e-12)
