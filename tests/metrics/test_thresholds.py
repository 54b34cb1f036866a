"""Thresholds that meet a wish: brute force, intervals that cover, and the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.metrics import threshold_at
from auctor.metrics.rates import wilson
from auctor.metrics.thresholds import _MOST_STEPS


def draw(n, seed, shift=1.0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, np.round(rng.normal(size=n) + shift * y, 2)


def every_point(y, s, weight):
    """(threshold, tpr, fpr, flagged, false positives, missed) for every threshold there is."""
    for threshold in [np.inf, *np.unique(s)[::-1]]:
        flagged = s >= threshold
        pos, neg = weight * y, weight * ~y
        yield (
            threshold,
            (pos * flagged).sum() / pos.sum(),
            (neg * flagged).sum() / neg.sum(),
            (weight * flagged).sum(),
            (neg * flagged).sum(),
            (pos * ~flagged).sum(),
        )


@given(
    seed=st.integers(0, 10_000),
    wish=st.sampled_from([("fpr", 0.0), ("fpr", 0.2), ("tpr", 0.8), ("budget", 7), ("cost", 3.0)]),
    weighted=st.booleans(),
)
def test_equals_a_look_at_every_threshold(seed, wish, weighted):
    y, s = draw(40, seed)
    y[:2] = True, False
    weight = np.random.default_rng(seed).integers(1, 4, size=40) if weighted else np.ones(40)
    name, value = wish
    found = threshold_at(
        y, s, **{name: value}, sample_weight=weight if weighted else None, n_resamples=2
    ).point
    points = list(every_point(y, s, weight))
    if name == "fpr":
        best = max(tpr for _, tpr, fpr, *_ in points if fpr <= value)
        assert found.tpr == pytest.approx(best) and found.fpr <= value
    elif name == "tpr":
        best = min(fpr for _, tpr, fpr, *_ in points if tpr >= value - 1e-12)
        assert found.fpr == pytest.approx(best) and found.tpr >= value - 1e-12
    elif name == "budget":
        assert found.flagged == max(p[3] for p in points if p[3] <= value)
    else:
        costs = {p[0]: p[4] + value * p[5] for p in points}
        assert costs[found.threshold] == pytest.approx(min(costs.values()))


def test_the_interval_of_the_threshold_covers_that_of_the_population():
    """The 90 % quantile of the negatives, N(0, 1), is 1.2816."""
    inside = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        s = np.concatenate([rng.normal(size=300), rng.normal(1, size=100)])
        y = np.arange(400) >= 300
        found = threshold_at(y, s, fpr=0.1, n_resamples=200, random_state=seed)
        inside += found.low <= 1.2816 <= found.high
    assert 85 <= inside <= 100  # 95 are expected; 85 or fewer have a chance below 1e-4


def test_many_distinct_scores_are_thinned_for_the_interval_only():
    rng = np.random.default_rng(0)
    y = rng.random(50_000) < 0.3
    s = rng.normal(size=50_000) + y
    assert len(np.unique(s)) > _MOST_STEPS
    found = threshold_at(y, s, fpr=0.1, random_state=0, n_resamples=300)
    first_too_many = np.sort(s[~y])[::-1][int(0.1 * np.sum(~y))]
    assert found.value == np.min(s[y & (s > first_too_many)])
    spread = 0.3 / 35_000**0.5 / 0.1755  # of the quantile: sqrt(p q / n) / density
    assert found.high - found.low == pytest.approx(2 * 1.96 * spread, rel=0.25)


def test_groups_that_are_copies_widen_the_interval():
    y, s = draw(200, 1)
    y, s, groups = np.tile(y, 10), np.tile(s, 10), np.tile(np.arange(200), 10)
    alone = threshold_at(y, s, tpr=0.8, random_state=0)
    together = threshold_at(y, s, tpr=0.8, groups=groups, random_state=0)
    assert together.value == alone.value
    assert together.method == "cluster bootstrap"
    assert together.tpr.high - together.tpr.low > 2 * (alone.tpr.high - alone.tpr.low)


def test_a_rate_of_one_is_not_certain():
    found = threshold_at([0] * 8 + [1] * 8, range(16), tpr=1.0, random_state=0)
    assert found.point.tpr == 1.0 and found.point.fpr == 0.0
    assert found.tpr.low == pytest.approx(0.6756, abs=1e-4)  # Wilson, 8 of 8
    assert found.fpr.high == pytest.approx(1 - 0.6756, abs=1e-4)


def test_nothing_flagged_has_no_precision():
    found = threshold_at([1, 1, 0, 0], [1, 2, 3, 4], fpr=0.0, random_state=0)
    assert found.value == np.inf and found.point.flagged == 0
    assert np.isnan(found.precision.low) and np.isnan(wilson(0, 0, 0.95).high)
    assert "0 flagged" in repr(found)


def test_the_same_seed_gives_the_same_interval():
    y, s = draw(100, 0)
    first, second, other = (threshold_at(y, s, cost=2, random_state=seed) for seed in (0, 0, 1))
    assert repr(first) == repr(second)
    assert (first.low, first.high) != (other.low, other.high) or first.tpr == other.tpr
    assert first.value == other.value


def test_a_monotone_transform_moves_the_threshold_along():
    y, s = draw(100, 0)
    plain, moved = (threshold_at(y, t, fpr=0.1, random_state=0) for t in (s, np.exp(s)))
    assert moved.value == pytest.approx(np.exp(plain.value))
    assert moved.point.tpr == plain.point.tpr


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({}, "give exactly one of fpr, tpr, budget, cost; got none"),
        ({"fpr": 0.1, "tpr": 0.9}, "got fpr, tpr"),
        ({"cost": 0}, "cost must be a finite number above 0, got 0"),
        ({"cost": float("inf")}, "cost must be"),
        ({"fpr": 1.5}, r"fpr must lie in \[0, 1\], got 1.5"),
        ({"budget": -1}, "budget"),
        ({"fpr": 0.1, "level": 95}, "level must lie between 0 and 1"),
        ({"fpr": 0.1, "n_resamples": 1}, "n_resamples"),
    ],
)
def test_bad_wishes_are_refused(told, says):
    with pytest.raises(ValueError, match=says):
        threshold_at([0, 1, 0, 1], [1, 2, 3, 4], **told)
