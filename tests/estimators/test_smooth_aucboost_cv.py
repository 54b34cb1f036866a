"""SmoothAUCBoostCV for users of scikit-learn; test_smooth_search tests how it chooses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from auctor import RankBoost, SmoothAUCBoost, SmoothAUCBoostCV, load
from auctor.metrics import auc

# A short path, for tests that look at something else.
SHORT = {"penalties": [1e-3, 1e-2], "shrinkages": [1e-3], "cv": 3, "max_bins": 24}
ALONE = {**SHORT, "interactions": 0}


def noisy(seed=0, n_rows=150, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, X[:, 0] - 0.5 * X[:, 1] ** 2 + rng.normal(size=n_rows) > 0


def product(seed=0, n_rows=500):
    """Only the two first features together say anything."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] * X[:, 1] + 0.2 * rng.normal(size=n_rows) > 0


def test_attributes_of_the_usual_path():
    X, y = noisy()
    ranker = SmoothAUCBoostCV(cv=3, max_bins=24).fit(X, y)
    results = ranker.cv_results_
    n_tried = len(results["penalty"])  # up to 4 shrinkages, 2 more penalties, and surfaces
    assert 4 <= n_tried <= 7
    for name in ("penalty", "shrinkage", "mean_auc", "std_auc", "interactions"):
        assert results[name].shape == (n_tried,)
    assert results["aucs"].shape == (n_tried, 3)
    assert results["mean_auc"] == pytest.approx(results["aucs"].mean(axis=1))
    assert results["std_auc"] == pytest.approx(results["aucs"].std(axis=1, ddof=1))
    assert results["interactions"].tolist() == [0] * (n_tried - 1) + [10]
    chosen = (
        (results["penalty"] == ranker.penalty_)
        & (results["shrinkage"] == ranker.shrinkage_)
        & (results["interactions"] == ranker.interactions_)
    )
    assert results["mean_auc"][chosen].tolist() == [ranker.best_score_]
    assert "staged_auc" not in results
    assert ranker.n_features_in_ == 3
    assert ranker.certificate_.values["auc"] == pytest.approx(ranker.score(X, y))
    assert not [name for name in vars(ranker) if name.startswith("_")]


def test_the_last_fit_is_that_of_the_amounts_found():
    X, y = noisy(1)
    ranker = SmoothAUCBoostCV(**ALONE, rule="best").fit(X, y)
    amounts = {"penalty": ranker.penalty_, "shrinkage": ranker.shrinkage_, "ridge": ranker.ridge_}
    alone = SmoothAUCBoost(**amounts, max_bins=24).fit(X, y)
    assert alone.model_.body() == ranker.model_.body()


def test_the_aucs_are_those_of_fits_on_the_folds():
    """With bins of all rows, and to the tolerance of the path."""
    X, y = noisy(2)
    folds = list(StratifiedKFold(3).split(X, y))
    options = {"penalties": [1e-3], "shrinkages": [2e-3], "max_bins": 255, "interactions": 0}
    ranker = SmoothAUCBoostCV(**options, cv=folds).fit(X, y)
    for k, (train, test) in enumerate(folds):
        alone = SmoothAUCBoost(1e-3, shrinkage=2e-3, ridge=ranker.ridge_).fit(X[train], y[train])
        expected = auc(y[test], alone.decision_function(X[test]))
        assert ranker.cv_results_["aucs"][0, k] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("rule", ["paired", "best", "one_se"])
def test_rules(rule):
    X, y = noisy(3)
    given = {"penalties": [1e-4, 1e-2, 1.0], "shrinkages": [1e-4, 1e-2]}
    ranker = SmoothAUCBoostCV(**{**ALONE, **given}, rule=rule).fit(X, y)
    assert ranker.penalty_ in given["penalties"]
    assert ranker.shrinkage_ in given["shrinkages"]
    if rule == "best":
        assert ranker.best_score_ == ranker.cv_results_["mean_auc"].max()


def test_cv_as_a_number_a_splitter_and_an_iterable():
    X, y = noisy()
    usual = SmoothAUCBoostCV(**ALONE).fit(X, y)
    assert usual.cv_results_["aucs"].shape[1] == 3
    splitter = StratifiedKFold(3, shuffle=True, random_state=1)
    by_splitter = SmoothAUCBoostCV(**{**ALONE, "cv": splitter}).fit(X, y)
    by_list = SmoothAUCBoostCV(**{**ALONE, "cv": list(splitter.split(X, y))}).fit(X, y)
    by_generator = SmoothAUCBoostCV(**{**ALONE, "cv": splitter.split(X, y)}).fit(X, y)
    for other in (by_list, by_generator):
        for name, values in by_splitter.cv_results_.items():
            assert np.array_equal(other.cv_results_[name], values), name
    repeated = RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0)
    fitted = SmoothAUCBoostCV(**{**ALONE, "cv": repeated}).fit(X, y)
    assert fitted.cv_results_["aucs"].shape[1] == 4
    one = SmoothAUCBoostCV(**{**ALONE, "cv": [(np.arange(100), np.arange(100, 150))]}).fit(X, y)
    assert one.cv_results_["std_auc"].tolist() == [0, 0]


def test_random_state_draws_the_folds():
    X, y = noisy()
    first, same, other = (
        SmoothAUCBoostCV(**ALONE, random_state=seed).fit(X, y) for seed in (0, 0, 1)
    )
    assert np.array_equal(first.cv_results_["aucs"], same.cv_results_["aucs"])
    assert not np.array_equal(first.cv_results_["aucs"], other.cv_results_["aucs"])


def test_rows_of_weight_zero_are_absent():
    X, y = noisy()
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    held = weight > 0
    ranker = SmoothAUCBoostCV(**ALONE).fit(X, y, weight)
    without = SmoothAUCBoostCV(**ALONE).fit(X[held], y[held], weight[held])
    assert np.array_equal(ranker.cv_results_["aucs"], without.cv_results_["aucs"])
    assert ranker.model_.body() == without.model_.body()
    # Folds from outside count all rows; those of weight 0 are in none of them.
    folds = list(StratifiedKFold(3).split(X, y))
    by_list = SmoothAUCBoostCV(**{**ALONE, "cv": folds}).fit(X, y, weight)
    index = np.cumsum(held) - 1
    fewer = [(index[a[held[a]]], index[b[held[b]]]) for a, b in folds]
    again = SmoothAUCBoostCV(**{**ALONE, "cv": fewer}).fit(X[held], y[held], weight[held])
    assert np.array_equal(by_list.cv_results_["aucs"], again.cv_results_["aucs"])


def test_weights_are_rows_within_the_folds():
    """Folds by rows: each row of weight 2 is twice in the same fold."""
    X, y = noisy(n_rows=90)
    times = np.random.default_rng(1).integers(1, 4, 90)
    copies = np.repeat(np.arange(90), times)
    fold = np.arange(90) % 3
    options = {**ALONE, "penalties": [1e-3]}
    results = []
    for rows, weight in ((np.arange(90), times), (copies, None)):
        folds = [
            (np.flatnonzero(fold[rows] != k), np.flatnonzero(fold[rows] == k)) for k in range(3)
        ]
        results.append(SmoothAUCBoostCV(**{**options, "cv": folds}).fit(X[rows], y[rows], weight))
    aucs = [ranker.cv_results_["aucs"] for ranker in results]
    assert aucs[0] == pytest.approx(aucs[1], abs=1e-12)
    assert results[0].decision_function(X) == pytest.approx(results[1].decision_function(X))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalties": []}, r"penalties is \[\]; give one or more numbers of 0 or more"),
        ({"penalties": [0.1, -1]}, r"penalties is \[0.1, -1\]; give one or more numbers"),
        ({"penalties": ["a"]}, r"penalties is \['a'\]; give one or more numbers"),
        ({"penalties": [np.inf]}, "penalties is .*; give one or more numbers"),
        ({"shrinkages": [np.nan]}, "shrinkages is .*; give one or more numbers"),
        ({"penalties": 0.1}, "'penalties' parameter"),
        ({"rule": "most"}, r"'rule'.*'paired'.*Got 'most'"),
        ({"cv": 1}, r"'cv'.*Got 1"),
        ({"interactions": -1}, r"'interactions'.*'auto'.*Got -1"),
        ({"interactions": "all"}, r"'interactions'.*'auto'.*Got 'all'"),
        ({"solver": "stagewise", "interactions": 2}, "interactions is 2 with solver='stagewise'"),
        ({"fpr_range": (0.3, 0.1)}, "fpr_range is .* low < high"),
        ({"monotonic_cst": [1]}, "monotonic_cst has 1 entries for 3 features"),
    ],
    ids=str,
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        SmoothAUCBoostCV(**parameters).fit(*noisy(n_rows=60))


def test_too_few_rows_of_a_class_are_counted():
    X, y = noisy(n_rows=60)
    y[:] = False
    y[:4] = True
    message = r"cv=5 folds need 5 rows of each class, and one class has 4; .* use SmoothAUCBoost$"
    with pytest.raises(ValueError, match=message):
        SmoothAUCBoostCV(cv=5).fit(X, y)
    weight = np.ones(60)
    weight[0] = 0
    with pytest.raises(ValueError, match=r"cv=4 folds need 4 .* has 3"):
        SmoothAUCBoostCV(cv=4).fit(X, y, weight)
    assert SmoothAUCBoostCV(**{**ALONE, "cv": 4}).fit(X, y).best_score_ > 0


def test_automatic_interactions_are_kept_where_they_matter():
    X, y = product()
    ranker = SmoothAUCBoostCV(**SHORT).fit(X, y)
    assert ranker.interactions_ == 10
    assert (0, 1) in [surface.features for surface in ranker.model_.surfaces]
    assert ranker.cv_results_["interactions"].tolist() == [0, 0, 10]
    assert ranker.best_score_ == ranker.cv_results_["mean_auc"][-1] > 0.85
    unseen, labels = product(1)
    assert ranker.score(unseen, labels) > 0.85


@pytest.mark.parametrize("seed", range(2))
def test_automatic_interactions_are_left_where_they_do_not(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] - X[:, 1] + rng.normal(size=400) > 0
    # One standard error is no certainty: of 14 such samples, 1 keeps a surface of 5 folds, 2 of 3.
    ranker = SmoothAUCBoostCV(**{**SHORT, "penalties": [1e-3], "cv": 5}).fit(X, y)
    assert ranker.interactions_ == 0
    assert ranker.model_.surfaces == ()


def test_interactions_that_are_asked_for_are_kept():
    X, y = product(n_rows=300)
    fitted = {m: SmoothAUCBoostCV(**{**SHORT, "interactions": m}).fit(X, y) for m in (0, 1)}
    for asked, ranker in fitted.items():
        assert ranker.interactions_ == asked
        assert ranker.cv_results_["interactions"].tolist()[-1] == asked
        assert ranker.best_score_ == ranker.cv_results_["mean_auc"][-1] or asked == 0
        assert len(ranker.model_.surfaces) == asked
    assert fitted[1].score(X, y) > fitted[0].score(X, y) + 0.1


def test_a_range_decides_by_its_own_area():
    X, y = noisy(n_rows=200)
    whole, top = (SmoothAUCBoostCV(**ALONE, fpr_range=r).fit(X, y) for r in (None, (0, 0.3)))
    assert (top.cv_results_["mean_auc"] < whole.cv_results_["mean_auc"]).all()
    assert "partial AUC (FPR 0 to 0.3)" in str(top.certificate_)
    same = SmoothAUCBoostCV(**ALONE, fpr_range=(0, 1)).fit(X, y)
    assert same.model_.body() == whole.model_.body()


def test_monotone_features_stay_monotone():
    X, y = noisy()
    ranker = SmoothAUCBoostCV(**SHORT, monotonic_cst=[1, -1, 1]).fit(X, y)
    for j, sign in enumerate((1, -1, 1)):
        assert (sign * np.diff(ranker.model_.steps[j][1:]) >= 0).all()
    assert ranker.model_.surfaces == ()


def test_stagewise_finds_the_rounds():
    X, y = noisy()
    options = {"solver": "stagewise", "roughness": "bins", "n_estimators": 25, "max_bins": 24}
    ranker = SmoothAUCBoostCV(cv=3, penalties=[1e-3, 1e-2], **options).fit(X, y)
    results = ranker.cv_results_
    assert results["staged_auc"].shape == (2, 3, 25)
    assert results["rounds"].tolist() == list(range(1, 26))
    means = results["staged_auc"].mean(axis=1)
    assert results["mean_auc"] == pytest.approx(means.max(axis=1))
    best = int(np.argmax(results["mean_auc"]))
    assert ranker.penalty_ == results["penalty"][best]
    assert ranker.n_estimators_ == results["rounds"][np.argmax(means[best])]
    assert ranker.best_score_ == pytest.approx(means.max())
    assert ranker.n_iter_ == len(ranker.history_.rounds) == ranker.n_estimators_
    assert ranker.interactions_ == 0
    amounts = {"penalty": ranker.penalty_, "shrinkage": ranker.shrinkage_, "ridge": ranker.ridge_}
    options["n_estimators"] = ranker.n_estimators_
    assert SmoothAUCBoost(**amounts, **options).fit(X, y).model_.body() == ranker.model_.body()


def test_a_model_to_start_from_counts_in_the_folds():
    X, y = noisy(n_rows=120)
    first = RankBoost(n_estimators=10).fit(*noisy(9))
    weight = np.where(np.arange(120) % 5 == 0, 0, 1)
    held = {**ALONE, "penalties": [1e3], "shrinkages": [1e3]}
    folds = list(StratifiedKFold(3).split(X, y))
    ranker = SmoothAUCBoostCV(**{**held, "cv": folds}, init=first.model_, adaptive=False)
    ranker.fit(X, y, weight)
    scores = first.decision_function(X)
    for fold_auc, (_, test) in zip(ranker.cv_results_["aucs"][0], folds, strict=True):
        test = test[weight[test] > 0]
        assert fold_auc == pytest.approx(auc(y[test], scores[test]), abs=0.01)


def test_threads_clone_pickle_and_files(tmp_path):
    X, y = noisy()
    X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(town=np.where(y, "west", "east"))
    X.loc[::2, "town"] = "south"
    ranker = SmoothAUCBoostCV(**SHORT).fit(X, y)
    threads = SmoothAUCBoostCV(**SHORT, n_jobs=2).fit(X, y)
    assert np.array_equal(threads.cv_results_["aucs"], ranker.cv_results_["aucs"])
    assert threads.model_.body() == ranker.model_.body()
    fresh = clone(ranker)
    assert fresh.get_params() == ranker.get_params()
    assert not hasattr(fresh, "model_")
    assert fresh.fit(X, y).model_.body() == ranker.model_.body()
    copy = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(copy.decision_function(X), ranker.decision_function(X))
    assert np.array_equal(copy.cv_results_["aucs"], ranker.cv_results_["aucs"])
    ranker.model_.save(tmp_path / "model.json")
    scores = load(tmp_path / "model.json").decision_function(X)
    assert np.array_equal(scores, ranker.decision_function(X))
    assert sum(ranker.explain(X.iloc[0]).contributions) + ranker.explain(X.iloc[0]).base == (
        pytest.approx(scores[0])
    )


def test_what_was_learned_before_is_forgotten():
    """A second fit finds its own amounts."""
    X, y = noisy()
    ranker = SmoothAUCBoostCV(**ALONE).fit(*noisy(5, n_rows=90))
    again = ranker.fit(X, y)
    assert again.model_.body() == SmoothAUCBoostCV(**ALONE).fit(X, y).model_.body()


def test_the_usual_number_of_folds_is_as_many_as_there_are_rows_for():
    X, y = noisy(n_rows=60)
    options = {**ALONE, "cv": None}
    assert SmoothAUCBoostCV(**options).fit(X, y).cv_results_["aucs"].shape == (2, 5)
    y = np.arange(60) < 3
    assert SmoothAUCBoostCV(**options).fit(X, y).cv_results_["aucs"].shape == (2, 3)
    weight = np.ones(60)
    weight[0] = 0
    assert SmoothAUCBoostCV(**options).fit(X, y, weight).cv_results_["aucs"].shape == (2, 2)


def test_a_single_row_of_a_class_leaves_the_automatic_amounts():
    X, y = noisy(n_rows=40)
    y = np.arange(40) == 5
    ranker = SmoothAUCBoostCV().fit(X, y)
    usual = SmoothAUCBoost().fit(X, y)
    assert ranker.model_.body() == usual.model_.body()
    assert ranker.penalty_ == usual.penalty_
    assert ranker.interactions_ == 0
    assert np.isnan(ranker.best_score_)
    assert all(len(values) == 0 for values in ranker.cv_results_.values())
