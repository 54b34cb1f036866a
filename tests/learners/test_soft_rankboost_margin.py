"""Fractions of pairs and means of the lowest scores, against pairs formed in whole numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.learners.boosting.soft_rankboost import (
    ClassScores,
    fraction_with_margin,
    lowest_at,
    mean_of_lowest,
)
from auctor.models import GRID
from tests.reference.soft_rankboost import capped_mean


def lists(largest):
    """Scores of a class on the grid, with whole weights."""
    steps = st.dictionaries(st.integers(-9, 9), st.integers(1, largest), min_size=1, max_size=8)
    return steps.map(
        lambda weights: ClassScores(
            np.array(sorted(weights)) * GRID, np.array([weights[k] for k in sorted(weights)])
        )
    )


# Weights of a class add up to 2^40 at most, so that products leave 64 bits.
@given(lists(2**36), lists(2**36), st.integers(-80, 80).map(lambda k: k * GRID / 4))
def test_fraction_of_pairs_is_counted_exactly(positive, negative, margin):
    count = sum(
        int(w) * int(v)
        for s, w in zip(*positive, strict=True)
        for t, v in zip(*negative, strict=True)
        if s - t >= margin
    )
    total = sum(map(int, positive.weight)) * sum(map(int, negative.weight))
    assert fraction_with_margin(positive, negative, margin) == count / total


@given(lists(5), st.floats(0.01, 1.0))
def test_lowest_scores_of_a_part_of_the_weight(scores, part):
    nu = part * scores.weight.sum()
    expected = capped_mean(scores.values, scores.weight, nu)
    assert mean_of_lowest(scores, nu) == pytest.approx(expected, abs=1e-9 * GRID, rel=1e-9)
    at = lowest_at(scores, nu)
    assert scores.weight[scores.values < at].sum() < nu * (1 + 1e-12)
    assert scores.weight[scores.values <= at].sum() >= nu * (1 - 1e-12)
    assert mean_of_lowest(scores, nu) <= at + 1e-9 * GRID


def test_negated_scores_ascend_again():
    scores = ClassScores(np.array([1.0, 4.0]), np.array([2, 7])).negated
    assert (scores.values.tolist(), scores.weight.tolist()) == ([-4.0, -1.0], [7, 2])
