"""ROC curves of the score functions."""

import matplotlib
import numpy as np
import pytest

from auctor import MartiRank, SmoothAUCBoost
from auctor.datasets import load_kyphosis
from auctor.display import ScoreROCDisplay
from auctor.metrics import auc_ci, roc_curve

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def fitted():
    sample = load_kyphosis()
    X = np.column_stack([sample.X, np.ones(81)])
    return SmoothAUCBoost().fit(X, sample.y), X, sample.y


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def test_curves_are_those_of_each_part_of_the_score(fitted):
    ranker, X, y = fitted
    display = ScoreROCDisplay.from_estimator(ranker, X, y)
    parts = dict(zip(ranker.model_.feature_names, ranker.model_.contributions(X).T, strict=True))
    assert display.n_left_out == 1 and "x3" not in [curve.name for curve in display.curves]
    aucs = [curve.auc for curve in display.curves]
    assert aucs == sorted(aucs, reverse=True)
    for curve in display.curves:
        found, interval = roc_curve(y, parts[curve.name]), auc_ci(y, parts[curve.name])
        assert np.array_equal(curve.tpr, found.tpr) and np.array_equal(curve.fpr, found.fpr)
        assert (curve.auc, curve.low, curve.high) == (interval.value, interval.low, interval.high)
    assert display.total.auc == ranker.score(X, y)
    assert display.method == "DeLong"


def test_the_legend_has_the_areas(fitted):
    ranker, X, y = fitted
    display = ScoreROCDisplay.from_estimator(ranker, X, y)
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    best, total = display.curves[0], display.total
    assert texts[0] == f"{best.name}: {best.auc:.3f} ({best.low:.3f} to {best.high:.3f})"
    assert texts[-1].startswith(f"all together: {total.auc:.3f}")
    display.figure_.canvas.draw()


def test_it_draws_on_the_axes_it_is_given(fitted):
    ranker, X, y = fitted
    figure, ax = plt.subplots()
    display = ScoreROCDisplay.from_model(ranker.model_, X, y, features=["x0", "x3"], ax=ax)
    assert display.ax_ is ax and display.figure_ is figure
    assert [curve.name for curve in display.curves] == ["x0", "x3"]
    assert len(ax.lines) == 4  # the diagonal and the total as well
    assert display.plot(ax=ax) is display


def test_weights_need_the_bootstrap(fitted):
    ranker, X, y = fitted
    display = ScoreROCDisplay.from_estimator(ranker, X, y, sample_weight=1.0 + y, max_curves=1)
    assert display.method == "stratified bootstrap"
    assert len(display.curves) == 1 and display.n_left_out == 3


def test_errors_say_what_can_be_drawn(fitted):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match="features has 'no'; the model has"):
        ScoreROCDisplay.from_estimator(ranker, X, y, features="no")
    with pytest.raises(ValueError, match="max_curves is 0"):
        ScoreROCDisplay.from_estimator(ranker, X, y, max_curves=0)
    with pytest.raises(ValueError, match="MartiRank holds no additive model"):
        ScoreROCDisplay.from_estimator(MartiRank(n_estimators=2).fit(X, y), X, y)
