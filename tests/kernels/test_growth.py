"""The kernels that grow trees, on small sizes."""

import numpy as np
import pytest

from auctor.kernels.trees import (
    TreeNodes,
    best_splits,
    copy_lists,
    count_lists,
    find_leaves,
    send_lists,
    subtract_slots,
)


def test_lists_are_sorted_into_left_and_right():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, size=(2, 50)).astype(np.uint8)
    order = rng.permutation(50).astype(np.uint32)
    amount = (order + 100).astype(np.uint32)
    begin, end = np.array([0, 20, 20, 30]), np.array([20, 20, 30, 50])
    feature = np.array([0, 1, -1, 1])
    goes_left = rng.integers(0, 2, size=(4, 4)).astype(np.uint8)
    new_order, new_amount = np.zeros_like(order), np.zeros_like(amount)
    middle = np.empty_like(begin)
    send_lists(codes, order, amount, begin, end, feature, goes_left, new_order, new_amount, middle)
    assert np.array_equal(new_amount, new_order + 100)  # weights travel with their rows
    for k in range(4):
        before, left = order[begin[k] : end[k]], new_order[begin[k] : middle[k]]
        after = new_order[begin[k] : end[k]]
        assert sorted(after) == sorted(before)
        goes = before if feature[k] < 0 else before[goes_left[k, codes[feature[k], before]] == 1]
        assert sorted(left) == sorted(goes)


def test_lists_are_copied_to_their_targets():
    order = np.arange(10, dtype=np.uint32)
    new_order, new_amount = np.zeros_like(order), np.zeros_like(order)
    begin, end, target = np.array([5, 0]), np.array([10, 3]), np.array([0, 5])
    copy_lists(order, order + 50, begin, end, target, new_order, new_amount)
    assert new_order[:8].tolist() == [5, 6, 7, 8, 9, 0, 1, 2]
    assert new_amount[:8].tolist() == [55, 56, 57, 58, 59, 50, 51, 52]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_counts_equal_the_sum_row_by_row(dtype):
    rng = np.random.default_rng(2)
    n_codes, n_rows = 5, 301
    tile = rng.integers(0, n_codes, size=(n_rows, 3)).astype(np.uint8)
    order = rng.permutation(n_rows).astype(np.uint32)
    amount = rng.integers(1, 4, size=n_rows).astype(np.uint32)
    begin, end = np.array([0, 100, 100]), np.array([100, 100, 301])
    slot, sign = np.array([2, 0, 1]), np.array([1, 1, -1])
    histogram = np.zeros((4, 3 * n_codes), dtype=dtype)
    count_lists(tile, order, amount, begin, end, slot, sign, histogram)
    expected = np.zeros((4, 3, n_codes), dtype=dtype)
    for k in range(3):
        for i in range(begin[k], end[k]):
            for j in range(3):
                expected[slot[k], j, tile[order[i], j]] += sign[k] * int(amount[i])
    assert np.array_equal(histogram.reshape(expected.shape), expected)


def test_slots_are_subtracted():
    histogram = np.arange(12).reshape(4, 3)
    subtract_slots(np.array([0, 1]), np.array([3, 3]), np.array([2, 0]), histogram)
    assert histogram.tolist() == [[3, 3, 3], [6, 7, 8], [6, 7, 8], [9, 10, 11]]


def split_of(neg, pos, is_category=False, least=1, by_gini=False):
    """The best split of one node over one feature."""
    counts = np.array([[neg], [pos]], dtype=np.int64)
    totals = counts.sum(axis=2).T.reshape(1, 2)
    value, found = np.zeros(1), np.full((1, 6), -1)
    goes_left = np.zeros((1, len(neg)), dtype=np.uint8)
    both = np.maximum(np.add(neg, pos), 1)
    share = np.where(np.add(neg, pos) > 0, pos / both, -1.0)
    best_splits(
        counts[0],
        counts[1],
        np.array([0]),
        totals,
        1.0 / totals,
        np.array([len(neg) - 1]),
        np.array([0 if is_category else -1]),
        np.argsort(-share, kind="stable")[None, None],
        np.empty((0, 1), dtype=np.bool_),
        float(least),
        np.ones(2),
        by_gini,
        value,
        found,
        goes_left,
    )
    return value[0], found[0].tolist(), goes_left[0].tolist()


def test_a_cut_between_the_classes():
    value, found, sides = split_of([0, 0, 0, 4], [0, 2, 3, 0])
    assert value == pytest.approx(1.0)
    assert found == [0, 2, 0, 1, 0, 5]  # up to code 2; missing goes with the heavier side
    assert sides == [1, 1, 1, 0]


def test_the_upper_side_may_lie_above_the_cut():
    value, found, sides = split_of([0, 4, 4], [0, 0, 1])
    assert value == pytest.approx(0.5)
    assert found == [0, 1, 1, 1, 4, 1]
    assert sides == [1, 0, 1]


def test_missing_values_may_be_a_side_of_their_own():
    value, found, sides = split_of([0, 3, 3], [4, 0, 0])
    assert value == pytest.approx(1.0)
    assert found == [0, 2, 1, 1, 0, 4]
    assert sides == [1, 0, 0]


def test_of_equal_splits_the_larger_upper_side_wins():
    # codes 2 and 3 hold as many positives as negatives: with or without them
    value, _, sides = split_of([0, 0, 1, 1, 2], [0, 2, 1, 1, 0])
    assert value == pytest.approx(0.5)
    assert sides == [1, 1, 1, 1, 0]


def test_categories_with_more_positives_go_up():
    value, found, sides = split_of([0, 4, 0, 3, 0], [2, 1, 3, 1, 0], is_category=True)
    assert value == pytest.approx(5 / 7)
    assert found[4:] == [0, 5]
    assert sides == [1, 0, 1, 0, 1]  # the last does not occur and goes with the missing ones


def test_a_side_must_hold_the_least_weight():
    _, found, _ = split_of([0, 0, 5, 5], [0, 1, 0, 0], least=2)
    assert found[0] == -1 or min(sum(found[4:]), 11 - sum(found[4:])) >= 2
    _, found, _ = split_of([0, 2, 2], [0, 2, 2])
    assert found[0] == -1  # nothing is gained


def test_gini_is_the_fall_of_the_impurity():
    neg, pos = np.array([0, 5, 1, 4]), np.array([0, 1, 6, 3])

    def impurity(n, p):
        a, b = p / pos.sum(), n / neg.sum()
        return a * b / (a + b)

    whole = impurity(neg.sum(), pos.sum())
    falls = [
        whole
        - impurity(neg[: c + 1].sum(), pos[: c + 1].sum())
        - impurity(neg[c + 1 :].sum(), pos[c + 1 :].sum())
        for c in (1, 2)
    ]
    value, found, _ = split_of(neg, pos, by_gini=True)
    assert value == pytest.approx(max(falls))
    assert found[1] == 1 + int(np.argmax(falls))


def test_many_categories_are_sorted():
    rng = np.random.default_rng(3)
    neg, pos = rng.integers(0, 5, size=(2, 200))
    value, found, sides = split_of(neg, pos, is_category=True)
    gap = pos / pos.sum() - neg / neg.sum()
    assert value == pytest.approx(gap[gap > 0].sum())
    occurs = neg + pos > 0
    assert np.array_equal(np.array(sides)[occurs] == 1, gap[occurs] > -1e-12)
    assert found[4] == neg[np.array(sides) == 1].sum()


def test_rows_find_their_leaves():
    nodes = TreeNodes(
        feature=np.array([0, 1, -1, -1, -1]),
        cut=np.array([2, 0, 0, 0, 0]),
        above=np.array([1, 0, 0, 0, 0]),
        missing=np.array([0, 0, 0, 0, 0]),
        start=np.array([-1, 0, -1, -1, -1]),
        table=np.array([1, 0, 1]),
        left=np.array([1, 3, -1, -1, -1]),
        right=np.array([2, 4, -1, -1, -1]),
    )
    codes = np.array([[0, 1, 2, 3, 3, 3], [0, 0, 0, 0, 1, 2]], dtype=np.uint16)
    leaf = np.empty(6, dtype=np.int64)
    find_leaves(codes, nodes, leaf)
    assert leaf.tolist() == [2, 2, 2, 3, 4, 3]
