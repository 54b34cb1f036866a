"""SmoothAUCBoost as scikit-learn users meet it; what all learners share is tested on RankBoost."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from learners.blurred import partial_by_quadrature
from scipy.special import ndtr
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auctor import AUCBoost, RankBoost, SmoothAUCBoost, TreeRank, load
from auctor.metrics import partial_auc


@pytest.fixture
def few_columns(cancer):
    X, y = cancer
    return X[:, :8], y


def noisy(seed=0, n_rows=150, n_features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    return X, X[:, 0] - 0.5 * X[:, 1] ** 2 + rng.normal(size=n_rows) > 0


def smoothed_auc(scores, y, weight=None):
    """The double sum over all pairs."""
    weight = np.ones(len(y)) if weight is None else weight
    pairs = weight[y][:, None] * weight[~y]
    return (pairs * ndtr(scores[y][:, None] - scores[~y])).sum() / pairs.sum()


def test_it_ranks_unseen_rows(few_columns):
    X, y = few_columns
    ranker = SmoothAUCBoost().fit(X[:400], y[:400])
    assert ranker.score(X[400:], y[400:]) > 0.97
    assert set(ranker.predict(X)) == {0, 1}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"penalty": -0.1}, r"'penalty'.*\[0.0, inf\).*'auto'.*Got -0.1"),
        ({"penalty": "some"}, r"'penalty'.*'auto'.*Got 'some'"),
        ({"shrinkage": -1}, r"'shrinkage'.*Got -1"),
        ({"ridge": -1}, r"'ridge'.*Got -1"),
        ({"max_iter": 0}, r"'max_iter'.*\[1, inf\).*Got 0"),
        ({"scale": "log"}, r"'scale'.*'normal'.*Got 'log'"),
        ({"roughness": "jumps"}, r"'roughness'.*'bins'.*Got 'jumps'"),
        ({"fpr_range": 0.1}, r"'fpr_range'.*array-like.*Got 0.1"),
        ({"fpr_range": (0.1,)}, r"fpr_range is \(0.1,\); give two numbers with 0 <= low < high"),
        ({"fpr_range": ("a", "b")}, r"fpr_range is \('a', 'b'\); give two numbers"),
        ({"fpr_range": (-0.1, 0.5)}, r"fpr_range is \(-0.1, 0.5\); give two numbers with 0 <="),
        ({"fpr_range": (0.5, 1.5)}, r"fpr_range is \(0.5, 1.5\); give .* high <= 1"),
        ({"fpr_range": (0.3, 0.1)}, r"fpr_range is \(0.3, 0.1\); give .* low < high"),
        ({"fpr_range": (0.2, 0.2)}, r"fpr_range is \(0.2, 0.2\); give .* low < high"),
        ({"fpr_range": (0, np.nan)}, r"fpr_range is \(0, nan\); give two numbers"),
        ({"fpr_range": (0, 0.01)}, r"\(0, 0.01\), which holds 0.93 of the 93 negatives; give"),
        ({"monotonic_cst": [1, 0]}, "monotonic_cst has 2 entries for 4 features"),
        ({"monotonic_cst": [2, 0, 0, 0]}, "monotonic_cst is 2 for 'x0'; give -1, 0 or 1"),
        ({"monotonic_cst": [True, 0, 0, 0]}, "monotonic_cst is True for 'x0'; give -1, 0 or 1"),
        ({"monotonic_cst": ["up", 0, 0, 0]}, "monotonic_cst is 'up' for 'x0'; give -1, 0 or 1"),
        ({"monotonic_cst": {"x9": 1}}, "monotonic_cst names 'x9', which is not a column of X"),
        (
            {"monotonic_cst": {"x3": -1}},
            "monotonic_cst is -1 for 'x3', which holds categories.* give 0",
        ),
    ],
    ids=str,
)
def test_bad_parameters_are_named(parameters, message):
    X, y = noisy(n_features=4)
    X[:, 3] = np.round(X[:, 3])
    with pytest.raises(ValueError, match=message):
        SmoothAUCBoost(categorical_features=[3], **parameters).fit(X, y)


def test_a_range_that_holds_two_negatives_will_do():
    X, y = noisy(n_rows=100)
    held = 2 / (~y).sum()
    with pytest.raises(ValueError, match="give a range that holds two or more"):
        SmoothAUCBoost(fpr_range=(0, 0.99 * held)).fit(X, y)
    assert np.isfinite(
        SmoothAUCBoost(fpr_range=(0, 1.01 * held)).fit(X, y).decision_function(X)
    ).all()


def test_negatives_of_a_range_are_counted_by_weight():
    X, y = noisy(n_rows=60)
    ranker = SmoothAUCBoost(fpr_range=(0, 1.5 / (~y).sum()), frequency_weights=True)
    by_copies = clone(ranker).fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    by_weight = clone(ranker).fit(X, y, np.full(60, 2))
    assert np.array_equal(by_weight.decision_function(X), by_copies.decision_function(X))


def test_pandas_polars_and_column_order(people):
    X, y = people
    typed = X.assign(town=X["town"].astype("category"))
    usual = SmoothAUCBoost().fit(X, y)
    scores = usual.decision_function(X)
    assert len(np.unique(scores)) > 50
    for other in (pl.from_pandas(X), typed):
        again = SmoothAUCBoost().fit(other, y)
        assert np.array_equal(again.decision_function(other), scores)
    turned = X[X.columns[::-1]].assign(extra=5.0)
    assert np.array_equal(usual.decision_function(turned), scores)
    with pytest.raises(ValueError, match=r"lacks 1 column.* 'age'"):
        usual.decision_function(X.drop(columns="age"))


def test_categories_and_missing_values_get_steps_of_their_own(people):
    X, y = people
    model = SmoothAUCBoost().fit(X, y).model_
    town = dict(zip(model.features[1].categories, model.steps[1][1:], strict=True))
    assert town["west"] > max(town["north"], town["south"]) + 0.3
    assert min(town.values()) < model.steps[1][0] < max(town.values())


def test_unseen_categories_score_as_missing_or_as_the_average_row(people):
    X, y = people
    ranker = SmoothAUCBoost().fit(X, y)
    missing, unseen = X.assign(town=None), X.assign(town="elsewhere")
    assert np.array_equal(ranker.decision_function(missing), ranker.decision_function(unseen))
    known, labels = X.dropna(), y[X.notna().all(axis=1)]
    model = SmoothAUCBoost().fit(known, labels).model_
    fraction = np.mean(
        [[(known["town"][labels == c] == t).mean() for t in model.features[1].categories]
         for c in ("no", "yes")],
        axis=0,
    )  # fmt: skip
    assert model.steps[1][0] == pytest.approx(fraction @ model.steps[1][1:], abs=1e-8)


def increments(ranker, j):
    return np.diff(ranker.model_.steps[j][1:])


def test_monotone_by_list_and_by_name(people):
    X, y = people
    by_name = SmoothAUCBoost(monotonic_cst={"age": -1}).fit(X, y)
    by_list = SmoothAUCBoost(monotonic_cst=[-1, 0, 0, 0]).fit(X, y)
    by_array = SmoothAUCBoost(monotonic_cst=np.array([-1, 0, 0, 0])).fit(X, y)
    assert by_name.model_.body() == by_list.model_.body() == by_array.model_.body()
    assert (increments(by_name, 0) <= 0).all()
    assert (increments(SmoothAUCBoost().fit(X, y), 0) > 0).any()
    # Risk rises with age: held down, it is all but flat, and held up nearly as good as free.
    free, up = (SmoothAUCBoost(monotonic_cst=c).fit(X, y) for c in (None, {"age": 1}))
    assert (increments(up, 0) >= 0).all()
    assert free.score(X, y) > up.score(X, y) - 0.01 > by_name.score(X, y) + 0.05


@pytest.mark.parametrize("seed", range(3))
def test_monotone_signs_hold_for_any_other_settings(seed):
    X, y = noisy(seed)
    X[::5, 0] = np.nan
    for options in (
        {"early_stopping": True, "random_state": seed},
        {"max_iter": 2},
        {"penalty": 0.0},
    ):
        ranker = SmoothAUCBoost(monotonic_cst=[1, -1, 1], **options).fit(X, y)
        for j, sign in enumerate((1, -1, 1)):
            assert (sign * increments(ranker, j) >= 0).all(), options


def test_fitted_attributes():
    X, y = noisy()
    ranker = SmoothAUCBoost().fit(X, y)
    auto = 0.1 * (1 / y.sum() + 1 / (~y).sum()) / 2
    assert ranker.penalty_ == ranker.shrinkage_ == pytest.approx(auto)
    assert ranker.ridge_ == pytest.approx(3 * auto)
    assert ranker.n_iter_ == len(ranker.history_.objective) == len(ranker.history_.smoothed_auc)
    assert ranker.n_iter_ > 1
    assert ranker.n_features_in_ == 3
    assert ranker.classes_.tolist() == [False, True]
    ranker = SmoothAUCBoost(penalty=0.5, shrinkage=0.25, ridge=0.125).fit(X, y)
    assert (ranker.penalty_, ranker.shrinkage_, ranker.ridge_) == (0.5, 0.25, 0.125)
    bins = SmoothAUCBoost(roughness="bins").fit(X, y)
    stretch = 150 / 5  # every row has a bin of its own
    assert bins.penalty_ == pytest.approx(auto * stretch**3 / 10)
    assert bins.shrinkage_ == pytest.approx(auto * stretch)


def test_automatic_amounts_take_the_effective_number_of_rows():
    X, y = noisy()
    usual = SmoothAUCBoost().fit(X, y).penalty_
    weight = np.random.default_rng(0).lognormal(size=len(y))
    rows = [weight[y == k].sum() ** 2 / (weight[y == k] ** 2).sum() for k in (0, 1)]
    for scale in (1.0, 1e-6, 1e6):
        penalty = SmoothAUCBoost().fit(X, y, scale * weight).penalty_
        assert penalty == pytest.approx(0.1 * np.mean(1 / np.array(rows)), rel=1e-6)
    twice = np.full(len(y), 2)
    assert SmoothAUCBoost().fit(X, y, twice).penalty_ == usual
    counted = SmoothAUCBoost(frequency_weights=True).fit(X, y, twice)
    assert counted.penalty_ == pytest.approx(usual / 2)


def test_importances_add_up_and_name_the_useful_feature():
    X, y = noisy(n_rows=400, n_features=4)
    importances = SmoothAUCBoost().fit(X, y).feature_importances_
    assert importances.sum() == pytest.approx(1)
    assert (importances >= 0).all()
    assert importances.argmax() == 0
    assert importances[:2].sum() > 0.8
    flat = SmoothAUCBoost().fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert flat.feature_importances_.tolist() == [0.0, 0.0]


def test_importances_are_fractions_of_the_spread_of_the_contributions():
    X, y = noisy(n_rows=300)
    weight = np.where(y, 1 / y.sum(), 1 / (~y).sum())  # class-balanced
    ranker = SmoothAUCBoost().fit(X, y)
    parts = ranker.model_.contributions(X)
    mean = np.average(parts, axis=0, weights=weight)
    spread = np.sqrt(np.average((parts - mean) ** 2, axis=0, weights=weight))
    assert ranker.feature_importances_ == pytest.approx(spread / spread.sum(), rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_certificate_holds(weighted):
    X, y = noisy(3)
    weight = np.random.default_rng(0).integers(1, 4, len(y)) if weighted else None
    ranker = SmoothAUCBoost().fit(X, y, weight)
    values, scores = ranker.certificate_.values, ranker.decision_function(X)
    assert values["smoothed_auc"] == pytest.approx(smoothed_auc(scores, y, weight), abs=1e-7)
    assert values["auc"] == pytest.approx(ranker.score(X, y, weight), abs=1e-12)
    assert values["least_auc"] == pytest.approx(2 * values["smoothed_auc"] - 1)
    assert values["auc"] >= values["least_auc"] > 0
    assert values["objective"] + values["penalty"] == pytest.approx(values["smoothed_auc"])
    assert values["penalty"] > 0
    assert values["objective"] == ranker.history_.objective[-1]
    assert 0 <= values["gain_left"] <= 1e-7
    assert values["separating"] == []
    sentence = str(ranker.certificate_)
    assert f"training pairs is {values['smoothed_auc']:.4g}; the objective" in sentence
    assert f"is {values['objective']:.6g}, at its maximum" in sentence
    bound = f"2 x {values['smoothed_auc']:.4g} - 1 = {values['least_auc']:.4g}"
    assert f"is {values['auc']:.4g}, at least {bound} (Komori's bound)" in sentence
    assert "separates" not in sentence


def test_the_certificate_does_not_claim_a_maximum_that_was_not_reached():
    X, y = noisy(3)
    statement = SmoothAUCBoost(max_iter=2).fit(X, y).certificate_.statement
    assert "(stopped by max_iter, before its maximum)" in statement


def test_the_certificate_of_a_partial_auc():
    X, y = noisy(4, n_rows=200)
    ranker = SmoothAUCBoost(fpr_range=(0, 0.5)).fit(X, y)
    scores = ranker.decision_function(X)
    expected = partial_by_quadrature(scores, y, (0, 0.5))
    assert ranker.n_iter_ > 1
    assert ranker.certificate_.values["smoothed_auc"] == pytest.approx(expected, abs=1e-7)
    assert "smoothed partial AUC (FPR 0 to 0.5) of the training pairs" in str(ranker.certificate_)


def test_a_separating_feature_is_named(people):
    X, y = noisy()
    for column in (np.where(y, 5.0, 4.0), np.where(y, -1.0, X[:, 0] ** 2)):
        fitted = SmoothAUCBoost().fit(np.column_stack([X, column]), y)
        assert fitted.certificate_.values["separating"] == ["x3"]
        assert "Feature 'x3' separates the classes perfectly" in str(fitted.certificate_)
    frame, labels = people
    table = frame.assign(town=np.where(labels == "yes", "a", "b"))
    assert SmoothAUCBoost().fit(table, labels).certificate_.values["separating"] == ["town"]
    table = frame.assign(town=np.where(labels == "yes", None, "b"))
    assert SmoothAUCBoost().fit(table, labels).certificate_.values["separating"] == ["town"]


def test_noise_with_one_missing_value_does_not_separate():
    X, y = noisy()
    X[0, 2] = np.nan
    assert SmoothAUCBoost().fit(X, y).certificate_.values["separating"] == []


def test_early_stopping_keeps_the_best_iteration():
    X, y = noisy(0, n_rows=300)
    options = {"early_stopping": True, "n_iter_no_change": 2}
    first, second = (SmoothAUCBoost(**options, random_state=0).fit(X, y) for _ in range(2))
    history = first.history_
    assert history.stopped_by == "early stopping"
    assert first.n_iter_ == len(history.validation_auc)
    best = int(np.argmax(history.validation_auc))
    assert first.n_iter_ == best + 1 + 2
    assert first.certificate_.values["smoothed_auc"] == history.smoothed_auc[best]
    assert first.model_.body() == second.model_.body()
    other = SmoothAUCBoost(**options, random_state=1).fit(X, y)
    assert other.model_.body() != first.model_.body()


@pytest.mark.parametrize("seed", range(8))
def test_early_stopping_may_hold_out_the_ends_of_a_feature(seed):
    X, y = noisy(0, n_rows=60)
    ranker = SmoothAUCBoost(early_stopping=True, random_state=seed).fit(X, y)
    assert np.isfinite(ranker.decision_function(X)).all()
    assert np.ptp(ranker.decision_function(X)) > 0.1


def test_the_certificate_of_an_earlier_iteration_claims_no_maximum():
    X, y = noisy(0, n_rows=300)
    options = {"early_stopping": True, "n_iter_no_change": 1000, "random_state": 0}
    ranker = SmoothAUCBoost(**options).fit(X, y)
    history, certificate = ranker.history_, ranker.certificate_
    is_last = certificate.values["smoothed_auc"] == history.smoothed_auc[-1]
    assert is_last or "at a maximum" not in certificate.statement


def distribution_with_a_sure_minority(seed):
    """One feature is right on the whole, the other is sure of a third of the positives."""
    rng = np.random.default_rng(seed)
    y = np.arange(600) < 300
    a = rng.normal(size=600) + y
    b = np.where(y & (rng.random(600) < 0.35), rng.normal(3, 0.5, 600), rng.normal(size=600))
    return np.column_stack([a, np.where(y & (b < 2), b - 1, b)]), y


@pytest.mark.parametrize("seed", range(3))
def test_training_for_a_range_pays_in_that_range(seed):
    X, y = distribution_with_a_sure_minority(seed)
    whole, top = (SmoothAUCBoost(fpr_range=r).fit(X, y) for r in (None, (0, 0.1)))
    areas = [partial_auc(y, r.decision_function(X), fpr_range=(0, 0.1)) for r in (whole, top)]
    assert areas[1] > areas[0] + 0.002
    assert whole.score(X, y) > top.score(X, y)


def test_the_whole_range_is_no_range():
    X, y = noisy()
    whole, none = (SmoothAUCBoost(fpr_range=r).fit(X, y) for r in ((0, 1), None))
    assert whole.model_.body() == none.model_.body()
    assert str(whole.certificate_) == str(none.certificate_)


def test_penalties_smooth_the_steps():
    x = np.tile(np.arange(60.0), 5)[:, None]
    y = np.sin(x[:, 0] / 10) + np.random.default_rng(0).normal(size=300) > 0
    options = {"scale": "linear", "adaptive": False}
    rough, smooth = (SmoothAUCBoost(penalty=p, **options).fit(x, y) for p in (1e-6, 1.0))
    bends = [np.abs(np.diff(r.model_.steps[0][1:], 2)).sum() for r in (rough, smooth)]
    assert bends[0] > 1
    assert bends[1] < 1e-3
    assert rough.score(x, y) > smooth.score(x, y)
    flat = SmoothAUCBoost(shrinkage=1e6).fit(x, y)
    assert np.ptp(flat.decision_function(x)) < 1e-3


def test_a_monotone_transform_of_a_feature_changes_nothing():
    X, y = noisy()
    options = {"scale": "normal"}
    usual, turned = (SmoothAUCBoost(**options).fit(table, y) for table in (X, np.exp(X)))
    assert np.array_equal(usual.decision_function(X), turned.decision_function(np.exp(X)))
    options = {"scale": "linear"}
    usual, turned = (SmoothAUCBoost(**options).fit(table, y) for table in (X, np.exp(X)))
    assert not np.array_equal(usual.decision_function(X), turned.decision_function(np.exp(X)))


def test_constant_missing_and_duplicate_columns():
    X, y = noisy(n_rows=80, n_features=2)
    alone = SmoothAUCBoost(adaptive=False).fit(X, y)
    table = np.column_stack([X, np.full(80, 3.0), np.full(80, np.nan)])
    more = SmoothAUCBoost(adaptive=False).fit(table, y)
    assert more.decision_function(table) == pytest.approx(alone.decision_function(X), abs=1e-6)
    assert more.feature_importances_[2:].tolist() == [0.0, 0.0]
    adapted = SmoothAUCBoost().fit(np.column_stack([X, table]), y)
    assert np.isfinite(adapted.decision_function(np.column_stack([X, table]))).all()
    parts = adapted.model_.contributions(np.column_stack([X, table]))
    assert parts[:, :2] == pytest.approx(parts[:, 2:4], abs=1e-6)


def test_two_rows_are_enough():
    ranker = SmoothAUCBoost().fit([[1.0], [2.0]], [0, 1])
    assert ranker.predict([[0.0], [3.0]]).tolist() == [0, 1]
    assert ranker.certificate_.values["auc"] == 1


def test_clone_pickle_search_and_pipeline(few_columns):
    X, y = few_columns
    ranker = SmoothAUCBoost(penalty=0.01, monotonic_cst={"x0": -1}).fit(X, y)
    copy = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(copy.decision_function(X), ranker.decision_function(X))
    fresh = clone(ranker)
    assert fresh.get_params() == ranker.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    search = GridSearchCV(SmoothAUCBoost(), {"shrinkage": [1e-3, 1e6]}, cv=3).fit(X, y)
    assert search.best_params_ == {"shrinkage": 1e-3}
    pipeline = make_pipeline(StandardScaler(), SmoothAUCBoost())
    assert (cross_val_score(pipeline, X, y, cv=3) > 0.95).all()


def test_saved_models_score_the_same(people, tmp_path):
    X, y = people
    ranker = SmoothAUCBoost(threshold=0.25).fit(X, y)
    ranker.model_.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert np.array_equal(loaded.decision_function(X), ranker.decision_function(X))
    assert np.array_equal(loaded.predict(X), ranker.predict(X))
    assert np.array_equal(loaded.predict_proba(X), ranker.predict_proba(X))


def log_odds(seed=0, n_rows=150):
    """A table, its labels, and a model of another sample to start from."""
    X, y = noisy(seed, n_rows)
    return X, y, RankBoost(n_estimators=15).fit(*noisy(seed + 100, n_rows))


class TestInit:
    def test_a_strong_penalty_leaves_the_ranking(self):
        X, y, first = log_odds()
        held = {"penalty": 1e6, "shrinkage": 1e6, "ridge": 1e6, "adaptive": False}
        ranker = SmoothAUCBoost(init=first, **held).fit(X, y)
        before, after = (r.decision_function(X) for r in (first, ranker))
        assert after - before == pytest.approx((after - before).mean(), abs=1e-3)
        # No pair is reversed; tied rows may be separated by the small amounts that are added.
        apart = np.subtract.outer(before, before) > 0.01
        assert apart.mean() > 0.4
        assert (np.subtract.outer(after, after)[apart] > 0).all()
        free = SmoothAUCBoost(init=first).fit(X, y)
        assert free.score(X, y) > first.score(X, y) + 0.01

    def test_the_certificate_is_that_of_the_sum(self):
        X, y, first = log_odds(1)
        ranker = SmoothAUCBoost(init=first).fit(X, y)
        values, scores = ranker.certificate_.values, ranker.decision_function(X)
        assert values["smoothed_auc"] == pytest.approx(smoothed_auc(scores, y), abs=1e-7)
        assert values["auc"] == pytest.approx(ranker.score(X, y), abs=1e-12)

    @pytest.mark.parametrize("options", [{}, {"solver": "stagewise", "n_estimators": 20}], ids=str)
    def test_the_same_settings_again_improve_the_objective(self, options):
        """What was paid for before is free now: there is more to gain."""
        X, y = noisy(2)
        first = SmoothAUCBoost(**options).fit(X, y)
        second = SmoothAUCBoost(**options, init=first).fit(X, y)
        objectives = [r.certificate_.values["objective"] for r in (first, second)]
        assert objectives[1] > objectives[0] + 0.001
        smoothed = [r.certificate_.values["smoothed_auc"] for r in (first, second)]
        assert smoothed[1] > smoothed[0]

    def test_a_model_and_its_estimator_are_the_same_start(self, tmp_path):
        X, y, first = log_odds(n_rows=80)
        first.model_.save(tmp_path / "first.json")
        starts = (first, first.model_, load(tmp_path / "first.json"))
        bodies = [SmoothAUCBoost(init=start).fit(X, y).model_.body() for start in starts]
        assert bodies[0] == bodies[1] == bodies[2]

    def test_the_saved_model_scores_as_the_estimator(self, people, tmp_path):
        X, y = people
        first = AUCBoost(n_estimators=10).fit(X[:120], y[:120])
        ranker = SmoothAUCBoost(init=first, interactions=1).fit(X, y)
        again = SmoothAUCBoost(init=ranker).fit(X, y)  # of a model with surfaces
        unseen = X.assign(town="elsewhere")
        for fitted in (ranker, again):
            fitted.model_.save(tmp_path / "model.json")
            loaded = load(tmp_path / "model.json")
            for table in (X, unseen):
                scores = fitted.decision_function(table)
                assert np.array_equal(loaded.decision_function(table), scores)
                assert np.array_equal(loaded.predict_proba(table), fitted.predict_proba(table))

    def test_youdens_point_of_the_sum_lies_at_zero(self):
        X, y, first = log_odds(3)
        ranker = SmoothAUCBoost(init=first).fit(X, y)
        scores = ranker.decision_function(X)
        cuts = np.append(scores, 0.0)
        youden = [(scores[y] > cut).mean() - (scores[~y] > cut).mean() for cut in cuts]
        assert youden[-1] == pytest.approx(max(youden), abs=1e-12)

    def test_rows_of_weight_zero_are_absent(self):
        X, y, first = log_odds(4)
        weight = np.random.default_rng(0).integers(0, 3, len(y))
        copies = np.repeat(np.arange(len(y)), weight)
        by_weight = SmoothAUCBoost(init=first).fit(X, y, weight)
        by_copies = SmoothAUCBoost(init=first).fit(X[copies], y[copies])
        assert np.array_equal(by_weight.decision_function(X), by_copies.decision_function(X))

    @pytest.mark.parametrize("options", [{}, {"solver": "stagewise", "n_estimators": 60}], ids=str)
    def test_early_stopping_counts_what_it_starts_from(self, options):
        X, y, first = log_odds(5, n_rows=300)
        options = {**options, "early_stopping": True, "n_iter_no_change": 3, "random_state": 0}
        weight = np.where(np.arange(300) % 7 == 0, 0, 1)
        for w in (None, weight):
            ranker = SmoothAUCBoost(**options, init=first).fit(X, y, w)
            again = SmoothAUCBoost(**options, init=first).fit(X, y, w)
            assert ranker.model_.body() == again.model_.body()
            # After one small step the held-out rows are ranked about as before.
            assert ranker.history_.validation_auc[0] > 0.6
            # The paper's stumps stop after a few rounds, and may pay for held-out rows with others.
            assert ranker.score(X, y, w) > first.score(X, y, w) - 0.005 * ("solver" in options)

    def test_averages_are_those_of_the_contributions(self):
        X, y, first = log_odds(6)
        weight = 1.0 + np.arange(len(y)) % 3
        ranker = SmoothAUCBoost(init=first, max_bins=8).fit(X, y, weight)
        expected = np.average(ranker.model_.contributions(X), axis=0, weights=weight)
        assert ranker.model_.reference.contributions == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("columns", ["abc", "ba"])
    def test_other_columns_are_refused_by_name(self, columns):
        X, y, _ = log_odds(n_rows=60)
        X = pd.DataFrame(X, columns=list("abc"))
        first = RankBoost(n_estimators=5).fit(X[["a", "b"]], y)
        with pytest.raises(ValueError, match="init"):
            SmoothAUCBoost(init=first).fit(X[list(columns)], y)

    def test_a_category_that_was_a_number_is_refused_by_name(self):
        X, y, _ = log_odds(n_rows=60)
        first = RankBoost(n_estimators=5).fit(np.round(X), y)
        with pytest.raises(ValueError, match="init"):
            SmoothAUCBoost(init=first, categorical_features=[0]).fit(np.round(X), y)

    def test_clone_keeps_a_model_but_not_the_fit_of_an_estimator(self):
        X, y, first = log_odds(n_rows=60)
        kept = clone(SmoothAUCBoost(init=first.model_)).fit(X, y)
        usual = SmoothAUCBoost(init=first.model_).fit(X, y)
        assert kept.model_.body() == usual.model_.body()
        with pytest.raises(ValueError, match="init is RankBoost without an additive model"):
            clone(SmoothAUCBoost(init=first)).fit(X, y)

    def test_what_cannot_be_started_from_is_named(self):
        X, y, first = log_odds(n_rows=60)
        with pytest.raises(ValueError, match="init is SmoothAUCBoost without an additive model"):
            SmoothAUCBoost(init=SmoothAUCBoost()).fit(X, y)
        tree = TreeRank(max_depth=2).fit(X, y)
        for other in (tree, tree.model_):
            with pytest.raises(ValueError, match=r"init is Tree\w+ without an additive model"):
                SmoothAUCBoost(init=other).fit(X, y)
        with pytest.raises(ValueError, match="'init' parameter"):
            SmoothAUCBoost(init=3).fit(X, y)
        words = np.where(y, "yes", "no")
        with pytest.raises(ValueError, match=r"init ranks True above False.* 'yes' above 'no'"):
            SmoothAUCBoost(init=first).fit(X, words)
        with pytest.raises(ValueError, match=r"init ranks True above False.* False above True"):
            SmoothAUCBoost(init=first, pos_label=False).fit(X, y)
