"""Thresholds that meet a criterion: brute force, intervals that cover, and the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from auctor.metrics import threshold_at
from auctor.metrics.rates import wilson


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
    criterion=st.sampled_from(
        [("fpr", 0.0), ("fpr", 0.2), ("tpr", 0.8), ("budget", 7), ("cost", 3.0)]
    ),
    weighted=st.booleans(),
)
def test_equals_a_look_at_every_threshold(seed, criterion, weighted):
    y, s = draw(40, seed)
    y[:2] = True, False
    weight = np.random.default_rng(seed).integers(1, 4, size=40) if weighted else np.ones(40)
    name, value = criterion
    point = threshold_at(y, s, **{name: value}, sample_weight=weight if weighted else None).point
    points = list(every_point(y, s, weight))
    if name == "fpr":
        best = max(tpr for _, tpr, fpr, *_ in points if fpr <= value)
        assert point.tpr == pytest.approx(best) and point.fpr <= value
    elif name == "tpr":
        best = min(fpr for _, tpr, fpr, *_ in points if tpr >= value - 1e-12)
        assert point.fpr == pytest.approx(best) and point.tpr >= value - 1e-12
    elif name == "budget":
        assert point.flagged == max(p[3] for p in points if p[3] <= value)
    else:
        costs = {p[0]: p[4] + value * p[5] for p in points}
        assert costs[point.threshold] == pytest.approx(min(costs.values()))


def normal(n_pos, n_neg, seed):
    """Labels, and scores N(1, 1) of the positives and N(0, 1) of the negatives."""
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, np.random.default_rng(seed).normal(size=len(y)) + y


def share(held):
    return np.mean(list(held))


# With 300 samples a coverage of 0.95 gives less than 0.90 once in some 10,000 runs.
@pytest.mark.parametrize(
    ("n_pos", "n_neg", "criterion", "truth"),
    [
        (10, 1000, {"fpr": 0.1}, ndtri(0.9)),
        (50, 500, {"fpr": 0.1}, ndtri(0.9)),
        (10, 1000, {"tpr": 0.9}, 1 - ndtri(0.9)),
        (1000, 10, {"tpr": 0.9}, 1 - ndtri(0.9)),
        (20, 20, {"cost": 5}, 0.5 - np.log(5)),
        (20, 20, {"cost": 1}, 0.5),
    ],
)
def test_the_interval_covers_the_threshold_of_the_population(n_pos, n_neg, criterion, truth):
    thresholds = [threshold_at(*normal(n_pos, n_neg, seed), **criterion) for seed in range(300)]
    assert share(one.low <= truth <= one.high for one in thresholds) >= 0.9
    assert all(one.low <= one.value <= one.high for one in thresholds)


@pytest.mark.parametrize("criterion", [{"fpr": 0.1}, {"tpr": 0.1}])
def test_few_rows_of_the_other_class_do_not_shift_the_threshold(criterion):
    """A quantile of one class: 10 rows of the other have no say in it."""
    sizes = (10, 1000) if "fpr" in criterion else (1000, 10)
    values = [threshold_at(*normal(*sizes, seed), **criterion).value for seed in range(100)]
    truth = ndtri(0.9) + ("tpr" in criterion)
    assert np.mean(values) == pytest.approx(truth, abs=0.02)  # standard error 0.005


def test_large_samples_have_the_interval_of_the_normal_theory():
    rng = np.random.default_rng(0)
    y = rng.random(50_000) < 0.3
    s = rng.normal(size=50_000) + y
    threshold = threshold_at(y, s, fpr=0.1)
    first_too_many = np.sort(s[~y])[::-1][int(0.1 * np.sum(~y))]
    assert threshold.value == np.min(s[s > first_too_many])
    spread = 0.3 / 35_000**0.5 / 0.1755  # of the quantile: sqrt(p q / n) / density
    assert threshold.high - threshold.low == pytest.approx(2 * 1.96 * spread, rel=0.1)


def test_too_few_rows_give_an_end_that_is_infinite():
    threshold = threshold_at(*normal(5, 5, 0), fpr=0.1)
    assert threshold.high == np.inf and np.isfinite(threshold.low)
    threshold = threshold_at(*normal(5, 5, 0), tpr=0.99)
    assert threshold.low == -np.inf and np.isfinite(threshold.high)


def test_with_ties_the_interval_reaches_the_next_score():
    """Half of the negatives at 1: the threshold for an fpr of 0.3 is 2, wherever rows are."""
    y = np.repeat([0, 1], [40, 40])
    s = np.concatenate([np.repeat([0.0, 1.0], 20), np.repeat([1.0, 2.0], 20)])
    threshold = threshold_at(y, s, fpr=0.3)
    assert (threshold.value, threshold.low, threshold.high) == (2.0, 1.0, 2.0)


@pytest.mark.parametrize(("n_pos", "n_neg", "name"), [(5, 100, "fpr"), (100, 5, "tpr")])
def test_the_rate_that_a_threshold_was_chosen_by_is_covered(n_pos, n_neg, name):
    """The one row at the threshold was chosen: Wilson's interval holds in 84 to 88 % here."""
    held = []
    for seed in range(300):
        threshold = threshold_at(*normal(n_pos, n_neg, seed), **{name: 0.01})
        ends = getattr(threshold, name)
        held.append(ends.low <= ndtr((name == "tpr") - threshold.value) <= ends.high)
    assert share(held) >= 0.92  # 0.97 is expected


@pytest.mark.parametrize(
    ("criterion", "met"),
    [
        ({"fpr": 0.1}, lambda t: ndtr(-t) <= 0.1),
        ({"tpr": 0.9}, lambda t: ndtr(1 - t) >= 0.9),
        ({"budget": 0.2}, lambda t: (ndtr(-t) + ndtr(1 - t)) / 2 <= 0.2),
    ],
)
@pytest.mark.parametrize("rounded", [False, True])
def test_a_promise_is_kept_on_new_rows(criterion, met, rounded):
    """Without confidence about half of the samples keep it, with confidence all but 5 %."""
    plain, sure = [], []
    for seed in range(300):
        y, s = normal(100, 100, seed)
        if rounded:  # to the next tenth below: at or above a tenth is what it was
            s = np.floor(10 * s) / 10
        for confidence, kept in ((None, plain), (0.95, sure)):
            threshold = threshold_at(y, s, **criterion, confidence=confidence)
            kept.append(
                met(np.ceil(10 * threshold.value - 1e-9) / 10 if rounded else threshold.value)
            )
    assert share(sure) >= 0.91 and share(plain) <= 0.85
    assert threshold.confidence == 0.95 and repr(threshold).count("with 95% confidence") == 1


def test_the_promised_threshold_is_the_lowest_that_can_be():
    """Of 100 negatives 5 may be flagged: the chance of 4 or fewer above the quantile is 2.4 %."""
    y = np.repeat([0, 1], [100, 1])
    assert threshold_at(y, np.arange(101), fpr=0.1, confidence=0.95).value == 95.0
    assert binom.sf(4, 100, 0.1) >= 0.95 > binom.sf(5, 100, 0.1)
    y = np.repeat([1, 0], [100, 1])
    assert threshold_at(y, np.arange(101), tpr=0.9, confidence=0.95).value == 4.0


@pytest.mark.parametrize(
    ("n", "criterion", "says"),
    [
        (28, {"fpr": 0.1}, "fpr is 0.1 and confidence 0.95, which needs at least 29 neg"),
        (28, {"tpr": 0.9}, "tpr is 0.9 and confidence 0.95, which needs at least 29 positive rows"),
        (14, {"budget": 0.1}, "needs at least 29 rows, and there are 28"),
        (40, {"fpr": 0.0}, "fpr is 0, which no number of rows can guarantee"),
        (40, {"tpr": 1.0}, "tpr is 1, which no number of rows can guarantee"),
        (40, {"cost": 2}, "give confidence only with fpr, tpr or budget"),
        (40, {"fpr": 0.1, "confidence": 95}, "confidence is 95; give a number between 0 and 1"),
        (
            40,
            {"fpr": 0.1, "groups": np.arange(80) // 4},
            r"there are 40 \(with their groups, 9.2 effective rows\)",
        ),
        (
            40,
            {"fpr": 0.1, "sample_weight": 1 + 30.0 * (np.arange(80) % 8 == 0)},
            r"\(with their weights, [0-9.]+ effective rows\)",
        ),
    ],
)
def test_promises_that_need_more_rows_say_how_many(n, criterion, says):
    y, s = np.repeat([0, 1], n), np.arange(2.0 * n)
    with pytest.raises(ValueError, match=says):
        threshold_at(y, s, **{"confidence": 0.95, **criterion})
    if n == 28:
        threshold_at(np.append(y, [0, 1]), np.append(s, [-1, -1]), **criterion, confidence=0.95)


CRITERIA = ({"fpr": 0.2}, {"tpr": 0.8}, {"budget": 0.3}, {"cost": 2.0})


@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_the_scale_of_the_weights_does_not_matter(criterion):
    y, s = draw(100, 3)
    weight = np.random.default_rng(3).integers(1, 5, size=100) / 1.0
    small, large = (
        threshold_at(y, s, **criterion, sample_weight=weight * scale) for scale in (1.0, 2.0**40)
    )
    assert small.point.tpr == large.point.tpr
    assert (small.low, small.high, small.tpr, small.fpr, small.precision) == (
        large.low, large.high, large.tpr, large.fpr, large.precision
    )  # fmt: skip


@pytest.mark.parametrize("groups", [None, np.arange(100) // 4])
@pytest.mark.parametrize("criterion", CRITERIA, ids=str)
def test_equal_weights_count_as_many_rows_as_there_are(criterion, groups):
    y, s = draw(100, 4)
    plain = threshold_at(y, s, **criterion, groups=groups)
    equal = threshold_at(y, s, **criterion, groups=groups, sample_weight=np.full(100, 3.0))
    assert (plain.low, plain.high) == (equal.low, equal.high)
    assert equal.tpr == pytest.approx(plain.tpr) and equal.precision == pytest.approx(
        plain.precision
    )


def test_large_weights_widen_the_interval():
    y, s = normal(300, 300, 0)
    weight = np.where(np.arange(600) % 10 == 0, 30.0, 1.0)
    plain, weighted = threshold_at(y, s, fpr=0.3), threshold_at(y, s, fpr=0.3, sample_weight=weight)
    assert weighted.high - weighted.low > 1.5 * (plain.high - plain.low)
    assert weighted.method == "order statistics at the effective number of rows"


def test_groups_that_are_copies_widen_the_interval():
    y, s = draw(200, 1)
    y, s, groups = np.tile(y, 10), np.tile(s, 10), np.tile(np.arange(200), 10)
    alone = threshold_at(y, s, tpr=0.8)
    together = threshold_at(y, s, tpr=0.8, groups=groups)
    assert together.value == alone.value
    assert together.method == "order statistics at the effective number of rows"
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert together.tpr.high - together.tpr.low > 2 * (alone.tpr.high - alone.tpr.low)


def test_a_rate_of_one_is_not_certain():
    threshold = threshold_at([0] * 8 + [1] * 8, range(16), tpr=1.0)
    assert threshold.point.tpr == 1.0 and threshold.point.fpr == 0.0
    assert threshold.tpr.low == pytest.approx(0.025 ** (1 / 8))  # all 8 of 8
    assert threshold.fpr.high == pytest.approx(1 - 0.025 ** (1 / 8))


def test_nothing_flagged_has_no_precision():
    threshold = threshold_at([1, 1, 0, 0], [1, 2, 3, 4], fpr=0.0)
    assert threshold.value == np.inf and threshold.point.flagged == 0
    assert np.isnan(threshold.precision.low) and np.isnan(wilson(0, 0, 0.95).high)
    assert "0 flagged" in repr(threshold)


def test_no_interval_is_left_to_chance():
    y, s = draw(100, 0)
    first, second = (threshold_at(y, s, cost=2) for _ in range(2))
    assert repr(first) == repr(second)
    order = np.random.default_rng(0).permutation(100)
    assert repr(threshold_at(y[order], s[order], cost=2)) == repr(first)


def test_a_monotone_transform_moves_the_threshold_along():
    y, s = draw(100, 0)
    plain, moved = (threshold_at(y, t, fpr=0.1) for t in (s, np.exp(s)))
    assert moved.value == pytest.approx(np.exp(plain.value))
    assert moved.point.tpr == plain.point.tpr


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, "none of fpr, tpr, budget, cost, precision is given; give exactly one"),
        ({"fpr": 0.1, "tpr": 0.9}, "fpr and tpr are given"),
        ({"cost": 0}, "cost is 0; give a finite number above 0"),
        ({"cost": float("inf")}, "cost is inf; give a finite number above 0"),
        ({"fpr": 1.5}, "fpr is 1.5; give a number from 0 to 1"),
        ({"budget": -1}, "budget"),
        ({"fpr": 0.1, "level": 95}, "give a number between 0 and 1, such as 0.95"),
        ({"fpr": 0.1, "groups": [1, 1, 1, 1]}, "groups has only one group; give two or more"),
    ],
)
def test_bad_criteria_are_refused(options, says):
    with pytest.raises(ValueError, match=says):
        threshold_at([0, 1, 0, 1], [1, 2, 3, 4], **options)


def test_uneven_weights_count_for_fewer_rows():
    """Log-normal weights that say nothing of the scores; by the sides of the cut alone too few."""
    held, n_samples = np.zeros(2), 200
    for seed in range(n_samples):
        rng = np.random.default_rng([seed, 1])  # not that of the scores
        y, s = normal(100, 300, seed)
        weight = rng.lognormal(sigma=1.2, size=len(y))
        threshold = threshold_at(y, s, fpr=0.1, sample_weight=weight)
        rate = float(ndtr(-threshold.value))
        sure = threshold_at(y, s, fpr=0.2, confidence=0.9, sample_weight=weight)
        held += threshold.fpr.low <= rate <= threshold.fpr.high, ndtr(-sure.value) <= 0.2
    errors = 3 * np.sqrt(np.array([0.95 * 0.05, 0.9 * 0.1]) / n_samples)
    assert (held / n_samples > np.array([0.95, 0.9]) - errors).all()


def test_infinite_scores_cannot_be_promised_to_lie_below():
    y, s = normal(50, 100, 0)
    with pytest.raises(ValueError, match="fpr"):
        threshold_at(y, np.where(s > 0, np.inf, s), fpr=0.1, confidence=0.9)


class TestPrecision:
    @given(seed=st.integers(0, 10_000), wanted=st.sampled_from([0.3, 0.5, 0.75]))
    def test_it_flags_the_most_rows_of_that_precision(self, seed, wanted):
        y, s = draw(60, seed)
        lists = [(s >= t).sum() for t in np.unique(s) if y[s >= t].mean() >= wanted]
        if not lists:
            with pytest.raises(ValueError, match="no threshold reaches it on these rows; give at"):
                threshold_at(y, s, precision=wanted)
            return
        result = threshold_at(y, s, precision=wanted)
        assert result.point.flagged == max(lists)
        assert result.point.precision >= wanted and result.low <= result.value <= result.high
        assert result.criterion == f"precision of at least {wanted:g}"

    def test_the_interval_covers(self):
        base, wanted = 0.3, 0.5
        grid = np.linspace(-2, 3, 20_001)
        pos, neg = base * ndtr(1.2 - grid), (1 - base) * ndtr(-grid)
        true = grid[np.argmin(np.abs(pos / (pos + neg) - wanted))]
        rng, hits = np.random.default_rng(0), 0
        for _ in range(150):
            y = rng.random(300) < base
            result = threshold_at(y, rng.normal(size=300) + 1.2 * y, precision=wanted)
            hits += result.low <= true <= result.high
        assert hits >= binom.ppf(0.001, 150, 0.95)

    def test_weights_of_any_scale_and_groups(self):
        y, s = draw(200, 0)
        plain = threshold_at(y, s, precision=0.5)
        same = threshold_at(y, s, precision=0.5, sample_weight=np.full(200, 7.0))
        assert (same.value, same.low, same.high) == (plain.value, plain.low, plain.high)
        weight = np.random.default_rng(1).exponential(size=200)
        first, second = (
            threshold_at(y, s, precision=0.5, sample_weight=w) for w in (weight, 64 * weight)
        )
        assert (first.low, first.high) == (second.low, second.high)
        pairs = threshold_at(
            np.repeat(y, 2), np.repeat(s, 2), precision=0.5, groups=np.repeat(np.arange(200), 2)
        )
        assert (pairs.value, pairs.point.precision) == (plain.value, plain.point.precision)

    def test_confidence_is_refused(self):
        y, s = draw(50, 0)
        with pytest.raises(ValueError, match="confidence and precision are given"):
            threshold_at(y, s, precision=0.5, confidence=0.9)
