"""TreeRank as a user meets it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from auctor import TreeRank, load
from auctor.datasets import load_kyphosis
from auctor.metrics import auc
from auctor.testing.contracts import messy_table


def table(n_rows=600, seed=0):
    """A frame of numbers and text with missing values, and labels that are text."""
    rng = np.random.default_rng(seed)
    age = rng.normal(50, 12, size=n_rows)
    town = rng.choice(["north", "south", "west", None], size=n_rows)
    noise = rng.normal(size=n_rows)
    y = rng.random(n_rows) < 1 / (1 + np.exp(-(age - 50) / 8 - 1.5 * (town == "west")))
    age[rng.random(n_rows) < 0.1] = np.nan
    frame = pd.DataFrame({"age": age, "town": pd.Categorical(town), "noise": noise})
    return frame, np.where(y, "sick", "well")


@pytest.mark.parametrize("split", ["stump", "tree"])
def test_scores_probabilities_and_classes_agree(split):
    X, y = table()
    ranker = TreeRank(max_depth=4, split=split, pos_label="sick").fit(X, y)
    scores, p = ranker.decision_function(X), ranker.predict_proba(X)
    assert ranker.score(X, y) == ranker.certificate_.values["auc"] > 0.75
    assert ranker.classes_.tolist() == ["sick", "well"]
    of_score, of_p = (np.unique(v, return_inverse=True)[1] for v in (scores, p[:, 0]))
    assert np.array_equal(of_score, of_p)
    assert np.array_equal(ranker.predict(X) == "sick", scores > 0)


def test_columns_go_by_name_and_unseen_categories_as_missing(tmp_path):
    X, y = table()
    ranker = TreeRank(max_depth=4).fit(X, y)
    turned = X[["noise", "age", "town"]]
    assert np.array_equal(ranker.decision_function(turned), ranker.decision_function(X))
    unseen = X.assign(town="elsewhere")
    missing = X.assign(town=pd.Categorical([None] * len(X), categories=["west"]))
    expected = ranker.decision_function(missing)
    assert np.array_equal(ranker.decision_function(unseen), expected)
    ranker.model_.save(tmp_path / "tree.json")
    loaded = load(tmp_path / "tree.json")
    assert np.array_equal(loaded.decision_function(X), ranker.decision_function(X))
    assert "town is " in str(loaded)


def test_importances_are_fractions_of_the_gain():
    X, y = table(3000)
    for split in ("stump", "tree"):
        ranker = TreeRank(max_depth=3, split=split, min_samples_leaf=50).fit(X, y)
        importances = ranker.feature_importances_
        assert importances.sum() == pytest.approx(1.0)
        assert importances[0] > importances[1] > importances[2]
    gains = np.zeros(3)
    ranker = TreeRank(max_depth=3).fit(X, y)
    for step in ranker.history_.splits:
        gains[step.feature] += step.gain
    assert ranker.feature_importances_ == pytest.approx(gains / gains.sum())


def test_depth_and_levels():
    X, y = load_kyphosis()
    ranker = TreeRank(max_depth=3).fit(X, y)
    assert ranker.n_iter_ == ranker.certificate_.values["depth"] <= 3
    assert len(ranker.model_.leaves) == 1 + len(ranker.history_.splits)


def test_many_bins_change_nothing_where_values_are_few():
    X, y = messy_table(0, n_rows=200)
    usual, wide = (TreeRank(max_bins=bins).fit(X, y) for bins in (255, 2000))
    assert np.array_equal(usual.decision_function(X), wide.decision_function(X))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    y = rng.random(3000) < 0.5
    exact = TreeRank(max_depth=2, min_samples_leaf=1, max_bins=5000).fit(X, y)
    binned = TreeRank(max_depth=2, min_samples_leaf=1, max_bins=10).fit(X, y)
    assert exact.history_.splits[0].gain >= binned.history_.splits[0].gain


@pytest.mark.parametrize("weighted", [False, True])
def test_auc_of_the_certificate_counts_the_same_pairs(weighted):
    X, y = messy_table(2, n_rows=300)
    weight = np.random.default_rng(0).integers(1, 5, size=300) if weighted else None
    ranker = TreeRank(max_depth=6).fit(X, y, sample_weight=weight)
    result = auc(y, ranker.decision_function(X), sample_weight=weight)
    assert result == ranker.certificate_.values["auc"]


def test_pruning_keeps_the_sequence():
    X, y = table(1500)
    ranker = TreeRank(pruning="cv", cv=3, random_state=1).fit(X, y)
    steps = ranker.history_.subtrees
    sizes = [step.n_leaves for step in steps]
    assert sizes == sorted(sizes, reverse=True)
    assert len(ranker.model_.leaves) in sizes
    again = TreeRank(pruning="cv", cv=3, random_state=1, n_jobs=2).fit(X, y)
    assert np.array_equal(again.decision_function(X), ranker.decision_function(X))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"split": "leaf"}, "'split' parameter of TreeRank"),
        ({"max_depth": 0}, "'max_depth' parameter of TreeRank"),
        ({"max_depth": 60}, "'max_depth' parameter of TreeRank"),
        ({"min_samples_leaf": 0}, "'min_samples_leaf' parameter of TreeRank"),
        ({"min_gain": -0.1}, "'min_gain' parameter of TreeRank"),
        ({"pruning": "aic"}, "'pruning' parameter of TreeRank"),
        ({"cv": 1}, "'cv' parameter of TreeRank"),
    ],
)
def test_bad_settings_are_named(settings, words):
    with pytest.raises(ValueError, match=words):
        TreeRank(**settings).fit([[0.0], [1.0]], [0, 1])


def test_progress_goes_to_stderr(capsys):
    X, y = load_kyphosis()
    TreeRank(max_depth=3, verbose=True).fit(X, y)
    shown = capsys.readouterr()
    assert "TreeRank [" in shown.err
    assert shown.out == ""


def test_pruning_takes_folds_of_all_kinds():
    X, y = messy_table(3, n_rows=120)
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    listed = list(splitter.split(X, y))
    by_splitter, by_list = (
        TreeRank(pruning="cv", cv=cv).fit(X, y).decision_function(X) for cv in (splitter, listed)
    )
    assert (by_splitter == by_list).all()
    with pytest.raises(ValueError, match=r"cv is .* which gives no folds"):
        TreeRank(pruning="cv", cv=[(1, 2, 3)]).fit(X, y)
