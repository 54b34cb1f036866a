"""Gain and lift: rows walked from the top, weights, and the link to the AUC."""

import numpy as np
import pytest
from hypothesis import given

from auctor.metrics import GainCurve, auc, gain_curve, lift, recall_at_k, roc_curve
from auctor.testing.strategies import labelled_scores


def walk(y, s, w):
    """(fraction flagged, fraction found) for every threshold, one at a time."""
    points = [(0.0, 0.0)]
    for threshold in sorted(set(s.tolist()), reverse=True):
        rows = s >= threshold
        points.append((w[rows].sum() / w.sum(), w[rows & (y == 1)].sum() / w[y == 1].sum()))
    return np.array(points)


@given(labelled_scores())
def test_equals_a_walk_down_the_scores(drawn):
    y, s, w = drawn
    gains = gain_curve(y, s, sample_weight=w)
    present = w > 0
    points = walk(y[present], s[present], w[present])
    assert np.allclose(np.column_stack([gains.flagged_fraction, gains.found_fraction]), points)
    assert gains.accuracy_ratio == pytest.approx(2 * auc(y, s, sample_weight=w) - 1)
    assert gains.positive_fraction == pytest.approx(w[y == 1].sum() / w.sum())
    assert gains.n_rows == present.sum()


@given(labelled_scores())
def test_weights_are_rows_as_often(drawn):
    y, s, w = drawn
    times = w.astype(int)
    once = gain_curve(y, s, sample_weight=w)
    often = gain_curve(np.repeat(y, times), np.repeat(s, times))
    assert np.array_equal(once.flagged_fraction, often.flagged_fraction)
    assert np.array_equal(once.found_fraction, often.found_fraction)


def test_the_accuracy_ratio_is_that_of_the_areas():
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.2
    gains = gain_curve(y, rng.normal(size=300) + y)
    area = np.trapezoid(gains.found_fraction, gains.flagged_fraction) - 0.5
    perfect = (1 - gains.positive_fraction) / 2
    assert gains.accuracy_ratio == pytest.approx(area / perfect)


def test_lift_and_at_agree_with_the_functions_of_the_top():
    rng = np.random.default_rng(1)
    y = rng.random(50) < 0.3
    s = rng.integers(0, 9, size=50)
    gains = gain_curve(y, s)
    for fraction in (0.1, 0.34, 0.5):
        assert gains.at(fraction) == pytest.approx(recall_at_k(y, s, k=fraction))
        assert gains.at(fraction) / fraction == pytest.approx(lift(y, s, k=fraction))
    assert gains.lift[0] == gains.lift[1] and gains.lift[-1] == pytest.approx(1)
    assert (gains.at(0), gains.at(1)) == (0, 1)


def test_it_comes_from_a_roc_curve_and_prints():
    curve = roc_curve(["good", "bad", "good", "bad"], [1, 2, np.inf, 4], pos_label="bad")
    gains = GainCurve.from_roc(curve)
    assert gains.flagged_fraction.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert repr(gains).startswith("gain curve of 4 rows, 50% of them positive: accuracy ratio 0.0")
    with pytest.raises(ValueError, match="fraction is 20; give a number from 0 to 1"):
        gains.at(20)
