"""SoftRankBoost as scikit-learn users meet it; what all learners share is tested on RankBoost."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from auctor import RankBoost, SoftRankBoost


def test_wrong_labels_cost_it_less_than_rankboost(cancer):
    X, y = cancer
    flipped = y ^ (np.random.default_rng(1).random(len(y)) < 0.15)
    soft, hard = (
        ranker.fit(X[:400], flipped[:400]).score(X[400:], y[400:])
        for ranker in (SoftRankBoost(), RankBoost())
    )
    assert soft > hard


def test_the_certificate_names_the_caps_in_rows(cancer):
    X, y = cancer
    values = SoftRankBoost(20, epsilon=0.09).fit(X, y).certificate_.values
    assert values["nu_pos"] == pytest.approx(0.3 * y.sum())
    assert values["nu_neg"] == pytest.approx(0.3 * (1 - y).sum())
    values = SoftRankBoost(20, nu_pos=30, nu_neg=40.5).fit(X, y).certificate_.values
    assert (values["nu_pos"], values["nu_neg"]) == (30, 40.5)


def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(200, 12)) * (rng.random((200, 12)) < 0.3) * 1.0
    y = X[:, 0] + X[:, 1] + rng.random(200) > 1
    dense, thin = (SoftRankBoost(30).fit(each, y) for each in (X, sparse.csr_array(X)))
    assert thin.model_.body() == dense.model_.body()
    assert thin.certificate_ == dense.certificate_
    assert np.array_equal(thin.decision_function(sparse.csr_array(X)), dense.decision_function(X))


def test_threads_change_nothing(cancer):
    X, y = np.tile(cancer[0], (30, 1)), np.tile(cancer[1], 30)
    one, two = (SoftRankBoost(15, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.model_.body() == two.model_.body()
    assert one.certificate_ == two.certificate_


def test_early_stopping_draws_by_random_state(cancer):
    X, y = cancer
    ranker = SoftRankBoost(400, early_stopping=True, random_state=0)
    first, second = ranker.fit(X, y), clone(ranker).fit(X, y)
    assert first.history_.stopped_by == "early stopping"
    assert first.n_iter_ == len(first.history_.rounds) < 400
    assert first.model_.body() == second.model_.body()


def test_importances_add_up_and_name_the_useful_feature():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 5))
    y = X[:, 2] + 0.2 * rng.normal(size=500) > 0
    ranker = SoftRankBoost(30).fit(X, y)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.feature_importances_.argmax() == 2


def test_two_rows_are_enough():
    ranker = SoftRankBoost().fit([[1.0], [2.0]], [0, 1])
    assert ranker.predict([[0.0], [3.0]]).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": 1.1}, "epsilon"),
        ({"nu_pos": 0.5}, "nu_pos"),
        ({"nu_neg": 0}, "nu_neg"),
        ({"nu_pos": 358}, "nu_pos is 358, but there are 357 positive rows"),
        ({"nu_neg": 1000}, "nu_neg is 1000, but there are 212 negative rows"),
        ({"learning_rate": 0.0}, "learning_rate"),
    ],
)
def test_bad_parameters_are_named(cancer, parameters, message):
    X, y = cancer
    with pytest.raises(ValueError, match=message):
        SoftRankBoost(**parameters).fit(X, y)
