"""SoftRankBoost against the version written out, and what its certificate promises."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from learners.small_tables import in_table_order, make_table
from scipy.optimize import linprog

from auctor.data import prepare
from auctor.learners.boosting import rankboost
from auctor.learners.boosting.soft_rankboost import SoftRankBoostSettings, fit_soft_rankboost
from auctor.metrics import auc
from auctor.models import to_json
from tests.reference.rankboost import every_stump
from tests.reference.soft_rankboost import capped_mean, soft_rankboost_rows


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("epsilon", [0.02, 0.2, 0.6])
@pytest.mark.parametrize("seed", range(6))
def test_every_round_equals_the_version_written_out(seed, epsilon, weighted):
    X, y, weight = make_table(seed, weighted=weighted)
    learning_rate = (1.0, 0.3)[seed % 2]
    data = prepare(X, y, sample_weight=weight, categorical_features=[3])
    _, history, _ = fit_soft_rankboost(
        data, SoftRankBoostSettings(25, learning_rate, epsilon=epsilon)
    )
    codes, is_category = in_table_order(data)
    nus = sqrt(epsilon) * weight[~y].sum(), sqrt(epsilon) * weight[y].sum()
    slow = soft_rankboost_rows(codes, y, weight, is_category, nus, 25, learning_rate)
    assert len(slow) == len(history.rounds) == 25
    for ours, theirs in zip(history.rounds, slow, strict=True):
        assert ours.stump.feature == theirs.feature
        above = ours.stump.above(data.n_codes)[codes[:, theirs.feature]]
        assert np.array_equal(above, theirs.h)
        assert ours.r == pytest.approx(theirs.r, abs=1e-8)
        assert ours.alpha == pytest.approx(theirs.alpha, abs=1e-8)
        assert ours.z == pytest.approx(theirs.z, abs=1e-8)


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(3, 40),
    n_rounds=st.integers(1, 80),
    epsilon=st.one_of(st.floats(1e-4, 1.0), st.just(1.0)),
    learning_rate=st.sampled_from([1.0, 0.5, 0.1]),
    weighted=st.booleans(),
)
@example(seed=0, n_rows=3, n_rounds=1, epsilon=0.0005, learning_rate=0.1, weighted=False)
def test_the_certificate_holds(seed, n_rows, n_rounds, epsilon, learning_rate, weighted):
    X, y, weight = make_table(seed, n_rows, weighted)
    data = prepare(X, y, sample_weight=weight, categorical_features=[3])
    model, history, certificate = fit_soft_rankboost(
        data, SoftRankBoostSettings(n_rounds, learning_rate, epsilon=epsilon)
    )
    values = certificate.values
    assert values["bound"] - 1e-9 <= values["soft_margin"] <= values["upper_bound"] + 1e-9
    assert values["soft_margin"] <= values["rho"] + 1e-9
    assert (
        values["fraction_soft"] >= values["fraction_rho"] >= values["fraction_guaranteed"] - 1e-12
    )
    assert values["fraction_guaranteed"] == pytest.approx((1 - sqrt(epsilon)) ** 2, abs=1e-12)

    scores, size = model.decision_function(X), sum(abs(step.alpha) for step in history.rounds)
    size = size or 1.0
    pos, neg, w_pos, w_neg = scores[y] / size, scores[~y] / size, weight[y], weight[~y]
    nu_pos, nu_neg = sqrt(epsilon) * w_pos.sum(), sqrt(epsilon) * w_neg.sum()
    soft = capped_mean(pos, w_pos, nu_pos) + capped_mean(-neg, w_neg, nu_neg)
    assert values["soft_margin"] == pytest.approx(soft, abs=1e-9)
    gap, pairs = pos[:, None] - neg[None, :], np.outer(w_pos, w_neg) / w_pos.sum() / w_neg.sum()
    assert values["fraction_rho"] == pytest.approx(
        pairs[gap >= values["rho"] - 1e-9].sum(), abs=1e-9
    )
    expected = pairs[gap >= values["soft_margin"] - 1e-12].sum()
    assert values["fraction_soft"] == pytest.approx(expected, abs=1e-9)
    assert values["auc"] == pytest.approx(auc(y, scores, sample_weight=weight), abs=1e-12)
    fall = -sum(log(step.z) for step in history.rounds)
    assert values["bound"] == pytest.approx(max(-1, (fall + log(epsilon)) / size), abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_of_the_linear_program_lies_between_the_bounds(seed, weighted):
    """Problem (7) over all stumps, solved by HiGHS."""
    X, y, weight = make_table(seed, n=30, weighted=weighted)
    data = prepare(X, y, sample_weight=weight, categorical_features=[3])
    values = fit_soft_rankboost(data, SoftRankBoostSettings(2000, 0.1, epsilon=0.3))[2].values
    signs = np.where(y, 1.0, -1.0)
    edges = np.array([signs * h for _, h in every_stump(*in_table_order(data))])
    edges = np.column_stack([np.vstack([edges, -edges]), -np.ones(2 * len(edges))])
    nu = sqrt(0.3) * np.where(y, weight[y].sum(), weight[~y].sum())
    solved = linprog(
        np.append(np.zeros(len(y)), 1.0),
        A_ub=edges,
        b_ub=np.zeros(len(edges)),
        A_eq=np.array([np.append(y, 0.0), np.append(~y, 0.0)]),
        b_eq=[1.0, 1.0],
        bounds=[(0.0, cap) for cap in weight / nu] + [(None, None)],
    )
    assert values["soft_margin"] - 1e-9 <= solved.fun <= values["upper_bound"] + 1e-9
    assert values["upper_bound"] - values["soft_margin"] < 0.02


@pytest.mark.parametrize("seed", range(4))
def test_nu_of_one_row_is_rankboost(seed):
    X, y, _ = make_table(seed)
    data = prepare(X, y, categorical_features=[3])
    soft, ours, _ = fit_soft_rankboost(data, SoftRankBoostSettings(60, nu_pos=1, nu_neg=1))
    hard, theirs, _ = rankboost.fit_rankboost(data, rankboost.RankBoostSettings(60))
    assert to_json(soft) == to_json(hard)
    assert ours.rounds == theirs.rounds
    tiny, *_ = fit_soft_rankboost(data, SoftRankBoostSettings(60, epsilon=1e-300))
    assert to_json(tiny) == to_json(hard)


def test_epsilon_of_one_repeats_the_best_stump():
    X, y, _ = make_table(1)
    _, history, certificate = fit_soft_rankboost(
        prepare(X, y), SoftRankBoostSettings(5, epsilon=1.0)
    )
    assert len({step.stump for step in history.rounds}) == 1
    assert certificate.values["soft_margin"] == pytest.approx(
        certificate.values["upper_bound"], abs=1e-9
    )


@pytest.mark.parametrize("seed", range(3))
def test_wrong_labels_do_less_harm_than_in_rankboost(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2400, 6))
    y = X[:, :3].sum(axis=1) > 0
    flipped = y ^ (rng.random(2400) < 0.15)
    data = prepare(X[:400], flipped[:400])
    soft, *_ = fit_soft_rankboost(data, SoftRankBoostSettings(300))
    hard, *_ = rankboost.fit_rankboost(data, rankboost.RankBoostSettings(300))
    clean = [auc(y[400:], model.decision_function(X[400:])) for model in (soft, hard)]
    assert clean[0] > clean[1] + 0.01


def test_certificate_is_the_same_for_copies_order_and_partitions():
    X, y, _ = make_table(5, n=60)
    weight = np.random.default_rng(5).integers(1, 4, size=60)
    copies = np.repeat(np.arange(60), weight)
    turned = np.random.default_rng(6).permutation(len(copies))
    tables = [
        prepare(X, y, sample_weight=weight),
        prepare(X[copies], y[copies]),
        prepare(X[copies][turned], y[copies][turned]).split(3),
    ]
    first, *others = [fit_soft_rankboost(data, SoftRankBoostSettings(40))[2] for data in tables]
    assert all(other.values == first.values for other in others)
    assert all(other.statement == first.statement for other in others)


def test_weights_of_any_size_mean_the_same_nu():
    X, y, _ = make_table(2, n=100)
    usual = fit_soft_rankboost(prepare(X, y), SoftRankBoostSettings(20, nu_pos=10, nu_neg=20))[
        2
    ].values
    light = prepare(X, y, sample_weight=np.full(100, 0.01))
    values = fit_soft_rankboost(light, SoftRankBoostSettings(20, nu_pos=10, nu_neg=20))[2].values
    assert values == pytest.approx(usual, rel=1e-6)


def test_a_table_of_constants_gives_a_flat_model():
    data = prepare(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    model, history, certificate = fit_soft_rankboost(data, SoftRankBoostSettings(10))
    assert history.stopped_by == "no stump is better than chance"
    assert np.array_equal(model.decision_function(np.ones((3, 2))), np.full(3, -1.0))
    values = certificate.values
    assert (values["soft_margin"], values["upper_bound"], values["auc"]) == (0.0, 0.0, 0.5)
    assert values["bound"] <= 0.0


def test_separated_classes_stop_after_one_round_with_the_whole_margin():
    X = np.arange(10.0).reshape(-1, 1)
    _, history, certificate = fit_soft_rankboost(
        prepare(X, np.arange(10) >= 5), SoftRankBoostSettings(10)
    )
    assert history.stopped_by == "the last stump makes no error"
    values = certificate.values
    assert (values["soft_margin"], values["upper_bound"], values["fraction_rho"]) == (1.0, 1.0, 1.0)


def test_early_stopping_keeps_the_best_round():
    X, y, _ = make_table(9, n=300)
    both = prepare(X, y)
    train, held_out = both.take(np.arange(300) < 200), both.take(np.arange(300) >= 200)
    model, history, certificate = fit_soft_rankboost(
        train, SoftRankBoostSettings(300, n_iter_no_change=5, tol=0.0), held_out
    )
    aucs = np.array(history.validation_auc)
    assert history.stopped_by == "early stopping"
    assert len(history.rounds) == certificate.values["n_rounds"] == int(np.argmax(aucs)) + 1
    assert auc(y[200:], model.decision_function(X[200:])) == pytest.approx(aucs.max(), abs=1e-12)


def test_progress_names_the_learner(capsys):
    X, y, _ = make_table(0)
    fit_soft_rankboost(prepare(X, y), SoftRankBoostSettings(5, verbose=True))
    assert "SoftRankBoost [" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": 0.0}, r"epsilon is 0\.0; give a number above 0 and at most 1"),
        ({"epsilon": 1.5}, r"epsilon is 1\.5"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"nu_pos": 0.5}, r"nu_pos is 0\.5, but there are 4 positive rows .*; .* from 1 to 4"),
        ({"nu_pos": 5}, "nu_pos is 5, but there are 4 positive rows"),
        ({"nu_neg": 7}, "nu_neg is 7, but there are 6 negative rows .*; .* from 1 to 6"),
        ({"nu_neg": float("nan")}, "nu_neg is nan"),
    ],
)
def test_bad_settings_are_named(arguments, message):
    data = prepare(np.arange(10.0).reshape(-1, 1), np.arange(10) >= 6)
    with pytest.raises(ValueError, match=message):
        fit_soft_rankboost(data, SoftRankBoostSettings(5, **arguments))


def test_a_class_too_light_for_any_nu_is_an_error():
    weight = np.where(np.arange(10) < 9, 4.0, 0.5)
    options = {"sample_weight": weight, "frequency_weights": True}
    data = prepare(np.arange(10.0).reshape(-1, 1), np.arange(10) == 9, **options)
    with pytest.raises(ValueError, match=r"there are 0\.5 .*; give None"):
        fit_soft_rankboost(data, SoftRankBoostSettings(5, nu_pos=1))
