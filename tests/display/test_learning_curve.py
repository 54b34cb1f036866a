"""What cross-validation said, drawn: against the penalty, and against the rounds."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from auctor import SmoothAUCBoost
from auctor.display import LearningCurveDisplay

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def newton(penalty=(1e-2, 1e-3, 1e-1, 1e-2, 1e-2), shrinkage=(1.0, 1.0, 1.0, 2.0, 4.0)):
    """What SmoothAUCBoostCV keeps: candidates in the order tried."""
    aucs = np.random.default_rng(0).uniform(0.6, 0.8, size=(len(penalty), 4))
    results = {
        "penalty": np.array(penalty),
        "shrinkage": np.array(shrinkage),
        "mean_auc": aucs.mean(axis=1),
        "std_auc": aucs.std(axis=1, ddof=1),
        "aucs": aucs,
    }
    return SimpleNamespace(cv_results_=results, penalty_=penalty[1], shrinkage_=shrinkage[1])


def stagewise():
    found = newton((0.1, 0.01), (0.0, 0.0))
    staged = np.random.default_rng(1).uniform(size=(2, 4, 6))
    found.cv_results_ |= {"rounds": np.array([1, 5, 10, 50, 100, 500]), "staged_auc": staged}
    found.n_estimators_ = 50
    return found


def test_numbers_are_those_of_the_folds():
    found = newton()
    display = LearningCurveDisplay.from_estimator(found)
    aucs = found.cv_results_["aucs"]
    assert np.array_equal(display.mean_auc, aucs.mean(axis=1))
    assert np.allclose(display.standard_error, aucs.std(axis=1, ddof=1) / 2)
    assert (display.best_penalty, display.best_shrinkage, display.n_folds) == (1e-3, 1.0, 4)
    assert display.rounds is None


def test_against_the_penalty():
    display = LearningCurveDisplay.from_estimator(newton())
    assert display.ax_.get_xscale() == "log"
    line = display.ax_.containers[0].lines[0]
    assert line.get_xdata().tolist() == [1e-3, 1e-2, 1e-1]
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert set(texts) == {"shrinkage 1", "other shrinkage", "chosen"}


def test_against_the_shrinkage():
    figure, ax = plt.subplots()
    display = LearningCurveDisplay.from_estimator(newton(), against="shrinkage", ax=ax)
    assert display.ax_ is ax and display.figure_ is figure
    assert ax.containers[0].lines[0].get_xdata().tolist() == [1.0, 2.0, 4.0]


def test_a_penalty_of_zero_has_a_place_on_the_log_scale():
    display = LearningCurveDisplay.from_estimator(newton((0.0, 0.01, 0.1), (1.0, 1.0, 1.0)))
    x = display.ax_.containers[0].lines[0].get_xdata()
    assert 0 < x[0] < 0.01
    assert "0" in [text.get_text() for text in display.ax_.texts]
    display.figure_.canvas.draw()


def test_against_the_rounds_one_line_for_each_penalty():
    found = stagewise()
    display = LearningCurveDisplay.from_estimator(found)
    staged = found.cv_results_["staged_auc"]
    assert np.allclose(display.staged_mean, staged.mean(axis=1))
    assert np.allclose(display.staged_error, staged.std(axis=1, ddof=1) / 2)
    lines = display.ax_.lines
    assert len(lines) == 2
    assert np.allclose(lines[0].get_ydata(), staged[1].mean(axis=0))  # the smaller penalty first
    assert lines[0].get_label().endswith("chosen")
    assert display.plot(against="penalty") is display


def test_one_fold_has_no_standard_error():
    found = newton()
    found.cv_results_["aucs"] = found.cv_results_["aucs"][:, :1]
    assert not LearningCurveDisplay.from_estimator(found).standard_error.any()


def test_errors_say_what_can_be_drawn():
    with pytest.raises(ValueError, match="SmoothAUCBoost holds no results of cross-validation"):
        LearningCurveDisplay.from_estimator(SmoothAUCBoost())
    with pytest.raises(ValueError, match="the newton solver has none"):
        LearningCurveDisplay.from_estimator(newton(), against="rounds")
    with pytest.raises(ValueError, match="against is 'time'"):
        LearningCurveDisplay.from_estimator(newton(), against="time")
