"""Forests with cover explain rows: against shap and LightGBM, exact sums, and what is refused."""

import json
from dataclasses import replace

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernels.test_tree_shap import join, random_tree
from models.test_forest import put, spoil, stumps
from reference.lightgbm_forest import forest_of, shap_trees

import auctor
from auctor import TreeRankForest
from auctor.data import category_feature, number_feature
from auctor.models import Calibration, ForestModel, from_json, on_grid, to_json
from auctor.testing import contracts


def boosted(categorical=(4,), n_trees=12):
    """A booster over numbers with ties and missing values and a category, and its table."""
    X, y = contracts.messy_table(3, n_rows=400)
    parameters = {
        "objective": "binary",
        "num_leaves": 12,
        "min_data_in_leaf": 5,
        "min_data_per_group": 5,
        "cat_smooth": 1,
        "verbose": -1,
        "num_threads": 1,
        "boost_from_average": False,
    }
    table = lgb.Dataset(X, y, categorical_feature=list(categorical), params=parameters)
    return lgb.train(parameters, table, n_trees), X


def random_forest(rng, n_trees=3, n_inner=6, aggregate="sum", **changes):
    """A forest over two numbers and a category, with values on the grid of scores."""
    trees = [random_tree(rng, n_inner, 3) for _ in range(n_trees)]
    nodes, roots, cover, value = join(trees)
    rank = on_grid(value if aggregate == "sum" else rng.random(len(value)))
    cuts = np.array([1.5, 2.5, 3.5])
    fields = {
        "classes": (0, 1),
        "threshold": 0.0,
        "calibration": Calibration(1.0, 0.0),
        "features": (
            number_feature("a", cuts),
            number_feature("b", cuts),
            category_feature("c", (1, 2, 3, 4)),
        ),
        "aggregate": aggregate,
        "roots": roots,
        "nodes": nodes,
        "rank": rank,
        "importance": np.array([0.5, 0.25, 0.25]),
        "intercept": -0.25,
        "cover": cover,
    }
    return ForestModel(**{**fields, **changes})


def random_rows(rng, n_rows=15):
    X = rng.integers(1, 6, size=(n_rows, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def test_the_trees_are_those_of_lightgbm():
    booster, X = boosted()
    model = forest_of(booster)
    assert (model.nodes.start >= 0).any() and (model.nodes.missing == 1).any()
    assert model.decision_function(X) == pytest.approx(booster.predict(X, raw_score=True))


def test_contributions_are_those_of_lightgbm():
    booster, X = boosted()
    found = forest_of(booster).explain(X)
    expected = booster.predict(X, pred_contrib=True)
    assert found.contributions == pytest.approx(expected[:, :-1], abs=2e-9)
    assert found.base == pytest.approx(expected[0, -1], abs=2e-9)


@pytest.mark.filterwarnings("ignore")  # shap warns of its own imports
def test_contributions_are_those_of_shap():
    import shap

    booster, X = boosted(categorical=())
    model = forest_of(booster)
    codes = model.codes(X).T.astype(float)
    codes[codes == 0] = np.nan
    explainer = shap.TreeExplainer(
        shap_trees(model), feature_perturbation="tree_path_dependent", model_output="raw"
    )
    expected = explainer.shap_values(codes, check_additivity=False)
    found = model.explain(X)
    assert found.contributions == pytest.approx(expected, abs=1e-6)  # theirs has float32 values
    assert found.base == pytest.approx(float(np.ravel(explainer.expected_value)[0]), abs=1e-6)


def test_the_base_is_the_average_score_of_the_training_rows():
    booster, X = boosted(categorical=())
    model = forest_of(booster)
    assert model.explain(X).base == pytest.approx(model.decision_function(X).mean(), abs=1e-9)
    assert model.explain(X[0]).reference == "the average training row"


@given(st.integers(0, 10**6))
def test_they_add_up_exactly(seed):
    rng = np.random.default_rng(seed)
    model, X = random_forest(rng), random_rows(rng)
    found = model.explain(X)
    assert (found.scores == model.decision_function(X)).all()
    assert (found.base + found.contributions.sum(axis=1) == found.scores).all()
    for one in found:  # in any order
        assert one.base + sum(one.contributions) == one.score
        assert sum(one.contributions[::-1]) + one.base == one.score


@given(st.integers(0, 10**6), st.integers(1, 7))
def test_means_add_up_to_the_last_bit(seed, n_trees):
    rng = np.random.default_rng(seed)
    model, X = random_forest(rng, n_trees, aggregate="mean"), random_rows(rng)
    found = model.explain(X)
    assert found.base + found.contributions.sum(axis=1) == pytest.approx(found.scores, abs=2e-16)
    added = random_forest(np.random.default_rng(seed), n_trees, rank=model.rank)
    tenfold = added.explain(X).contributions / n_trees
    assert found.contributions == pytest.approx(tenfold, abs=1e-9)


def test_another_table_may_be_compared_with():
    rng = np.random.default_rng(0)
    model, X = random_forest(rng), random_rows(rng)
    alone = model.with_reference(X[[3]], name="a friend")
    assert alone.explain(X[3]).contributions == (0.0,) * 3
    assert alone.explain(X[3]).base == alone.explain(X[3]).score
    found = alone.explain(X)
    assert (found.base + found.contributions.sum(axis=1) == found.scores).all()
    assert from_json(to_json(alone)).explain(X[4]) == alone.explain(X[4])
    assert (model.contributions(X).sum(axis=1) + model.constant == found.scores).all()


def test_the_same_numbers_alone_in_a_table_and_from_a_file(tmp_path):
    rng = np.random.default_rng(1)
    model, X = random_forest(rng), random_rows(rng)
    model.save(tmp_path / "model.json")
    loaded = auctor.load(tmp_path / "model.json")
    assert loaded.cover.tobytes() == model.cover.tobytes()
    assert contracts.same_model(loaded, model)
    for i, one in enumerate(model.explain(X)):
        assert one == loaded.explain(X[i])


def test_a_file_without_cover_has_no_such_field():
    model = random_forest(np.random.default_rng(2), cover=None)
    content = json.loads(to_json(model))
    assert "cover" not in content["body"]["nodes"] and "reference" not in content["body"]
    assert from_json(to_json(model)).cover is None


def test_forests_that_cannot_explain_rows_say_why():
    rng = np.random.default_rng(0)
    X = random_rows(rng)
    with pytest.raises(ValueError, match=r"does not have the weight of the training rows.*\(cover"):
        random_forest(rng, cover=None).explain(X)
    with pytest.raises(ValueError, match=r"median over its trees.*aggregate='mean' or 'sum'"):
        random_forest(rng, aggregate="median").explain_rows(X)
    with pytest.raises(ValueError, match="additive and linear models explain rows without it"):
        stumps([1.0]).with_reference([[1.0]])
    X, y = contracts.messy_table(0)
    with pytest.raises(ValueError, match="does not have the weight of the training rows"):
        TreeRankForest(n_estimators=2).fit(X, y).explain(X[0])


def test_a_cover_that_does_not_fit_is_refused():
    model = random_forest(np.random.default_rng(0))
    for cover, words in (
        (model.cover[1:], "one for each node"),
        (-model.cover, "0 or more"),
        (np.where(model.nodes.feature < 0, 1.0, np.nan), "0 or more"),
        (np.arange(len(model.rank)) + 1.0, "the sum of those of its children"),
    ):
        with pytest.raises(ValueError, match=f"cover must be .*{words}"):
            replace(model, cover=cover)
    shared = model.nodes._replace(right=model.nodes.left)
    with pytest.raises(ValueError, match="two nodes have the same child"):
        replace(model, nodes=shared)


HOSTILE = {
    "a node less": ("cover", lambda b: b["nodes"]["cover"].pop()),
    "negative": ("cover", put("cover", -1.0)),
    "huge": (r"cover\[0\]", put("cover", 1e305)),
    "text": (r"cover\[0\]", put("cover", "1")),
    "no sum": ("cover", lambda b: put("cover", 2 * b["nodes"]["cover"][0] + 1)(b)),
    "a child of two": ("cover", lambda b: b["nodes"].__setitem__("right", b["nodes"]["left"])),
    "no list": ("cover", lambda b: b["nodes"].__setitem__("cover", {})),
    "null": ("cover", lambda b: b["nodes"].__setitem__("cover", None)),
    "a reference of two": (
        "reference",
        lambda b: b.__setitem__("reference", {"name": "rows", "contributions": [0, 0]}),
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(case):
    name, change = HOSTILE[case]
    model = random_forest(np.random.default_rng(0))
    with pytest.raises(ValueError, match=rf"model file: field 'body\..*{name}"):
        from_json(spoil(model, change))
