"""Calibration: bins by hand, scikit-learn as a witness, weights, and the edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from auctor.metrics import calibration_table
from auctor.metrics.calibration import wilson_ends
from auctor.metrics.rates import wilson


def draw(n, seed, decimals=2):
    rng = np.random.default_rng(seed)
    p = np.round(rng.beta(1, 3, size=n), decimals)
    y = (rng.random(n) < p).astype(int)
    y[:2] = 0, 1
    return y, p, rng.integers(0, 4, size=n) + (np.arange(n) < 2)


def by_hand(y, p, w, n_bins, strategy):
    """Bins row by row: where the middle of the rows of a probability stands, or its width."""
    bins = {}
    for label, value, weight in zip(y, p, w, strict=True):
        below, own = w[p < value].sum(), w[p == value].sum()
        position = (below + own / 2) / w.sum() if strategy == "quantile" else value
        if weight > 0:
            key = min(int(np.floor(position * n_bins + 1e-12)), n_bins - 1)
            bins.setdefault(key, []).append((label, value, weight))
    for key in sorted(bins):
        label, value, weight = np.array(bins[key]).T
        yield (weight @ value) / weight.sum(), (weight @ label) / weight.sum(), weight.sum()


@given(seed=st.integers(0, 1000), n_bins=st.integers(1, 7), weighted=st.booleans())
@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_equals_bins_made_by_hand(strategy, seed, n_bins, weighted):
    y, p, w = draw(25, seed, decimals=1)
    w = w if weighted else np.ones(25)
    options = {"sample_weight": w} if weighted else {}
    table = calibration_table(y, p, n_bins=n_bins, strategy=strategy, **options)
    expected = np.array(list(by_hand(y, p, w, n_bins, strategy)))
    assert np.allclose(table.mean_probability, expected[:, 0])
    assert np.allclose(table.observed, expected[:, 1])
    assert np.array_equal(table.count, expected[:, 2])
    error = (np.abs(expected[:, 0] - expected[:, 1]) * expected[:, 2]).sum() / w.sum()
    assert table.expected_error == pytest.approx(error)


@pytest.mark.parametrize("strategy", ["quantile", "uniform"])
def test_scikit_learn_agrees(strategy):
    y, p, w = draw(2000, 0, decimals=15)
    table = calibration_table(y, p, strategy=strategy)
    observed, mean = calibration_curve(y, p, n_bins=10, strategy=strategy)
    assert np.allclose(table.observed, observed, atol=0.012 * (strategy == "quantile"))
    assert np.allclose(table.mean_probability, mean, atol=0.002 * (strategy == "quantile"))
    assert table.brier == pytest.approx(brier_score_loss(y, p))
    weighted = calibration_table(y, p, sample_weight=w)
    assert weighted.brier == pytest.approx(brier_score_loss(y, p, sample_weight=w))


def test_weights_are_rows_as_often():
    y, p, w = draw(200, 1)
    once = calibration_table(y, p, sample_weight=w)
    often = calibration_table(np.repeat(y, w), np.repeat(p, w))
    for name in ("mean_probability", "observed", "count", "brier", "expected_error"):
        assert np.allclose(getattr(once, name), getattr(often, name), rtol=1e-12)
    scaled = calibration_table(y, p, sample_weight=w / 7)  # the unit of weights is no evidence
    assert np.allclose(scaled.low, once.low) and np.allclose(scaled.high, once.high)


def test_intervals_are_wilsons():
    y, p, _ = draw(300, 2)
    table = calibration_table(y, p, level=0.9)
    positives = table.observed * table.count
    for k in range(len(table.count)):
        ends = wilson(round(positives[k]), int(table.count[k]), 0.9)
        assert (table.low[k], table.high[k]) == pytest.approx(ends)
    assert np.isnan(wilson_ends(np.array([0.0]), np.array([0.0]), 0.95)).all()


def test_constants_strings_and_ends():
    table = calibration_table(["a", "b", "b"], [1, 1, 1], pos_label="a")
    assert len(table.count) == 1 and table.observed[0] == pytest.approx(1 / 3)
    table = calibration_table([0, 1], [0.0, 1.0], strategy="uniform")
    assert table.mean_probability.tolist() == [0, 1] and table.brier == 0
    assert repr(table).startswith("calibration in 2 bins: Brier score 0.0000")


@pytest.mark.parametrize(
    ("p", "options", "says"),
    [
        ([0.1, 1.2], {}, "probability has values from 0.1 to 1.2; give probabilities"),
        ([0.1, np.nan], {}, "probability"),
        ([0.1, 0.2], {"n_bins": 0}, "n_bins is 0; give a whole number of at least 1"),
        ([0.1, 0.2], {"strategy": "even"}, "strategy is 'even'; give 'quantile' or 'uniform'"),
        ([0.1, 0.2], {"level": 0}, "level"),
    ],
)
def test_bad_arguments_are_named(p, options, says):
    with pytest.raises(ValueError, match=says):
        calibration_table([0, 1], p, **options)
    with pytest.raises(ValueError, match="y_true"):
        calibration_table([1, 1], [0.5, 0.5])
