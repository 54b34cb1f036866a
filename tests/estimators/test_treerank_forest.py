"""TreeRankForest as a user meets it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from auctor import TreeRank, TreeRankForest, load
from auctor.metrics import auc


def table(n_rows=500, seed=0):
    """Column 0 decides with column 1; the others are noise, one of them of many values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 3] = np.round(X[:, 3])
    y = 2 * X[:, 0] + (X[:, 1] > 0) + rng.normal(size=n_rows) > 0.5
    return pd.DataFrame(X, columns=list("abcde")), np.where(y, "sick", "well")


@pytest.fixture(scope="module")
def forest():
    X, y = table()
    return TreeRankForest(n_estimators=40, pos_label="sick", n_jobs=2).fit(X, y)


def test_out_of_bag_auc_is_honest(forest):
    X, y = table()
    held_X, held_y = table(4000, seed=1)
    held = forest.score(held_X, held_y)
    assert forest.score(X, y) > held + 0.02  # rows seen flatter
    assert forest.oob_score_ == pytest.approx(held, abs=0.03)
    scores = forest.oob_decision_function_
    assert forest.oob_score_ == auc(y, scores, pos_label="sick")
    values = forest.certificate_.values
    assert values["low"] < forest.oob_score_ == values["oob_auc"] < values["high"]


def test_better_than_a_single_tree():
    X, y = make_classification(1500, 20, n_informative=6, flip_y=0.2, random_state=0)
    models = TreeRankForest(n_estimators=30, n_jobs=2), TreeRank(pruning="cv")
    forest, tree = (model.fit(X[:700], y[:700]).score(X[700:], y[700:]) for model in models)
    assert forest > tree + 0.02


def test_importances_find_the_informative_features(forest):
    held_X, held_y = table(1500, seed=1)
    by_gain = forest.feature_importances_
    assert by_gain.sum() == pytest.approx(1.0)
    falls = forest.permutation_importances(held_X, held_y, n_repeats=3)
    assert falls.importances.shape == (5, 3)
    for importances in (by_gain, falls.importances_mean):
        assert np.argsort(-importances)[:2].tolist() == [0, 1]
    assert falls.importances_mean[0] > 0.1
    assert (np.abs(falls.importances_mean[2:]) < 0.01).all()
    again = forest.permutation_importances(held_X, held_y, n_repeats=3)
    assert np.array_equal(falls.importances, again.importances)
    with pytest.raises(ValueError, match="n_repeats is 0"):
        forest.permutation_importances(held_X, held_y, n_repeats=0)


def test_scores_probabilities_classes_and_files_agree(forest, tmp_path):
    X, _ = table(300, seed=2)
    scores, p = forest.decision_function(X), forest.predict_proba(X)
    assert (np.diff(p[np.argsort(scores, kind="stable"), 0]) >= 0).all()
    assert np.array_equal(forest.predict(X) == "sick", scores > 0)
    forest.model_.save(tmp_path / "forest.json")
    loaded = load(tmp_path / "forest.json")
    assert np.array_equal(loaded.decision_function(X[list("edcba")]), scores)


def test_seed_decides():
    X, y = table(200)
    a, b, c = (
        TreeRankForest(5, random_state=seed).fit(X, y).decision_function(X) for seed in (0, 0, 1)
    )
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_without_bootstrap_there_is_nothing_out_of_bag():
    X, y = table(200)
    forest = TreeRankForest(5).fit(X, y)
    assert hasattr(forest, "oob_score_")
    forest.set_params(bootstrap=False).fit(X, y)
    assert not hasattr(forest, "oob_score_")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_features": 9}, "max_features is 9, but X has 5 features"),
        ({"max_features": "most"}, "max_features"),
        ({"max_features": 1.5}, "max_features"),
        ({"aggregate": "mode"}, "aggregate"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"max_samples": 0.0}, "max_samples"),
    ],
)
def test_errors_name_the_argument(changes, message):
    X, y = table(50)
    with pytest.raises(ValueError, match=message):
        TreeRankForest(**changes).fit(X, y)
