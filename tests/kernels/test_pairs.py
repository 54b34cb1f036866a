"""The smallest differences of two sorted lists, against all pairs formed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.pairs import nth_difference, pair_fractions, weight_up_to

# Few values: ties within a class, and equal differences of different pairs.
rows = st.lists(
    st.tuples(st.integers(-4, 4).map(lambda k: k / 4), st.integers(1, 3).map(float)),
    min_size=1,
    max_size=8,
)
any_rows = st.lists(
    st.tuples(st.floats(-1, 1), st.sampled_from([0.25, 1.0, 2.0])), min_size=1, max_size=8
)


def ordered(given_rows):
    """Scores and weights in the order of the scores."""
    values, weight = np.array(sorted(given_rows)).T
    return values.copy(), weight.copy()


def all_pairs(pos, weight_pos, neg, weight_neg):
    """(difference, weight) of every pair."""
    return (pos[:, None] - neg[None, :]), weight_pos[:, None] * weight_neg[None, :]


def slow_weights(pos, weight_pos, neg, weight_neg, nu):
    """(the nu-th difference, fractions of the positives and of the negatives), pair by pair."""
    difference, weight = all_pairs(pos, weight_pos, neg, weight_neg)
    reached = [d for d in np.unique(difference) if weight[difference <= d].sum() >= nu]
    nth = reached[0]
    less, on = difference < nth, difference == nth
    part = (nu - weight[less].sum()) / weight[on].sum()
    d = (weight * less + part * weight * on) / nu
    return nth, d.sum(axis=1), d.sum(axis=0)


def fast_weights(pos, weight_pos, neg, weight_neg, nu, guess):
    above = np.append(np.cumsum(weight_neg[::-1])[::-1], 0.0)
    below = np.append(0.0, np.cumsum(weight_pos))
    nth = nth_difference(pos, weight_pos, neg, above, nu, guess)
    weights = np.empty(len(pos)), np.empty(len(neg))
    pair_fractions(pos, weight_pos, neg, weight_neg, above, below, nth, nu, *weights)
    return nth, *weights


@given(
    positives=st.one_of(rows, any_rows),
    negatives=st.one_of(rows, any_rows),
    fraction=st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0)),
    guess=st.one_of(st.floats(-3, 3), st.just(0.0)),
)
def test_selection_equals_that_from_all_pairs(positives, negatives, fraction, guess):
    lists = *ordered(positives), *ordered(negatives)
    total = lists[1].sum() * lists[3].sum()
    least = min(lists[1].min() * lists[3].min(), 1.0)
    nu = least + fraction * (total - least)  # from a part of one pair to all of them
    nth, pair_weight_pos, pair_weight_neg = fast_weights(*lists, nu, guess)
    slow_nth, slow_pos, slow_neg = slow_weights(*lists, nu)
    assert nth == slow_nth  # exactly: it is a difference of two of the numbers
    assert pair_weight_pos == pytest.approx(slow_pos, abs=1e-12)
    assert pair_weight_neg == pytest.approx(slow_neg, abs=1e-12)
    assert pair_weight_pos.sum() == pytest.approx(1.0, abs=1e-12)
    assert pair_weight_neg.sum() == pytest.approx(1.0, abs=1e-12)


@given(positives=rows, negatives=rows, difference=st.integers(-9, 9).map(lambda k: k / 4))
def test_weight_up_to_a_difference(positives, negatives, difference):
    pos, weight_pos = ordered(positives)
    neg, weight_neg = ordered(negatives)
    above = np.append(np.cumsum(weight_neg[::-1])[::-1], 0.0)
    differences, weight = all_pairs(pos, weight_pos, neg, weight_neg)
    result = weight_up_to(pos, weight_pos, neg, above, difference)
    assert result == weight[differences <= difference].sum()


@pytest.mark.parametrize("nu", [1.0, 2.5, 7.0, 12.0])
@pytest.mark.parametrize("guess", [-100.0, -0.5, 0.0, 0.5, 100.0])
def test_no_guess_misleads(nu, guess):
    ones = np.ones(4), np.ones(3)
    pos, neg = np.array([-0.5, 0.0, 0.1, 0.9]), np.array([-0.25, 0.0, 0.75])
    above = np.array([3.0, 2.0, 1.0, 0.0])
    result = nth_difference(pos, ones[0], neg, above, nu, guess)
    assert result == np.sort((pos[:, None] - neg).ravel())[int(np.ceil(nu)) - 1]


def test_all_equal_scores_have_equal_fractions():
    pos, neg = np.zeros(3), np.zeros(2)
    weights = np.array([1.0, 2.0, 1.0]), np.array([1.0, 3.0])
    nth, pair_weight_pos, pair_weight_neg = fast_weights(pos, weights[0], neg, weights[1], 1.0, 0.0)
    assert nth == 0.0
    assert pair_weight_pos.tolist() == [0.25, 0.5, 0.25]
    assert pair_weight_neg.tolist() == [0.25, 0.75]


def test_weights_that_round_to_less_than_nu_take_every_pair():
    weight_pos, weight_neg = np.full(3, 0.1), np.full(7, 0.1)
    pos, neg = np.arange(3.0), np.arange(7.0)
    nu = float(weight_pos.sum() * weight_neg.sum()) * (1 + 1e-15)
    nth, pair_weight_pos, _ = fast_weights(pos, weight_pos, neg, weight_neg, nu, 0.0)
    assert nth == 2.0
    assert pair_weight_pos == pytest.approx(np.full(3, 1 / 3))
