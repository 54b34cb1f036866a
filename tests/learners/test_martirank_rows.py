"""MartiRank with scikit-learn estimators at its nodes."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from auctor import AUCBoost, MartiRank
from auctor.data import prepare
from auctor.learners.martirank.martirank import MartiRankSettings
from auctor.learners.martirank.martirank_rows import fit_martirank_rows
from auctor.testing.contracts import messy_table
from tests.reference.martirank import coin, expected_value


def tree(depth: int = 2) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=depth, random_state=0)


def test_scores_are_the_expectation_over_all_paths():
    X, y = messy_table(0, n_rows=150)
    data = prepare(X, y, categorical_features=[4])
    model, _, _ = fit_martirank_rows(data, MartiRankSettings(tree(1), 5, min_samples_leaf=5))
    scores = model.decision_function(X)
    part = data.partitions[0]
    Z = np.empty((len(y), 5))
    Z[part.rows] = part.codes.T
    for row in range(0, 150, 13):
        one = Z[row : row + 1]
        chances = [
            [None if g.voter is None else (1 + g.voter.labels(one)[0]) / 2 for g in layer]
            for layer in model.layers
        ]
        values = [[gate.value for gate in layer] for layer in model.layers]
        expected = expected_value(chances, values, model.final.tolist())
        assert scores[row] == pytest.approx(expected + model.intercept, abs=1e-12)


def test_rows_follow_their_coins_from_layer_to_layer():
    X, y = messy_table(1, n_rows=200)
    data = prepare(X, y)
    settings = MartiRankSettings(tree(1), 4, min_samples_leaf=5, seed=7)
    model, history, _ = fit_martirank_rows(data, settings)
    part = data.partitions[0]
    Z = np.empty((len(y), 5))
    Z[part.rows] = part.codes.T
    at = dict.fromkeys(range(len(y)), 0)
    for t, (nodes, layer) in enumerate(zip(history.layers, model.layers, strict=True), start=1):
        for i, node in enumerate(nodes):
            here = [row for row, position in at.items() if position == i]
            assert node.weight_pos == y[here].sum()
            assert node.weight_neg == len(here) - y[here].sum()
        moved = {}
        for row, i in at.items():
            gate = layer[i]
            if gate.voter is not None:
                chance = (1 + gate.voter.labels(Z[row : row + 1])[0]) / 2
                moved[row] = i + int(coin(7, row, t, i) < chance)
        at = moved


def test_a_program_sees_interactions_and_trees_see_them_sooner():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 4))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=3000) > 0

    def score(ranker) -> float:
        return ranker.fit(X[:2000], y[:2000]).score(X[2000:], y[2000:])

    assert score(MartiRank(n_layers=8)) > score(AUCBoost(n_estimators=200)) + 0.2
    assert score(MartiRank(tree(3), n_layers=2)) > score(MartiRank(n_layers=2)) + 0.15


def test_partitions_do_not_matter():
    X, y = messy_table(2, n_rows=200)
    settings = MartiRankSettings(LogisticRegression(), 4, min_samples_leaf=5)
    whole, _, a = fit_martirank_rows(prepare(X, y), settings)
    cut, _, b = fit_martirank_rows(prepare(X, y).split(3), settings)
    assert np.array_equal(whole.decision_function(X), cut.decision_function(X))
    assert a.values == pytest.approx(b.values)


def test_it_pickles_but_does_not_save(tmp_path):
    X, y = messy_table(1, n_rows=150)
    ranker = MartiRank(estimator=tree(), n_layers=3).fit(X, y)
    copy = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(copy.decision_function(X), ranker.decision_function(X))
    assert "3 layers and 6 nodes" in str(ranker.model_)
    with pytest.raises(ValueError, match="holds fitted estimators"):
        ranker.model_.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_it_ends_where_all_rows_have():
    X, y = messy_table(1, n_rows=150)
    data = prepare(X, y)
    model, history, certificate = fit_martirank_rows(
        data, MartiRankSettings(tree(), 100, min_samples_leaf=10)
    )
    assert len(model.layers) == len(history.layers) == certificate.values["n_layers"] < 50
    assert all(gate.voter is None for gate in model.layers[-1])
    assert np.isfinite(model.decision_function(X)).all()


def test_frozen_nodes_vote_by_the_fraction_of_each_class():
    rng = np.random.default_rng(0)
    y = np.arange(3000) % 60 == 0
    X = rng.normal(size=(3000, 3)) + 1.5 * y[:, None]
    _, history, _ = fit_martirank_rows(prepare(X, y), MartiRankSettings(tree(), 6))
    frozen = [n for layer in history.layers for n in layer if n.feature < 0]
    for node in frozen:
        if min(node.weight_pos, node.weight_neg) < 10:
            assert node.label == np.sign(node.weight_pos / 50 - node.weight_neg / 2950)
    assert any(node.label == 1 and node.weight_pos < node.weight_neg for node in frozen)


@pytest.mark.parametrize("ranker", [AUCBoost(n_estimators=3), MartiRank(n_layers=3)], ids=repr)
def test_the_seed_reaches_the_estimators_that_have_none(ranker):
    X, y = messy_table(1, n_rows=200)
    X = np.nan_to_num(X)

    def fit(seed, weak):
        fitted = clone(ranker).set_params(estimator=weak, random_state=seed).fit(X, y)
        return fitted.decision_function(X)

    loose = DecisionTreeClassifier(max_depth=2, max_features=1)
    assert np.array_equal(fit(0, loose), fit(0, loose))
    assert not np.array_equal(fit(0, loose), fit(1, loose))
    # also in a step of a pipeline, and never over a seed that was given
    nested = AdaBoostClassifier(loose, n_estimators=2)
    assert np.array_equal(fit(0, nested), fit(0, nested))
    assert loose.random_state is None
    if ranker is AUCBoost:  # MartiRank tosses coins beside it
        assert np.array_equal(fit(0, tree()), fit(1, tree()))


def test_every_copy_has_its_own_seed():
    X, y = messy_table(1, n_rows=300)
    loose = DecisionTreeClassifier(max_depth=2, max_features=1)
    ranker = AUCBoost(estimator=loose, n_estimators=4).fit(X, y)
    seeds = [member.voter.estimator.random_state for member in ranker.model_.members]
    assert len(set(seeds)) == 4
    program = MartiRank(estimator=loose, n_layers=3).fit(X, y)
    gates = [gate for layer in program.model_.layers for gate in layer if gate.voter is not None]
    assert len({gate.voter.estimator.random_state for gate in gates}) == len(gates) > 1
