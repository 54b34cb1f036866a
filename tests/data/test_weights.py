"""Weights as whole multiples of a power of two."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.data.weights import whole_weights

positive = st.floats(5e-324, 1e300, exclude_min=False)


@given(st.lists(st.integers(1, 2**31 - 1), min_size=1, max_size=20))
def test_whole_weights_stay_as_they_are(weights):
    multiples, unit = whole_weights(np.array(weights, dtype=np.float64), len(weights))
    assert (multiples * unit).tolist() == weights
    if sum(weights) < 2**31:
        assert unit == 1.0  # never more: weight 2 must be the row twice


def test_fractions_of_powers_of_two_are_exact():
    multiples, unit = whole_weights(np.array([0.5, 0.25, 3.0]), 3)
    assert (multiples.tolist(), unit) == ([2, 1, 12], 0.25)


def test_none_is_one_for_each():
    multiples, unit = whole_weights(None, 3)
    assert (multiples.tolist(), unit) == ([1, 1, 1], 1.0)
    assert multiples.dtype == np.uint32


@given(st.lists(positive, min_size=1, max_size=20))
def test_rounding_stays_within_its_bits(weights):
    weight = np.array(weights)
    multiples, unit = whole_weights(weight, len(weights))
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
    multiples, unit = whole_weights(weight, len(weight))
    shuffled, same = whole_weights(weight[order], len(weight))
    assert same == unit
    np.testing.assert_array_equal(shuffled, multiples[order])


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20), st.integers(-300, 300))
def test_a_power_of_two_changes_the_unit_only(weights, exponent):
    weight = np.array(weights)
    multiples, unit = whole_weights(weight, len(weight))
    scaled, other = whole_weights(weight * 2.0**exponent, len(weight))
    np.testing.assert_array_equal(scaled * (other / 2.0**exponent), multiples * unit)


def test_total_is_kept_within_its_bits():
    n_rows = 5000
    weight = np.full(n_rows, 1.1)
    multiples, unit = whole_weights(weight, n_rows)
    total = int(multiples.sum(dtype=np.uint64))
    assert 2**35 <= total <= 2**36
    assert multiples[0] * unit == pytest.approx(1.1, rel=2.0**-23)


@pytest.mark.parametrize("size", [1e308, 5e-324, 1e-310])
def test_ends_of_the_range(size):
    multiples, unit = whole_weights(np.array([size]), 1)
    assert multiples[0] * unit == pytest.approx(size, rel=2.0**-23)
