"""ForestModel: means and medians by hand, printed, saved, and hostile files refused."""

import json

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from auctor.data import number_feature, prepare
from auctor.kernels.trees import TreeNodes
from auctor.learners.trees.forest import ForestSettings, fit_forest
from auctor.models import Calibration, ForestModel, from_json, to_json
from auctor.models.forest import Walker, aggregated
from auctor.models.serialization import checksum
from auctor.testing import contracts


def stumps(cuts, aggregate="mean", **changes):
    """A forest of stumps x > cut over one feature: rank 1 above, 0 up to it; missing below."""
    n = len(cuts)
    feature = np.tile([0, -1, -1], n)
    columns = {
        "feature": feature,
        "cut": np.where(feature == 0, np.repeat(np.arange(1, n + 1), 3), 0),
        "above": np.where(feature == 0, 1, 0),
        "missing": np.zeros(3 * n, dtype=np.int64),
        "start": np.full(3 * n, -1),
        "table": np.empty(0, dtype=np.int64),
        "left": np.where(feature == 0, np.arange(3 * n) + 1, -1),
        "right": np.where(feature == 0, np.arange(3 * n) + 2, -1),
    }
    fields = {
        "classes": (0, 1),
        "threshold": 0.0,
        "calibration": Calibration(1.0, 0.0),
        "features": (number_feature("x", np.array(cuts)),),
        "aggregate": aggregate,
        "roots": np.arange(n) * 3,
        "nodes": TreeNodes(**columns),
        "rank": np.tile([0.0, 1.0, 0.0], n),
        "importance": np.array([1.0]),
        "intercept": -0.5,
    }
    return ForestModel(**{**fields, **changes})


def test_mean_and_median_by_hand():
    X = [[0.5], [1.5], [2.5], [3.5], [None]]
    assert stumps([1.0, 2.0, 3.0]).decision_function(X) == pytest.approx(
        [-0.5, -1 / 6, 1 / 6, 0.5, -0.5]
    )
    median = stumps([1.0, 2.0, 3.0], "median").decision_function(X)
    assert median.tolist() == [-0.5, -0.5, 0.5, 0.5, -0.5]
    even = stumps([1.0, 2.0], "median").decision_function(X)  # the middle of 0 and 1
    assert even.tolist() == [-0.5, 0.0, 0.5, 0.5, -0.5]


@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_only_trees_that_count(aggregate):
    rng = np.random.default_rng(0)
    ranks, counts = rng.random((7, 50)), rng.random((7, 50)) < 0.4
    counts[:, 0] = False
    result = aggregated(ranks, aggregate, counts)
    assert np.isnan(result[0])
    take = np.mean if aggregate == "mean" else np.median
    for i in np.flatnonzero(counts.any(axis=0)):
        assert result[i] == pytest.approx(take(ranks[counts[:, i], i]))


def fit(**changes):
    X, y = contracts.messy_table(0, n_rows=200)
    settings = ForestSettings(**{"n_estimators": 3, "max_depth": 3, **changes})
    return fit_forest(prepare(X, y, categorical_features=[4]), settings)[0]


@pytest.fixture(scope="module")
def model():
    return fit()


def test_prints_its_trees_and_most_important_features(model):
    text = str(model)
    assert text.startswith("ForestModel: 3 trees over 5 features, maximum depth ")
    best = model.feature_names[int(np.argmax(model.importance))]
    assert text.splitlines()[3].endswith(f"of the gain: {best}")
    assert "True is predicted where score >= 0" in text


def test_many_rows_score_as_few_do(model):
    X, _ = contracts.messy_table(7, n_rows=1100)  # more than two blocks
    whole = model.decision_function(X)
    parts = np.concatenate([model.decision_function(rows) for rows in np.array_split(X, 40)])
    assert np.array_equal(whole, parts)


@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_threads_change_nothing(aggregate):
    model = fit(aggregate=aggregate)
    X, _ = contracts.messy_table(7, n_rows=9000)  # more than one call of the kernel
    alone = model.decision_function(X)
    assert np.array_equal(model.decision_function(X, n_jobs=2), alone)
    ranks = model.walker.ranks(model.codes(X), 0, len(X))
    assert np.array_equal(model.intercept + aggregated(ranks, aggregate), alone)


def converted(booster, n_features):
    """The trees of scikit-learn's gradient boosting as a forest that sums their values."""
    trees = [tree.nodes for (tree,) in booster._predictors]
    roots = np.cumsum([0, *(len(tree) for tree in trees[:-1])])
    moved = np.repeat(roots, [len(tree) for tree in trees])
    nodes = np.concatenate(trees)
    is_leaf = nodes["is_leaf"] == 1
    feature = np.where(is_leaf, -1, nodes["feature_idx"].astype(np.int64))
    cuts = [np.unique(nodes["num_threshold"][feature == j]) for j in range(n_features)]
    cut = [
        0 if j < 0 else 1 + np.searchsorted(cuts[j], value)
        for j, value in zip(feature, nodes["num_threshold"], strict=True)
    ]
    left, right = (np.where(is_leaf, -1, nodes[name] + moved) for name in ("left", "right"))
    zeros, numbers = np.zeros(len(nodes), dtype=np.int64), np.full(len(nodes), -1)
    missing = nodes["missing_go_to_left"].astype(np.int64)
    table = np.empty(0, dtype=np.int64)
    return stumps(
        [0.0],
        "sum",
        features=tuple(number_feature(f"x{j}", cuts[j]) for j in range(n_features)),
        roots=roots,
        nodes=TreeNodes(feature, np.array(cut), zeros, missing, numbers, table, left, right),
        rank=np.where(is_leaf, nodes["value"], 0.0),
        importance=np.full(n_features, 1.0 / n_features),
        intercept=float(booster._baseline_prediction[0, 0]),
    )


def test_scores_of_trees_of_another_library():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.isnan(X[:, 1]) + rng.normal(size=600) > 0
    booster = HistGradientBoostingClassifier(max_iter=20, max_leaf_nodes=64, min_samples_leaf=3)
    booster.fit(X, y)
    scores = converted(booster, 4).decision_function(X)
    assert scores == pytest.approx(booster.decision_function(X), abs=1e-12)


def put(column, value, at=0):
    return lambda body: body["nodes"][column].__setitem__(at, value)


def spoil(model, change):
    content = json.loads(to_json(model))
    change(content["body"])
    content["sha256"] = checksum(content)
    return json.dumps(content)


HOSTILE = {
    "feature too large": ("feature", put("feature", 99)),
    "feature as text": ("feature", put("feature", "0")),
    "cut too large": ("cut", put("cut", 10**6)),
    "start beyond the table": ("start", put("start", 10**6)),
    "a cycle": ("left", put("left", 0)),
    "a child out of range": ("right", put("right", 10**6)),
    "a way into the next tree": ("roots", lambda b: put("left", b["roots"][1])(b)),
    "rank above 1": ("rank", put("rank", 1.5)),
    "rank below 0": ("rank", put("rank", -0.5, at=-1)),
    "a rank less": ("rank", lambda b: b["nodes"]["rank"].pop()),
    "a node less": ("cut", lambda b: b["nodes"]["cut"].pop()),
    "a column more": ("extra", lambda b: b["nodes"].__setitem__("extra", [])),
    "no roots": ("roots", lambda b: b["roots"].clear()),
    "roots not from 0": ("roots", lambda b: b["roots"].pop(0)),
    "roots in disorder": ("roots", lambda b: b["roots"].reverse()),
    "root negative": ("roots", lambda b: b["roots"].__setitem__(0, -1)),
    "root no whole number": ("roots", lambda b: b["roots"].__setitem__(1, 0.5)),
    "root too large": ("roots", lambda b: b["roots"].append(10**9)),
    "aggregate unknown": ("aggregate", lambda b: b.__setitem__("aggregate", "mode")),
    "aggregate a list": ("aggregate", lambda b: b.__setitem__("aggregate", ["mean"])),
    "intercept huge": ("intercept", lambda b: b.__setitem__("intercept", 1e305)),
    "importance negative": (
        r"importance",
        lambda b: b["features"][0].__setitem__("importance", -0.1),
    ),
    "importance missing": ("importance", lambda b: b["features"][0].pop("importance")),
    "no features": ("feature", lambda b: b["features"].clear()),
    "nodes a list": ("nodes", lambda b: b.__setitem__("nodes", [])),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(model, case):
    name, change = HOSTILE[case]
    with pytest.raises(ValueError, match=rf"model file: .*{name}"):
        from_json(spoil(model, change))


def test_the_helper_itself_spoils_nothing(model):
    assert contracts.same_model(from_json(spoil(model, lambda b: None)), model)


def test_a_leaf_with_the_start_of_a_category_scores_as_any_leaf():
    """The start of a leaf is not used; a file may hold any number there."""
    one, two = np.array([0, -1, -1]), np.array([-1, 2**31, 5])
    for start in (np.array([-1, -1, -1]), two):
        nodes = TreeNodes(
            one, np.array([1, 0, 0]), np.array([0, 0, 0]), np.array([0, 0, 0]), start,
            np.array([1, 0]), np.array([1, -1, -1]), np.array([2, -1, -1]),
        )  # fmt: skip
        walker = Walker(nodes, np.array([0]), np.array([0.0, 1.0, 2.0]))
        codes = np.array([[0, 1, 2, 2, 1, 0, 1, 2, 1]], dtype=np.uint8)
        assert walker.ranks(codes, 0, 9).tolist() == [[2, 1, 2, 2, 1, 2, 1, 2, 1]]
