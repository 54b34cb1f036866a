"""Score AUCs from counts, plots of numbers, categories and surfaces, the model's own shape."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctor import DMKS, AUCBoost, MartiRank, RankBoost, SmoothAUCBoost, TreeRank
from auctor.data import prepare
from auctor.estimators.explanation import score_features
from auctor.learners.smooth.bands import score_bands
from auctor.learners.smooth.settings import SmoothSettings
from auctor.metrics import auc_ci
from auctor.report import render, summarize


@pytest.fixture(scope="module")
def mixed(make_rows):
    """Numbers with missing values, text, few distinct values, and a constant column."""
    X, y = make_rows(600)
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
    frame["b"] = frame["b"].where(rng.random(600) > 0.1)
    frame["town"] = np.where(y == 1, "here", "there")
    frame.loc[rng.random(600) < 0.6, "town"] = "elsewhere"
    frame.loc[:9, "town"] = None
    frame["children"] = rng.integers(0, 4, 600)
    frame["same"] = 1.0
    return frame, y


def test_importances_can_be_those_of_other_rows(mixed):
    X, y = mixed
    model = RankBoost(n_estimators=40).fit(X, y).model_
    given = np.linspace(0.1, 0.3, len(model.term_names))
    rows = summarize(model, X[:300], y[:300], importances=given)["features"]["rows"]
    shown = {row["name"]: row["importance"] for row in rows}
    assert shown == dict(zip(model.term_names, given.tolist(), strict=True))
    with pytest.raises(ValueError, match="importances has 2 numbers; give one for each of the 5"):
        summarize(model, X, y, importances=[0.5, 0.5])


@pytest.mark.parametrize("is_weighted", [False, True])
def test_score_aucs_are_those_of_the_contributions(mixed, is_weighted):
    X, y = mixed
    weight = np.arange(600) % 4 / 3.0 if is_weighted else None  # some rows do not count
    model = RankBoost(n_estimators=40).fit(X, y).model_
    rows = summarize(model, X, y, sample_weight=weight)["features"]["rows"]
    own = score_features(model, X, y, sample_weight=weight)
    assert {row["name"] for row in rows} == {row.name for row in own}
    for row in rows:
        expected = own[row["name"]]
        ends = (expected.auc, expected.low, expected.high)
        assert (row["auc"], row["low"], row["high"]) == pytest.approx(ends, abs=1e-12)
        assert row["range"] == pytest.approx(expected.range, rel=1e-4)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_score_aucs_of_groups_have_the_interval_of_the_metrics(mixed, is_weighted):
    X, y = mixed
    weight = np.arange(600) % 4 / 3.0 if is_weighted else None
    sample = {"sample_weight": weight, "groups": np.arange(600) // 5}
    model = RankBoost(n_estimators=40).fit(X, y).model_
    parts = dict(zip(model.term_names, model.contributions(X).T, strict=True))
    for row in summarize(model, X, y, **sample)["features"]["rows"]:
        if row["range"] > 0:
            expected = auc_ci(y, parts[row["name"]], **sample)
            ends = (expected.value, expected.low, expected.high)
            assert (row["auc"], row["low"], row["high"]) == pytest.approx(ends, abs=1e-12)


def test_a_feature_that_separates_few_rows_has_an_interval():
    X, y = pd.DataFrame({"a": np.arange(24.0)}), np.repeat([0, 1], 12)
    (row,) = summarize(RankBoost(n_estimators=5).fit(X, y), X, y)["features"]["rows"]
    expected = auc_ci(y, X["a"])
    assert (row["auc"], row["high"]) == (1.0, 1.0)
    assert row["low"] == pytest.approx(expected.low, abs=1e-12) and row["low"] < 0.9


def test_missing_values_are_counted(mixed):
    X, y = mixed
    rows = summarize(RankBoost(n_estimators=5).fit(X, y), X, y)["features"]["rows"]
    assert {row["name"]: row["missing"] for row in rows} == X.isna().sum().to_dict()


def test_plots_show_the_steps_of_the_model(mixed):
    X, y = mixed
    model = RankBoost(n_estimators=40).fit(X, y).model_
    rows = {row["name"]: row for row in summarize(model, X, y)["features"]["rows"]}
    plot, j = rows["a"]["plot"], model.feature_names.index("a")
    low, high = plot["limits"]
    edges = [low, *plot["cuts"], high]
    for left, right, value in zip(edges[:-1], edges[1:], plot["values"], strict=True):
        at = (left + right) / 2
        step = model.steps[j][1 + np.searchsorted(model.features[j].cuts, at)]
        mean = model.contributions(X)[:, j].mean()
        assert value == pytest.approx(step - mean, rel=1e-3, abs=1e-4)
    assert rows["a"]["plot"]["missing"] is None and rows["b"]["plot"]["missing"] is not None
    town = rows["town"]["plot"]
    assert town["kind"] == "category" and town["categories"][0] == "here"
    assert sum(town["pos"]) == pytest.approx(1, abs=0.03)
    assert "plot" not in rows["same"]


@pytest.mark.parametrize("has_bands", [False, True])
def test_plots_have_the_zero_of_explanations(mixed, has_bands):
    """Whatever rows the report is of: 0 is the average training row, as in ``explain``."""
    X, y = mixed
    X, y = X[["a", "town"]], y.copy()
    ranker = SmoothAUCBoost().fit(X, y)
    bands = score_bands(prepare(X, y), SmoothSettings(), n_resamples=4) if has_bands else None
    some = X["a"] > X["a"].median()
    facts = summarize(ranker, X[some], y[some], bands=bands)["features"]
    assert facts["reference"] == "the average training row"
    town = next(row for row in facts["rows"] if row["name"] == "town")["plot"]
    for name, value in zip(town["categories"], town["values"], strict=True):
        parts = {one: part for one, _, part in ranker.explain({"a": 0.0, "town": name})}
        assert value == pytest.approx(parts["town"], rel=1e-3, abs=1e-4)


def test_a_model_of_an_earlier_release_is_compared_with_the_rows(mixed):
    X, y = mixed
    model = replace(RankBoost(n_estimators=40).fit(X, y).model_, reference=None)
    facts = summarize(model, X, y)
    assert facts["features"]["reference"] is None
    assert "compared with the class-balanced average of these rows" in render(facts)
    town = next(row for row in facts["features"]["rows"] if row["name"] == "town")["plot"]
    part, at = model.contributions(X)[:, 2], model.features[2].categories.index("here")
    mean = (part[y == 1].mean() + part[y == 0].mean()) / 2
    assert town["values"][0] == pytest.approx(model.steps[2][1 + at] - mean, rel=1e-3)


def test_surfaces_are_terms_of_their_own(make_rows):
    X, _ = make_rows(800, 3)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    estimator = SmoothAUCBoost(interactions=1).fit(X, y)
    rows = summarize(estimator, X, y)["features"]["rows"]
    assert rows[0]["name"] == "x0 x x1" and rows[0]["plot"]["kind"] == "surface"
    grid = rows[0]["plot"]["grid"]
    axes = rows[0]["plot"]["axes"]
    assert (len(grid), len(grid[0])) == tuple(len(axis["labels"]) for axis in axes)


def test_bands_are_drawn_where_they_are_given(mixed):
    X, y = mixed
    X = X[["a", "town"]]
    bands = score_bands(prepare(X, y), SmoothSettings(), n_resamples=20)
    rows = summarize(SmoothAUCBoost().fit(X, y), X, y, bands=bands)["features"]["rows"]
    for row in rows:
        plot = row["plot"]
        for low, value, high in zip(plot["low"], plot["values"], plot["high"], strict=True):
            assert low is None or low <= value <= high


def test_only_the_first_of_many_columns_have_plots(make_rows):
    X, y = make_rows(300, 260)
    facts = summarize(AUCBoost(n_estimators=400).fit(X, y), X, y)
    rows = facts["features"]["rows"]
    assert len(rows) == 260
    assert sum("plot" in row for row in rows) <= 200
    importances = [row["importance"] for row in rows]
    assert importances == sorted(importances, reverse=True)
    assert sum(importances) == pytest.approx(1)


def test_a_tree_is_drawn_with_the_rows_of_its_cells(mixed):
    X, y = mixed
    facts = summarize(TreeRank(max_depth=3).fit(X, y), X, y)
    cells = facts["shape"]["tree"]
    assert (cells[0]["neg"], cells[0]["pos"]) == ((y == 0).sum(), (y == 1).sum())
    for cell in cells:
        if cell["children"]:
            assert cell["pos"] == sum(cells[k]["pos"] for k in cell["children"])
            assert cell["test"]
    scores = [cell["score"] for cell in sorted(cells, key=lambda c: c["x"]) if not cell["children"]]
    assert [s for s in scores if s is not None] == sorted(
        (s for s in scores if s is not None), reverse=True
    )
    assert facts["features"]["kind"] == "other"


def test_other_forms_have_their_words(make_rows):
    X, y = make_rows(200)
    linear = summarize(DMKS().fit(X, y), X, y)
    assert [term["kind"] for term in linear["shape"]["terms"]] == ["number"] * 4
    program = summarize(MartiRank().fit(X, y), X, y)
    assert program["shape"]["form"] == "program"
    assert program["shape"]["text"][0].startswith("ProgramModel: ")


def test_learning_curves_of_the_fit_and_of_the_caller(make_rows):
    X, y = make_rows(200)
    estimator = RankBoost(n_estimators=8, early_stopping=True).fit(X, y)
    given = {"x": [50, 100], "y": [0.7, float("nan")], "x_label": "rows"}
    curves = summarize(estimator, X, y, about={"learning_curve": given})["learning"]
    assert curves[0]["x"] == [50, 100] and curves[0]["y"] == [0.7, None]
    bound = next(curve for curve in curves if "bound" in curve["y_label"])
    assert bound["y"][-1] == pytest.approx(estimator.history_.bound, rel=1e-5)
