"""Gain, lift and CAP: counted from the top, the lines to compare with, and folds."""

import matplotlib
import numpy as np
import pytest

from auctor.display import CAPDisplay, GainDisplay, LiftDisplay
from auctor.metrics import auc, gain_curve, lift, recall_at_k

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ALL = [CAPDisplay, GainDisplay, LiftDisplay]


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def draw(n=150, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return y, np.round(rng.normal(size=n) + y, 1)


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


@pytest.mark.parametrize("cls", ALL)
def test_numbers_are_those_of_the_gain_curve(cls):
    y, s = draw()
    display = cls.from_predictions(y, {"ours": s, "other": -s})
    expected = gain_curve(y, s)
    line = display.curves[0]
    assert np.array_equal(line.flagged_fraction, expected.flagged_fraction)
    assert np.array_equal(line.found_fraction, expected.found_fraction)
    assert line.at(0.3) == pytest.approx(recall_at_k(y, s, k=0.3))
    assert line.accuracy_ratio == pytest.approx(2 * auc(y, s) - 1)
    assert display.positive_fraction == np.mean(y)
    assert [text.split(":")[0] for text in legend(display)[:2]] == ["ours", "other"]


@pytest.mark.parametrize("cls", ALL)
def test_a_fraction_is_marked(cls):
    y, s = draw()
    display = cls.from_predictions(y, s, fraction=0.2)
    recall = recall_at_k(y, s, k=0.2)
    words = next(text for text in legend(display) if text.startswith("20.0% flagged"))
    assert f"{recall:.1%} of the positives, lift {recall / 0.2:.2f}" in words
    ring = next(line for line in display.ax_.lines if line.get_marker() == "o")
    height = recall / 0.2 if cls is LiftDisplay else recall
    assert (ring.get_xdata()[0], ring.get_ydata()[0]) == (0.2, pytest.approx(height))
    with pytest.raises(ValueError, match="fraction is 20; give a number from 0 to 1"):
        cls.from_predictions(y, s, fraction=20)


def test_the_lift_that_is_drawn():
    y, s = draw()
    display = LiftDisplay.from_predictions(y, s)
    x, height = display.ax_.lines[0].get_data()
    for index in (1, len(x) // 2, len(x) - 2):
        assert height[index] == pytest.approx(lift(y, s, k=float(x[index])))
    assert height[-1] == pytest.approx(1)
    assert f"lift {lift(y, s, k=0.1):.2f} in the top 10%" in legend(display)


def test_the_perfect_profile():
    y, s = draw()
    display = CAPDisplay.from_predictions(y, s)
    best = CAPDisplay.from_predictions(y, y.astype(float)).curves[0]
    perfect = next(line for line in display.ax_.lines if "perfect" in line.get_label())
    assert np.allclose(perfect.get_xdata(), best.flagged_fraction)
    assert np.allclose(perfect.get_ydata(), best.found_fraction)
    assert best.accuracy_ratio == 1


@pytest.mark.parametrize("cls", ALL)
def test_folds_and_their_vertical_mean(cls):
    y, s = draw(300)
    folds = np.arange(300) % 3
    line = cls.from_predictions(y, s, folds=folds).curves[0]
    each = [gain_curve(y[folds == k], s[folds == k]) for k in range(3)]
    assert len(line.folds) == 3
    assert line.at(0.25) == pytest.approx(np.mean([curve.at(0.25) for curve in each]))
    assert line.accuracy_ratio == pytest.approx(np.mean([c.accuracy_ratio for c in each]))
