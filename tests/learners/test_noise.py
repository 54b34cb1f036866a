"""The rule that detects an oracle which has begun to return one class only."""

from itertools import combinations

import numpy as np
import pytest

from auctor.data import Partition
from auctor.learners.martirank.noise import LabelCounts, chance_of_none
from auctor.learners.martirank.oracle import Stopped


def labels(n_neg, n_pos):
    """A batch of draws that has nothing but labels."""
    n = n_neg + n_pos
    return Partition(np.zeros((1, n), np.uint8), np.ones(n, np.uint32), np.arange(n), n_pos)


@pytest.mark.parametrize(("count", "before", "after"), [(0, 3, 2), (1, 4, 3), (3, 4, 3), (5, 5, 4)])
def test_the_chance_is_the_fraction_of_all_ways_to_place_the_label(count, before, after):
    ways = list(combinations(range(before + after), count))
    fraction = np.mean([all(position < before for position in way) for way in ways])
    assert chance_of_none(count, before, after) == pytest.approx(fraction)


def test_a_label_that_dies_out_is_noticed_and_said():
    counts = LabelCounts(np.array(["good", "bad"]), np.zeros(2, dtype=np.int64))
    counts.add(labels(9000, 1000))
    counts.add(labels(50, 0))  # chance 0.006
    with pytest.raises(
        Stopped,
        match=r"only one class \(good\) in its last 450 draws, although 1,000 of the 10,000 "
        r"draws before were bad",
    ):
        counts.add(labels(400, 0))
    assert counts.n_draws == 10_450


def test_a_rare_label_may_stay_away_for_long():
    counts = LabelCounts(np.array([0, 1]), np.array([30_000, 0]))
    counts.add(labels(20_000, 3))
    for _ in range(100):
        counts.add(labels(10_000, 0))
    counts.add(labels(10_000, 1))
    assert counts.seen.tolist() == [1_060_000, 4]


@pytest.mark.parametrize("fraction", [0.5, 0.02, 0.001])
def test_draws_at_random_do_not_stop_it(fraction):
    rng = np.random.default_rng(0)
    counts = LabelCounts(np.array([0, 1]), np.zeros(2, dtype=np.int64))
    for _ in range(5000):
        n_pos = int(rng.binomial(20, fraction))
        counts.add(labels(20 - n_pos, n_pos))
    assert counts.n_draws == 100_000
