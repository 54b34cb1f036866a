"""What cross-validation said, drawn: against the penalty, and against the rounds."""

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from auctor import SmoothAUCBoost, SmoothAUCBoostCV
from auctor.datasets import load_kyphosis
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
    cv_results = newton((0.1, 0.01), (0.0, 0.0))
    staged = np.random.default_rng(1).uniform(size=(2, 4, 6))
    cv_results.cv_results_ |= {"rounds": np.array([1, 5, 10, 50, 100, 500]), "staged_auc": staged}
    cv_results.n_estimators_ = 50
    return cv_results


def test_numbers_are_those_of_the_folds():
    cv_results = newton()
    display = LearningCurveDisplay.from_estimator(cv_results)
    aucs = cv_results.cv_results_["aucs"]
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


def with_surfaces(chosen):
    """The second candidate once more, with surfaces, and which of both was chosen."""
    cv_results = newton((1e-2, 1e-3, 1e-1, 1e-3), (1.0,) * 4)
    cv_results.cv_results_["interactions"] = np.array([0, 0, 0, 10])
    cv_results.interactions_ = chosen
    return cv_results


@pytest.mark.parametrize(("chosen", "position"), [(0, 1), (10, 3), (2, 1)])
@pytest.mark.parametrize("against", ["penalty", "shrinkage"])
def test_surfaces_have_a_mark_of_their_own(chosen, position, against):
    """Also where 2 were asked for, which no candidate has."""
    cv_results = with_surfaces(chosen)
    display = LearningCurveDisplay.from_estimator(cv_results, against=against)
    ax, mean = display.ax_, cv_results.cv_results_["mean_auc"]
    marks = {box.get_label(): box.lines[0].get_ydata().tolist() for box in ax.containers}
    assert marks["with 10 surfaces"] == [mean[3]]
    if against == "penalty":
        assert marks["shrinkage 1"] == mean[[1, 0, 2]].tolist()  # in the order of the penalty
    else:
        assert marks["candidates"] == mean[:3].tolist()  # no line has two points
    star = next(line for line in ax.lines if line.get_label() == "chosen")
    assert star.get_ydata().tolist() == [mean[position]]
    display.figure_.canvas.draw()


@pytest.mark.parametrize("against", ["penalty", "shrinkage"])
def test_one_candidate(against):
    cv_results = newton((1e-3, 1e-3), (1.0, 1.0))
    cv_results.cv_results_ = {name: value[:1] for name, value in cv_results.cv_results_.items()}
    display = LearningCurveDisplay.from_estimator(cv_results, against=against)
    assert [box.get_label() for box in display.ax_.containers] == ["candidates"]
    display.figure_.canvas.draw()


def test_the_legend_lies_within_the_axes_it_is_given():
    for cv_results in (newton(), stagewise()):
        figure, ax = plt.subplots(figsize=(5, 4))
        LearningCurveDisplay.from_estimator(cv_results, ax=ax)
        figure.canvas.draw()
        box, legend = ax.get_window_extent(), ax.get_legend().get_window_extent()
        assert box.x0 <= legend.x0 and legend.x1 <= box.x1


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
    cv_results = stagewise()
    display = LearningCurveDisplay.from_estimator(cv_results)
    staged = cv_results.cv_results_["staged_auc"]
    assert np.allclose(display.staged_mean, staged.mean(axis=1))
    assert np.allclose(display.staged_error, staged.std(axis=1, ddof=1) / 2)
    lines = display.ax_.lines
    assert len(lines) == 3  # two penalties, and a star at the T that was chosen
    assert np.allclose(lines[0].get_ydata(), staged[1].mean(axis=0))  # the smaller penalty first
    assert lines[0].get_label().endswith("chosen")
    assert lines[1].get_label() == "chosen: T = 50"
    assert lines[1].get_xydata().tolist() == [[50, staged[1, :, 3].mean()]]
    assert display.plot(against="penalty") is display


def test_one_fold_has_no_standard_error():
    cv_results = newton()
    cv_results.cv_results_["aucs"] = cv_results.cv_results_["aucs"][:, :1]
    assert not LearningCurveDisplay.from_estimator(cv_results).standard_error.any()


def test_a_fit_without_folds():
    sample = load_kyphosis()
    y = np.arange(len(sample.y)) == 3
    ranker = SmoothAUCBoostCV().fit(sample.X, y)
    with pytest.raises(ValueError, match="cv_results_ of SmoothAUCBoostCV is empty"):
        LearningCurveDisplay.from_estimator(ranker)


def test_errors_say_what_can_be_drawn():
    with pytest.raises(ValueError, match="SmoothAUCBoost has no results of cross-validation"):
        LearningCurveDisplay.from_estimator(SmoothAUCBoost())
    with pytest.raises(ValueError, match="the Newton solver has no rounds"):
        LearningCurveDisplay.from_estimator(newton(), against="rounds")
    with pytest.raises(ValueError, match="against is 'time'"):
        LearningCurveDisplay.from_estimator(newton(), against="time")
