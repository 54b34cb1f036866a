"""ExactBoostCV as scikit-learn users meet it; how it chooses is tested in test_exact_refine."""

import numpy as np
import pandas as pd
import pytest
from learners.three_strata import make_strata
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from auctor import ExactBoostCV, SmoothAUCBoostCV, load
from auctor.estimators.bands import estimator_bands
from auctor.metrics import ks, precision_at_k

# A quick fit, for tests that look at something else.
FAST = {"n_runs": 3, "n_estimators": 4, "cv": 3, "interactions": 0, "max_bins": 24}


def additive_logistic(n_rows, seed):
    """A distribution on which an additive model of the AUC is the best for every metric."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    log_odds = X[:, 0] + np.sin(2 * X[:, 1]) + 0.5 * X[:, 2] - 1
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-log_odds))).astype(int)


@pytest.mark.parametrize("metric", ["ks", "precision_at_k"])
@pytest.mark.parametrize("seed", range(2))
def test_the_smooth_model_stays_where_rounds_cannot_help(metric, seed):
    X, y = additive_logistic(500, seed)
    ranker = ExactBoostCV(metric, cv=4, interactions=0).fit(X, y)
    smooth = SmoothAUCBoostCV(cv=4, interactions=0).fit(X, y)
    assert (ranker.n_rounds_, ranker.factor_, ranker.start_) == (0, 0.0, "auc")
    np.testing.assert_array_equal(ranker.decision_function(X), smooth.decision_function(X))
    assert "so it is kept" in ranker.certificate_.statement
    # Candidates were tried, some of them with a better mean.
    assert len(ranker.cv_results_["mean"]) == (7 if metric == "ks" else 8)


def test_rounds_are_kept_where_the_smooth_model_cannot_reach_the_ks():
    X, y = make_strata(1500)
    ranker = ExactBoostCV(cv=3, interactions=0).fit(X, y)
    smooth = SmoothAUCBoostCV(cv=3, interactions=0).fit(X, y)
    assert ranker.n_rounds_ > 0 and ranker.factor_ > 0
    new_X, new_y = make_strata(20_000, seed=1)
    before, after = (ks(new_y, r.decision_function(new_X)) for r in (smooth, ranker))
    # The KS of the distribution is 0.60.
    assert before < 0.5 and after > 0.55


def test_attributes():
    X, y = make_strata(600)
    ranker = ExactBoostCV(cv=3, interactions=0).fit(X, y)
    results = ranker.cv_results_
    assert results["n_rounds"].tolist() == [0, 5, 5, 5, 20, 20, 20]
    assert results["factor"].tolist() == [0.0, 0.1, 0.3, 1.0, 0.1, 0.3, 1.0]
    assert results["values"].shape == (7, 3)
    assert results["mean"] == pytest.approx(results["values"].mean(axis=1))
    assert results["gain"] == pytest.approx(results["mean"] - results["mean"][0])
    chosen = (results["n_rounds"] == ranker.n_rounds_) & (results["factor"] == ranker.factor_)
    assert results["mean"][chosen].tolist() == [ranker.best_score_]
    assert "aucs" in ranker.smooth_results_
    value = ranker.certificate_.values["value"]
    assert value == pytest.approx(ks(y, ranker.decision_function(X)))
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    assert not [name for name in vars(ranker) if name.startswith("_")]
    with pytest.raises(ValueError, match="changed the smooth AUC model"):
        estimator_bands(ranker, X, y, None, n_jobs=None, n_resamples=2)
    explained = ranker.explain(X[0])
    total = explained.base + sum(explained.contributions)
    assert total == pytest.approx(ranker.decision_function(X[:1])[0])


def test_a_saved_model_is_one_model_and_scores_the_same(tmp_path):
    X, y = make_strata(600)
    X[::9, 2] = np.nan
    ranker = ExactBoostCV(**FAST | {"n_estimators": 8}).fit(X, y)
    assert ranker.n_rounds_ > 0
    ranker.model_.save(tmp_path / "m.json")
    model = load(tmp_path / "m.json")
    np.testing.assert_array_equal(model.decision_function(X), ranker.decision_function(X))
    # Youden's point of the sum lies at 0, and its probabilities give the same ranking.
    at_zero = ranker.predict(X) == 1
    assert at_zero[y == 1].mean() - at_zero[y == 0].mean() == pytest.approx(
        ks(y, ranker.decision_function(X))
    )
    assert ks(y, ranker.predict_proba(X)[:, 1]) == pytest.approx(ks(y, ranker.decision_function(X)))


def test_tables_with_text_missing_values_weights_and_groups():
    rng = np.random.default_rng(0)
    X, y = make_strata(600)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["stratum"] = np.array(["low", "mid", "high"])[X[:, 0].round().astype(int)]
    frame.loc[::7, "b"] = np.nan
    weight = rng.integers(0, 4, size=600)
    folds = list(GroupKFold(3).split(frame, y, np.arange(600) // 4))
    ranker = ExactBoostCV(**FAST | {"cv": folds}).fit(frame, y, sample_weight=weight)
    value = ks(y, ranker.decision_function(frame), sample_weight=weight)
    assert ranker.certificate_.values["value"] == pytest.approx(value)
    assert ranker.cv_results_["values"].shape[1] == 3


def test_a_number_of_rows_is_its_fraction_of_them():
    X, y = make_strata(300)
    count, fraction = (ExactBoostCV("precision_at_k", k=k, **FAST).fit(X, y) for k in (60, 0.2))
    np.testing.assert_array_equal(count.decision_function(X), fraction.decision_function(X))
    value = precision_at_k(y, count.decision_function(X), k=60)
    assert count.certificate_.values["value"] == pytest.approx(value)
    assert count.cv_results_["start"].tolist()[:2] == ["auc", "partial_auc"]


def test_the_same_model_for_any_number_of_threads_and_every_clone():
    X, y = make_strata(500)
    ranker = ExactBoostCV(**FAST, random_state=3).fit(X, y)
    for other in (clone(ranker), clone(ranker).set_params(n_jobs=2)):
        scores = other.fit(X, y).decision_function(X)
        np.testing.assert_array_equal(scores, ranker.decision_function(X))


def test_the_smaller_label_can_be_positive():
    X, y = make_strata(300)
    ranker = ExactBoostCV(**FAST, pos_label=0).fit(X, y)
    assert ranker.pos_label_ == 0
    assert ks(y == 0, ranker.decision_function(X)) > 0.4


@pytest.mark.parametrize(
    ("k", "wrong"),
    [
        (0, "k is 0; give a whole number of rows"),
        (1.5, "k is 1.5; give a whole number of rows"),
        (-0.1, "k is -0.1; give"),
        (True, "k is True; give"),
        (101, "k is 101, more than the 100 rows of X; give"),
        (float("nan"), "k is nan; give"),
    ],
)
def test_a_wrong_k_is_an_error_before_any_work(k, wrong):
    with pytest.raises(ValueError, match=wrong):
        ExactBoostCV("precision_at_k", k=k, **FAST).fit(*make_strata(100))


@pytest.mark.parametrize("k", [120, 1])
def test_a_top_of_all_rows_and_of_one(k):
    X, y = make_strata(120)
    ranker = ExactBoostCV("precision_at_k", k=k, **FAST).fit(X, y)
    assert 0 <= ranker.certificate_.values["value"] <= 1


def test_a_fold_can_be_too_small_for_rounds_where_the_table_is_not():
    X, y = np.arange(8.0)[:, None], np.array([0, 1, 0, 1, 0, 1, 1, 1])
    ranker = ExactBoostCV(cv=2, n_runs=2, interactions=0).fit(X, y)
    assert "no rounds were tried (subsample is 0.2, which draws none" in (
        ranker.certificate_.statement
    )


def test_two_rows_have_no_folds():
    ranker = ExactBoostCV().fit([[0.0], [1.0]], [0, 1])
    assert ranker.decision_function([[0.0]]) < ranker.decision_function([[1.0]])
    assert "too few rows" in ranker.certificate_.statement
    assert np.isnan(ranker.best_score_) and len(ranker.cv_results_["mean"]) == 0


def test_a_number_of_rows_is_its_fraction_of_the_weights_that_count_rows():
    X, y = make_strata(100)
    weight = 1.0 + np.arange(100) % 3
    rows = np.repeat(np.arange(100), weight.astype(int))
    ranker = ExactBoostCV("precision_at_k", k=20, **FAST)
    assert ranker.fit(X, y, weight).certificate_.values["fraction"] == 0.2
    assert ranker.fit(X[rows], y[rows]).certificate_.values["fraction"] == 20 / len(rows)
    ranker.set_params(frequency_weights=True).fit(X, y, weight)
    assert ranker.certificate_.values["fraction"] == 20 / len(rows)


def test_k_is_checked_against_the_rows_that_count():
    X, y = make_strata(200)
    weight = (np.arange(200) < 100).astype(float)
    with pytest.raises(ValueError, match="k is 150, more than the 100 rows of X that have"):
        ExactBoostCV("precision_at_k", k=150, **FAST).fit(X, y, weight)
    counted = ExactBoostCV("precision_at_k", k=250, frequency_weights=True, **FAST)
    with pytest.raises(ValueError, match="k is 250, more than the 200 rows that sample_weight co"):
        counted.fit(X, y, 2 * weight)
    counted.set_params(k=150).fit(X, y, 2 * weight)
