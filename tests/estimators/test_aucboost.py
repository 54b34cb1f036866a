"""AUCBoost and MartiRank as scikit-learn users meet them."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

from auctor import AUCBoost, MartiRank, load


@pytest.mark.parametrize(
    "ranker",
    [
        AUCBoost(n_estimators=50),
        AUCBoost("stump", n_estimators=50),
        MartiRank(),
        MartiRank("stump", n_layers=20),
    ],
    ids=str,
)
def test_they_rank_unseen_rows_and_save(ranker, cancer, tmp_path):
    X, y = cancer
    ranker.fit(X[:400], y[:400])
    assert ranker.score(X[400:], y[400:]) > 0.97
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    ranker.model_.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert np.array_equal(loaded.decision_function(X), ranker.decision_function(X))
    assert np.array_equal(loaded.predict(X), ranker.predict(X))


def test_majority_and_position_rank_much_alike(cancer):
    X, y = cancer
    scores = [cross_val_score(MartiRank(output=o), X, y, cv=3) for o in ("majority", "position")]
    assert np.mean(scores[1]) >= np.mean(scores[0]) > 0.9


def test_search_over_their_parameters(cancer):
    X, y = cancer
    search = GridSearchCV(MartiRank(), {"n_layers": [2, 30]}, cv=3).fit(X, y)
    assert search.best_params_ == {"n_layers": 30}


@pytest.mark.parametrize(
    ("ranker", "message"),
    [
        (AUCBoost(target_loss=1.0), "target_loss"),
        (AUCBoost(n_estimators=0), "n_estimators"),
        (MartiRank(output="rank"), "output"),
        (MartiRank(min_samples_leaf=0), "min_samples_leaf"),
        (MartiRank(n_layers=70_000), "n_layers"),
        (MartiRank(estimator="bush"), "estimator"),
        (AUCBoost(estimator="tree", max_depth=0), "max_depth"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(ranker, message, cancer):
    with pytest.raises(ValueError, match=message):
        ranker.fit(*cancer)
