"""Calibration displays: the table's numbers, the strip, and whose probability it is."""

import matplotlib
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from auctor import RankBoost
from auctor.display import CalibrationDisplay
from auctor.metrics import calibration_table

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 3, size=500)
    return rng.random(500) < p, p, rng.integers(0, 3, size=500)


def test_numbers_are_those_of_the_table(sample):
    y, p, w = sample
    for options in ({}, {"strategy": "uniform", "n_bins": 5, "level": 0.9}, {"sample_weight": w}):
        display = CalibrationDisplay.from_predictions(y, p, **options)
        expected = calibration_table(y, p, **options)
        for name in ("mean_probability", "observed", "low", "high", "count"):
            assert np.array_equal(getattr(display.table, name), getattr(expected, name))
    assert display.counts.sum() == w.sum()


def test_points_and_the_strip_below(sample):
    y, p, _ = sample
    display = CalibrationDisplay.from_predictions(y, p)
    points = display.ax_.containers[0].lines[0]
    assert np.array_equal(points.get_ydata(), display.table.observed)
    by_hand = [np.sum((p >= k / 40) & (p < (k + 1) / 40)) for k in range(40)]
    assert display.counts.tolist() == by_hand
    strip = display.ax_.patches[0].get_data()
    assert strip.values.max() < 0 and strip.values.argmax() == np.argmax(by_hand)
    assert display.ax_.get_yticks().min() == 0  # the strip has no fraction to read off


@pytest.mark.parametrize("kind", [RankBoost(n_estimators=10, pos_label="a"), LogisticRegression()])
def test_probabilities_are_those_of_the_positive_class(kind):
    rng = np.random.default_rng(0)
    y = np.where(rng.random(300) < 0.3, "a", "b")
    X = rng.normal(size=(300, 2)) + (y == "a")[:, None]
    fitted = kind.fit(X, y)
    display = CalibrationDisplay.from_estimator(fitted, X, y, pos_label="a")
    expected = calibration_table(y, fitted.predict_proba(X)[:, 0], pos_label="a")
    assert np.array_equal(display.table.observed, expected.observed)
    assert display.table.expected_error < 0.1


def test_scores_are_no_probabilities():
    with pytest.raises(ValueError, match="probability has values from -2 to 3"):
        CalibrationDisplay.from_predictions([0, 1], [-2, 3])


def test_a_rare_class_is_not_lost_in_a_corner():
    rng = np.random.default_rng(0)
    p = rng.beta(1, 60, size=5000)
    display = CalibrationDisplay.from_predictions(rng.random(5000) < p, p)
    assert display.edges[-1] < 0.2 and display.counts.sum() == 5000
    assert display.edges[-1] >= display.table.high.max()
    assert display.ax_.get_xlim()[1] < 0.2
