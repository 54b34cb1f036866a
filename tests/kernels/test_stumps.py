"""The boosting kernels against their slow versions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.arrays import read_only
from auctor.kernels.scores import add_table, count_cells, sweep
from auctor.kernels.stumps import LEAST_GAIN, best_stump, reweight_and_count
from auctor.metrics import roc_curve
from tests.reference import kernels as slow

SCALE = 2.0**50


def count(codes, weight, factor, chosen, change, start, stop, n_codes):
    histogram = np.zeros((len(codes), n_codes), dtype=np.int64)
    rows = read_only(codes), read_only(weight), factor
    reweight_and_count(*rows, chosen, change, SCALE, start, stop, histogram)
    return histogram


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize(("n_features", "n_rows"), [(1, 5), (2, 17), (3, 4200)])
def test_histogram_equals_the_sum_row_by_row(n_features, n_rows, dtype):
    rng = np.random.default_rng(n_rows)
    n_codes = 9
    codes = rng.integers(0, n_codes, size=(n_features, n_rows)).astype(dtype)
    weight = rng.integers(1, 5, size=n_rows).astype(np.uint32)
    factor = rng.random(n_rows) / n_rows
    change = rng.random(n_codes) + 0.5
    chosen = n_features - 1
    after = factor * change[codes[chosen]]
    expected = slow.weight_histogram(codes, weight, after, SCALE, n_codes)
    histogram = count(codes, weight, factor, chosen, change, 0, n_rows, n_codes)
    assert histogram.tolist() == expected
    assert np.array_equal(factor, after)


def test_blocks_add_up_to_the_whole():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=(3, 100)).astype(np.uint8)
    weight = np.ones(100, dtype=np.uint32)
    factor = rng.random(100)
    change = np.ones(4)
    whole = count(codes, weight, factor.copy(), 0, change, 0, 100, 4)
    parts = [
        count(codes, weight, factor.copy(), 0, change, a, b, 4)
        for a, b in ((0, 1), (1, 64), (64, 64), (64, 100))
    ]
    assert np.array_equal(sum(parts), whole)
    # every row is in one code of each feature
    assert len(set(whole.sum(axis=1).tolist())) == 1


def test_a_row_of_weight_two_adds_what_the_row_twice_adds():
    codes = np.array([[1, 2]], dtype=np.uint8)
    factor = np.array([0.1, 1 / 3])
    heavy = count(codes, np.array([1, 2], dtype=np.uint32), factor, 0, np.ones(3), 0, 2, 3)
    codes = np.array([[1, 2, 2]], dtype=np.uint8)
    factor = np.array([0.1, 1 / 3, 1 / 3])
    twice = count(codes, np.ones(3, dtype=np.uint32), factor, 0, np.ones(3), 0, 3, 3)
    assert np.array_equal(heavy, twice)


@st.composite
def histograms(draw):
    """Class histograms of up to three features, empty codes and equal fractions among them."""
    n_bins = np.array(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    is_category = np.array([draw(st.booleans()) for _ in n_bins])
    n_codes = 1 + int(n_bins.max())
    rows = draw(
        st.lists(
            st.tuples(st.booleans(), *[st.integers(0, int(b)) for b in n_bins]),
            min_size=2,
            max_size=12,
        )
    )
    histogram = np.zeros((2, len(n_bins), n_codes), dtype=np.int64)
    for label, *codes in [(True, *n_bins), (False, *n_bins), *rows]:
        for j, code in enumerate(codes):
            histogram[int(label), j, code] += 2**40
    return histogram, n_bins, is_category


@given(histograms())
def test_no_stump_has_a_larger_edge(case):
    histogram, n_bins, is_category = case
    expected = slow.largest_edge(histogram[0], histogram[1], n_bins, is_category)
    totals = histogram[:, 0].sum(axis=1).tolist()
    feature, cut, missing_above, r = best_stump(
        histogram[0], histogram[1], *totals, n_bins, is_category
    )
    assert abs(r) == pytest.approx(expected, abs=2 * LEAST_GAIN)
    if feature < 0:
        assert expected <= LEAST_GAIN
    elif not is_category[feature]:
        code = np.arange(histogram.shape[2])
        above = (code > cut) | ((code == 0) & missing_above)
        above[0] = missing_above
        edge = slow.edge_of_codes(histogram[0, feature], histogram[1, feature], above)
        assert edge == pytest.approx(r, abs=1e-12)


def test_equal_stumps_keep_the_first():
    counts = np.array([[0, 3, 1]], dtype=np.int64)
    negative, positive = np.repeat(counts, 3, axis=0), np.repeat(counts[:, [0, 2, 1]], 3, axis=0)
    feature, cut, _, _ = best_stump(
        negative, positive, 4, 4, np.array([2, 2, 2]), np.zeros(3, dtype=np.bool_)
    )
    assert (feature, cut) == (0, 1)


scores_with_labels = st.lists(
    st.tuples(st.integers(-3, 3), st.booleans(), st.integers(1, 4)), max_size=15
).map(lambda rows: [(0, True, 1), (1, False, 2), *rows])


def split(rows):
    scores = np.array([score / 4 for score, _, _ in rows])
    positive = np.array([label for _, label, _ in rows])
    weight = np.array([w for _, _, w in rows], dtype=np.uint32)
    order = np.argsort(scores, kind="stable")
    return scores[order], positive[order], weight[order]


@given(scores_with_labels)
def test_sweep_counts_pairs_and_finds_youdens_cut(rows):
    scores, positive, weight = split(rows)
    totals = int(weight[~positive].sum()), int(weight[positive].sum())
    wrong, tied, cut = sweep(
        scores[~positive], weight[~positive], scores[positive], weight[positive], *totals
    )
    assert (wrong, tied) == slow.order_of_pairs(scores, positive, weight)
    if len(np.unique(scores)) == 1:
        assert cut > scores[0]
    else:
        assert not (scores == cut).any()
        above = scores > cut
        gap = slow.youden_gap(above, positive, weight)
        assert gap == pytest.approx(slow.best_youden(scores, positive, weight), abs=1e-12)
        point = roc_curve(positive, scores, sample_weight=weight).youden()
        if point.flagged:  # the same point, also where several are best
            assert (above == (scores >= point.threshold)).all()


def test_sweep_of_equal_scores():
    one = np.ones(1, dtype=np.uint32)
    assert sweep(np.array([2.0]), one, np.array([2.0]), one, 1, 1) == (0.0, 1.0, 4.0)


def test_a_cut_between_neighbouring_floats_separates_them():
    one, low = np.ones(1, dtype=np.uint32), 0.1
    high = float(np.nextafter(low, 1.0))
    assert sweep(np.array([low]), one, np.array([high]), one, 1, 1)[2] == high


def test_add_table_adds_the_entry_of_each_code():
    out = np.array([1.0, 1.0, 1.0])
    add_table(read_only(np.array([2, 0, 2], dtype=np.uint8)), np.array([0.5, 9.0, -1.0]), out)
    assert out.tolist() == [0.0, 1.5, 0.0]


def test_cells_hold_the_weight_of_their_scores():
    scores = np.array([0.0, 0.24, 0.25, 0.99, 1.0])
    weight = np.array([1, 2, 3, 4, 5], dtype=np.uint32)
    counts = np.zeros(4, dtype=np.int64)
    count_cells(scores, read_only(weight), 0.0, 0.25, counts)
    assert counts.tolist() == [3, 3, 0, 9]
