"""Bins of a column: against a slow reference, numpy, and what must hold for any column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.arrays import read_only
from auctor.kernels.binning import add_steps, code_numbers, find_centres, find_cuts
from auctor.testing import strategies as own
from tests.reference import binning as reference

ONCE = np.empty(0, dtype=np.int64)
SMALLEST_NORMAL = np.finfo(np.float64).tiny


def cuts_of(values, max_bins, weights=None):
    """Cuts of a column in any order; rows of weight 0 are left out, as in ``auctor.data``."""
    values = np.asarray(values, dtype=np.float64)
    weights = ONCE if weights is None else np.asarray(weights, dtype=np.int64)
    if len(weights):
        values, weights = values[weights > 0], weights[weights > 0]
    order = np.argsort(values)
    return find_cuts(values[order], weights[order] if len(weights) else ONCE, max_bins)


def centres_of(values, cuts, weights=None):
    """Centres of a column in any order; rows of weight 0 are left out, as in ``auctor.data``."""
    values = np.asarray(values, dtype=np.float64)
    weights = ONCE if weights is None else np.asarray(weights, dtype=np.int64)
    if len(weights):
        values, weights = values[weights > 0], weights[weights > 0]
    order = np.argsort(values)
    cuts = np.asarray(cuts, dtype=np.float64)
    return find_centres(values[order], weights[order] if len(weights) else ONCE, cuts)


def codes_of(values, cuts, dtype=np.uint16):
    """Codes in the order of the rows: with one class, none is moved."""
    values = np.asarray(values, dtype=np.float64)
    codes = np.full(len(values), 9999 if dtype == np.uint16 else 99, dtype=dtype)
    cuts = read_only(np.asarray(cuts, dtype=np.float64))
    code_numbers(read_only(values), cuts, np.zeros(len(values), bool), 0, codes)
    return codes


class TestCuts:
    @given(st.data(), own.columns(max_size=40), st.integers(2, 12))
    def test_reference(self, data, values, max_bins):
        weights = data.draw(own.whole_weights(len(values)))
        cuts = cuts_of(values, max_bins, weights)
        expected = reference.cuts(values.tolist(), weights.tolist(), max_bins)
        # Where halves fall below the smallest number the middle is rounded on the way.
        np.testing.assert_allclose(cuts, expected, rtol=0, atol=SMALLEST_NORMAL)
        normal = np.abs(expected) > 4 * SMALLEST_NORMAL
        np.testing.assert_array_equal(cuts[normal], np.array(expected)[normal])

    @given(st.lists(st.sampled_from([1, 1, 1, 2, 60, 500]), min_size=3, max_size=30), st.data())
    def test_reference_with_heavy_values(self, weights, data):
        # Also where the bins do not reach for every heavy value.
        max_bins = data.draw(st.integers(2, len(weights)))
        values = np.arange(float(len(weights)))
        cuts = cuts_of(values, max_bins, weights)
        assert cuts.tolist() == reference.cuts(values.tolist(), weights, max_bins)

    @given(own.columns(max_size=40), st.integers(2, 12))
    def test_reference_splits_the_rows_alike(self, values, max_bins):
        expected = reference.cuts(values.tolist(), [1] * len(values), max_bins)
        codes = codes_of(values, cuts_of(values, max_bins))
        assert codes.tolist() == reference.codes(values.tolist(), expected)

    @given(st.data(), own.columns(max_size=25), st.integers(2, 8))
    def test_weight_is_the_row_so_often(self, data, values, max_bins):
        weights = data.draw(own.whole_weights(len(values)))
        repeated = np.repeat(values, weights)
        np.testing.assert_array_equal(
            cuts_of(values, max_bins, weights), cuts_of(repeated, max_bins)
        )

    @given(st.data(), own.columns(), st.integers(2, 8))
    def test_order_of_rows_and_a_common_factor_do_not_matter(self, data, values, max_bins):
        shuffled = np.array(data.draw(st.permutations(values.tolist())))
        once = cuts_of(values, max_bins)
        np.testing.assert_array_equal(once, cuts_of(shuffled, max_bins))
        np.testing.assert_array_equal(once, cuts_of(values, max_bins, np.full(len(values), 7)))

    @given(own.columns(max_size=40), st.integers(2, 12))
    def test_cuts_increase_and_every_bin_has_rows(self, values, max_bins):
        cuts = cuts_of(values, max_bins)
        assert len(cuts) < max_bins
        assert (np.diff(cuts) > 0).all()
        assert np.isfinite(cuts).all()
        counts = np.bincount(codes_of(values, cuts), minlength=len(cuts) + 2)
        assert counts[0] == 0
        assert (counts[1:] > 0).all()
        assert counts.sum() == len(values)

    @given(own.columns(max_size=30))
    def test_exact_where_values_are_few(self, values):
        n_distinct = len(np.unique(values))  # to numpy, too, both zeros are one
        cuts = cuts_of(values, max(2, n_distinct))
        assert len(cuts) == n_distinct - 1
        assert len(np.unique(codes_of(values, cuts))) == n_distinct

    def test_no_rows(self):
        assert find_cuts(np.empty(0), ONCE, 5).shape == (0,)

    @pytest.mark.parametrize("value", [0.0, -0.0, 1e308, -1e308, 5e-324])
    @pytest.mark.parametrize("n_rows", [1, 5])
    def test_constant(self, value, n_rows):
        assert len(cuts_of([value] * n_rows, 2)) == 0

    def test_both_zeros_are_one_value(self):
        assert len(cuts_of([0.0, -0.0, -0.0], 5)) == 0
        assert cuts_of([-0.0, 1.0], 5).tobytes() == cuts_of([0.0, 1.0], 5).tobytes()

    @pytest.mark.parametrize("low", [1.0, -1.0, 0.0, 1e308, -1e308, 5e-324, -5e-324, 0.1])
    def test_neighbouring_floats_are_distinguished(self, low):
        high = float(np.nextafter(low, np.inf))
        (cut,) = cuts_of([low, high], 2)
        assert low <= cut < high

    def test_the_middle_of_large_values_does_not_overflow(self):
        assert cuts_of([1e308, 1.2e308], 2)[0] == pytest.approx(1.1e308)
        assert cuts_of([-1.7e308, 1.7e308], 2)[0] == 0.0

    @pytest.mark.parametrize("max_bins", [2, 3, 7, 255])
    @pytest.mark.parametrize("n_rows", [256, 300, 999, 1000])
    def test_distinct_values_are_shared_out_evenly(self, max_bins, n_rows):
        values = np.random.default_rng(n_rows).normal(size=n_rows)
        counts = np.bincount(codes_of(values, cuts_of(values, max_bins)))[1:]
        assert len(counts) == max_bins
        assert counts.max() - counts.min() <= 1

    @given(st.lists(st.integers(1, 6), min_size=9, max_size=60), st.integers(2, 8))
    def test_no_bin_of_several_values_is_twice_its_fraction(self, weights, max_bins):
        total = sum(weights)
        if max(weights) * max_bins >= total:
            return
        values = np.arange(float(len(weights)))
        codes = codes_of(values, cuts_of(values, max_bins, weights))
        held = np.bincount(codes, weights=weights)
        assert held.max() < 2 * total / max_bins

    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_heavy_value_starves_neither_side(self, sign):
        # A column capped at its top: nine rows in ten hold the cap.
        values = sign * np.concatenate([np.arange(100.0), np.full(900, 1000.0)])
        cuts = cuts_of(values, 20)
        assert len(cuts) == 19
        counts = np.bincount(codes_of(values, cuts))[1:]
        assert sorted(counts)[-1] == 900
        assert sorted(counts)[-2] <= 6

    @given(st.lists(st.sampled_from([1, 1, 1, 1, 2, 500]), min_size=12, max_size=60), st.data())
    def test_heavy_values_stand_alone_where_bins_reach(self, weights, data):
        mass = {float(i): weight for i, weight in enumerate(weights)}
        max_bins = data.draw(st.integers(2, len(weights) - 1))
        heavy = reference.heavy_values(mass, max_bins)
        if 2 * len(heavy) + 1 > max_bins:
            return
        values = np.array(list(mass))
        codes = codes_of(values, cuts_of(values, max_bins, weights))
        for value in heavy:
            assert (codes == codes[int(value)]).sum() == 1

    def test_largest_weights_do_not_overflow(self):
        values = np.arange(200.0)
        weights = np.full(200, 2**40 // 200)
        np.testing.assert_array_equal(cuts_of(values, 199, weights), cuts_of(values, 199))


class TestCentres:
    @given(st.data(), own.columns(max_size=40), own.columns(min_size=0, max_size=9))
    def test_reference(self, data, values, cuts):
        # Any cuts, also some that leave bins empty.
        cuts = np.unique(cuts)
        weights = data.draw(own.whole_weights(len(values)))
        expected = reference.centres(values.tolist(), weights.tolist(), cuts.tolist())
        assert centres_of(values, cuts, weights).tolist() == expected
        expected = reference.centres(values.tolist(), [1] * len(values), cuts.tolist())
        assert centres_of(values, cuts).tolist() == expected

    @given(st.data(), own.columns(max_size=25), st.integers(2, 8))
    def test_weight_is_the_row_so_often(self, data, values, max_bins):
        weights = data.draw(own.whole_weights(len(values)))
        cuts = cuts_of(values, max_bins, weights)
        centres = centres_of(values, cuts, weights)
        assert centres.tobytes() == centres_of(np.repeat(values, weights), cuts).tobytes()

    @given(st.data(), own.columns(), st.integers(2, 8))
    def test_order_of_rows_and_a_common_factor_do_not_matter(self, data, values, max_bins):
        shuffled = np.array(data.draw(st.permutations(values.tolist())))
        cuts = cuts_of(values, max_bins)
        once = centres_of(values, cuts).tobytes()
        assert once == centres_of(shuffled, cuts).tobytes()
        assert once == centres_of(values, cuts, np.full(len(values), 7)).tobytes()

    @given(own.columns(max_size=40), st.integers(2, 12))
    def test_a_centre_is_a_value_of_its_bin(self, values, max_bins):
        cuts = cuts_of(values, max_bins)
        centres = centres_of(values, cuts)
        assert np.isin(centres, values).all()
        assert codes_of(centres, cuts).tolist() == list(range(1, len(cuts) + 2))

    @given(own.columns(max_size=30))
    def test_exact_where_values_are_few(self, values):
        distinct = np.unique(values)
        cuts = cuts_of(values, max(2, len(distinct)))
        np.testing.assert_array_equal(centres_of(values, cuts), distinct)

    @pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5])
    def test_lower_median(self, n_rows):
        assert centres_of(np.arange(1.0, n_rows + 1), []).tolist() == [(n_rows + 1) // 2]

    def test_a_value_on_a_cut_belongs_below(self):
        assert centres_of([1.0, 2.0, 2.0, 3.0], [2.0]).tolist() == [2.0, 3.0]

    def test_no_rows(self):
        assert find_centres(np.empty(0), ONCE, np.empty(0)).tolist() == [0.0]

    @pytest.mark.parametrize(
        "values",
        [[-0.0], [0.0, -0.0, -0.0], [-0.0, 0.0, 0.0, -0.0]],
        ids=["one row", "three rows", "four rows"],
    )
    def test_both_zeros_are_one_value(self, values):
        assert not np.signbit(centres_of(values, [])[0])
        assert not np.signbit(centres_of(values, [], np.full(len(values), 2))[0])

    def test_largest_weights_do_not_overflow(self):
        values = np.arange(200.0)
        assert centres_of(values, [99.0], np.full(200, 2**40 // 200)).tolist() == [49.0, 149.0]


class TestCodes:
    @given(own.columns(missing=True), own.columns(min_size=0, max_size=20))
    def test_reference_and_numpy(self, values, cuts):
        cuts = np.unique(cuts)
        codes = codes_of(values, cuts)
        assert codes.tolist() == reference.codes(values.tolist(), cuts.tolist())
        known = ~np.isnan(values)
        by_numpy = 1 + np.searchsorted(cuts, values[known], side="left")
        np.testing.assert_array_equal(codes[known], by_numpy)
        assert (codes[~known] == 0).all()

    @pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 254])
    def test_every_number_of_cuts(self, n_cuts):
        # The search halves a power of two: its ends are where it could go wrong.
        cuts = np.arange(float(n_cuts))
        values = np.concatenate([np.arange(-1.0, n_cuts + 1, 0.5), [np.nan, 1e308, -1e308]])
        codes = codes_of(values, cuts, np.uint8)
        assert codes.tolist() == reference.codes(values.tolist(), cuts.tolist())
        assert codes.max() == n_cuts + 1

    def test_most_bins(self):
        cuts = np.arange(65_534.0)
        assert codes_of([-1.0, 65_534.0, 65_533.0, np.nan], cuts).tolist() == [1, 65_535, 65_534, 0]

    @pytest.mark.parametrize("n_rows", [1, 7, 8, 9, 16, 17])
    def test_positives_first_in_order(self, n_rows):
        values = np.arange(float(n_rows))
        positive = np.random.default_rng(n_rows).random(n_rows) < 0.5
        codes = np.zeros(n_rows, dtype=np.uint8)
        columns = read_only(values), read_only(values[:-1].copy())
        code_numbers(*columns, positive, int(positive.sum()), codes)
        expected = np.concatenate([values[positive], values[~positive]]) + 1
        assert codes.tolist() == expected.tolist()


class TestSteps:
    @given(st.data(), own.columns(missing=True), own.columns(min_size=0, max_size=9))
    def test_reference(self, data, values, cuts):
        cuts = np.unique(cuts)
        size = len(cuts) + 2
        steps = data.draw(st.lists(st.integers(-9, 9), min_size=size, max_size=size))
        out = np.full(len(values), 100.0)
        columns = values, cuts, np.array(steps, dtype=np.float64)
        add_steps(*map(read_only, columns), out)
        expected = reference.score(values.tolist(), cuts.tolist(), [100.0 + s for s in steps])
        assert out.tolist() == expected

    def test_by_hand(self):
        columns = np.arange(3.0), np.array([0.5]), np.array([7.0, -1.0, 1.0])
        out = np.zeros(3)
        add_steps(*map(read_only, columns), out)
        assert out.tolist() == [-1.0, 1.0, 1.0]
