"""ROC displays: their numbers are those of the metrics, and what the legend says."""

import matplotlib
import numpy as np
import pytest

from auctor.display import ROCDisplay
from auctor.metrics import auc_ci, compare_auc, roc_band, roc_curve, threshold_at

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    y = np.where(rng.random(200) < 0.3, "bad", "good")
    s = rng.normal(size=200) + (y == "bad")
    return y, s, rng.normal(size=200) + 0.5 * (y == "bad")


def legend(display):
    return [text.get_text() for text in display.figure_.legends[0].get_texts()]


def test_one_curve_with_interval_and_band(sample):
    y, s, _ = sample
    display = ROCDisplay.from_predictions(y, s, pos_label="bad", name="ours")
    (line,) = display.curves
    curve = roc_curve(y, s, pos_label="bad")
    assert np.array_equal(line.fpr, curve.fpr) and np.array_equal(line.tpr, curve.tpr)
    interval = auc_ci(y, s, pos_label="bad")
    assert (line.auc, line.low, line.high) == (interval.value, interval.low, interval.high)
    band = roc_band(y, s, pos_label="bad", random_state=0)
    assert np.array_equal(line.band.low, band.low)
    expected = f"ours: {interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f})"
    assert legend(display) == [expected, "chance"]
    assert display.comparison is None and display.point is None


@pytest.mark.parametrize("band", ["asymptotic", None])
def test_other_bands(sample, band):
    y, s, _ = sample
    display = ROCDisplay.from_predictions(y, s, pos_label="bad", band=band)
    assert (display.curves[0].band is None) == (band is None)
    assert len(display.ax_.collections) == (band is not None)


def test_two_curves_and_their_test(sample):
    y, s, other = sample
    display = ROCDisplay.from_predictions(y, {"ours": s, "theirs": other}, pos_label="bad")
    expected = compare_auc(y, s, other, pos_label="bad")
    assert repr(display.comparison) == repr(expected)
    title = display.ax_.get_title()
    assert f"{expected.difference:.3f}" in title and "paired, MOVER limits" in title
    assert [text.split(":")[0] for text in legend(display)] == ["ours", "theirs", "chance"]
    styles = {line.get_linestyle() for line in display.ax_.lines}
    assert len(styles) == 3  # distinguished without colours
    three = ROCDisplay.from_predictions(
        y, {"a": s, "b": other, "c": -s}, pos_label="bad", band=None
    )
    assert three.comparison is None and len(three.curves) == 3


@pytest.mark.parametrize("criterion", [{"fpr": 0.1}, {"tpr": 0.9}, {"budget": 20}, {"cost": 3.0}])
def test_the_point_is_that_of_threshold_at(sample, criterion):
    y, s, _ = sample
    display = ROCDisplay.from_predictions(y, s, pos_label="bad", band=None, **criterion)
    expected = threshold_at(y, s, pos_label="bad", **criterion)
    assert display.point == expected.point and display.criterion == expected.criterion
    words = [text for text in legend(display) if text.startswith("threshold")]
    assert f"tpr {expected.point.tpr:.3f}" in words[0] and expected.criterion in words[0]


def test_a_threshold_is_taken_as_it_is(sample):
    y, s, _ = sample
    display = ROCDisplay.from_predictions(y, s, pos_label="bad", threshold=0.5)
    assert display.point.threshold == 0.5
    assert display.point.tpr == np.mean(s[y == "bad"] >= 0.5)
    with pytest.raises(ValueError, match="give threshold or one of fpr, tpr, budget, cost"):
        ROCDisplay.from_predictions(y, s, threshold=0.5, fpr=0.1)
    with pytest.raises(ValueError, match="give exactly one of fpr, tpr, budget, cost"):
        ROCDisplay.from_predictions(y, s, tpr=0.5, fpr=0.1)


def test_folds_are_drawn_with_their_mean(sample):
    y, s, other = sample
    folds = np.arange(200) % 4
    display = ROCDisplay.from_predictions(y, {"a": s, "b": other}, folds=folds, pos_label="bad")
    line = display.curves[0]
    curves = [roc_curve(y[folds == k], s[folds == k], pos_label="bad") for k in range(4)]
    assert len(line.folds) == 4 and line.band is None
    for x in (0.0, 0.25, 0.5, 1.0):
        heights = [max(curve.at(fpr=x, interpolate=True).tpr, 0) for curve in curves]
        index = np.flatnonzero(line.fpr == x)[-1]
        assert line.tpr[index] == pytest.approx(np.mean(heights))
    assert line.auc == pytest.approx(np.mean([curve.auc() for curve in curves]))
    assert line.low == auc_ci(y, s, folds=folds, pos_label="bad").low
    expected = compare_auc(y, s, other, folds=folds, pos_label="bad")
    assert display.comparison.p_value == expected.p_value
    with pytest.raises(ValueError, match="folds and an operating point are given"):
        ROCDisplay.from_predictions(y, s, folds=folds, fpr=0.1)


def test_weights_and_groups_are_counted(sample):
    y, s, other = sample
    options = {"pos_label": "bad", "n_resamples": 50}
    weighted = ROCDisplay.from_predictions(y, s, sample_weight=1 + (s > 0), **options)
    assert weighted.method == "DeLong's variance, Wilson's limits"
    grouped = ROCDisplay.from_predictions(
        y, {"a": s, "b": other}, groups=np.arange(200) // 4, **options
    )
    assert grouped.method == "Obuchowski's variance over groups, Wilson's limits"
    assert grouped.comparison.method == "paired by groups, MOVER limits"
    assert grouped.curves[0].band.method == "combined intervals at the effective number of rows"


def test_one_row_of_a_class_has_no_interval():
    display = ROCDisplay.from_predictions([0, 0, 1], [1, 2, 3])
    assert np.isnan(display.curves[0].low)
    assert legend(display)[0] == "1.000"
    title = display.figure_.legends[0].get_title().get_text()
    assert "none, because a class has only one row" in title
