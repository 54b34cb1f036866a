"""Histograms of scores: counted row by row, weights, and scores far away."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.metrics import score_histogram
from auctor.testing.strategies import labelled_scores


def by_hand(edges, y, s, w):
    """One row after the other into the last bin that starts at or below its score."""
    counts = np.zeros((2, len(edges) - 1))
    for label, score, weight in zip(y, s, w, strict=True):
        bin_ = sum(score >= edge for edge in edges[1:-1])
        counts[label, bin_] += weight
    return counts


@given(labelled_scores(), st.integers(1, 12))
def test_equals_a_count_row_by_row(drawn, n_bins):
    y, s, w = drawn
    histogram = score_histogram(y, s, n_bins=n_bins, sample_weight=w)
    assert len(histogram.edges) == n_bins + 1
    assert np.isfinite(histogram.edges).all() and (histogram.edges[1:] > histogram.edges[:-1]).all()
    neg, pos = by_hand(histogram.edges, y, s, w)
    assert np.allclose(histogram.pos, pos) and np.allclose(histogram.neg, neg)


@given(labelled_scores())
def test_weights_are_rows_as_often(drawn):
    y, s, w = drawn
    times = w.astype(int)
    once = score_histogram(y, s, sample_weight=w)
    often = score_histogram(np.repeat(y, times), np.repeat(s, times))
    for name in ("edges", "pos", "neg"):
        assert np.array_equal(getattr(once, name), getattr(often, name))


def test_far_and_infinite_scores_are_in_the_end_bins():
    rng = np.random.default_rng(0)
    s = rng.normal(size=2000)
    s[:4] = 1e9, -1e9, np.inf, -np.inf
    y = np.arange(2000) % 2
    histogram = score_histogram(y, s)
    assert -3.5 < histogram.edges[0] < histogram.edges[-1] < 3.5
    assert histogram.pos.sum() == histogram.neg.sum() == 1000
    assert histogram.neg[-1] >= 2 and histogram.pos[0] >= 2
    assert "40 bins" in repr(histogram)


@pytest.mark.parametrize("s", [[3.0, 3.0], [np.inf, np.inf], [np.inf, -np.inf], [1.7e308, 1.7e308]])
def test_one_finite_value_or_none(s):
    histogram = score_histogram(["no", "yes"], s, n_bins=4)
    assert (histogram.edges[1:] > histogram.edges[:-1]).all()
    assert histogram.pos.sum() == histogram.neg.sum() == 1


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"n_bins is 2\.5; give a whole number of at least 1"):
        score_histogram([0, 1], [0, 1], n_bins=2.5)
    with pytest.raises(ValueError, match="y_score"):
        score_histogram([0, 1], [0, np.nan])


def test_a_rare_class_is_not_cut_off():
    rng = np.random.default_rng(0)
    y = np.arange(20_000) < 100
    s = rng.normal(size=20_000) + 4 * y
    histogram = score_histogram(y, s)
    assert histogram.edges[-1] == pytest.approx(np.sort(s[y])[-1])
    assert histogram.pos[-1] < 5
    assert histogram.edges[0] == pytest.approx(np.quantile(s[~y], 0.005), abs=0.01)
