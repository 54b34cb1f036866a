"""Histograms of scores: fractions of each class, both styles, and the threshold."""

import matplotlib
import numpy as np
import pytest

from auctor.display import ScoreDistributionDisplay
from auctor.metrics import score_histogram

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.3
    return y, rng.normal(size=1000) + y


def test_shares_of_each_class(sample):
    y, s = sample
    display = ScoreDistributionDisplay.from_predictions(y, s, n_bins=20)
    counts = score_histogram(y, s, n_bins=20)
    assert np.array_equal(display.edges, counts.edges)
    assert np.allclose(display.fraction_pos * y.sum(), counts.pos)
    assert np.allclose(display.fraction_neg * (~y).sum(), counts.neg)
    assert display.has_more and "beyond" in display.ax_.get_xlabel()
    few = ScoreDistributionDisplay.from_predictions(y[:50], s[:50])
    assert not few.has_more and few.ax_.get_xlabel() == "score"


@pytest.mark.parametrize(("style", "sign"), [("mirrored", -1), ("overlaid", 1)])
def test_both_styles(sample, style, sign):
    y, s = sample
    display = ScoreDistributionDisplay.from_predictions(y, s, style=style)
    negatives, _, positives, _ = display.ax_.patches
    assert np.array_equal(negatives.get_data().values, sign * display.fraction_neg)
    assert np.array_equal(positives.get_data().values, display.fraction_pos)
    assert positives.get_hatch() != negatives.get_hatch()  # distinguished without colours
    with pytest.raises(ValueError, match="style is 'both'; give 'mirrored' or 'overlaid'"):
        display.plot(style="both")


def test_the_threshold(sample):
    y, s = sample
    display = ScoreDistributionDisplay.from_predictions(y, s, threshold=0.5)
    words = [text.get_text() for text in display.figure_.legends[0].get_texts()][-1]
    tpr, fpr = np.mean(s[y] >= 0.5), np.mean(s[~y] >= 0.5)
    assert words == (f"threshold 0.5: flags {tpr:.1%} of the positives, {fpr:.1%} of the negatives")
    chosen = ScoreDistributionDisplay.from_predictions(y, s, budget=100)
    assert chosen.point.flagged == 100 and chosen.criterion == "a budget of 100"
    with pytest.raises(ValueError, match="folds and an operating point are given"):
        ScoreDistributionDisplay.from_predictions(y, s, folds=np.arange(1000) % 2, threshold=0)
