"""ROC curves of the score functions."""

from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from auctor import MartiRank, SmoothAUCBoost
from auctor.data import number_feature
from auctor.datasets import load_kyphosis
from auctor.display import ScoreROCDisplay
from auctor.metrics import auc_ci, roc_curve
from auctor.models import Surface

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
        roc, interval = roc_curve(y, parts[curve.name]), auc_ci(y, parts[curve.name])
        assert np.array_equal(curve.tpr, roc.tpr) and np.array_equal(curve.fpr, roc.fpr)
        assert (curve.auc, curve.low, curve.high) == (interval.value, interval.low, interval.high)
    assert display.total.auc == ranker.score(X, y)
    assert display.method == "DeLong's variance, Wilson's limits"


def test_the_legend_has_the_areas(fitted):
    ranker, X, y = fitted
    display = ScoreROCDisplay.from_estimator(ranker, X, y)
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    best, total = display.curves[0], display.total
    assert texts[0] == f"{best.name}: {best.auc:.3f} ({best.low:.3f} to {best.high:.3f})"
    assert texts[-1].startswith(f"whole score: {total.auc:.3f}")
    display.figure_.canvas.draw()


def test_it_draws_on_the_axes_it_is_given(fitted):
    ranker, X, y = fitted
    figure, ax = plt.subplots()
    display = ScoreROCDisplay.from_model(ranker.model_, X, y, features=["x0", "x3"], ax=ax)
    assert display.ax_ is ax and display.figure_ is figure
    assert [curve.name for curve in display.curves] == ["x0", "x3"]
    assert len(ax.lines) == 4  # the diagonal and the total as well
    assert display.n_left_out == 0
    turned = ScoreROCDisplay.from_model(ranker.model_, X, y, features=(3, np.int64(0)), ax=ax)
    assert [curve.name for curve in turned.curves] == ["x3", "x0"]
    assert display.plot(ax=ax) is display


def test_terms_of_one_name_have_their_own_curves(fitted):
    """A feature that is called as a surface is, and two surfaces of one pair."""
    ranker, X, y = fitted
    model = ranker.model_
    features = (*model.features[:3], number_feature("x0 x x1", np.empty(0)))
    axes = features[0], features[1]
    rng = np.random.default_rng(0)
    shape = axes[0].n_bins + 1, axes[1].n_bins + 1
    surfaces = tuple(Surface((0, 1), axes, rng.normal(size=shape)) for _ in range(2))
    model = replace(model, features=features, surfaces=surfaces, reference=None)
    frame = pd.DataFrame(X, columns=list(model.feature_names))
    display = ScoreROCDisplay.from_model(model, frame, y, features=[3, 4, 5])
    assert [c.name for c in display.curves] == ["x0 x x1", "x0 x x1 (2)", "x0 x x1 (3)"]
    parts = model.contributions(frame)[:, 3:]
    for curve, part in zip(display.curves, parts.T, strict=True):
        assert np.array_equal(curve.tpr, roc_curve(y, part).tpr)
        assert curve.auc == pytest.approx(np.trapezoid(curve.tpr, curve.fpr))


def test_weighted_curves_have_the_interval_of_the_metrics(fitted):
    ranker, X, y = fitted
    weight = 1.0 + np.arange(81) % 3
    display = ScoreROCDisplay.from_estimator(ranker, X, y, sample_weight=weight, max_curves=1)
    expected = auc_ci(y, ranker.decision_function(X), sample_weight=weight)
    assert display.method == expected.method
    assert (display.total.low, display.total.high) == (expected.low, expected.high)
    assert len(display.curves) == 1 and display.n_left_out == 3


def test_errors_say_what_can_be_drawn(fitted):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match="features has 'no'; give terms of the model"):
        ScoreROCDisplay.from_estimator(ranker, X, y, features="no")
    for wrong in (0, None, "all"):
        with pytest.raises(ValueError, match=f"max_curves is {wrong!r}; give a whole number"):
            ScoreROCDisplay.from_estimator(ranker, X, y, max_curves=wrong)
    with pytest.raises(ValueError, match="features is empty"):
        ScoreROCDisplay.from_estimator(ranker, X, y, features=[])
    with pytest.raises(ValueError, match="X has 81 rows and y has 7"):
        ScoreROCDisplay.from_estimator(ranker, X, y[[0, 1, 2, 3, 4, 5, 10]])
    with pytest.raises(ValueError, match="y is of type NoneType; give a one-dimensional array"):
        ScoreROCDisplay.from_estimator(ranker, X, None)
    with pytest.raises(ValueError, match="MartiRank has no additive model"):
        ScoreROCDisplay.from_estimator(MartiRank(n_layers=2).fit(X, y), X, y)
