"""AUCBoost with scikit-learn estimators as weak rankers."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from auctor import AUCBoost, MartiRank
from auctor.data import prepare
from auctor.learners.boosting.aucboost import AUCBoostSettings, fit_aucboost
from auctor.learners.boosting.aucboost_rows import fit_aucboost_rows
from auctor.metrics import auc
from auctor.testing.contracts import messy_table


def interaction(seed: int, n_rows: int = 600):
    """Two features that say something only together."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=n_rows) > 0


@pytest.mark.parametrize(
    "weak",
    [
        DecisionTreeClassifier(max_depth=2, random_state=0),
        DecisionTreeRegressor(max_depth=2, random_state=0),
        LogisticRegression(),
    ],
    ids=lambda weak: type(weak).__name__,
)
def test_bound_holds_for_any_estimator(weak):
    X, y = messy_table(0, n_rows=200)
    data = prepare(X, y, categorical_features=[4])
    model, history, certificate = fit_aucboost_rows(data, AUCBoostSettings(weak, 15))
    assert certificate.values["auc"] == pytest.approx(auc(y, model.decision_function(X)), abs=1e-12)
    assert 1 - certificate.values["auc"] <= certificate.values["bound"] * (1 + 1e-9)
    for step in history.rounds:
        assert step.epsilon <= 0.5 - step.edge / 4 + 1e-9  # Lemma 4


def test_a_tree_of_one_cut_boosts_like_a_stump():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + rng.normal(size=300) > 0
    data = prepare(X, y)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)
    _, by_tree, _ = fit_aucboost_rows(data, AUCBoostSettings(tree, 1))
    _, by_stump, _ = fit_aucboost(data, AUCBoostSettings("stump", 1))
    # the tree is grown on Gini, not on r, so that its cut may be a little worse
    assert by_tree.rounds[0].edge == pytest.approx(by_stump.rounds[0].edge, abs=0.03)


def test_trees_see_interactions_that_single_features_do_not():
    X, y = interaction(0)
    X_test, y_test = interaction(1)
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=10, random_state=0)
    deep = AUCBoost(estimator=tree, n_estimators=50).fit(X, y)
    flat = AUCBoost(n_estimators=50).fit(X, y)
    assert deep.score(X_test, y_test) > flat.score(X_test, y_test) + 0.25


def test_partitions_do_not_matter():
    X, y = messy_table(2, n_rows=200)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    whole, *_ = fit_aucboost_rows(prepare(X, y), AUCBoostSettings(tree, 5))
    cut, *_ = fit_aucboost_rows(prepare(X, y).split(3), AUCBoostSettings(tree, 5))
    assert np.array_equal(whole.decision_function(X), cut.decision_function(X))


def test_it_pickles_but_does_not_save(tmp_path):
    X, y = messy_table(1, n_rows=100)
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    ranker = AUCBoost(estimator=tree, n_estimators=5).fit(X, y)
    copy = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(copy.decision_function(X), ranker.decision_function(X))
    assert "5 estimators (DecisionTreeClassifier)" in str(ranker.model_)
    with pytest.raises(ValueError, match="holds fitted estimators"):
        ranker.model_.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_a_weak_ranker_is_said():
    X, y = messy_table(1)
    with pytest.raises(
        ValueError, match="KNeighborsClassifier, whose fit does not take sample_weight"
    ):
        AUCBoost(estimator=KNeighborsClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="estimator"):
        AUCBoost(estimator="forest").fit(X, y)


@pytest.mark.parametrize("ranker", [AUCBoost(n_estimators=4), MartiRank(n_layers=4)], ids=repr)
def test_a_row_scores_the_same_whatever_stands_beside_it(ranker):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 15))
    y = X[:, 0] + rng.normal(size=300) > 0
    fitted = clone(ranker).set_params(estimator=LogisticRegression()).fit(X, y)
    alone = np.concatenate([fitted.decision_function(row[None]) for row in X[:60]])
    assert np.allclose(alone, fitted.decision_function(X)[:60], atol=1e-12)


@pytest.mark.parametrize("ranker", [AUCBoost(n_estimators=3), MartiRank(n_layers=3)], ids=repr)
def test_importances_go_where_there_are_none(ranker):
    X, y = messy_table(1, n_rows=100)
    fitted = clone(ranker).fit(X, y)
    assert hasattr(fitted, "feature_importances_")
    tree = DecisionTreeClassifier(max_depth=1)
    assert not hasattr(fitted.set_params(estimator=tree).fit(X, y), "feature_importances_")
