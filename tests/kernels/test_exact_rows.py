"""Draws, moved rows and losses of ExactBoost, against numpy and the definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auctor.kernels.arrays import read_only
from auctor.kernels.exact import rows as kernels
from auctor.metrics import auc, ks, precision_at_k
from tests.reference import exactboost as slow

seeds = st.integers(0, 10**6)


def stream(seed=1):
    """A generator in its first state."""
    return np.array([seed, seed + 12345], dtype=np.int64)


def test_uniforms_lie_between_zero_and_one_and_fill_it_evenly():
    state = stream()
    drawn = np.array([kernels.next_uniform(state) for _ in range(5000)])
    assert 0 < drawn.min() < 0.001
    assert 0.999 < drawn.max() < 1
    assert stats.kstest(drawn, "uniform").pvalue > 0.01
    assert abs(np.corrcoef(drawn[1:], drawn[:-1])[0, 1]) < 0.05


def test_the_stream_is_that_of_lecuyer():
    # The published generator starts from 40014 s1 mod m1 and 40692 s2 mod m2.
    state = stream(1)
    a, b = 40014, 40692 * 12346 % 2147483399
    assert kernels.next_uniform(state) == ((a - b) % 2147483562 + 0.5) / 2147483562
    assert state.tolist() == [a, b]


@given(seed=st.integers(1, 10**6), n_rows=st.integers(1, 30), data=st.data())
def test_drawn_positions_are_in_order_and_distinct(seed, n_rows, data):
    n_drawn = data.draw(st.integers(1, n_rows))
    positions = np.full(n_drawn, -1)
    kernels.draw_positions(n_rows, stream(seed), positions)
    assert (np.diff(positions) > 0).all()
    assert positions[0] >= 0
    assert positions[-1] < n_rows
    if n_drawn == n_rows:
        assert positions.tolist() == list(range(n_rows))


def test_every_set_of_positions_is_equally_likely():
    state, counts = stream(7), {}
    for _ in range(4000):
        positions = np.empty(2, dtype=np.int64)
        kernels.draw_positions(6, state, positions)
        counts[tuple(positions.tolist())] = counts.get(tuple(positions.tolist()), 0) + 1
    assert len(counts) == 15
    assert stats.chisquare(list(counts.values())).pvalue > 0.01


def test_rows_are_drawn_in_proportion_to_their_weights():
    weight = read_only(np.array([1, 0, 3, 5, 2, 1], dtype=np.uint32))
    order = np.array([5, 3, 0, 2, 1, 4], dtype=np.uint32)
    state, counts = stream(3), np.zeros(6)
    for _ in range(500):
        positions = np.empty(8, dtype=np.int64)
        kernels.draw_by_weight(order, weight, float(weight.sum()), state, positions)
        assert (np.diff(positions) >= 0).all()
        counts += np.bincount(order[positions], minlength=6)
    assert counts[1] == 0
    seen = weight > 0
    expected = weight[seen] / weight.sum() * counts.sum()
    assert stats.chisquare(counts[seen], expected).pvalue > 0.01


def test_draws_by_weight_are_independent_of_each_other():
    # Both of two draws fall on one of two rows of equal weight in half of the cases.
    weight, order = read_only(np.ones(2, dtype=np.uint32)), np.arange(2, dtype=np.uint32)
    state, counts = stream(11), np.zeros(3)
    for _ in range(2000):
        positions = np.empty(2, dtype=np.int64)
        kernels.draw_by_weight(order, weight, 2.0, state, positions)
        counts[positions.sum()] += 1
    assert stats.chisquare(counts, [500, 1000, 500]).pvalue > 0.01


@given(seed=st.integers(1, 10**6), n_items=st.integers(1, 12), data=st.data())
def test_some_items_come_to_the_front_and_none_is_lost(seed, n_items, data):
    n_drawn = data.draw(st.integers(0, n_items))
    items = np.arange(n_items) * 3
    kernels.draw_some(n_drawn, stream(seed), items)
    assert sorted(items.tolist()) == list(range(0, 3 * n_items, 3))


def test_every_order_of_drawn_items_is_equally_likely():
    state, counts = stream(5), {}
    items = np.arange(4)
    for _ in range(3000):
        kernels.draw_some(2, state, items)
        counts[tuple(items[:2].tolist())] = counts.get(tuple(items[:2].tolist()), 0) + 1
    assert len(counts) == 12
    assert stats.chisquare(list(counts.values())).pvalue > 0.01


def make_views(rng, n_rows, n_features=3, n_codes=5):
    """Codes (features, rows), and views with any order of the codes."""
    codes = rng.integers(0, n_codes, size=(n_features, n_rows)).astype(np.uint8)
    features = np.array([0, 2, 1, 0])
    ranks = rng.integers(0, n_codes + 1, size=(4, n_codes)).astype(np.uint32)
    return read_only(codes), features, ranks


@given(seed=seeds)
def test_ranks_of_a_sample_are_looked_up_and_sorted(seed):
    rng = np.random.default_rng(seed)
    codes, features, ranks = make_views(rng, 20)
    views, rows = np.array([3, 1]), rng.permutation(20)[:9].astype(np.uint32)
    expected = np.array([ranks[v][codes[features[v]][rows]] for v in views])
    out = np.empty((2, 9), dtype=np.uint32)
    kernels.rank_sample(codes, features, ranks, views, rows, out)
    assert np.array_equal(out, expected)
    order, in_order = np.empty_like(out), np.empty_like(out)
    count = np.empty(7, dtype=np.int64)
    kernels.sort_sample(codes, features, ranks, views, rows, count, order, in_order)
    assert np.array_equal(order, np.argsort(expected, axis=1, kind="stable"))
    assert np.array_equal(in_order, np.sort(expected, axis=1))


@given(seed=seeds, step=st.integers(-20, 20), cut=st.integers(-1, 5))
def test_moved_rows_are_those_that_numpy_adds_to_and_sorts(seed, step, cut):
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(1, 15))
    codes = read_only(rng.integers(0, 5, size=n_rows).astype(np.uint8))
    ranks = rng.permutation(5).astype(np.uint32)
    scores = rng.integers(0, 10, size=n_rows)
    order = np.argsort(scores, kind="stable").astype(np.uint32)
    new, buffers = ((np.empty_like(order), np.empty_like(scores)) for _ in range(2))
    kernels.move_rows(order, scores[order], codes, ranks, cut, step, *new, *buffers)
    moved = scores + step * (ranks[codes].astype(np.int64) > cut)
    assert np.array_equal(new[1], np.sort(moved))
    assert np.array_equal(moved[new[0]], new[1])
    assert sorted(new[0].tolist()) == list(range(n_rows))


def make_rows(seed, ties=True, largest_weight=1):
    """(positive scores, their weights, negative scores, their weights), each class sorted."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, size=2)
    values = rng.integers(0, 12, size=sizes.sum()) if ties else rng.permutation(40)[: sizes.sum()]
    pos, neg = np.sort(values[: sizes[0]]), np.sort(values[sizes[0] :])
    weights = [rng.integers(1, largest_weight + 1, size=n).astype(np.uint32) for n in sizes]
    return pos, weights[0], neg, weights[1]


def losses(pos, weight_pos, neg, weight_neg, margin, top):
    """The three losses as the kernels find them; rows are numbered from the last one on."""
    weight = read_only(np.concatenate([weight_pos, weight_neg])[::-1].copy())
    number = np.arange(len(weight), dtype=np.uint32)[::-1].copy()
    rows = pos, number[: len(pos)], neg, number[len(pos) :], weight, margin
    return [
        kernels.auc_loss(*rows),
        kernels.ks_loss(*rows),
        kernels.top_loss(*rows, top),
    ]


@given(seed=seeds, margin=st.integers(0, 6), largest_weight=st.sampled_from([1, 3]))
def test_losses_equal_their_definitions_and_weight_two_is_the_row_twice(
    seed, margin, largest_weight
):
    pos, weight_pos, neg, weight_neg = make_rows(seed, largest_weight=largest_weight)
    copies = np.repeat(pos, weight_pos), np.repeat(neg, weight_neg)
    total = weight_pos.sum() + weight_neg.sum()
    top = float(np.random.default_rng(seed).integers(1, 4 * total + 1) / 4)
    assert losses(pos, weight_pos, neg, weight_neg, margin, top) == pytest.approx(
        [
            slow.auc_loss(*copies, margin),
            slow.ks_loss(*copies, margin),
            slow.top_loss(*copies, top, margin),
        ],
        abs=1e-12,
    )


@given(seed=seeds)
def test_without_a_margin_losses_are_those_of_the_metrics(seed):
    pos, weight_pos, neg, weight_neg = make_rows(seed, ties=False, largest_weight=3)
    y = np.repeat([1, 0], [len(pos), len(neg)])
    scores, weight = np.concatenate([pos, neg]), np.concatenate([weight_pos, weight_neg])
    top = int(np.random.default_rng(seed).integers(1, weight.sum() + 1))
    expected = [
        1 - auc(y, scores, sample_weight=weight),
        1 - ks(y, scores, sample_weight=weight),
        1 - precision_at_k(y, scores, k=top, sample_weight=weight),
    ]
    result = losses(pos, weight_pos, neg, weight_neg, 0, float(top))
    assert result == pytest.approx(expected, abs=1e-12)


def test_equal_scores_are_no_lead():
    ones = np.ones(2, dtype=np.uint32)
    assert losses(np.array([5, 5]), ones, np.array([5, 5]), ones, 0, 2.0) == [1.0, 1.0, 1.0]
    # By one above the margin of 2 and by the margin itself.
    assert losses(np.array([5, 6]), ones, np.array([3, 3]), ones, 2, 2.0) == [0.5, 0.5, 0.5]
