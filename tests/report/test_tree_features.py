"""Models with trees: partial dependence against means over rows, interactions, contributions."""

import numpy as np
import pandas as pd
import pytest

from auctor import SmoothAUCBoost, SmoothTreeBoost, TreeRankForest
from auctor.data import read_table
from auctor.models import ForestModel, SumModel, sum_models
from auctor.report import render, summarize
from auctor.report.dependence import Dependence
from auctor.report.interactions import find_interactions

from .test_summary import plain_values

FEW_TREES = {"n_estimators": 12, "max_depth": 3, "early_stopping": False}


@pytest.fixture(scope="module")
def mixed():
    """Numbers of which two interact, one with missing values, and a category."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(240, 3)).round(1), columns=["a", "b", "c"])
    frame["town"] = rng.choice(["here", "there", "elsewhere"], 240)
    risk = frame["a"] * frame["b"] + frame["c"] + (frame["town"] == "here")
    y = (risk + rng.normal(scale=0.3, size=240) > 0.3).astype(int).to_numpy()
    frame["c"] = frame["c"].where(rng.random(240) > 0.1)
    return frame, y


@pytest.fixture(scope="module")
def mixture(mixed):
    return SmoothTreeBoost(**FEW_TREES).fit(*mixed)


def dependence_of(model, X, weight=None):
    weight = np.ones(len(X)) if weight is None else weight
    return Dependence(model, read_table(X), np.arange(X.shape[1]), weight)


def brute_force(model, X, values, weight=None):
    """The mean score of all rows with some columns set to a value."""
    return np.average(model.decision_function(X.assign(**values)), weights=weight)


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("name", ["a", "c", "town"])
def test_partial_dependence_is_the_mean_over_rows(mixed, mixture, name, is_weighted):
    X, _ = mixed
    weight = 1.0 + np.arange(len(X)) % 3 if is_weighted else None
    model, j = mixture.model_, list(X).index(name)
    assert isinstance(model, SumModel)
    own = dependence_of(model, X, weight)
    rows = [*range(12), int(np.argmax(X["c"].isna()))]
    codes = own.codes[j, rows]
    curve = own.additive(j)[codes] + own.trees([j], codes[None])
    wanted = [brute_force(model, X, {name: X[name].iloc[row]}, weight) for row in rows]
    assert np.ptp(wanted) > 0.05
    assert curve - curve[0] == pytest.approx(np.array(wanted) - wanted[0], abs=1e-8)


def test_joint_dependence_is_the_mean_over_rows_also_with_surfaces(mixed, mixture):
    X, y = mixed
    surface = SmoothAUCBoost(interactions=1).fit(X, y).model_
    assert len(surface.surfaces) == 1
    model = sum_models([surface, *mixture.model_.parts], [0.5, *mixture.model_.weights])
    own, pair = dependence_of(model, X), surface.surfaces[0].features
    names = [X.columns[j] for j in pair]
    codes = own.codes[list(pair)][:, :6]
    single = sum(own.additive(j)[code] for j, code in zip(pair, codes, strict=True))
    curve = own.joint(pair, codes) + single
    wanted = [brute_force(model, X, dict(X[names].iloc[row])) for row in range(6)]
    assert curve - curve[0] == pytest.approx(np.array(wanted) - wanted[0], abs=1e-8)
    facts = summarize(model, X, y)
    row = next(row for row in facts["features"]["rows"] if row["kind"] == "surface")
    assert row["name"] == " x ".join(names) and row["plot"]["kind"] == "surface"
    fractions = [part["fraction"] for part in facts["features"]["spread"]["parts"]]
    assert fractions == pytest.approx(model.spread(X).fractions) and fractions[1] != 0
    assert plain_values(facts)


def test_trees_without_interactions_have_none(mixed):
    X, y = mixed
    model = SmoothTreeBoost(**FEW_TREES, init=None, interaction_cst="no_interactions").fit(X, y)
    found = find_interactions(dependence_of(model.model_, X), [0, 1, 2, 3])
    assert len(found) == 6
    assert max(one.variance for one in found) < 1e-20
    facts = summarize(model, X, y)
    interactions = facts["features"]["interactions"]
    assert interactions["rows"] == [] and interactions["plot"] is None
    assert "do not interact" in render(facts)


def test_an_exclusive_or_is_found():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 4)), columns=["a", "b", "c", "d"])
    y = (X["a"] > 0) != (X["c"] > 0)
    model = SmoothTreeBoost(20, init=None, early_stopping=False, max_depth=3).fit(X, y)
    facts = summarize(model, X, y)["features"]["interactions"]
    first, second = facts["rows"][:2]
    assert sorted(first["features"]) == ["a", "c"]
    assert first["share"] > 0.5 and 1 >= first["of_pair"] > 0.9 and second["share"] < 0.1
    # High scores where exactly one of the two is large.
    grid = np.array(facts["plot"]["grid"])
    assert grid[0, 0] < 0 < grid[0, -1] and grid[-1, -1] < 0 < grid[-1, 0]
    labels = [len(axis["labels"]) for axis in facts["plot"]["axes"]]
    assert list(grid.shape) == labels


def test_features_are_ranked_by_the_spread_of_their_contributions(mixed, mixture):
    X, y = mixed
    features = summarize(mixture, X, y)["features"]
    parts = mixture.model_.explain_rows(X).contributions
    own = [parts[np.asarray(y) == label] for label in (0, 1)]  # the classes count alike
    mean = (own[0].mean(axis=0) + own[1].mean(axis=0)) / 2
    square = sum(((part - mean) ** 2).mean(axis=0) for part in own) / 2
    parts = np.sqrt(square) / np.sqrt(square).sum()
    assert features["kind"] == "trees" and features["n_sample"] == 240
    assert features["reference"] == "the average training row"
    assert [row["name"] for row in features["rows"]] == [X.columns[j] for j in np.argsort(-parts)]
    assert [row["importance"] for row in features["rows"]] == pytest.approx(np.sort(parts)[::-1])
    assert {row["name"]: row["missing"] for row in features["rows"]} == X.isna().sum().to_dict()


def test_curves_have_the_zero_of_explanations_whatever_the_rows_are(mixed, mixture):
    X, y = mixed
    for some in (np.ones(240, dtype=bool), X["town"] != "here", X["a"] > 0):
        rows = summarize(mixture, X[some], y[some])["features"]["rows"]
        plot = next(row for row in rows if row["name"] == "town")["plot"]
        value = dict(zip(plot["categories"], plot["values"], strict=True))
        contributions = mixture.model_.explain_rows(X[some]).contributions[:, 3]
        assert X["town"][some].map(value).mean() == pytest.approx(contributions.mean(), abs=1e-4)


def test_plots_have_the_two_parts_and_missing_values(mixed, mixture):
    X, y = mixed
    rows = {row["name"]: row["plot"] for row in summarize(mixture, X, y)["features"]["rows"]}
    for plot in rows.values():
        assert len(plot["values"]) <= 41
        total = np.add(plot["additive"], plot["trees"])
        assert plot["values"] == pytest.approx(total, rel=1e-3, abs=1e-4)
    assert rows["a"]["missing"] is None
    mark = rows["c"]["missing"]
    assert mark["value"] == pytest.approx(mark["additive"] + mark["trees"], abs=1e-4)
    steps = rows["a"]
    edges = [steps["limits"][0], *steps["cuts"], steps["limits"][1]]
    assert edges == sorted(edges) and len(edges) == len(steps["values"]) + 1


def test_a_forest_alone_is_all_trees(mixed):
    X, y = mixed
    estimator = SmoothTreeBoost(**FEW_TREES, init=None).fit(X, y)
    assert isinstance(estimator.model_, ForestModel)
    features = summarize(estimator.model_, X, y)["features"]
    assert [part["fraction"] for part in features["spread"]["parts"]] == [0.0, 0.0, 1.0]
    assert features["spread"]["sentence"].startswith("All of the variance")
    assert not any(np.any(row["plot"]["additive"]) for row in features["rows"] if "plot" in row)


def test_forests_that_explain_nothing_have_no_plots(mixed):
    X, y = mixed
    facts = summarize(TreeRankForest(n_estimators=5, aggregate="median").fit(X, y), X, y)
    assert facts["features"]["kind"] == "other"


def test_weights_and_large_tables_are_sampled(make_rows):
    X, y = make_rows(1500, 14)
    estimator = SmoothTreeBoost(**FEW_TREES, init=None).fit(X, y)
    weight = (np.arange(1500) % 4 > 0).astype(float)
    features = summarize(estimator, X, y, sample_weight=weight)["features"]
    assert features["n_sample"] == 500 and features["spread"]["n_rows"] == 1125
    assert sum("plot" in row for row in features["rows"]) <= 12
    same = summarize(estimator, X[weight > 0], y[weight > 0])["features"]
    assert [row["name"] for row in same["rows"]] == [row["name"] for row in features["rows"]]


@pytest.mark.parametrize("columns", [["a"], ["town"], ["a", "empty"], ["same", "town"]])
def test_odd_columns(mixed, columns):
    X, y = mixed
    X = X.assign(empty=np.nan, same=1.0)[columns]
    facts = summarize(SmoothTreeBoost(**FEW_TREES).fit(X, y), X, y)
    assert plain_values(facts)
    assert render(facts).startswith("<!doctype html>")


def test_categories_that_the_model_has_not_seen_and_very_many(make_rows):
    X, y = make_rows(300, 2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["town"] = [f"town {k % 70}" for k in range(300)]
    frame["a"] = frame["a"].where(np.arange(300) > 20)
    model = SmoothTreeBoost(**FEW_TREES).fit(frame, y).model_
    facts = summarize(model, frame.assign(town="new"), y)
    assert plain_values(facts)
    rows = summarize(model, frame, y)["features"]["rows"]
    town = next(row for row in rows if row["name"] == "town")["plot"]
    assert len(town["categories"]) == 24 and None not in town["values"]


def test_held_out_rows_choose_the_number_of_trees(mixed):
    X, y = mixed
    estimator = SmoothTreeBoost(15, max_depth=3, cv=2).fit(X, y)
    mixture = estimator.history_.mixture
    (curve,) = summarize(estimator, X, y)["learning"]
    assert mixture.weight > 0
    assert max(curve["y"]) == pytest.approx(mixture.auc_by_size.max(), rel=1e-5)
    assert curve["x"][-1] == mixture.checks[-1] and curve["y_label"] == "AUC, held-out rows"
    assert mixture.best_auc in mixture.auc_by_size.tolist()
