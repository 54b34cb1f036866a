"""RankBoost against the version that forms every pair, and what its bound promises."""

from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learners.small_tables import in_table_order, make_table

from auctor.data import prepare
from auctor.learners.boosting.rankboost import RankBoostSettings, fit_rankboost
from auctor.metrics import auc
from tests.reference.rankboost import rankboost_pairs


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize("seed", range(8))
def test_every_round_equals_the_version_over_pairs(seed, learning_rate, weighted):
    X, y, weight = make_table(seed, weighted=weighted)
    data = prepare(X, y, sample_weight=weight, categorical_features=[3])
    _, history, _ = fit_rankboost(data, RankBoostSettings(25, learning_rate))
    codes, is_category = in_table_order(data)
    slow = rankboost_pairs(codes, y, weight, is_category, 25, learning_rate)
    assert len(slow) == len(history.rounds) == 25
    for ours, theirs in zip(history.rounds, slow, strict=True):
        assert ours.stump.feature == theirs.feature
        above = ours.stump.above(data.n_codes)[codes[:, theirs.feature]]
        assert np.array_equal(above, theirs.h)
        # alpha is rounded to a grid of 2^-32, which later rounds carry along
        assert ours.r == pytest.approx(theirs.r, abs=1e-8)
        assert ours.alpha == pytest.approx(theirs.alpha, abs=1e-8)
        assert ours.z == pytest.approx(theirs.z, abs=1e-8)


@given(seed=st.integers(0, 10**6), n_rounds=st.integers(1, 60), weighted=st.booleans())
def test_product_of_z_bounds_the_misranked_pairs(seed, n_rounds, weighted):
    X, y, weight = make_table(seed, n=30, weighted=weighted)
    data = prepare(X, y, sample_weight=weight, categorical_features=[3])
    model, history, certificate = fit_rankboost(data, RankBoostSettings(n_rounds))
    scores = model.decision_function(X)
    in_order = (scores[y][:, None] > scores[~y][None, :]) * 1.0
    pair_weight = np.outer(weight[y], weight[~y])
    misranked = 1 - (in_order * pair_weight).sum() / pair_weight.sum()
    assert certificate.values["misranked"] == pytest.approx(misranked, abs=1e-12)
    assert certificate.values["bound"] == prod(step.z for step in history.rounds)
    assert misranked <= certificate.values["bound"] * (1 + 1e-9)
    expected = auc(y, scores, sample_weight=weight)
    assert certificate.values["auc"] == pytest.approx(expected, abs=1e-12)
    # |r| = 1 gives the largest alpha instead of an infinite one; else Z <= sqrt(1 - r^2)
    for step in history.rounds:
        assert abs(step.r) > 1 - 1e-12 or step.z <= np.sqrt(1 - step.r**2) + 1e-9


def test_a_table_of_constants_gives_a_flat_model():
    model, history, certificate = fit_rankboost(
        prepare(np.ones((6, 2)), [0, 1, 0, 1, 0, 1]), RankBoostSettings(10)
    )
    assert history.stopped_by == "no stump is better than chance"
    assert history.rounds == []
    assert np.array_equal(model.decision_function(np.ones((3, 2))), np.full(3, -1.0))
    assert certificate.values["auc"] == 0.5


def test_separated_classes_stop_after_one_round():
    X = np.arange(10.0).reshape(-1, 1)
    model, history, certificate = fit_rankboost(
        prepare(X, np.arange(10) >= 5), RankBoostSettings(10)
    )
    assert history.stopped_by == "the last stump makes no error"
    assert len(history.rounds) == 1
    assert certificate.values["auc"] == 1.0
    assert model.predict(X).tolist() == [False] * 5 + [True] * 5


def test_missing_values_take_the_side_that_helps():
    X = np.array([[np.nan], [np.nan], [np.nan], [1.0], [2.0], [3.0]])
    model, history, _ = fit_rankboost(prepare(X, [1, 1, 1, 0, 0, 0]), RankBoostSettings(5))
    assert history.rounds[0].stump.above(4).tolist() == [True, False, False, False]
    assert model.decision_function([[np.nan]])[0] > model.decision_function([[2.0]])[0]


def test_a_missing_value_never_seen_scores_between_the_extremes():
    X, y, _ = make_table(2, n=200)
    X = np.nan_to_num(X)
    model, *_ = fit_rankboost(prepare(X, y), RankBoostSettings(30))
    for feature, steps in zip(model.features, model.steps, strict=True):
        assert steps[1:].min() <= steps[0] <= steps[1:].max(), feature.name


def test_early_stopping_keeps_the_best_round():
    X, y, _ = make_table(9, n=300)
    both = prepare(X, y)  # held-out rows stand on the same bins as the training rows
    train, held_out = both.take(np.arange(300) < 200), both.take(np.arange(300) >= 200)
    settings = RankBoostSettings(300, n_iter_no_change=5, tol=0.0)
    model, history, _ = fit_rankboost(train, settings, held_out)
    aucs = np.array(history.validation_auc)
    assert history.stopped_by == "early stopping"
    assert len(history.rounds) == int(np.argmax(aucs)) + 1
    assert len(aucs) == len(history.rounds) + 5
    assert auc(y[200:], model.decision_function(X[200:])) == pytest.approx(aucs.max(), abs=1e-12)


def test_scores_add_up_exactly_on_the_grid():
    X, y, _ = make_table(4, n=300)
    model, *_ = fit_rankboost(prepare(X, y), RankBoostSettings(200))
    parts = model.contributions(X)
    forward = model.intercept + parts.sum(axis=1)
    backward = parts[:, ::-1].sum(axis=1) + model.intercept
    assert np.array_equal(forward, backward)
    assert np.array_equal(forward, model.decision_function(X))


def test_progress_goes_to_stderr_and_only_when_asked(capsys):
    X, y, _ = make_table(0)
    fit_rankboost(prepare(X, y), RankBoostSettings(5))
    assert capsys.readouterr().err == ""
    fit_rankboost(prepare(X, y), RankBoostSettings(5, verbose=True))
    assert "5/5" in capsys.readouterr().err
