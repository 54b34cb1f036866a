"""The kernels over sparse codes against those over dense ones."""

import numpy as np
import pytest

from auctor.kernels.arrays import read_only
from auctor.kernels.sparse import best_ragged_stump, count_sparse, reweight
from auctor.kernels.stumps import best_stump, reweight_and_count

SCALE = 2.0**50
N_BINS = np.array([2, 1, 6, 3])
FIRST = read_only(np.concatenate([[0], np.cumsum(N_BINS + 1)]))
N_CODES = 7


def make_codes(seed, n_rows, default):
    """Dense codes, most of them each feature's default."""
    rng = np.random.default_rng(seed)
    codes = np.stack([rng.integers(0, n + 1, n_rows) for n in N_BINS]).astype(np.uint16)
    usual = rng.random(codes.shape) < 0.7
    return np.where(usual, default[:, None], codes).astype(np.uint16)


def lists_of(codes, default, n_pos):
    """starts, middles and rows, feature by feature and code by code."""
    starts, middles, rows = [0], [], []
    for j, column in enumerate(codes):
        for code in range(N_BINS[j] + 1):
            here = np.flatnonzero(column == code) if code != default[j] else np.empty(0, int)
            middles.append(starts[-1] + int((here < n_pos).sum()))
            starts.append(starts[-1] + len(here))
            rows.extend(here.tolist())
    lists = np.array(starts), np.array(middles), np.array(rows, dtype=np.uint32)
    return [read_only(each) for each in lists]


@pytest.mark.parametrize("n_pos", [0, 1, 20, 50])
@pytest.mark.parametrize("seed", range(4))
def test_histograms_equal_the_dense_ones(seed, n_pos):
    n_rows = 50
    rng = np.random.default_rng(seed)
    default = read_only(rng.integers(0, N_BINS + 1))
    codes = make_codes(seed, n_rows, default)
    weight = read_only(rng.integers(1, 5, size=n_rows).astype(np.uint32))
    change = rng.random((2, N_CODES)) + 0.5
    factor = rng.random(n_rows) / n_rows
    dense_factor = factor.copy()
    dense = np.zeros((2, len(codes), N_CODES), dtype=np.int64)
    quantised = np.empty(n_rows, dtype=np.int64)
    totals = [0, 0]
    for label, start, stop in ((1, 0, n_pos), (0, n_pos, n_rows)):
        block = SCALE, start, stop
        rows = read_only(codes), weight, dense_factor
        reweight_and_count(*rows, 2, change[label], *block, dense[label])
        totals[label] = reweight(codes[2], weight, factor, change[label], *block, quantised)
    assert np.array_equal(factor, dense_factor)
    counts = np.zeros((2, FIRST[-1]), dtype=np.int64)
    lists = lists_of(codes, default, n_pos)
    for begin, end in ((0, 1), (1, 4)):  # two threads
        count_sparse(FIRST, default, *lists, quantised, *totals, begin, end, *counts)
    for j, n_bins in enumerate(N_BINS):
        ours = counts[:, FIRST[j] : FIRST[j + 1]]
        assert np.array_equal(ours, dense[:, j, : n_bins + 1])


@pytest.mark.parametrize("seed", range(30))
def test_the_same_stump_as_in_an_array(seed):
    rng = np.random.default_rng(seed)
    n_bins = rng.integers(1, N_CODES, size=20)
    first = read_only(np.concatenate([[0], np.cumsum(n_bins + 1)]))
    default = read_only(rng.integers(0, n_bins + 1))
    is_category = rng.random(len(n_bins)) < 0.3
    dense = np.zeros((2, len(n_bins), N_CODES), dtype=np.int64)
    for j, last in enumerate(n_bins):
        fraction = rng.random(last + 1) * (rng.random(last + 1) < 0.7)
        fraction[default[j]] += 5.0  # most rows have the default, as in sparse tables
        for label, total in enumerate((90, 60)):  # the same for every feature
            dense[label, j, : last + 1] = rng.multinomial(total, fraction / fraction.sum())
    counts = np.concatenate([dense[:, j, : last + 1] for j, last in enumerate(n_bins)], axis=1)
    stump = best_ragged_stump(*counts, first, default, 90, 60, is_category)
    assert stump == best_stump(*dense, 90, 60, n_bins, is_category)
    assert stump[0] >= 0


@pytest.mark.parametrize("is_category", [False, True])
@pytest.mark.parametrize("usual", [1, 2])
@pytest.mark.parametrize("label", [0, 1])
def test_a_feature_that_is_better_by_a_row_is_not_passed_over(label, usual, is_category):
    """All that is off the default is of one class: |r| is the largest that it can be."""
    counts = np.zeros((2, 6), dtype=np.int64)
    for j, off in enumerate((10, 11)):
        counts[:, 3 * j + usual] = 90, 60
        counts[label, 3 * j + usual] -= off
        counts[label, 3 * j + 3 - usual] = off
    first, default = read_only(np.array([0, 3, 6])), read_only(np.array([usual, usual]))
    stump = best_ragged_stump(*counts, first, default, 90, 60, np.full(2, is_category))
    assert stump[0] == 1
    assert abs(stump[3]) == pytest.approx(11 / (90, 60)[label])
