"""What every display keeps to: finished numbers, drawn on any axes, as often as one likes."""

import dataclasses
import inspect
import subprocess
import sys
from functools import cache
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import auctor.display
from auctor import (
    MartiRank,
    RankBoost,
    SmoothAUCBoost,
    SmoothTreeBoost,
    TreeRank,
    cross_val_auc,
)
from auctor.metrics import auc

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def rows(n=160):
    """Two features, and labels of which the smaller one is positive."""
    rng = np.random.default_rng(0)
    bad = rng.random(n) < 0.35
    X = pd.DataFrame(rng.normal(size=(n, 2)) + bad[:, None] * [1.2, 0.4], columns=["a", "b"])
    return X, np.where(bad, "bad", "good"), rng.integers(0, 4, size=n).astype(float)


X, Y, WEIGHT = rows()


@cache  # not while tests are collected: every process would compile the kernels at once
def ranker():
    """A learner fitted on the rows; no test changes it."""
    return RankBoost(n_estimators=15, pos_label="bad").fit(X, Y)


# Displays of labelled scores: all of them can be made in the same ways.
OF_PREDICTIONS = [
    "CAPDisplay",
    "CalibrationDisplay",
    "GainDisplay",
    "KSDisplay",
    "LiftDisplay",
    "PrecisionAtKDisplay",
    "ROCDisplay",
    "ScoreDistributionDisplay",
    "ThresholdTableDisplay",
]
# Displays of a model: each needs a learner of its own, fitted on these rows.
OF_MODELS = {
    "ForestTreeDisplay": lambda: SmoothTreeBoost(5, early_stopping=False, pos_label="bad").fit(
        X, Y
    ),
    "LearningCurveDisplay": lambda: cross_validated(),
    "PartitionDisplay": lambda: TreeRank(max_depth=3, pos_label="bad").fit(X, Y),
    "ProgramDisplay": lambda: MartiRank(n_layers=5, pos_label="bad").fit(X, Y),
    "ScorePlotDisplay": lambda: SmoothAUCBoost(pos_label="bad").fit(X, Y),
    "ScoreROCDisplay": lambda: SmoothAUCBoost(pos_label="bad").fit(X, Y),
    "TreeDisplay": lambda: TreeRank(max_depth=3, pos_label="bad").fit(X, Y),
}
TAKES_ROWS = {
    "LearningCurveDisplay": {},  # does not need them, but takes them like most displays
    "ScorePlotDisplay": {"band": None},
    "ScoreROCDisplay": {},
}
EVERY = [*OF_PREDICTIONS, *OF_MODELS]


def cross_validated():
    """What SmoothAUCBoostCV keeps, without the wait."""
    aucs = np.random.default_rng(0).uniform(0.6, 0.8, size=(3, 4))
    results = {"penalty": np.array([0.01, 0.1, 1.0]), "shrinkage": np.ones(3), "aucs": aucs}
    results["mean_auc"] = aucs.mean(axis=1)
    return SimpleNamespace(cv_results_=results, penalty_=0.1, shrinkage_=1.0)


def make(name):
    """A display by its name, from an estimator."""
    cls = getattr(auctor.display, name)
    if name in OF_PREDICTIONS:
        return cls.from_estimator(ranker(), X, Y)
    fitted = OF_MODELS[name]()
    if name in TAKES_ROWS:
        return cls.from_estimator(fitted, X, Y, **TAKES_ROWS[name])
    return cls.from_estimator(fitted)


@pytest.fixture(scope="module", params=EVERY)
def display(request):
    instance = make(request.param)
    plt.close("all")
    return instance


def values(value):
    """All that a display holds, to compare before and after; figures and axes left out."""
    if dataclasses.is_dataclass(value):
        return [values(getattr(value, field.name)) for field in dataclasses.fields(value)]
    if isinstance(value, np.ndarray):
        return value.dtype.str, repr(value.tolist())  # as text, in which NaN is NaN
    if isinstance(value, (tuple, list)):
        return [values(part) for part in value]
    assert value is None or isinstance(value, (str, int, float, np.generic)), type(value)
    return repr(value)


def test_every_display_is_under_contract():
    assert sorted(EVERY) == sorted(auctor.display.__all__)


def test_importing_the_displays_leaves_matplotlib_alone():
    script = "import sys, auctor.display; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "False"


def test_from_returns_the_class(display):
    assert type(display).__name__ in EVERY


def test_a_display_prints_its_fields_and_no_numbers(display):
    names = [field.name for field in dataclasses.fields(display)]
    assert repr(display) == f"{type(display).__name__}({', '.join(names)})"


def test_plot_draws_on_the_axes_given_and_returns_itself(display):
    figure, ax = plt.subplots()
    n_figures = len(plt.get_fignums())
    before = len(ax.get_children())
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax and display.figure_ is figure
    assert len(plt.get_fignums()) == n_figures  # no figure of its own
    assert len(figure.axes) > 1 or len(ax.get_children()) > before or ax.child_axes
    figure.canvas.draw()


def test_plot_makes_a_figure_of_its_own_each_time(display):
    first = display.plot().figure_
    second = display.plot().figure_
    assert first is not second and display.ax_.figure is second
    second.canvas.draw()


def test_drawing_changes_no_number(display):
    before = values(display)
    display.plot()
    _, ax = plt.subplots()
    display.plot(ax=ax)
    assert values(display) == before


def test_axes_of_a_figure_with_a_layout(display):
    figure, ax = plt.subplots(layout="constrained")
    display.plot(ax=ax)
    figure.canvas.draw()
    assert display.figure_ is figure and figure.get_layout_engine() is not None


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ("ScorePlotDisplay",)])
def test_nothing_is_written_outside_of_the_figure(name):
    """Legends and labels of a figure of our own stay on the page."""
    display = make(name).plot()
    figure = display.figure_
    figure.canvas.draw()
    page = figure.bbox
    for legend in [*figure.legends, *filter(None, [display.ax_.get_legend()])]:
        box = legend.get_window_extent()
        assert box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1
        assert box.y0 >= page.y0 - 1 and box.y1 <= page.y1 + 1


def response(name):
    """What from_predictions of a display takes: probabilities or scores."""
    if name == "CalibrationDisplay":
        return ranker().predict_proba(X)[:, 0]  # "bad" is the smaller label
    return ranker().decision_function(X)


@pytest.fixture(params=OF_PREDICTIONS)
def name(request):
    return request.param


def test_from_estimator_is_from_predictions(name):
    cls = getattr(auctor.display, name)
    direct = cls.from_predictions(Y, response(name), pos_label="bad", name="RankBoost")
    assert values(cls.from_estimator(ranker(), X, Y)) == values(direct)
    assert direct.pos_label == "bad"
    assert values(cls.from_estimator(ranker().model_, X, Y, name="RankBoost")) == values(direct)


def test_any_container_is_read(name):
    cls = getattr(auctor.display, name)
    s = response(name)
    expected = values(cls.from_predictions(Y, s, pos_label="bad", sample_weight=WEIGHT))
    for kind in (pd.Series, pl.Series, list):
        given = cls.from_predictions(
            kind(Y.tolist()), kind(s.tolist()), sample_weight=kind(WEIGHT.tolist()),
            pos_label="bad",
        )  # fmt: skip
        assert values(given) == expected
    frame = pl.from_pandas(X)
    assert values(cls.from_estimator(ranker(), frame, pl.Series(Y.tolist()))) == values(
        cls.from_estimator(ranker(), X, Y)
    )


def test_absent_rows_do_not_show(name):
    cls = getattr(auctor.display, name)
    there = WEIGHT > 0
    s, arguments = response(name), {"pos_label": "bad"}
    all_rows = cls.from_predictions(Y, s, sample_weight=WEIGHT, **arguments)
    kept = cls.from_predictions(Y[there], s[there], sample_weight=WEIGHT[there], **arguments)
    assert values(all_rows) == values(kept)


def test_the_other_label_can_be_the_positive_one(name):
    """Scores of scikit-learn grow towards the larger label, ours towards pos_label_."""
    cls = getattr(auctor.display, name)
    assert cls.from_estimator(ranker(), X, Y, pos_label="good").pos_label == "good"
    logistic = LogisticRegression().fit(X, Y)
    assert cls.from_estimator(logistic, X, Y).pos_label == "good"
    assert cls.from_estimator(logistic, X, Y, pos_label="bad").pos_label == "bad"


@pytest.mark.parametrize(
    "fitted",
    [
        LogisticRegression(),
        DecisionTreeClassifier(max_depth=3),  # has no decision_function
        make_pipeline(StandardScaler(), RankBoost(n_estimators=10, pos_label="bad")),
        GridSearchCV(RankBoost(pos_label="bad"), {"n_estimators": [5, 10]}, cv=2),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_the_ranking_is_never_upside_down(fitted):
    fitted.fit(X.to_numpy(), Y)
    for label in ("bad", "good", None):
        display = auctor.display.ROCDisplay.from_estimator(
            fitted, X.to_numpy(), Y, pos_label=label, band=None
        )
        assert display.curves[0].auc > 0.7


@pytest.mark.parametrize("weighted", [False, True])
def test_folds_of_scikit_learn(name, weighted):
    cls = getattr(auctor.display, name)
    result = cross_validate(
        RankBoost(n_estimators=5, pos_label="bad"), X, Y, cv=3, return_estimator=True,
        return_indices=True,
    )  # fmt: skip
    arguments = {"sample_weight": WEIGHT} if weighted else {}
    for table in (X, pl.from_pandas(X)):
        display = cls.from_cv_results(result, table, Y, **arguments)
        assert display.pos_label == "bad" and display.plot() is display
    tests = result["indices"]["test"]
    expected = [
        auc(Y[test], estimator.decision_function(X.iloc[test]), pos_label="bad")
        for estimator, test in zip(result["estimator"], tests, strict=True)
    ]
    if name == "ROCDisplay" and not weighted:
        assert display.curves[0].auc == pytest.approx(np.mean(expected))
        assert len(display.curves[0].folds) == 3


def test_folds_of_our_own(name):
    cls = getattr(auctor.display, name)
    result = cross_val_auc(RankBoost(n_estimators=5, pos_label="bad"), X, Y, cv=3)
    if name == "CalibrationDisplay":
        with pytest.raises(ValueError, match="no probabilities; give the result of"):
            cls.from_cross_validation(result, Y, pos_label="bad")
        return
    display = cls.from_cross_validation(result, Y, pos_label="bad", name="mine")
    arguments = {"folds": result.folds, "pos_label": "bad", "name": "mine"}
    if name == "ROCDisplay":
        arguments["instability"] = result.instability
    direct = cls.from_predictions(Y, result.scores, **arguments)
    assert values(display) == values(direct)
    if name == "ROCDisplay":
        assert display.curves[0].auc == pytest.approx(result.auc.value)
        assert display.curves[0].low == pytest.approx(result.auc.low)


def test_unknown_options_are_named(name):
    with pytest.raises(TypeError, match=f"colour is not an option of {name}"):
        getattr(auctor.display, name).from_predictions([0, 1], [0.1, 0.2], colour="red")


def test_the_class_describes_its_options(name):
    cls = getattr(auctor.display, name)
    described = inspect.getdoc(cls).split("Attributes")[0].replace(",", " ").split()
    with pytest.raises(TypeError) as raised:
        cls.from_predictions([0, 1], [0.1, 0.2], colour="red")
    _, choices = str(raised.value).split("; ")
    if choices != "it has no options":
        options = choices.removeprefix("give ").split(", ")
        assert [key for key in options if key not in described] == []


@pytest.mark.parametrize(
    ("y", "s", "arguments", "says"),
    [
        ([0, 0, 0], [0.1, 0.2, 0.3], {}, "y_true has 1 class"),
        ([0, 1, 2], [0.1, 0.2, 0.3], {}, "y_true has 3 classes"),
        ([0, 1, 1], [0.1, 0.2, np.nan], {}, "y_score has 1 NaN"),
        ([0, 1, 1], [0.1, 0.2], {}, "y_score has 2 values for 3 labels"),
        ([0, 1, 1], [0.1, 0.2, 0.3], {"pos_label": 7}, "pos_label=7 is not among the classes"),
        ([0, 1, 1], [0.1, 0.2, 0.3], {"folds": [1, 1, 1]}, "folds has only one fold"),
        ([0, 1, 1], [0.1, 0.2, 0.3], {"folds": [1, 2]}, "folds has 2 values for 3 rows"),
        ([0, 1, 1], {}, {}, "y_score is empty"),
        ([0, 1, 1], {"a": [0.1, 0.2, 0.3]}, {"name": "b"}, "name is 'b', but y_score is a dict"),
    ],
)
def test_errors_name_the_argument(name, y, s, arguments, says):
    with pytest.raises(ValueError, match=says):
        getattr(auctor.display, name).from_predictions(y, s, **arguments)


def test_estimators_that_cannot_be_drawn(name):
    cls = getattr(auctor.display, name)
    with pytest.raises(ValueError, match="RankBoost has no classes_; give a fitted classifier"):
        cls.from_estimator(RankBoost(), X, Y)
    with pytest.raises(ValueError, match="pos_label is 'x'; give one of the estimator's classes"):
        cls.from_estimator(ranker(), X, Y, pos_label="x")
    odd = SimpleNamespace(classes_=np.array(["bad", "good"]))
    with pytest.raises(ValueError, match=r"SimpleNamespace has no .*predict_proba"):
        cls.from_estimator(odd, X, Y)
    with pytest.raises(ValueError, match="cv_results has no 'estimator'"):
        cls.from_cv_results({}, X, Y)
    three = SimpleNamespace(classes_=np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="3 classes; give a classifier of two classes"):
        cls.from_estimator(three, X, Y)


def test_rows_of_every_kind_of_trouble(name):
    """Ties, constants, two rows, infinite scores."""
    cls = getattr(auctor.display, name)
    for y, s in (
        ([0, 1], [0.0, 1.0]),
        ([0, 1, 0, 1], [0.5] * 4),
        ([1, 1, 0, 0], [0.0, 0.1, 0.9, 1.0]),
        ([0] * 50 + [1], [0.3] * 50 + [0.3]),
    ):
        assert cls.from_predictions(y, s).ax_.has_data() or name == "ThresholdTableDisplay"
    if name != "CalibrationDisplay":
        s = [-np.inf, 0, 1, np.inf, -np.inf, 2, 3, np.inf]
        display = cls.from_predictions([0, 0, 0, 0, 1, 1, 1, 1], s)
        display.figure_.canvas.draw()
        limits = [*display.ax_.get_xlim(), *display.ax_.get_ylim()]
        assert np.isfinite(limits).all()


def test_many_rows_make_a_light_drawing(name):
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.1
    s = 1 / (1 + np.exp(-rng.normal(size=200_000) - y))
    display = getattr(auctor.display, name).from_predictions(y, s)
    longest = max((len(line.get_xdata()) for line in display.ax_.lines), default=0)
    assert longest <= 2100
