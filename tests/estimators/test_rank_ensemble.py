"""RankEnsemble: weights, honest held-out scores, members of any library, and its errors."""

import io
import pickle
from contextlib import redirect_stderr
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, RepeatedStratifiedKFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auctor import (
    DMKS,
    ExactBoost,
    MartiRank,
    RankBoost,
    RankEnsemble,
    SmoothAUCBoost,
    SmoothTreeBoost,
)
from auctor.estimators import combiners, ensemble
from auctor.metrics import auc, ks, partial_auc, precision_at_k
from auctor.models import MemberModel, StackedModel, SumModel, load

SMALL = [("stumps", RankBoost(n_estimators=8)), ("smooth", SmoothAUCBoost())]


class Noise(ClassifierMixin, BaseEstimator):
    """A classifier whose scores have nothing to do with the labels."""

    def fit(self, X: Any, y: Any) -> "Noise":
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> Any:
        return np.sin(1e4 * np.asarray(X)[:, -1])


class Memory(ClassifierMixin, BaseEstimator):
    """A classifier that knows the labels of its training rows, and nothing else."""

    def fit(self, X: Any, y: Any) -> "Memory":
        self.classes_ = np.unique(y)
        self.seen_ = dict(zip(np.asarray(X)[:, 0].tolist(), y, strict=True))
        return self

    def decision_function(self, X: Any) -> Any:
        values = np.asarray(X)[:, 0]
        return np.array([10.0 * self.seen_.get(v, 0.5) + 0.01 * v for v in values.tolist()])


class Broken(Noise):
    """A classifier that cannot be fitted."""

    def fit(self, X: Any, y: Any) -> "Noise":
        raise RuntimeError("out of order")


def make_rows(n_rows: int = 300, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=n_rows) > 0.8
    return X, y.astype(int)


X, y = make_rows()


def test_weights_are_not_negative_and_sum_to_one():
    ranker = RankEnsemble(SMALL, cv=3).fit(X, y)
    weights = np.array(list(ranker.weights_.values()))
    assert list(ranker.weights_) == ["stumps", "smooth"]
    assert (weights >= 0).all() and weights.sum() == pytest.approx(1.0)
    assert auc(*reversed((ranker.decision_function(X), y))) > 0.75


def test_the_score_is_the_weighted_sum_of_the_means_over_folds():
    ranker = RankEnsemble([RankBoost(n_estimators=5)], cv=2).fit(X, y)
    expected = np.zeros(len(y))
    for model, (_, test) in zip(
        ranker.estimators_["rankboost"], ranker.history_.folds, strict=True
    ):
        scores = model.decision_function(X)
        low, middle, high = np.quantile(scores[test], [0.16, 0.5, 0.84], method="inverted_cdf")
        expected += (scores - middle) / ((high - low) / 2) / 2
    shifted = ranker.decision_function(X)
    assert np.ptp(shifted - expected) < 1e-8


def test_refitted_members_see_all_rows():
    ranker = RankEnsemble(SMALL, cv=2, refit=True).fit(X, y)
    whole = RankBoost(n_estimators=8).fit(X, y)
    (own,) = ranker.estimators_["stumps"]
    assert own.model_.to_json() == whole.model_.to_json()
    assert len(ranker.model_.parts) == sum(weight > 0 for weight in ranker.weights_.values())
    bagged = RankEnsemble(SMALL, cv=2).fit(X, y)
    assert ranker.weights_ == bagged.weights_ and ranker.oof_auc_ == bagged.oof_auc_
    members = [("bayes", GaussianNB()), ("stumps", RankBoost(n_estimators=8))]
    mixed = RankEnsemble(members, cv=2, refit=True, combiner="equal").fit(X, y)
    assert "bayes, fitted to all rows" in str(mixed.model_)


def test_a_member_of_noise_has_weight_0_and_is_left_out():
    members = [("stumps", RankBoost(n_estimators=20)), ("noise", Noise())]
    ranker = RankEnsemble(members, cv=3).fit(X, y)
    assert ranker.weights_ == {"stumps": 1.0, "noise": 0.0}
    # Without the member of another library the model can be saved.
    assert isinstance(ranker.model_, SumModel) and len(ranker.model_.parts) == 3
    assert ranker.cv_results_["value"][1] < 0.6


def test_held_out_scores_are_of_models_that_have_not_seen_the_row():
    labels = np.random.default_rng(1).integers(0, 2, len(y))
    ranker = RankEnsemble([Memory()], cv=5).fit(X, labels)
    assert ranker.score(X, labels) == 1.0
    assert abs(ranker.oof_auc_.value - 0.5) < 0.08
    assert ranker.oof_auc_.low < 0.5 < ranker.oof_auc_.high


def test_held_out_scores_follow_from_the_weights_chosen_without_the_fold():
    ranker = RankEnsemble(SMALL, cv=3).fit(X, y)
    assert np.isfinite(ranker.oof_decision_function_).all()
    assert ranker.history_.weights_by_fold.shape == (3, 2)
    aucs = [auc(y[t], ranker.oof_decision_function_[t]) for _, t in ranker.history_.folds]
    assert ranker.oof_auc_.value == pytest.approx(np.mean(aucs))
    assert ranker.certificate_.values["cross_fitted"] == pytest.approx(np.mean(aucs))
    assert str(ranker.oof_auc_).startswith("cross-validated AUC 0.")


def test_rows_in_several_folds_or_in_none():
    repeated = RankEnsemble(SMALL, cv=RepeatedStratifiedKFold(n_splits=2, n_repeats=2)).fit(X, y)
    assert np.isfinite(repeated.oof_decision_function_).all()
    assert "fold" not in str(repeated.oof_auc_)
    single = RankEnsemble(SMALL, cv=ShuffleSplit(1, test_size=0.4, random_state=0)).fit(X, y)
    assert np.isnan(single.oof_decision_function_).sum() == 180
    assert single.history_.weights_by_fold.shape == (0, 2)


@pytest.mark.parametrize(
    ("metric", "combiner"),
    [
        ("auc", "weights"),
        ("auc", "equal"),
        ("auc", "margin"),
        ("auc", "exactboost"),
        ("partial_auc", "weights"),
        ("ks", "weights"),
        ("ks", "exactboost"),
        ("ks", "dmks"),
        ("precision_at_k", "weights"),
        ("precision_at_k", "exactboost"),
    ],
)
def test_every_combiner_for_its_metrics(metric, combiner, monkeypatch):
    # A stacked model of the usual size is fitted below.
    monkeypatch.setattr(combiners, "ExactBoost", partial(ExactBoost, n_runs=3, n_estimators=20))
    fpr_range = (0.0, 0.3) if metric == "partial_auc" else None
    ranker = RankEnsemble(SMALL, metric=metric, combiner=combiner, fpr_range=fpr_range, cv=2)
    ranker.fit(X, y)
    measures: dict[str, Any] = {
        "auc": lambda y, s: auc(y, s),
        "partial_auc": lambda y, s: partial_auc(y, s, fpr_range=(0.0, 0.3), scaled=True),
        "ks": ks,
        "precision_at_k": lambda y, s: precision_at_k(y, s, k=0.1),
    }
    assert measures[metric](y, ranker.decision_function(X)) > 0.45
    assert ranker.oof_metric_.low <= ranker.oof_metric_.value <= ranker.oof_metric_.high
    assert sum(map(abs, ranker.weights_.values())) == pytest.approx(1.0)
    assert set(ranker.predict(X)) == {0, 1}
    assert ranker.predict_proba(X)[:, 1] == pytest.approx(1 - ranker.predict_proba(X)[:, 0])
    again = pickle.loads(pickle.dumps(ranker))
    assert (again.decision_function(X) == ranker.decision_function(X)).all()


@pytest.mark.parametrize(("metric", "combiner"), [("auc", "margin"), ("ks", "dmks")])
def test_members_of_constant_scores_have_weight_0(metric, combiner):
    members = [("flat", DummyClassifier()), ("stumps", RankBoost(n_estimators=5))]
    ranker = RankEnsemble(members, metric=metric, combiner=combiner, cv=2).fit(X, y)
    assert ranker.weights_ == {"flat": 0.0, "stumps": 1.0}


def test_weights_maximise_the_metric_on_held_out_rows():
    """The chosen weights are at least as good as a fine grid, up to the cost of leaving 1/2."""
    ranker = RankEnsemble(SMALL, cv=3, metric="auc").fit(X, y)
    columns = {}
    for name, models in ranker.estimators_.items():
        parts = []
        for model, (_, test) in zip(models, ranker.history_.folds, strict=True):
            scores = model.decision_function(X)[test]
            low, high = np.quantile(scores, [0.16, 0.84], method="inverted_cdf")
            parts.append(scores / ((high - low) / 2))
        columns[name] = parts
    tests = [test for _, test in ranker.history_.folds]

    def mean_auc(w: float) -> float:
        pairs = zip(columns["stumps"], columns["smooth"], tests, strict=True)
        return float(np.mean([auc(y[t], w * a + (1 - w) * b) for a, b, t in pairs]))

    best = max(mean_auc(w) for w in np.linspace(0, 1, 101))
    cost = 0.25 / min(y.sum(), (1 - y).sum())
    assert mean_auc(ranker.weights_["stumps"]) >= best - cost


def test_json_round_trip_scores_and_explains_the_same(tmp_path):
    ranker = RankEnsemble(SMALL, cv=2).fit(X, y)
    ranker.model_.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert (again.decision_function(X) == ranker.decision_function(X)).all()
    assert (again.predict_proba(X) == ranker.predict_proba(X)).all()
    explained = ranker.explain(X[:5])
    total = explained.base + explained.contributions.sum(axis=1)
    assert total == pytest.approx(ranker.decision_function(X[:5]), abs=1e-8)
    assert again.explain(X[0]).contributions == pytest.approx(ranker.explain(X[0]).contributions)


def test_members_of_scikit_learn_and_pipelines():
    members = [
        ("forest", RandomForestClassifier(20, random_state=0)),
        ("linear", make_pipeline(StandardScaler(), LogisticRegression())),
        ("bayes", GaussianNB()),
        ("stumps", RankBoost(n_estimators=8)),
    ]
    ranker = RankEnsemble(members, combiner="equal", cv=2).fit(pd.DataFrame(X), y)
    assert isinstance(ranker.model_, MemberModel)
    assert ranker.score(pd.DataFrame(X), y) > 0.8
    with pytest.raises(ValueError, match="members that a model file cannot hold"):
        ranker.model_.to_json()
    again = pickle.loads(pickle.dumps(ranker))
    assert (again.predict(pd.DataFrame(X)) == ranker.predict(pd.DataFrame(X))).all()
    assert "forest, fitted without fold 1" in str(ranker.model_)
    assert ranker.threshold_at(pd.DataFrame(X), y, fpr=0.1).point.fpr <= 0.1


def test_a_stacked_model_is_pickled_and_not_saved():
    ranker = RankEnsemble(SMALL, combiner="exactboost", cv=2).fit(X[:80], y[:80])
    assert isinstance(ranker.model_, StackedModel)
    assert "StackedModel: a function of the scores of 2 members" in str(ranker.model_)
    with pytest.raises(ValueError, match="combiner='weights'"):
        ranker.model_.to_json()


@pytest.mark.parametrize("member", [RankBoost(n_estimators=5), GaussianNB()])
def test_the_smaller_label_can_be_positive(member):
    names = np.where(y == 1, "bad", "good")
    ranker = RankEnsemble([member], pos_label="bad", cv=2).fit(X, names)
    assert ranker.pos_label_ == "bad"
    assert auc(y, ranker.decision_function(X)) > 0.75
    assert ranker.predict_proba(X)[:, 0] == pytest.approx(ranker.model_.predict_proba(X)[:, 1])


def test_groups_stay_together_through_the_folds_of_a_splitter():
    groups = np.repeat(np.arange(30), 10)
    folds = list(GroupKFold(3).split(X, y, groups))
    ranker = RankEnsemble(SMALL, cv=folds).fit(X, y)
    for train, test in ranker.history_.folds:
        assert not set(groups[train]) & set(groups[test])


def test_copies_of_a_row_stay_in_one_fold():
    ranker = RankEnsemble([RankBoost(n_estimators=5)], cv=3).fit(
        np.repeat(X, 2, 0), np.repeat(y, 2)
    )
    for train, test in ranker.history_.folds:
        assert not set(train // 2) & set(test // 2)


def test_weights_of_rows():
    weight = np.where(np.arange(len(y)) < 200, 1.0, 0.0)
    ranker = RankEnsemble(SMALL, cv=2).fit(X, y, weight)
    assert np.isnan(ranker.oof_decision_function_[200:]).all()
    plain = RankEnsemble(SMALL, cv=2).fit(X[:200], y[:200])
    assert ranker.weights_ == plain.weights_
    assert ranker.decision_function(X) == pytest.approx(plain.decision_function(X), abs=1e-8)
    assert ranker.oof_auc_.value == pytest.approx(plain.oof_auc_.value)


def test_weights_need_members_that_take_them():
    members = [("linear", make_pipeline(StandardScaler(), LogisticRegression()))]
    with pytest.raises(ValueError, match=r"sample_weight .* 'linear' \(Pipeline\) takes none"):
        RankEnsemble(members, cv=2).fit(X, y, np.arange(len(y)) + 1.0)


def test_strings_and_missing_values(tmp_path):
    table = pd.DataFrame(X, columns=list("abcd"))
    table["city"] = np.where(y == 1, np.where(X[:, 2] > 0, "x", "y"), "z")
    table.loc[::7, "city"] = None
    table.loc[::5, "a"] = np.nan
    ranker = RankEnsemble(SMALL, cv=3).fit(table, y)
    assert ranker.score(table, y) > 0.9
    ranker.model_.save(tmp_path / "model.json")
    turned = table[["city", "d", "c", "b", "a"]]
    assert (
        load(tmp_path / "model.json").decision_function(turned) == ranker.decision_function(table)
    ).all()


def test_threads_change_nothing_and_members_get_them():
    one, two = (RankEnsemble(SMALL, cv=2, n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.model_.to_json() == two.model_.to_json()
    assert two.estimators_["stumps"][0].n_jobs == 2
    assert SMALL[0][1].n_jobs is None


def test_default_members(monkeypatch):
    # Which members there are is tested, and not how many trees they have.
    monkeypatch.setattr(ensemble, "SmoothTreeBoost", partial(SmoothTreeBoost, n_estimators=10))
    ranker = RankEnsemble(metric="partial_auc", fpr_range=(0, 0.5), cv=2, random_state=3)
    ranker.fit(X[:60], y[:60])
    assert list(ranker.weights_) == ["smooth", "mixture", "trees"]
    assert ranker.estimators_["trees"][0].init is None
    assert ranker.estimators_["trees"][0].random_state == 3
    assert ranker.estimators_["smooth"][0].fpr_range == (0.0, 0.5)
    assert ranker.feature_importances_.sum() == pytest.approx(1.0)


def test_parameters_of_members():
    ranker = RankEnsemble(SMALL)
    assert ranker.get_params()["stumps__n_estimators"] == 8
    other = clone(ranker).set_params(stumps__n_estimators=3, smooth=DMKS(), cv=2)
    assert [type(e).__name__ for _, e in other.estimators] == ["RankBoost", "DMKS"]
    assert other.estimators[0][1].n_estimators == 3 and SMALL[0][1].n_estimators == 8
    unnamed = RankEnsemble([RankBoost(), RankBoost()]).set_params(**{"rankboost-2": DMKS()})
    assert isinstance(unnamed.estimators[1], DMKS)
    with pytest.raises(ValueError, match="Invalid parameter 'trees'"):
        ranker.set_params(trees=DMKS())


def test_progress_has_the_fits_and_the_time_left():
    out = io.StringIO()
    with redirect_stderr(out):
        RankEnsemble(SMALL, cv=2, verbose=True).fit(X, y)
    assert "fits [" in out.getvalue() and "4/4" in out.getvalue()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"estimators": []}, "estimators is empty"),
        ({"estimators": [RankBoost]}, "without fit, or without decision_function"),
        ({"estimators": [StandardScaler()]}, "estimators has 'standardscaler'"),
        ({"estimators": [("a__b", RankBoost())]}, "estimators has the name 'a__b'"),
        ({"estimators": [("cv", RankBoost())]}, "estimators has the name 'cv'"),
        ({"estimators": [("a", DMKS()), ("a", DMKS())]}, "the name 'a' twice"),
        ({"estimators": [("b", Broken())]}, "member 'b' .* without fold 1 of 2: out of order"),
        ({"combiner": "dmks"}, "combiner is 'dmks', .* metric='auc'; give 'weights'"),
        ({"combiner": "margin", "metric": "ks"}, "combiner is 'margin'"),
        ({"metric": "partial_auc"}, "fpr_range is None"),
        ({"fpr_range": (0.0, 0.5)}, "but metric is 'auc'"),
        ({"metric": "precision_at_k", "k": 0}, "k is 0"),
        ({"metric": "precision_at_k", "k": 10**6}, "k is 1000000, more than the 300 rows"),
        ({"cv": 200}, "cv=200 folds need"),
        ({"metric": "gini"}, "'metric' parameter"),
    ],
)
def test_errors_name_the_argument(arguments, words):
    with pytest.raises(ValueError, match=words):
        RankEnsemble(**{"estimators": [MartiRank(n_layers=2)], "cv": 2, **arguments}).fit(X, y)


def test_members_hold_out_whole_groups_too():
    """Rows of a group are in one fold, also in the folds by which a member chooses its model."""
    X, y = make_rows(120)
    groups = np.arange(120) // 4
    folds = list(GroupKFold(4).split(X, y, groups))
    members = [("trees", SmoothTreeBoost(5, init=None)), ("own folds", SmoothTreeBoost(5, cv=3))]
    fitted = RankEnsemble(members, cv=folds).fit(X, y).estimators_
    for k, (train, _) in enumerate(folds):
        inner = fitted["trees"][k].cv
        assert len(inner) == 3
        assert sorted(np.concatenate([test for _, test in inner])) == sorted(train)
        for own_train, own_test in inner:
            assert not set(groups[own_train]) & set(groups[own_test])
            assert set(own_train) | set(own_test) == set(train)
    assert [each.cv for each in fitted["own folds"]] == [3] * 4
    drawn = RankEnsemble(members[:1], cv=4).fit(X, y).estimators_
    assert [each.cv for each in drawn["trees"]] == [None] * 4
