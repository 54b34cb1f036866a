"""Trees as weak rankers: what depth buys, and that AUCBoost's vote of them is a forest.

Where y = sign(x0 x1 + noise), AUC on unseen rows, mean (least to most) of 12 draws of 2000 rows:
AUCBoost, 50 rounds: stumps 0.504 (0.476 to 0.537), trees of depth 3 0.907 (0.897 to 0.918).
MartiRank sees features act together anyhow, layer by layer; 4 layers: stumps 0.816 (0.634 to
0.889), trees 0.877 (0.798 to 0.916); 20 layers: stumps 0.905, trees 0.902. x0 x1 itself: 0.925.
"""

import pickle

import numpy as np
import pytest

from auctor import AUCBoost, MartiRank
from auctor.data import prepare
from auctor.learners.boosting.aucboost import AUCBoostSettings
from auctor.learners.boosting.aucboost_rows import fit_aucboost_rows, fit_aucboost_trees
from auctor.learners.trees.weak_tree import WeakTree
from auctor.models import ForestModel
from auctor.testing import contracts
from tests.reference.treerank import SlowTable, best_union


def interaction(n_rows, seed):
    """y = sign(x0 x1 + noise): no feature by itself says anything."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0


@pytest.mark.parametrize("seed", range(3))
def test_depth_sees_what_stumps_cannot(seed):
    X, y = interaction(2000, seed)
    held = interaction(2000, seed + 100)
    stump = AUCBoost("stump", n_estimators=50).fit(X, y).score(*held)
    boosted = AUCBoost("tree", n_estimators=50).fit(X, y)
    assert abs(stump - 0.5) < 0.05
    assert boosted.score(*held) > 0.8
    importances = boosted.feature_importances_
    assert set(np.argsort(-importances)[:2].tolist()) == {0, 1}


def test_programs_see_it_with_trees_in_few_layers():
    X, y = interaction(2000, 0)
    ranker = MartiRank("tree", n_layers=6).fit(X, y)
    assert ranker.score(*interaction(2000, 1)) > 0.8
    again = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(again.decision_function(X), ranker.decision_function(X))
    with pytest.raises(ValueError, match="holds fitted estimators or trees"):
        ranker.model_.body()


@pytest.mark.parametrize("seed", range(10))
def test_the_tree_is_the_best_union_of_the_slow_version(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(30, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.random(30) < 0.5
    y[:2] = False, True
    data, weight = prepare(X, y, categorical_features=[2]), rng.integers(1, 4, size=30)
    Z = np.empty((30, 3))
    Z[data.partitions[0].rows] = data.partitions[0].codes.T
    tree = WeakTree(data.features, 2).fit(Z, y.astype(int), weight.astype(float))
    is_category = np.array([False, False, True])
    slow = SlowTable(Z.astype(np.int64), y, weight, is_category)
    upper = best_union(slow, np.arange(30), 1, 2)
    assert np.flatnonzero(tree.decision_function(Z) == 2).tolist() == upper.tolist()


def boosted(data, n_jobs=1):
    return fit_aucboost_trees(data, AUCBoostSettings("tree", n_estimators=10, n_jobs=n_jobs))


def test_the_forest_is_the_vote():
    X, y = contracts.messy_table(0, n_rows=200)
    data = prepare(X, y, categorical_features=[4])
    model, history, certificate = boosted(data)
    assert isinstance(model, ForestModel)
    weak = WeakTree(data.features, 3)
    vote, rounds, _ = fit_aucboost_rows(data, AUCBoostSettings(weak, n_estimators=10))
    assert [r.z for r in history.rounds] == [r.z for r in rounds.rounds]
    scores = model.decision_function(X) - model.intercept
    assert scores == pytest.approx(vote.decision_function(X) - vote.intercept, abs=1e-8)
    assert 1 - certificate.values["auc"] <= certificate.values["bound"] == history.bound


def test_what_it_promises(tmp_path):
    def fit(data, n_jobs):
        return boosted(data, n_jobs)[0]

    contracts.check_partitions_and_threads(fit, [(3, 2)])
    contracts.check_constants_are_never_used(fit, 0)
    X, y = contracts.messy_table(0)
    contracts.check_saved_model(fit(prepare(X, y, categorical_features=[4]), 1), X, tmp_path)


def test_many_bins_and_nothing_to_learn():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), np.arange(600) < 300
    X[:, 0] += y
    wide = AUCBoost("tree", n_estimators=5, max_bins=600).fit(X, y)
    assert wide.score(X, y) > 0.7
    flat = AUCBoost("tree", n_estimators=5).fit(np.ones((20, 1)), np.arange(20) < 5)
    assert flat.n_iter_ == 0
    assert np.ptp(flat.decision_function([[1.0], [2.0]])) == 0.0
