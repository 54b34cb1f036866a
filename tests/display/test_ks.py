"""KS plots: fractions counted row by row, the gap, and folds."""

import matplotlib
import numpy as np
import pytest

from auctor.display import KSDisplay
from auctor.metrics import ks, ks_ci

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def draw(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return y, np.round(rng.normal(size=n) + y, 1)


def test_fractions_are_counted_row_by_row():
    y, s = draw()
    weight = np.random.default_rng(1).integers(0, 3, size=120)
    display = KSDisplay.from_predictions(y, s, sample_weight=weight)
    inner = slice(1, -2)  # the ends of the drawing are added
    for score, pos, neg in zip(
        display.distributions.score[inner],
        display.distributions.below_pos[inner],
        display.distributions.below_neg[inner],
        strict=True,
    ):
        for below, rows in ((pos, y), (neg, ~y)):
            assert below == pytest.approx(weight[rows & (s < score)].sum() / weight[rows].sum())
    assert display.ks == pytest.approx(ks(y, s, sample_weight=weight))
    assert display.gap[1] - display.gap[0] == pytest.approx(display.ks)


def test_the_gap_is_drawn_where_it_is_largest():
    y, s = draw()
    display = KSDisplay.from_predictions(y, s, name="ours")
    gaps = {t: np.mean(s[~y] < t) - np.mean(s[y] < t) for t in np.unique(s)}
    assert gaps[display.threshold] == pytest.approx(max(gaps.values()))
    across = next(line for line in display.ax_.lines if line.get_label().startswith("KS"))
    assert across.get_xdata()[0] == display.threshold
    assert np.ptp(across.get_ydata()) == pytest.approx(display.ks)
    assert display.ax_.get_title() == "ours"


def test_a_score_upside_down_has_no_gap():
    display = KSDisplay.from_predictions([1, 1, 0, 0], [1, 2, 3, 4])
    assert display.ks == 0 and display.threshold == np.inf
    across = next(line for line in display.ax_.lines if line.get_label().startswith("KS"))
    assert np.isnan(across.get_ydata()).all()


def test_far_scores_stay_outside():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    s = rng.normal(size=2000) + y
    s[:3] = 1e6, -1e6, np.inf
    display = KSDisplay.from_predictions(y, s)
    assert -6 < display.limits[0] < display.limits[1] < 7
    assert np.isfinite(display.distributions.score).all()
    assert (np.diff(display.distributions.score) >= 0).all()


def test_folds_and_their_mean():
    y, s = draw(300)
    folds = np.arange(300) % 3
    display = KSDisplay.from_predictions(y, s, folds=folds)
    assert display.ks == ks_ci(y, s, folds=folds).value and len(display.folds) == 3
    index = 200
    score = display.distributions.score[index]
    fractions = [np.mean(s[y & (folds == k)] < score) for k in range(3)]
    assert display.distributions.below_pos[index] == pytest.approx(np.mean(fractions))
    each = [ks(y[folds == k], s[folds == k]) for k in range(3)]
    assert display.gap[1] - display.gap[0] <= np.mean(each) + 1e-12
