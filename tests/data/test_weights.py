"""Weights as whole numbers: relative ones, those that count copies, and their effective number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.data.weights import effective_rows, frequency_weights, relative_weights, usual_size

positive = st.floats(5e-324, 1e300, exclude_min=False)


@given(st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=20))
def test_whole_weights_stay_as_they_are(weights):
    multiples, unit = frequency_weights(np.array(weights, dtype=np.float64), len(weights))
    assert (multiples * unit).tolist() == weights
    if sum(weights) < 2**31:
        assert unit == 1.0  # never more: weight 2 must be the row twice


def test_fractions_of_powers_of_two_are_exact():
    multiples, unit = frequency_weights(np.array([0.5, 0.25, 3.0]), 3)
    assert (multiples.tolist(), unit) == ([2, 1, 12], 0.25)


def test_none_is_one_for_each():
    multiples, unit = frequency_weights(None, 3)
    assert (multiples.tolist(), unit) == ([1, 1, 1], 1.0)
    assert multiples.dtype == np.uint32


@given(st.lists(positive, min_size=1, max_size=20))
def test_rounding_stays_within_its_bits(weights):
    weight = np.array(weights)
    multiples, unit = frequency_weights(weight, len(weights))
    assert multiples.dtype == np.uint32
    assert (multiples >= 1).all()  # no row is rounded away
    assert multiples.max() <= 2**31
    assert int(multiples.sum(dtype=np.uint64)) <= 2**40 + len(weights)
    assert unit > 0
    assert np.frexp(unit)[0] == 0.5  # a power of two
    assert (np.abs(multiples * unit - weight) <= np.maximum(unit, weight.max() * 2.0**-30)).all()


@given(st.lists(positive, min_size=2, max_size=20), st.data())
def test_order_of_rows_does_not_matter(weights, data):
    order = np.array(data.draw(st.permutations(range(len(weights)))))
    weight = np.array(weights)
    multiples, unit = frequency_weights(weight, len(weight))
    shuffled, same = frequency_weights(weight[order], len(weight))
    assert same == unit
    np.testing.assert_array_equal(shuffled, multiples[order])


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20), st.integers(-300, 300))
def test_a_power_of_two_changes_the_unit_only(weights, exponent):
    weight = np.array(weights)
    multiples, unit = frequency_weights(weight, len(weight))
    scaled, other = frequency_weights(weight * 2.0**exponent, len(weight))
    np.testing.assert_array_equal(scaled * (other / 2.0**exponent), multiples * unit)


def test_total_is_kept_within_its_bits():
    n_rows = 5000
    weight = np.full(n_rows, 1.1)
    multiples, unit = frequency_weights(weight, n_rows)
    total = int(multiples.sum(dtype=np.uint64))
    assert 2**35 <= total <= 2**36
    assert multiples[0] * unit == pytest.approx(1.1, rel=2.0**-23)


@pytest.mark.parametrize("size", [1e308, 5e-324, 1e-310])
def test_ends_of_the_range(size):
    multiples, unit = frequency_weights(np.array([size]), 1)
    assert multiples[0] * unit == pytest.approx(size, rel=2.0**-23)


constants = st.sampled_from([3.0, 10.0, 0.1, 7.3, 1 / 3, 1e-5, 123456.789])


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=20), constants)
def test_whole_weights_times_a_constant_are_the_same(weights, constant):
    weight = np.array(weights, dtype=np.float64)
    expected = np.array(weights) // np.gcd.reduce(weights)
    assert relative_weights(weight, len(weights)).tolist() == expected.tolist()
    assert relative_weights(weight * constant, len(weights)).tolist() == expected.tolist()


@given(st.lists(st.integers(1, 2**40), min_size=1, max_size=20), st.integers(1, 1000))
def test_whole_weights_times_a_whole_number_are_the_same(weights, times):
    weight = np.array(weights, dtype=np.float64)
    multiples = relative_weights(weight, len(weights))
    assert np.array_equal(relative_weights(weight * times, len(weights)), multiples)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20), st.integers(-900, 900))
def test_any_weights_times_a_power_of_two_are_the_same(weights, exponent):
    weight = np.array(weights)
    multiples = relative_weights(weight, len(weights))
    assert np.array_equal(relative_weights(weight * 2.0**exponent, len(weights)), multiples)


@pytest.mark.parametrize("constant", [3.0, 10.0, 0.1, 7.3])
def test_random_weights_times_a_constant_are_the_same(constant):
    weight = np.random.default_rng(0).lognormal(size=10_000)
    assert np.array_equal(relative_weights(weight * constant, 1), relative_weights(weight, 1))


@pytest.mark.parametrize("size", [1.0, 3.0, 0.1, 7.3, 1e300, 1e-310, 5e-324])
def test_equal_weights_are_none(size):
    assert relative_weights(np.full(5, size), 5).tolist() == [1] * 5


@given(st.lists(positive, min_size=1, max_size=20))
def test_relative_weights_are_rounded_to_24_bits_of_the_largest(weights):
    weight = np.array(weights)
    multiples = relative_weights(weight, len(weights)).astype(np.float64)
    assert (multiples >= 1).all()
    fraction, expected = multiples / multiples.max(), weight / weight.max()
    assert (np.abs(fraction - np.maximum(expected, 2.0**-24)) <= 2.0**-24).all()


def test_the_sum_of_relative_weights_is_kept_within_its_bits():
    weight = np.random.default_rng(0).random(70_000) + 1.0
    assert 2**35 <= int(relative_weights(weight, 1).sum(dtype=np.int64)) <= 2**36


@given(st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=30), st.integers(1, 29))
def test_effective_rows_are_kishs(weights, cut):
    weight = np.array(weights, dtype=np.uint32)
    expected = sum(weights) ** 2 / sum(w * w for w in weights)
    assert effective_rows([weight]) == expected
    assert effective_rows([weight[cut:], weight[:cut]]) == expected
    assert effective_rows([np.repeat(weight[:1], 7)]) == 7.0


@pytest.mark.parametrize("exponent", [-1070, -600, 600, 1000])
def test_extreme_weights_keep_their_proportions(exponent):
    weight = np.array([1.0, 3.0, 0.0, 0.5])
    scaled = usual_size(np.ldexp(weight, exponent))
    assert 0.5 <= scaled.max() < 1.0
    assert (scaled / scaled.max()).tolist() == (weight / 3.0).tolist()
    assert np.isfinite(scaled.sum() ** 4)


def test_no_weight_becomes_absent():
    assert (usual_size(np.array([1e300, 1e-300])) > 0).all()
    usual = np.array([1e-20, 1e20])
    assert usual_size(usual) is usual
