"""Precision at k: each k against the metric, intervals, and folds."""

import matplotlib
import numpy as np
import pytest

from auctor.display import PrecisionAtKDisplay
from auctor.metrics import precision_at_k
from auctor.metrics.rates import wilson

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def draw(n=120, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return y, np.round(rng.normal(size=n) + y, 1)


def test_every_k_is_the_metric():
    y, s = draw()
    display = PrecisionAtKDisplay.from_predictions(y, s)
    assert display.k[0] == 1 and display.k[-1] == 120 and (np.diff(display.k) > 0).all()
    for k, precision in zip(display.k, display.precision, strict=True):
        assert precision == pytest.approx(precision_at_k(y, s, k=int(k)))
    assert display.base_rate == np.mean(y)
    assert display.ax_.get_xscale() == "log"


def test_intervals_are_wilsons_and_the_mark_says_one():
    y = np.array([1, 1, 0, 1, 0, 0, 1, 0, 0, 0])
    display = PrecisionAtKDisplay.from_predictions(y, -np.arange(10), k=4)
    for k, low, high in zip(display.k, display.low, display.high, strict=True):
        ends = wilson(int(y[: int(k)].sum()), int(k), 0.95)
        assert (low, high) == pytest.approx(ends)
    assert display.marked == pytest.approx((4, 0.75, *wilson(3, 4, 0.95)))
    words = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert "precision at 4: 0.750 (0.301 to 0.954)" in words


def test_fractions_and_the_end_of_the_drawing():
    y, s = draw()
    display = PrecisionAtKDisplay.from_predictions(y, s, k=0.25, max_k=0.5)
    assert display.marked[0] == 30 and display.k[-1] == 60
    for options, says in (
        ({"k": 121}, "k is 121, but there are 120 rows"),
        ({"max_k": 0}, "max_k"),
    ):
        with pytest.raises(ValueError, match=says):
            PrecisionAtKDisplay.from_predictions(y, s, **options)


def test_weights():
    y, s = draw()
    plain = PrecisionAtKDisplay.from_predictions(y, s, k=30)
    doubled = PrecisionAtKDisplay.from_predictions(y, s, k=60, sample_weight=np.full(120, 2.0))
    # Twice the weight is no more evidence for an interval.
    assert doubled.marked[1:] == pytest.approx(plain.marked[1:])
    tiny = PrecisionAtKDisplay.from_predictions(y, s, sample_weight=np.full(120, 1 / 120))
    assert tiny.k[-1] == pytest.approx(1)
    assert tiny.precision[-1] == pytest.approx(np.mean(y))


def test_folds_and_their_mean():
    y, s = draw(300)
    folds = np.arange(300) % 3
    display = PrecisionAtKDisplay.from_predictions(y, s, folds=folds, k=20)
    each = [precision_at_k(y[folds == k], s[folds == k], k=20) for k in range(3)]
    assert display.marked[1] == pytest.approx(np.mean(each)) and np.isnan(display.marked[2])
    assert display.k[-1] == 100 and len(display.folds) == 3
    assert np.isnan(display.low).all() and not display.ax_.collections
