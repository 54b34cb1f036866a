"""Lemma 4: any ranker becomes a classifier that errs equally on both classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.weak.two_sided import two_sided, two_sided_from_scores
from tests.reference.aucboost import two_sided_slow, weighted_auc

rows = st.lists(
    st.tuples(st.integers(-4, 4), st.booleans(), st.floats(0.01, 10)), min_size=1, max_size=25
).map(lambda rows: [(0, True, 1.0), (1, False, 0.5), *rows])


def split(rows):
    scores = np.array([float(score) for score, _, _ in rows])
    positive = np.array([label for _, label, _ in rows])
    weight = np.array([w for _, _, w in rows])
    return scores, positive, weight


def error_rates(labels, positive, weight):
    """Expected error of each class for expected labels in [-1, 1]."""
    wrong_pos = (weight * (1 - labels) / 2)[positive].sum() / weight[positive].sum()
    wrong_neg = (weight * (1 + labels) / 2)[~positive].sum() / weight[~positive].sum()
    return wrong_pos, wrong_neg


@given(rows)
def test_both_error_rates_are_equal_and_small_enough(rows):
    scores, positive, weight = split(rows)
    threshold, side = two_sided_from_scores(scores, positive, weight)
    labels = np.where(scores >= threshold, side.above, side.below)
    wrong_pos, wrong_neg = error_rates(labels, positive, weight)
    assert wrong_pos == pytest.approx(wrong_neg, abs=1e-12)
    assert wrong_pos == pytest.approx(side.epsilon, abs=1e-12)
    gamma = weighted_auc(scores, positive, weight) - 0.5
    assert side.epsilon <= 0.5 - max(gamma, 0) / 4 + 1e-12
    assert -1 <= side.below <= side.above <= 1


@given(st.integers(0, 10**6))
def test_same_as_trying_every_threshold(seed):
    rng = np.random.default_rng(seed)
    positive = np.arange(30) % 3 == 0
    scores = rng.integers(0, 8, size=30) + 2.0 * positive
    weight = rng.random(30) + 0.1  # no two thresholds are equally good
    threshold, side = two_sided_from_scores(scores, positive, weight)
    labels, epsilon = two_sided_slow(scores, positive, weight)
    assert side.epsilon == pytest.approx(epsilon, abs=1e-12)
    assert np.where(scores >= threshold, side.above, side.below) == pytest.approx(labels)


def test_perfect_and_useless_rankers():
    assert two_sided([1, 0], [0, 1]) == (1, -1.0, 1.0, 0.0)
    assert two_sided([1, 1], [1, 1]).epsilon == 0.5
    assert two_sided([1], [1]).epsilon == 0.5


def test_the_coin_may_lie_above():
    # all positives above the cut and three quarters of the negatives as well
    side = two_sided([1, 3], [0, 4])
    assert (side.cut, side.below) == (1, -1.0)
    assert side.epsilon == pytest.approx(0.75 / 1.75)
    assert side.above == pytest.approx(1 - 2 * 0.75 / 1.75)
