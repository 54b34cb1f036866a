"""The kernels that grow trees, on small sizes."""

from typing import NamedTuple

import numpy as np
import pytest

from auctor.kernels.arrays import read_only
from auctor.kernels.trees import (
    Histograms,
    SplitFeatures,
    SplitNodes,
    SplitRule,
    TreeNodes,
    best_splits,
    copy_lists,
    count_lists,
    leaves_of,
    no_splits,
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
    lists = read_only(codes), order, amount, begin, end
    send_lists(*lists, feature, goes_left, new_order, new_amount, middle)
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


class OneSplit(NamedTuple):
    gain: float
    feature: int
    cut: int
    above: int
    missing: int
    left: list[int]
    sides: list[int]


def split_of(neg, pos, is_category=False, least=1, by_gini=False):
    """The best split of one node over one feature."""
    counts = np.array([[neg], [pos]], dtype=np.int64)
    totals = counts.sum(axis=2).T.reshape(1, 2)
    both = np.maximum(np.add(neg, pos), 1)
    fraction = np.where(np.add(neg, pos) > 0, pos / both, -1.0)
    splits = no_splits(1, len(neg))
    best_splits(
        Histograms(counts[0], counts[1], np.array([0])),
        SplitNodes(totals, 1.0 / totals, np.empty((0, 1), dtype=np.bool_)),
        SplitFeatures(
            np.array([len(neg) - 1]),
            np.array([0 if is_category else -1]),
            np.argsort(-fraction, kind="stable")[None, None],
        ),
        SplitRule(float(least), np.ones(2), by_gini),
        splits,
    )
    return OneSplit(
        splits.gain[0],
        int(splits.feature[0]),
        int(splits.cut[0]),
        int(splits.above[0]),
        int(splits.missing[0]),
        splits.left[0].tolist(),
        splits.goes_left[0].tolist(),
    )


def test_a_cut_between_the_classes():
    split = split_of([0, 0, 0, 4], [0, 2, 3, 0])
    assert split.gain == pytest.approx(1.0)
    assert (split.feature, split.cut, split.above) == (0, 2, 0)
    assert split.missing == 1  # with the heavier side
    assert split.left == [0, 5]
    assert split.sides == [1, 1, 1, 0]


def test_the_upper_side_may_lie_above_the_cut():
    split = split_of([0, 4, 4], [0, 0, 1])
    assert split.gain == pytest.approx(0.5)
    assert (split.feature, split.cut, split.above, split.missing) == (0, 1, 1, 1)
    assert split.left == [4, 1]
    assert split.sides == [1, 0, 1]


def test_missing_values_may_be_a_side_of_their_own():
    split = split_of([0, 3, 3], [4, 0, 0])
    assert split.gain == pytest.approx(1.0)
    assert (split.feature, split.cut, split.above, split.missing) == (0, 2, 1, 1)
    assert split.left == [0, 4]
    assert split.sides == [1, 0, 0]


def test_of_equal_splits_the_larger_upper_side_wins():
    # codes 2 and 3 hold as many positives as negatives: with or without them
    split = split_of([0, 0, 1, 1, 2], [0, 2, 1, 1, 0])
    assert split.gain == pytest.approx(0.5)
    assert split.sides == [1, 1, 1, 1, 0]


def test_categories_with_more_positives_go_up():
    split = split_of([0, 4, 0, 3, 0], [2, 1, 3, 1, 0], is_category=True)
    assert split.gain == pytest.approx(5 / 7)
    assert split.left == [0, 5]
    assert split.sides == [1, 0, 1, 0, 1]  # the last does not occur and goes with the missing ones


def test_a_side_must_hold_the_least_weight():
    split = split_of([0, 0, 5, 5], [0, 1, 0, 0], least=2)
    assert split.feature == -1 or min(sum(split.left), 11 - sum(split.left)) >= 2


def test_there_is_no_split_without_a_gain():
    assert split_of([0, 2, 2], [0, 2, 2]).feature == -1


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
    split = split_of(neg, pos, by_gini=True)
    assert split.gain == pytest.approx(max(falls))
    assert split.cut == 1 + int(np.argmax(falls))


def test_many_categories_are_sorted():
    rng = np.random.default_rng(3)
    neg, pos = rng.integers(0, 5, size=(2, 200))
    split = split_of(neg, pos, is_category=True)
    gap = pos / pos.sum() - neg / neg.sum()
    assert split.gain == pytest.approx(gap[gap > 0].sum())
    occurs, goes_left = neg + pos > 0, np.array(split.sides) == 1
    assert np.array_equal(goes_left[occurs], gap[occurs] > -1e-12)
    assert split.left[0] == neg[goes_left].sum()


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
    leaf = leaves_of(codes, nodes)
    assert leaf.tolist() == [2, 2, 2, 3, 4, 3]
