"""ExactBoost as a user meets it."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numba import njit
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from auctor import ExactBoost, RankBoost, RankMetric, load
from auctor.metrics import auc, ks, precision_at_k
from auctor.models import AdditiveModel, ScorerModel, to_json

SMALL = {"n_runs": 5, "n_estimators": 8}
METRICS = ("auc", "ks", "precision_at_k")
over_metrics = pytest.mark.parametrize("metric", METRICS)


@njit
def own_auc(pos, neg):
    won, j = 0, 0
    for i in range(len(pos)):
        while j < len(neg) and neg[j] < pos[i]:
            j += 1
        won += j
    return won / (len(neg) * len(pos))


@njit
def own_auc_bound(pos_low, pos_high, neg_low, neg_high):
    return own_auc(pos_high, neg_low)


@njit
def lead(pos, neg):
    return np.sum(pos > neg[-1]) / len(pos)


@njit
def lead_bound(pos_low, pos_high, neg_low, neg_high):
    return np.sum(pos_high > neg_low[-1]) / len(pos_high)


@njit
def mean_difference(pos, neg):
    return min(max((np.mean(pos) - np.mean(neg)) / 10_000 + 0.5, 0.0), 1.0)


@njit
def fraction_above_zero(pos, neg):
    return np.sum(pos > 0) / len(pos)


@njit
def pairs_won(pos, neg):
    return own_auc(pos, neg) * len(pos) * len(neg)


@njit
def many(pos_low, pos_high, neg_low, neg_high):
    return 100.0


@njit
def bound_at_the_lows(pos_low, pos_high, neg_low, neg_high):
    return own_auc(pos_low, neg_low)


def table(n_rows=300, seed=0, noise=1.0):
    """A frame whose first two columns matter, and labels that are text."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n_rows, 4)), columns=list("abcd"))
    y = X["a"] + (X["b"] > 0) + noise * rng.normal(size=n_rows) > 0.7
    return X, np.where(y, "sick", "well")


@pytest.fixture(scope="module")
def ranker():
    return ExactBoost(n_runs=40, n_estimators=20, pos_label="sick").fit(*table())


def test_ranks_new_rows(ranker):
    X, y = table(2000, seed=1)
    assert ranker.score(X, y) == auc(y, ranker.decision_function(X), pos_label="sick") > 0.8
    assert isinstance(ranker.model_, AdditiveModel)
    assert ranker.n_iter_ == len(ranker.history_.runs) == 40
    assert ranker.classes_.tolist() == ["sick", "well"]
    assert ranker.pos_label_ == "sick"


def test_importances_find_the_informative_features(ranker):
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)
    assert set(np.argsort(-ranker.feature_importances_)[:2]) == {0, 1}


def test_scores_probabilities_classes_and_files_agree(ranker, tmp_path):
    X, _ = table(200, seed=2)
    scores, p = ranker.decision_function(X), ranker.predict_proba(X)
    assert (np.diff(p[np.argsort(scores, kind="stable"), 0]) >= 0).all()
    assert np.array_equal(ranker.predict(X) == "sick", scores > 0)
    ranker.model_.save(tmp_path / "exact.json")
    loaded = load(tmp_path / "exact.json")
    assert np.array_equal(loaded.decision_function(X[list("dcba")]), scores)
    assert np.array_equal(pickle.loads(pickle.dumps(ranker)).decision_function(X), scores)


def test_the_score_of_a_row_does_not_depend_on_its_batch(ranker):
    X, _ = table(50, seed=3)
    one_by_one = [ranker.decision_function(X.iloc[[i]])[0] for i in range(50)]
    assert np.array_equal(ranker.decision_function(X), one_by_one)


def test_seed_decides():
    X, y = table()
    seeds = (0, 0, 1, np.random.RandomState(5), np.random.RandomState(5))
    a, b, c, d, e = (
        ExactBoost(**SMALL, random_state=seed).fit(X, y).decision_function(X) for seed in seeds
    )
    assert np.array_equal(a, b)
    assert np.array_equal(d, e)
    assert not np.array_equal(a, c)


def test_what_is_trained_for_the_top_is_best_there_and_worst_elsewhere():
    X, y = make_classification(
        400, 8, n_informative=4, flip_y=0.2, weights=[0.8], class_sep=0.7, random_state=2
    )
    judges = {
        "auc": auc,
        "ks": ks,
        "precision_at_k": lambda y, s: precision_at_k(y, s, k=0.05),
    }
    fits = {
        metric: ExactBoost(metric, k=0.05, n_runs=20, n_estimators=20).fit(X, y)
        for metric in METRICS
    }
    for metric, judge in judges.items():
        values = {name: judge(y, fit.decision_function(X)) for name, fit in fits.items()}
        top = values.pop("precision_at_k")
        if metric == "precision_at_k":
            assert top > max(values.values()) + 0.05
        else:  # those for AUC and KS are near each other in both
            assert top < min(values.values()) - 0.05


@over_metrics
@pytest.mark.parametrize("k", [30, 0.1])
def test_k_is_a_number_of_rows_or_a_fraction(metric, k):
    X, y = table()
    ranker = ExactBoost(metric, k=k, **SMALL, pos_label="sick").fit(X, y)
    same = ExactBoost(metric, k=30, **SMALL, pos_label="sick").fit(X, y)
    assert to_json(ranker.model_) == to_json(same.model_)


def test_the_other_label_turns_the_score_round():
    X, y = table()
    sick, well = (ExactBoost(**SMALL, pos_label=label).fit(X, y) for label in ("sick", "well"))
    assert sick.score(X, y) > 0.75
    assert well.score(X, y) > 0.75
    assert np.corrcoef(sick.decision_function(X), well.decision_function(X))[0, 1] < -0.7
    assert well.predict_proba(X)[:, 1] == pytest.approx(
        1 / (1 + np.exp(-np.log(well.predict_proba(X)[:, 1] / well.predict_proba(X)[:, 0])))
    )


def test_categories_and_missing_values_of_a_frame():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue", None], size=400)
    number = rng.normal(size=400)
    number[rng.random(400) < 0.3] = np.nan
    y = (colour == "green") + np.isnan(number) + 0.4 * rng.normal(size=400) > 0.8
    X = pd.DataFrame({"colour": pd.Categorical(colour), "number": number})
    ranker = ExactBoost(**SMALL).fit(X, y)
    assert ranker.score(X, y) > 0.75
    changed = X.iloc[:2].copy()
    changed["colour"] = pd.Categorical(["green", "red"])
    changed["number"] = [np.nan, 0.0]
    high, low = ranker.decision_function(changed)
    assert high > low
    unseen = pd.DataFrame({"colour": pd.Categorical(["violet"]), "number": [0.0]})
    assert np.isfinite(ranker.decision_function(unseen)).all()


def test_clones_grid_search_and_parameters():
    X, y = table()
    ranker = ExactBoost("ks", k=20, margin=0.1, **SMALL, pos_label="sick", search="bisect")
    assert clone(ranker).get_params() == ranker.get_params()
    assert str(ranker).startswith("ExactBoost(k=20, margin=0.1, metric='ks'")
    search = GridSearchCV(
        ExactBoost(**SMALL, pos_label="sick"), {"metric": ["auc", "ks"], "margin": [0.0, 0.1]}, cv=2
    )
    search.fit(X, y)
    assert search.best_score_ > 0.7


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"metric": "accuracy"}, "metric"),
        (
            {"metric": "precision_at_k", "k": 0},
            "k is 0; give a whole number of rows, or a fraction",
        ),
        ({"metric": "precision_at_k", "k": -3}, "k is -3; give a whole number"),
        ({"metric": "precision_at_k", "k": True}, "k is True; give a whole number"),
        ({"metric": "precision_at_k", "k": 1.5}, "k is 1.5; give a whole number of rows"),
        ({"metric": "precision_at_k", "k": np.nan}, "k is nan; give a whole number of rows"),
        (
            {"metric": "precision_at_k", "k": 61},
            "k is 61, more than the 60 rows of X .by weight.; give",
        ),
        ({"margin": -0.1}, "margin"),
        ({"margin": 1.1}, "margin"),
        ({"subsample": 0.0}, "subsample"),
        ({"subsample": 0.001}, "subsample is 0.001, which draws none of the .* rows?; give"),
        (
            {"subsample": 0.001, "balanced": False},
            "subsample is 0.001, which draws none of the .* rows?; give",
        ),
        ({"max_features": 9}, "max_features is 9, but X has 4 features; give a number from 1 to 4"),
        ({"max_samples_per_class": 0}, "max_samples_per_class"),
        ({"search": "random"}, "search"),
        ({"gap_tol": 1.0}, "gap_tol"),
        ({"delta": 0.0}, "delta"),
        ({"n_runs": 0}, "n_runs"),
        ({"n_estimators": 0}, "n_estimators"),
        (
            {"metric": RankMetric(fraction_above_zero, lead_bound, "sign")},
            "metric 'sign' is .* after adding .* to all scores; give a metric that depends",
        ),
        (
            {"metric": RankMetric(mean_difference, lead_bound, "means")},
            "metric 'means' is .* after cubing all scores; give a metric",
        ),
        (
            {"metric": RankMetric(pairs_won, many, "pairs")},
            "metric 'pairs' is .*; give a metric between 0 and 1",
        ),
        (
            {"metric": RankMetric(own_auc, bound_at_the_lows, "area")},
            "bound of metric 'area' is .*, but scores within .*; give a bound that no such",
        ),
        ({"init": np.zeros(7)}, r"init has shape \(7,\) for 60 rows; give a model"),
        ({"init": np.zeros((60, 2))}, r"init has shape \(60, 2\) for 60 rows; give a model"),
        ({"init": [np.nan] * 60}, "init has scores that are not finite; give"),
        ({"init": "zero"}, "init is 'zero'; give a model with .*, or a number for each row"),
        ({"init": LogisticRegression()}, "init could not score X .*; give a fitted model"),
        ({"init": RankBoost()}, "init could not score X .*; give a fitted model"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
def test_errors_name_the_argument(changes, message):
    X, y = table(60)
    with pytest.raises(ValueError, match=message):
        ExactBoost(**{**SMALL, **changes}).fit(X, y)


@pytest.mark.parametrize("balanced", [True, False], ids=["balanced", "plain"])
def test_the_subsample_that_an_error_names_is_enough(balanced):
    X, y = table(100)
    y = np.where(np.arange(100) < 7, "sick", "well")
    with pytest.raises(ValueError, match=r"give ([0-9.]+) or more") as error:
        ExactBoost(**SMALL, subsample=0.01, balanced=balanced).fit(X, y)
    enough = float(str(error.value).split("give ")[1].split(" ")[0])
    ExactBoost(**SMALL, subsample=enough, balanced=balanced).fit(X, y)


def test_a_start_of_other_labels_or_columns_is_refused():
    X, y = table(60)
    other = RankBoost(5).fit(X, y == "sick")
    with pytest.raises(ValueError, match="init ranks True above False, but y and pos_label ask"):
        ExactBoost(**SMALL, init=other).fit(X, y)
    turned = RankBoost(5, pos_label="sick").fit(X, y)
    with pytest.raises(ValueError, match=r"init ranks 'sick' above 'well', .* 'well' above 'sick'"):
        ExactBoost(**SMALL, init=turned).fit(X, y)
    fewer = RankBoost(5).fit(X[["a", "b"]], y)
    with pytest.raises(ValueError, match="init has 'no column' where X has 'c'; give"):
        ExactBoost(**SMALL, init=fewer).fit(X, y)


def test_a_metric_of_ones_own_takes_no_weights():
    X, y = table(60)
    own = ExactBoost(RankMetric(lead, lead_bound, "lead"), **SMALL)
    with pytest.raises(ValueError, match=r"metric 'lead' .* does not support weights; leave"):
        own.fit(X, y, sample_weight=np.arange(60) % 2 + 1)


def test_functions_that_are_not_compiled_are_an_error():
    X, y = table(60)
    plain = RankMetric(lead.py_func, lead_bound.py_func, "plain")
    with pytest.raises(ValueError, match=r"metric 'plain'"):
        ExactBoost(plain, **SMALL).fit(X, y)


def test_auc_as_a_metric_of_ones_own_takes_the_same_steps():
    X, y = table(200)
    settings = {**SMALL, "search": "bisect", "pos_label": "sick"}
    usual = ExactBoost("auc", **settings).fit(X, y)
    own = ExactBoost(RankMetric(own_auc, own_auc_bound, "own"), **settings).fit(X, y)
    for a, b in zip(usual.history_.runs, own.history_.runs, strict=True):
        assert a.steps == b.steps
        assert a.losses == pytest.approx(b.losses, abs=1e-12)
    assert to_json(usual.model_) == to_json(own.model_)
    statement = own.certificate_.statement
    assert "own loss" in statement
    assert "no bound for new rows, because the metric is user-defined." in statement
    assert own.certificate_.values["bound"] is None


def test_positives_above_all_negatives_as_a_metric_of_ones_own():
    X, y = table(120)
    own = ExactBoost(
        RankMetric(lead, lead_bound, "lead"),
        n_runs=1,
        n_estimators=10,
        subsample=1.0,
        margin=0.01,
        gap_tol=0.02,
        pos_label="sick",
    ).fit(X, y)

    def share(ranker):
        scores = ranker.decision_function(X)
        return (scores[y == "sick"] > scores[y == "well"].max()).mean()

    assert own.history_.runs[0].misses == 0
    assert share(own) > share(ExactBoost(**SMALL, pos_label="sick").fit(X, y))
    assert own.certificate_.values["loss"] == pytest.approx(1 - share(own))
    again = clone(own)
    assert again.metric == own.metric


def test_scores_to_start_from():
    X, y = table()
    start = X["a"].to_numpy() * 3 + 8
    ranker = ExactBoost(**SMALL, init=start, pos_label="sick").fit(X, y)
    total = ranker.decision_function(X) + ranker.init_weight_ * start
    alone = auc(y, start, pos_label="sick")
    assert auc(y, total, pos_label="sick") > alone
    assert 0 < ranker.init_weight_ * np.ptp(start) <= 1
    assert isinstance(ranker.model_, AdditiveModel)
    assert 0 < (ranker.predict(X) == "sick").mean() < 1  # by its own threshold
    # Whatever range and origin the scores have.
    other = ExactBoost(**SMALL, init=(start - 8) / 4, pos_label="sick").fit(X, y)
    assert other.init_weight_ == pytest.approx(ranker.init_weight_ * 4)
    assert not hasattr(ranker.set_params(init=None).fit(X, y), "init_weight_")


def test_an_additive_model_to_start_from_becomes_a_part_of_the_model(tmp_path):
    X, y = table()
    first = RankBoost(10, pos_label="sick").fit(X, y)
    ranker = ExactBoost(**SMALL, init=first, pos_label="sick").fit(X, y)
    assert isinstance(ranker.model_, AdditiveModel)
    start = first.decision_function(X)
    alone = ExactBoost(**SMALL, init=start, pos_label="sick").fit(X, y)
    expected = alone.decision_function(X) + alone.init_weight_ * start
    assert np.ptp(ranker.decision_function(X) - expected) < 1e-8  # but for Youden's point
    assert not hasattr(ranker, "init_weight_")
    assert ranker.score(X, y) > first.score(X, y) - 0.01
    ranker.model_.save(tmp_path / "both.json")
    assert np.array_equal(
        load(tmp_path / "both.json").decision_function(X), ranker.decision_function(X)
    )
    by_model = ExactBoost(**SMALL, init=first.model_, pos_label="sick").fit(X, y)
    assert to_json(by_model.model_) == to_json(ranker.model_)
    # Youden's point lies at 0, and the probabilities grow with the score.
    scores = ranker.decision_function(X)
    cuts = np.unique(scores)
    gains = [(scores[y == "sick"] > c).mean() - (scores[y == "well"] > c).mean() for c in cuts]
    here = (scores[y == "sick"] > 0).mean() - (scores[y == "well"] > 0).mean()
    assert here == pytest.approx(max(gains))


def test_any_classifier_to_start_from():
    X, y = table()
    regression = LogisticRegression().fit(X, y)
    ranker = ExactBoost(**SMALL, init=regression, pos_label="sick").fit(X, y)
    assert isinstance(ranker.model_, ScorerModel)
    scores = ranker.decision_function(X)
    p = 2 * regression.predict_proba(X)[:, 0] - 1  # "sick" comes first
    alone = ExactBoost(**SMALL, init=p, pos_label="sick").fit(X, y)
    expected = alone.decision_function(X) + alone.init_weight_ * p
    assert np.ptp(scores - expected) < 1e-6  # but for Youden's point
    assert ranker.score(X, y) > 0.75
    assert np.array_equal(ranker.predict(X) == "sick", scores > 0)
    with pytest.raises(ValueError, match="cannot hold; pickle the estimator"):
        to_json(ranker.model_)
    again = pickle.loads(pickle.dumps(ranker))
    assert np.array_equal(again.decision_function(X), scores)
    rows = np.concatenate([ranker.decision_function(X.iloc[[i]]) for i in range(20)])
    assert rows == pytest.approx(scores[:20], abs=1e-12)


def test_a_start_sees_only_rows_that_have_weight():
    X, y = table()
    weight = np.ones(len(y))
    weight[::5] = 0
    start = X["a"].to_numpy()
    with_absent = ExactBoost(**SMALL, init=start).fit(X, y, sample_weight=weight)
    kept = weight > 0
    without = ExactBoost(**SMALL, init=start[kept]).fit(X[kept], y[kept])
    assert np.array_equal(with_absent.decision_function(X), without.decision_function(X))
    assert with_absent.init_weight_ == without.init_weight_


def test_a_frozen_start_survives_cross_validation():
    X, y = table()
    first = FrozenEstimator(RankBoost(5).fit(X, y))
    values = cross_val_score(ExactBoost(**SMALL, init=first), X, y, cv=2)
    assert values.min() > 0.7


def test_weighs_rows():
    X, y = table()
    weight = np.where(X["c"] > 0, 5.0, 0.2)
    ranker = ExactBoost(**SMALL, pos_label="sick").fit(X, y, sample_weight=weight)
    assert ranker.score(X, y, sample_weight=weight) > 0.75
    assert "rows have different weights" in ranker.certificate_.statement


def test_stacks_other_classifiers():
    X, y = table()
    base = [
        ("tree", DecisionTreeClassifier(max_depth=3, random_state=0)),
        ("regression", LogisticRegression()),
    ]
    stack = StackingClassifier(base, final_estimator=ExactBoost(**SMALL), cv=3).fit(X, y)
    assert isinstance(stack.final_estimator_.model_, AdditiveModel)
    new_X, new_y = table(1000, seed=5)
    assert auc(new_y, stack.decision_function(new_X)) > 0.75


def test_a_refit_forgets_the_last_one():
    X, y = table(100)
    ranker = ExactBoost(**SMALL).fit(X, y)
    first = ranker.decision_function(X)
    ranker.fit(X.iloc[:, ::-1], y)
    assert np.array_equal(ranker.fit(X, y).decision_function(X), first)
    left = [name for name in vars(ranker) if not name.endswith("_")]
    assert sorted(left) == sorted(ranker.get_params(deep=False))


def test_the_exact_search_beats_bisection_on_a_real_table(cancer):
    X, y = cancer[0][:, 10:20], cancer[1]  # standard errors, which tell the classes apart less well
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    exact, bisect = (
        cross_val_score(ExactBoost(n_runs=5, search=search), X, y, cv=folds).mean()
        for search in ("exact", "bisect")
    )
    assert exact > bisect + 0.02
    assert exact > 0.93


def test_a_top_that_no_sample_can_see_is_an_error():
    X, y = table(300)
    with pytest.raises(
        ValueError,
        match=r"k is 1 rows, but each positive row of a sample represents .*; increase k",
    ):
        ExactBoost("precision_at_k", k=1).fit(X, y)


def test_a_start_fitted_to_other_labels_is_an_error():
    X, y = table(60)
    other = LogisticRegression().fit(X, np.where(y == "sick", "bad", "good"))
    with pytest.raises(ValueError, match=r"init was fitted to the labels .*, but y has"):
        ExactBoost(**SMALL, init=other).fit(X, y)
