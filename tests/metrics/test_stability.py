"""PSI, its noise level and the test of location: slow versions, SciPy, simulation, invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx
from reference.stability import slow_holm, slow_psi
from scipy import stats

from auctor.metrics import psi, psi_test
from auctor.metrics.stability import Bins, compare_location, holm

counts = st.lists(st.integers(0, 500), min_size=2, max_size=12)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_psi_is_the_slow_one(data):
    new = data.draw(counts.filter(any))
    size = len(new)
    old = data.draw(st.lists(st.integers(0, 500), min_size=size, max_size=size).filter(any))
    value = psi(old, new)
    assert value == approx(slow_psi(old, new), abs=1e-12) and value >= 0
    assert psi(new, old) == approx(value)
    order = np.random.default_rng(0).permutation(size)
    assert psi(np.array(old)[order], np.array(new)[order]) == approx(value)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_holm_is_the_slow_one(p_values):
    assert holm(p_values).tolist() == approx(slow_holm(p_values))


def test_large_samples_have_the_p_value_of_the_chi_square_test():
    rng = np.random.default_rng(1)
    for _ in range(5):
        old, new = rng.multinomial(50_000, [0.1] * 10), rng.multinomial(20_000, [0.1] * 10)
        result = psi_test(old, new)
        outside = stats.chi2_contingency([old, new], correction=False).pvalue
        assert result.p_value == approx(outside, rel=0.02, abs=1e-3)
        assert result.expected == approx(9 * (1 / 50_000 + 1 / 20_000))
        factor = 1 / 50_000 + 1 / 20_000
        assert result.limit == approx(stats.chi2.ppf(0.95, 9) * factor)


def test_two_bins_are_judged_as_with_yates_correction():
    outside = stats.chi2_contingency([[5000, 5000], [60, 40]], correction=True).pvalue
    assert psi_test([5000, 5000], [60, 40]).p_value == approx(outside, rel=0.05)


@pytest.mark.parametrize(("n_old", "n_new", "fractions"), [
    (300, 30, [1 / 3] * 3),
    (3_000, 100, [0.1] * 10),
    (30_000, 1_000, [0.5, 0.3, 0.15, 0.04, 0.01]),
    (300, 10_000, [0.1] * 10),
])  # fmt: skip
def test_unchanged_samples_exceed_the_limit_in_five_percent(n_old, n_new, fractions):
    rng = np.random.default_rng(7)
    old, new = (rng.multinomial(n, fractions, 800) for n in (n_old, n_new))
    results = [psi_test(a, b) for a, b in zip(old, new, strict=True)]
    rate = np.mean([one.value > one.limit for one in results])
    assert 0.025 < rate < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 800)
    assert np.mean([one.value for one in results]) == approx(results[0].expected, rel=0.15)
    # Interval and test agree.
    assert all((one.value > one.limit) == (one.p_value < 0.05) for one in results)


def test_weights_count_by_their_effective_number_and_their_scale_does_not_matter():
    rng = np.random.default_rng(2)
    bins, weight = rng.integers(0, 6, 3000), rng.lognormal(sigma=1, size=3000)
    sums = [np.bincount(bins, weights=part) for part in (weight, weight**2)]
    result = psi_test([500] * 6, sums[0], new_squares=sums[1])
    assert result.n_new == approx(weight.sum() ** 2 / (weight**2).sum())
    assert result.n_new < 2000 and result.limit > psi_test([500] * 6, np.bincount(bins)).limit
    again = psi_test([500] * 6, 100 * sums[0], new_squares=10_000 * sums[1])
    assert again.p_value == approx(result.p_value) and again.value == approx(result.value)


def test_location_is_the_rank_sum_test():
    rng = np.random.default_rng(3)
    old, new = rng.integers(0, 8, 400), rng.integers(0, 8, 150) + (rng.random(150) < 0.3)
    sums = [np.bincount(part, minlength=9).astype(float) for part in (old, new)]
    result = compare_location(*(Bins(part, part) for part in sums))
    outside = stats.mannwhitneyu(new, old, use_continuity=False, method="asymptotic")
    assert result.superiority == approx(outside.statistic / (400 * 150))
    assert result.p_value == approx(outside.pvalue)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1], [1]), "two bins or more"),
        (([1, 2], [1, 2, 3]), "in the same bins"),
        (([1, -2], [1, 2]), "reference has negative"),
        (([0, 0], [1, 2]), "no rows"),
        (([1, np.nan], [1, 2]), "missing values"),
    ],
)
def test_wrong_counts_are_named(arguments, words):
    with pytest.raises(ValueError, match=words):
        psi_test(*arguments)
