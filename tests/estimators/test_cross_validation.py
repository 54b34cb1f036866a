"""cross_val_auc: no row is scored by a model that saw it, for tables of every kind."""

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auctor import MartiRank, RankBoost, SmoothAUCBoostCV, TreeRank
from auctor.estimators import cross_validation as crossval
from auctor.estimators.cross_validation import (
    compare_instability,
    cross_val_auc,
)
from auctor.estimators.folds import with_group_folds
from auctor.estimators.out_of_fold import scores_at, training_ranks
from auctor.metrics import auc, auc_ci, fold_instability, roc_curve

N = 90


@pytest.fixture(name="X")
def features() -> npt.NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(N, 3))


@pytest.fixture
def y(X: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    noise = np.random.default_rng(1).normal(size=N)
    return (X[:, 0] + noise > 0.5).astype(np.int64)


RANKER = RankBoost(n_estimators=5)


def test_each_row_is_scored_by_a_model_that_did_not_see_it(X: Any, y: Any) -> None:
    result = cross_val_auc(RANKER, X, y, cv=3)
    assert set(result.folds) == {0, 1, 2}
    for fold in range(3):
        held = result.folds == fold
        fitted = RankBoost(n_estimators=5).fit(X[~held], y[~held])
        np.testing.assert_array_equal(result.scores[held], fitted.decision_function(X[held]))
    assert not hasattr(RANKER, "model_")


def test_folds_are_stratified_and_shuffled(X: Any, y: Any) -> None:
    result = cross_val_auc(RANKER, X, y, cv=5)
    for label in (0, 1):
        sizes = np.bincount(result.folds[y == label], minlength=5)
        assert np.ptp(sizes) <= 1
    assert (np.diff(result.folds) < 0).any()
    again = cross_val_auc(RANKER, X, y, cv=5)
    other = cross_val_auc(RANKER, X, y, cv=5, random_state=1)
    np.testing.assert_array_equal(result.folds, again.folds)
    assert (result.folds != other.folds).any()


def test_interval_is_that_of_the_folds(X: Any, y: Any) -> None:
    result = cross_val_auc(RANKER, X, y, cv=3)
    options = {"folds": result.folds, "instability": result.instability}
    assert result.auc == auc_ci(y, result.scores, **options)
    assert result.instability == fold_instability(y, result.scores_by_fold, result.folds)
    own = result.scores_by_fold[np.arange(N), result.folds]
    np.testing.assert_array_equal(own, result.scores)
    means = np.mean([auc(y[result.folds == k], result.scores[result.folds == k]) for k in range(3)])
    assert result.auc.value == pytest.approx(means)


def test_training_sets_count_for_much_without_a_signal() -> None:
    rng, linear = np.random.default_rng(5), LogisticRegression()
    X, y = rng.normal(size=(400, 10)), np.arange(400) % 2
    noise, signal = (cross_val_auc(linear, X + shift * y[:, None], y) for shift in (0.0, 1.0))
    assert noise.instability > 0.8 > 0.4 > signal.instability
    plain = auc_ci(y, signal.scores, folds=signal.folds, method="delong")
    ratio = signal.auc.standard_error / plain.standard_error
    assert ratio**2 == pytest.approx(1 + signal.instability)


def test_of_many_rows_some_are_scored_by_all_models(
    X: Any, y: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = cross_val_auc(RANKER, X, y, cv=3)
    monkeypatch.setattr(crossval, "MOST_PROBED", 20)
    some = cross_val_auc(RANKER, X, y, cv=3)
    assert np.isfinite(some.scores_by_fold).all(axis=1).sum() == 40
    assert some.instability == fold_instability(y, some.scores_by_fold, some.folds)
    np.testing.assert_array_equal(some.scores, every.scores)


def test_a_learner_does_not_differ_from_itself(X: Any, y: Any) -> None:
    one = cross_val_auc(RANKER, X, y)
    other = cross_val_auc(RankBoost(n_estimators=1), X, y, folds=one.folds)
    assert compare_instability(y, one, one) == 0.0
    assert 0.1 < compare_instability(y, one, other) <= 1.0


def test_every_kind_of_table_gives_the_same(X: Any, y: Any) -> None:
    names = ["a", "b", "c"]
    frame = pd.DataFrame(X, columns=names, index=np.arange(N)[::-1])  # rows are taken by place
    tables = [
        frame,
        pl.DataFrame(X, schema=names, orient="row"),
        pl.LazyFrame(X, schema=names, orient="row"),
        pa.table({name: X[:, j] for j, name in enumerate(names)}),
        sparse.csr_array(X),
        X.tolist(),
    ]
    expected = cross_val_auc(RANKER, X, y, cv=3).scores
    for table in tables:
        np.testing.assert_array_equal(cross_val_auc(RANKER, table, y, cv=3).scores, expected)
    for labels in (pd.Series(y, index=frame.index), pl.Series(y), pa.array(y), y.tolist()):
        result = cross_val_auc(RANKER, frame, labels, cv=3)
        np.testing.assert_array_equal(result.scores, expected)


def test_text_categories_and_missing_values(X: Any, y: Any) -> None:
    city = np.where(y == 1, "Oslo", "Rome").astype(object)
    city[::7] = None
    result = cross_val_auc(RANKER, pa.table({"x": X[:, 1], "city": city.tolist()}), y, cv=3)
    assert result.auc.value > 0.9


def test_labels_and_positive_class(X: Any, y: Any) -> None:
    words = np.where(y == 1, "bad", "good").astype(object)
    usual = cross_val_auc(RANKER, X, y, cv=3).auc.value
    chosen = cross_val_auc(RankBoost(n_estimators=5, pos_label="bad"), X, words, cv=3)
    assert chosen.auc.value == pytest.approx(usual)
    assert chosen.auc.n_pos == y.sum()


def wrapped(ranker: RankBoost) -> list[Any]:
    search = GridSearchCV(ranker, {"n_estimators": [5]}, cv=2)
    searched_pipeline = GridSearchCV(make_pipeline(StandardScaler(), ranker), {}, cv=2)
    return [
        make_pipeline(StandardScaler(), ranker),
        search,
        make_pipeline(StandardScaler(), search),
        searched_pipeline,
        FixedThresholdClassifier(ranker),
        CalibratedClassifierCV(ranker, cv=2),
    ]


@pytest.mark.parametrize("k", range(6))
def test_the_positive_class_of_a_wrapped_ranker(X: Any, y: Any, k: int) -> None:
    words = np.where(y == 1, "bad", "good").astype(object)
    inner = wrapped(RankBoost(n_estimators=5, pos_label="bad"))[k]
    result = cross_val_auc(inner, X, words, cv=3)
    assert result.auc.n_pos == y.sum()
    usual = cross_val_auc(wrapped(RANKER)[k], X, y, folds=result.folds).auc.value
    assert result.auc.value == pytest.approx(usual)
    assert usual > 0.6


def test_another_positive_class_than_that_of_the_ranker(X: Any, y: Any) -> None:
    words = np.where(y == 1, "bad", "good").astype(object)
    ranker = RankBoost(n_estimators=5, pos_label="bad")
    bad = cross_val_auc(ranker, X, words, cv=3)
    good = cross_val_auc(ranker, X, words, folds=bad.folds, pos_label="good")
    assert good.auc.value == pytest.approx(bad.auc.value)
    np.testing.assert_array_equal(good.scores, -bad.scores)


def test_weights_reach_fit_and_interval(X: Any, y: Any) -> None:
    weight = np.random.default_rng(2).integers(1, 5, size=N).astype(float)
    result = cross_val_auc(RANKER, X, y, sample_weight=weight, cv=3)
    held = result.folds == 0
    fitted = RankBoost(n_estimators=5).fit(X[~held], y[~held], weight[~held])
    np.testing.assert_array_equal(result.scores[held], fitted.decision_function(X[held]))
    parts = [
        auc(y[rows], result.scores[rows], sample_weight=weight[rows])
        for rows in (result.folds == k for k in range(3))
    ]
    assert result.auc.value == pytest.approx(np.mean(parts))
    assert result.auc.low < result.auc.value < result.auc.high
    assert str(result.auc).startswith("cross-validated AUC 0.")
    assert "DeLong within folds, variance multiplied by 1." in str(result.auc)


def test_equal_weights_give_about_the_interval_without(X: Any, y: Any) -> None:
    plain = cross_val_auc(RANKER, X, y, cv=3).auc
    weighted = cross_val_auc(RANKER, X, y, sample_weight=np.full(N, 2.0), cv=3).auc
    assert weighted.value == pytest.approx(plain.value)
    assert weighted.standard_error == pytest.approx(plain.standard_error, rel=0.15)


def test_rows_of_weight_zero_are_absent(X: Any, y: Any) -> None:
    weight = np.ones(N)
    weight[::4] = 0
    kept = weight > 0
    result = cross_val_auc(RANKER, X, y, sample_weight=weight, cv=3)
    without = cross_val_auc(RANKER, X[kept], y[kept], sample_weight=weight[kept], cv=3)
    np.testing.assert_array_equal(result.folds[kept], without.folds)
    np.testing.assert_array_equal(result.scores[kept], without.scores)
    assert result.auc == without.auc
    assert np.isfinite(result.scores).all()


def test_other_estimators(X: Any, y: Any) -> None:
    other: BaseEstimator = LogisticRegression()
    assert cross_val_auc(other, X, y, cv=3).auc.value > 0.6


@pytest.mark.parametrize("cv", [0, 1, -2, 2.5, True])
def test_bad_number_of_folds(X: Any, y: Any, cv: Any) -> None:
    with pytest.raises(ValueError, match=f"cv is {cv}; give a whole number of folds"):
        cross_val_auc(RANKER, X, y, cv=cv)


def test_too_few_rows_of_a_class(X: Any) -> None:
    y = (np.arange(N) < 9).astype(int)
    with pytest.raises(ValueError, match=r"cv=5 folds need 10 rows of each class.*has 9"):
        cross_val_auc(RANKER, X, y, cv=5)
    cross_val_auc(RANKER, X, y, cv=4)


def test_lengths_must_agree(X: Any, y: Any) -> None:
    for table in (X[:-1], pa.table({"x": X[:-1, 0]}), X[:-1].tolist()):
        with pytest.raises(ValueError, match="inconsistent numbers of samples: 89 and 90"):
            cross_val_auc(RANKER, table, y, cv=3)


def test_groups_stay_together_and_widen_the_interval(X: Any, y: Any) -> None:
    rows = np.repeat(np.arange(N), 5)
    noisy = X[rows] + np.random.default_rng(3).normal(scale=0.01, size=(5 * N, 3))
    alone = cross_val_auc(RANKER, noisy, y[rows], cv=3)
    together = cross_val_auc(RANKER, noisy, y[rows], groups=rows, cv=3)
    for group in range(N):
        assert len(set(together.folds[rows == group])) == 1
    assert together.auc.method.startswith(
        "DeLong by groups within folds, variance multiplied by 1."
    )
    # Rows of one group in two folds give the answer away.
    assert together.auc.value < alone.auc.value
    assert together.auc.standard_error > alone.auc.standard_error


def test_given_folds_are_used(X: Any, y: Any) -> None:
    first = cross_val_auc(RANKER, X, y, cv=3)
    names = np.array(["a", "b", "c"])[first.folds]
    again = cross_val_auc(RANKER, X, y, folds=names)
    np.testing.assert_array_equal(again.scores, first.scores)
    assert again.auc == first.auc


def test_models_that_only_have_probabilities(X: Any, y: Any) -> None:
    from sklearn.ensemble import RandomForestClassifier

    words = np.where(y == 1, "bad", "good")
    forest = RandomForestClassifier(20, random_state=0)
    result = cross_val_auc(forest, X, y, cv=3)
    assert result.auc.value > 0.6
    # The larger word is "good"; the forest's probability of it ranks the good first.
    assert cross_val_auc(forest, X, words, cv=3).auc.value > 0.6


def test_progress_is_shown_if_asked_for(X: Any, y: Any, capsys: pytest.CaptureFixture[str]) -> None:
    cross_val_auc(RANKER, X, y, cv=3, verbose=True)
    assert "folds [####################] 3/3" in capsys.readouterr().err


def test_the_first_of_many_rows_shows_its_own_progress(
    X: Any, y: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cross_val_auc(RANKER, X, y, cv=3, verbose=True)
    assert "RankBoost" not in capsys.readouterr().err
    monkeypatch.setattr("auctor.estimators.cross_validation._MANY_ROWS", 20)
    cross_val_auc(RANKER, X, y, cv=3, verbose=True)
    assert capsys.readouterr().err.count("RankBoost") == 1
    cross_val_auc(RANKER, X, y, cv=3)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"groups": [1, 2]}, "groups has 2 values for 90 rows"),
        ({"groups": [1, 2] * 45}, "groups has 2 groups for cv=5 folds"),
        ({"folds": [1, 2]}, "folds has 2 values for 90 rows"),
        ({"folds": [1] * 90}, "folds has a single fold; give 2 or more"),
    ],
)
def test_bad_groups_and_folds(X: Any, y: Any, options: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        cross_val_auc(RANKER, X, y, **options)


def draw_rows(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] / 2 + rng.normal(size=n) > 1).astype(np.int64)


@pytest.mark.parametrize("ranker", [TreeRank(), RankBoost(n_estimators=30), MartiRank()], ids=repr)
def test_thresholds_of_the_pooled_scores_do_to_new_rows_what_they_say(ranker: Any) -> None:
    """A tree has few scores, and how many differs from fold to fold: only ranks carry over."""
    (X, y), (X_new, y_new) = draw_rows(1500, seed=1), draw_rows(20_000, seed=2)
    result = cross_val_auc(ranker, X, y)
    fitted = ranker.fit(X, y)
    pooled = roc_curve(y, result.scores_of(fitted, X))
    new = roc_curve(y_new, fitted.decision_function(X_new))
    for fpr in (0.05, 0.1, 0.2, 0.5):
        point = pooled.at(fpr=fpr)
        assert new.at(threshold=point.threshold).fpr == pytest.approx(point.fpr, abs=0.05)


def test_pooled_scores_of_a_tree_are_scores_of_its_leaves() -> None:
    X, y = draw_rows(300, seed=3)
    fitted = TreeRank().fit(X, y)
    own = fitted.decision_function(X)
    assert set(cross_val_auc(TreeRank(), X, y, cv=3).scores_of(fitted.model_, X)) <= set(own)


def test_pooling_keeps_the_order_within_a_fold(X: Any, y: Any) -> None:
    result = cross_val_auc(RANKER, X, y, cv=3)
    scores = result.scores_of(RankBoost(n_estimators=5).fit(X, y), X)
    for fold in range(3):
        held = result.folds == fold
        order = np.argsort(result.scores[held], kind="stable")
        assert (np.diff(scores[held][order]) >= 0).all()


def test_weights_count_in_the_ranks() -> None:
    """A training row of weight 2 is two rows, and one of weight 0 none."""
    training, weight = np.array([1.0, 2.0, 5.0, 9.0]), np.array([2.0, 1.0, 0.0, 1.0])
    copies, scores = np.array([1.0, 1.0, 2.0, 9.0]), np.array([0.0, 1.0, 1.5, 5.0, 9.0, 10.0])
    ranks = training_ranks(training, weight, scores)
    np.testing.assert_allclose(ranks, training_ranks(copies, None, scores))
    other = np.array([3.0, 4.0, 4.0, 8.0])
    np.testing.assert_allclose(
        scores_at(other, np.ones(4), ranks), scores_at(np.array([3.0, 4.0, 8.0]), [1, 2, 1], ranks)
    )


def test_the_positive_label_of_another_librarys_model(X: Any, y: Any) -> None:
    words = np.where(y == 1, "bad", "good")
    result = cross_val_auc(LogisticRegression(), X, words, pos_label="bad", cv=3)
    assert result.auc.value > 0.6
    assert auc(y, result.scores) > 0.6


def test_an_estimator_that_cross_validates_itself_keeps_groups_together(X: Any, y: Any) -> None:
    groups = np.repeat(np.arange(N // 3), 3)
    folds = with_group_folds(SmoothAUCBoostCV(), y == 1, groups).cv
    assert len(folds) == 5
    for train, test in folds:
        assert not set(groups[train]) & set(groups[test])
        assert 0 < y[test].sum() < len(test)
    given = [(np.arange(45), np.arange(45, 90))]
    assert with_group_folds(SmoothAUCBoostCV(cv=given), y == 1, groups).cv is given
    assert with_group_folds(SmoothAUCBoostCV(), y == 1, None).cv is None
    assert with_group_folds(RANKER, y == 1, groups) is RANKER
    of_tree = with_group_folds(TreeRank(pruning="cv", cv=3), y == 1, groups).cv
    assert [len(set(groups[train]) & set(groups[test])) for train, test in of_tree] == [0, 0, 0]
    # Positives that do not count leave no fold to test on: the estimator is left to itself.
    absent = np.where((y == 1) & (groups > groups[y == 1].min()), 0.0, 1.0)
    assert with_group_folds(SmoothAUCBoostCV(), y == 1, groups, absent).cv is None


def test_folds_that_can_have_no_interval_are_refused_before_any_fit() -> None:
    class Unfit(RankBoost):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("nothing may be fitted")

    X, y = np.arange(40.0).reshape(-1, 1), np.arange(40) % 2
    with pytest.raises(ValueError, match=r"has rows of only one of the 5 groups.*give fewer folds"):
        cross_val_auc(Unfit(), X, y, cv=5, groups=np.arange(40) // 8)
    with pytest.raises(ValueError, match=r"fold 1 has 1 positive and 1 negative row\(s\)"):
        cross_val_auc(Unfit(), X, y, folds=np.arange(40) >= 38)
    weight = np.where(np.arange(40) < 21, 1.0, 0.0)
    with pytest.raises(ValueError, match=r"fold 1 has 0 positive and 1 negative row\(s\)"):
        cross_val_auc(Unfit(), X, y, folds=np.arange(40) >= 20, sample_weight=weight)


def copied_noise(n_copies: int = 3) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Labels that the features say nothing about; each row several times."""
    X = np.random.default_rng(0).normal(size=(150, 5))
    return np.repeat(X, n_copies, axis=0), np.repeat(np.arange(150) < 70, n_copies).astype(int)


def test_copies_of_noise_look_like_noise() -> None:
    X, y = copied_noise()
    result = cross_val_auc(TreeRank(), X, y)
    assert (result.folds.reshape(150, 3) == result.folds[::3, None]).all()
    assert result.auc.low < 0.5 < result.auc.high
    assert result.groups is not None
    np.testing.assert_array_equal(result.groups, np.repeat(np.arange(0, 450, 3), 3))
    alone = cross_val_auc(LogisticRegression(), X[::3], y[::3], folds=result.folds[::3])
    thrice = cross_val_auc(LogisticRegression(C=1 / 3), X, y, folds=result.folds)
    # The same models (a third of the penalty), and an interval as wide as that of 150 rows.
    assert thrice.auc.value == pytest.approx(alone.auc.value, abs=0.01)
    width = alone.auc.high - alone.auc.low
    assert thrice.auc.high - thrice.auc.low == pytest.approx(width, rel=0.05)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, sparse.csr_array, pl.LazyFrame])
def test_copies_are_known_in_tables_of_every_kind(make: Any) -> None:
    X, y = copied_noise(2)
    plain = cross_val_auc(LogisticRegression(), X, y, cv=3)
    names = {f"c{j}": X[:, j] for j in range(5)}
    table = make(X) if make is sparse.csr_array else make(names)
    result = cross_val_auc(LogisticRegression(), table, y, cv=3)
    np.testing.assert_array_equal(result.folds, plain.folds)
    np.testing.assert_array_equal(result.groups, np.repeat(np.arange(0, 300, 2), 2))


def test_groups_and_folds_of_the_user_win_over_copies() -> None:
    X, y = copied_noise()
    who = np.tile(np.arange(3), 150) + 3 * (np.arange(450) // 45)
    result = cross_val_auc(LogisticRegression(), X, y, groups=who)
    np.testing.assert_array_equal(result.groups, who)
    assert (result.folds.reshape(150, 3) != result.folds[::3, None]).any()
    folds = np.tile(np.arange(3), 150)
    given = cross_val_auc(LogisticRegression(), X, y, folds=folds)
    np.testing.assert_array_equal(given.folds, folds)


def test_few_copies_are_together_but_count_as_rows(X: Any, y: Any) -> None:
    X = X.copy()
    X[1::9] = X[::9]
    y = y.copy()
    y[1::9] = y[::9]
    weight = np.where(np.arange(N) % 9 == 5, 0.0, 1.0)
    result = cross_val_auc(RANKER, X, y, cv=3, sample_weight=weight)
    np.testing.assert_array_equal(result.folds[1::9], result.folds[::9])
    assert result.groups is None


def test_only_a_group_of_copies_that_fills_a_fold_is_spread() -> None:
    X = np.concatenate([np.random.default_rng(0).normal(size=60), np.repeat(np.arange(10.0), 6)])
    y = np.repeat([0, 1], 60)
    result = cross_val_auc(LogisticRegression(), X[:, None], y)
    by_row = result.folds[60:].reshape(10, 6)
    assert (by_row == by_row[:, :1]).all()
    assert sorted(by_row[:, 0]) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    X[60:] = 3.0  # one row sixty times
    result = cross_val_auc(LogisticRegression(), X[:, None], y)
    np.testing.assert_array_equal(np.bincount(result.folds[60:]), [12] * 5)
    assert result.groups is None


def test_tables_that_only_the_estimator_can_read_are_not_searched_for_copies(y: Any) -> None:
    X = np.full((N, 1), np.inf)
    result = cross_val_auc(DummyRanker(), X, y, cv=3)
    assert result.groups is None and result.auc.value == 0.5


class DummyRanker(BaseEstimator):
    """Takes any table, and ranks nothing."""

    def fit(self, X: Any, y: Any) -> "DummyRanker":
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        return np.zeros(len(X))


class TestTime:
    def test_each_fold_is_predicted_by_the_rows_before_it(self, X: Any, y: Any) -> None:
        time = np.random.default_rng(3).permutation(N) // 4  # with ties
        result = cross_val_auc(RANKER, X, y, cv=3, time=time)
        assert "overlapping" not in str(result.auc)
        assert result.rows is not None
        first = np.setdiff1d(np.arange(N), result.rows)
        assert time[first].max() < time[result.rows].min()
        for k in range(3):
            test = result.rows[result.folds == k]
            train = time < time[test].min()
            model = RankBoost(**RANKER.get_params()).fit(X[train], y[train])
            own = result.scores[result.folds == k]
            np.testing.assert_array_equal(model.decision_function(X[test]), own)
            assert not set(time[test]) & set(time[train])
        options = {"folds": result.folds, "instability": 0.0}
        assert result.auc == auc_ci(y[result.rows], result.scores, **options)
        assert compare_instability(y, result, result) == 0.0

    def test_rows_of_a_tested_group_do_not_train(self) -> None:
        class Seen(RankBoost):
            rows: ClassVar[list[Any]] = []

            def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
                type(self).rows.append(np.asarray(X)[:, 0])
                return super().fit(X, y, sample_weight)

        n = 90
        X, y, groups = np.arange(float(n))[:, None], np.arange(n) % 2, np.arange(n) % 44 // 2
        cross_val_auc(Seen(n_estimators=1), X, y, cv=2, time=np.arange(n) // 30, groups=groups)
        for trained, tested in zip(Seen.rows, (np.arange(30, 60), np.arange(60, 90)), strict=True):
            assert not set(groups[trained.astype(int)]) & set(groups[tested])

    @pytest.mark.parametrize(
        ("time", "words"),
        [
            (np.full(N, np.nan), "time has 90 missing values"),
            ([None] * N, "time has values that cannot be sorted"),
            (["2024-W9", "2024-W10", "2024-W11"] * (N // 3), "text '2024-W9', which does not sort"),
            (["31.12.2024", "01.01.2025"] * (N // 2), "text '01.01.2025', which does not sort"),
            (np.arange(N - 1), "time has 89 values for 90 rows"),
            (np.arange(N) // 150, "has 0 positive and 0 negative"),
        ],
    )
    def test_times_that_cannot_be_used(self, X: Any, y: Any, time: Any, words: str) -> None:
        with pytest.raises(ValueError, match=words):
            cross_val_auc(RANKER, X, y, cv=3, time=time)

    def test_time_and_folds_exclude_each_other(self, X: Any, y: Any) -> None:
        with pytest.raises(ValueError, match="time and folds are given"):
            cross_val_auc(RANKER, X, y, time=np.arange(N), folds=np.arange(N) % 3)
