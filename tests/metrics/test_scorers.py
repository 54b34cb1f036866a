"""The scorers inside scikit-learn."""

import pickle

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score

from auctor import metrics


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.where(X[:, 0] + rng.normal(size=200) > 0.5, "yes", "no")
    return X, y


def make_scorers():
    return [
        (metrics.ks_scorer, metrics.ks, {}),
        (
            metrics.partial_auc_scorer(fpr_range=(0, 0.2)),
            metrics.partial_auc,
            {"fpr_range": (0, 0.2)},
        ),
        (
            metrics.partial_auc_scorer(tpr_range=(0.8, 1), scaled=True),
            metrics.partial_auc,
            {"tpr_range": (0.8, 1), "scaled": True},
        ),
        (metrics.precision_at_k_scorer(0.1), metrics.precision_at_k, {"k": 0.1}),
        (metrics.precision_at_k_scorer(10), metrics.precision_at_k, {"k": 10}),
    ]


@pytest.mark.parametrize(("scorer", "metric", "options"), make_scorers())
def test_scorer_is_the_metric_of_the_score(table, scorer, metric, options):
    X, y = table
    linear = LogisticRegression().fit(X, y)
    assert scorer(linear, X, y) == metric(y, linear.decision_function(X), **options)
    forest = RandomForestClassifier(10, random_state=0).fit(X, y)
    assert scorer(forest, X, y) == metric(y, forest.predict_proba(X)[:, 1], **options)
    again = pickle.loads(pickle.dumps(scorer))
    assert again(linear, X, y) == scorer(linear, X, y)


def test_scorers_serve_in_cross_validation_and_search(table):
    X, y = table
    for scorer, _, _ in make_scorers():
        values = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
        assert np.isfinite(values).all()
    search = GridSearchCV(
        LogisticRegression(), {"C": [0.01, 1.0]}, scoring=metrics.ks_scorer, cv=3
    ).fit(X, y)
    assert 0 < search.best_score_ <= 1


def test_bad_arguments_are_found_before_any_fit():
    with pytest.raises(ValueError, match="none of fpr_range, tpr_range is given"):
        metrics.partial_auc_scorer()
    with pytest.raises(ValueError, match="fpr_range is"):
        metrics.partial_auc_scorer(fpr_range=(0.2, 0.1))
    with pytest.raises(ValueError, match="give a whole number of at least 1 or a fraction"):
        metrics.precision_at_k_scorer(1.5)
