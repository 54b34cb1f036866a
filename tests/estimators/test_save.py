"""``estimator.save`` and what ``auctor.load`` returns."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import auctor


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, np.where(X[:, 0] + rng.normal(size=80) > 0, "yes", "no")


@pytest.mark.parametrize(
    "estimator",
    [
        auctor.RankBoost(5, pos_label="no"),
        auctor.SmoothAUCBoost(threshold=0.5),
        auctor.MartiRank(n_layers=3),
        auctor.TreeRank(max_depth=2),
        auctor.DMKS(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_loaded_model_does_what_the_estimator_does(estimator, table, tmp_path):
    X, y = table
    fitted = estimator.fit(X, y)
    fitted.save(tmp_path / "model.json")
    model = auctor.load(tmp_path / "model.json")
    assert np.array_equal(model.decision_function(X), fitted.decision_function(X))
    assert np.array_equal(model.predict(X), fitted.predict(X))
    order = [model.classes.index(label) for label in fitted.classes_]
    assert np.array_equal(model.predict_proba(X)[:, order], fitted.predict_proba(X))
    weight = np.arange(1.0, 81.0)
    assert model.score(X, y, weight) == fitted.score(X, y, weight) != fitted.score(X, y)


def test_a_loaded_model_explains_rows(table, tmp_path):
    X, y = table
    fitted = auctor.RankBoost(5).fit(X, y)
    fitted.save(tmp_path / "model.json")
    explained = auctor.load(tmp_path / "model.json").explain(X)
    assert np.array_equal(explained.contributions, fitted.explain(X).contributions)


def test_what_cannot_be_saved_says_so(table, tmp_path):
    X, y = table
    with pytest.raises(NotFittedError):
        auctor.RankBoost().save(tmp_path / "model.json")
    ranker = auctor.AUCBoost(LogisticRegression(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="pickle the estimator"):
        ranker.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []
