"""DMKS against coordinate ascent that tries everything, and what its certificate claims."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from auctor.data import read_table
from auctor.data.labelled import read_rows
from auctor.learners.common.rounding import ROUNDING
from auctor.learners.dmks.columns import ColumnProblem, logistic_start
from auctor.learners.dmks.fit import (
    CLEARANCE,
    MIN_GAP,
    WIDEST,
    DMKSSettings,
    best_trial,
    climb,
    evaluate,
    fit_dmks,
    search,
)
from auctor.metrics import ks
from auctor.testing.contracts import messy_table
from tests.reference.dmks import Labelled, Limits, ks_at, slow_climb

LIMITS = Limits(MIN_GAP, CLEARANCE, WIDEST)


def make_problem(seed, n=40, weighted=False, categorical=(4,)):
    X, y = messy_table(seed, n)
    weight = np.random.default_rng(seed).integers(1, 5, size=n) / 4 if weighted else None
    return problem_of(X, y, weight, categorical), X, y, weight


def problem_of(X, y, weight=None, categorical=()):
    rows = read_rows(y, weight, None, len(y))
    return ColumnProblem(read_table(X, accept_sparse=True), rows, frozenset(categorical))


def labelled(columns):
    n_rows = len(columns.rows.weight)
    return Labelled(np.arange(n_rows) >= columns.rows.n_neg, columns.rows.weight)


def dense(columns):
    matrix = columns.matrix
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@pytest.mark.parametrize("penalty", [0.0, 0.03])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_climb_equals_the_slow_one(seed, weighted, penalty):
    problem, *_ = make_problem(seed, weighted=weighted)
    columns = problem.hypotheses
    start = logistic_start(columns)
    settings = DMKSSettings(coef_penalty=penalty, tol=0.0)
    state, history = climb(columns, evaluate(columns, start), settings)
    slow_beta, slow_path = slow_climb(
        dense(columns), columns.spread, start, labelled(columns), LIMITS, penalty
    )
    shared = min(len(slow_path), len(history.ks))
    assert history.ks[:shared] == pytest.approx(slow_path[:shared], abs=1e-12)
    assert state.beta == pytest.approx(slow_beta, abs=1e-9)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 0.01, 0.1]))
def test_what_is_maximised_never_falls(seed, weighted, penalty):
    problem, *_ = make_problem(seed, weighted=weighted)
    _, history, certificate = fit_dmks(problem, DMKSSettings(coef_penalty=penalty))
    objective = np.array(history.ks) - penalty * np.array(history.n_nonzero)
    assert (np.diff(objective) >= 0).all()
    assert len(history.ks) == history.n_iter + 1 == certificate.values["n_sweeps"] + 1
    if penalty == 0:
        assert certificate.values["ks"] >= certificate.values["start_ks"]


@given(st.integers(0, 10**6), st.booleans())
def test_no_coefficient_moved_alone_is_better(seed, weighted):
    problem, *_ = make_problem(seed, n=25, weighted=weighted)
    _, history, certificate = fit_dmks(problem, DMKSSettings())
    columns = problem.hypotheses
    state = evaluate(columns, history.beta)
    assert certificate.values["largest_gain"] == 0.0
    matrix, rows = dense(columns), labelled(columns)
    rng = np.random.default_rng(seed)
    for j in range(columns.count):
        x = matrix[:, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = (state.cut.threshold - state.scores) / x
        crossing = np.unique(crossing[np.isfinite(crossing)])
        between = (crossing[1:] + crossing[:-1]) / 2
        for move in np.concatenate([between, rng.normal(size=10) * 3]):
            moved = state.scores + move * x
            is_clear = np.abs(moved - state.cut.threshold).min() > 2 * CLEARANCE
            if is_clear and abs(state.beta[j] + move) * columns.spread[j] < WIDEST:
                assert ks_at(moved, state.cut.threshold, rows) <= state.cut.ks + ROUNDING


@given(st.integers(0, 10**6))
def test_a_move_keeps_what_the_search_promised(seed):
    problem, *_ = make_problem(seed)
    columns = problem.hypotheses
    state = evaluate(columns, np.random.default_rng(seed).normal(size=columns.count))
    for j in range(columns.count):
        value, _ = search(columns, state, j)
        trial = best_trial(columns, state, j, 0.0)
        if value > state.cut.ks + ROUNDING:
            assert trial.cut.ks >= value - ROUNDING
            afresh = evaluate(columns, trial.beta)
            assert afresh.cut.ks == trial.cut.ks


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_ks_is_that_of_the_models_scores(seed, weighted):
    problem, X, y, weight = make_problem(seed, n=80, weighted=weighted)
    model, history, certificate = fit_dmks(problem, DMKSSettings())
    assert certificate.values["ks"] == ks(y, model.decision_function(X), sample_weight=weight)
    assert certificate.values["ks"] == pytest.approx(history.ks[-1], abs=1e-12)
    assert certificate.values["n_nonzero"] == history.n_nonzero[-1]
    assert f"The training KS is {certificate.values['ks']:.4f}" in certificate.statement


def test_a_climb_cut_short_says_what_is_left():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 6))
    problem = problem_of(X, X.sum(axis=1) + 3 * rng.normal(size=400) > 1)
    settings = DMKSSettings(coef_init=np.zeros(6), max_iter=1)
    _, history, certificate = fit_dmks(problem, settings)
    gain = certificate.values["largest_gain"]
    assert (history.stopped_by, history.n_iter) == ("max_iter", 1)
    assert gain > 0.01
    assert f"cannot increase it by more than {gain:.2g}; all 6 were tried" in certificate.statement
    state = evaluate(problem.hypotheses, history.beta)
    trials = [best_trial(problem.hypotheses, state, j, 0.0) for j in range(6)]
    best = max(trial.cut.ks for trial in trials if trial is not None)
    assert best - state.cut.ks == pytest.approx(gain, abs=1e-12)
    _, history, _ = fit_dmks(problem, DMKSSettings(coef_init=np.zeros(6), tol=0.9))
    assert (history.stopped_by, history.n_iter) == ("tol", 1)


def test_separated_classes_stay_finite():
    X = np.arange(20.0)[:, None] * [1.0, -2.0]
    model, history, certificate = fit_dmks(problem_of(X, np.arange(20) > 7), DMKSSettings())
    assert certificate.values["ks"] == 1.0
    assert history.stopped_by == "no move is better"
    assert np.isfinite(history.beta).all()
    assert model.predict(X).tolist() == [False] * 8 + [True] * 12


@pytest.mark.parametrize("penalty", [0.0, 0.1])
def test_a_table_of_constants_gives_a_flat_model(penalty):
    problem = problem_of(np.ones((6, 2)), [0, 1, 0, 1, 0, 1])
    model, history, certificate = fit_dmks(problem, DMKSSettings(coef_penalty=penalty))
    assert np.ptp(model.decision_function(np.ones((3, 2)))) == 0
    assert certificate.values["ks"] == 0.0
    assert len(history.beta) == 0


def test_one_row_per_class():
    _, _, certificate = fit_dmks(problem_of([[1.0, 5.0], [2.0, 3.0]], [1, 0]), DMKSSettings())
    assert certificate.values["ks"] == 1.0


def test_a_start_of_zeros_finds_its_way():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X[:, 1] - X[:, 2] + rng.normal(size=200) > 0
    problem = problem_of(X, y)
    _, history, certificate = fit_dmks(problem, DMKSSettings(coef_init=np.zeros(3)))
    assert history.ks[0] == 0.0
    assert certificate.values["ks"] > 0.4


def test_the_direction_is_not_turned():
    X = np.arange(30.0)[:, None]
    y = np.arange(30) < 12
    _, history, certificate = fit_dmks(problem_of(X, y), DMKSSettings(coef_init=[1.0]))
    assert history.ks[0] == 0.0  # the wrong way round
    assert certificate.values["ks"] == 1.0
    assert history.beta[0] < 0


def test_a_large_penalty_leaves_nothing():
    problem, X, *_ = make_problem(3)
    model, history, certificate = fit_dmks(problem, DMKSSettings(coef_penalty=1.5))
    assert not history.beta.any()
    assert certificate.values["n_nonzero"] == 0
    assert np.ptp(model.decision_function(X)) == 0
    assert "0 of" in certificate.statement


def test_a_penalty_drops_what_does_not_pay():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(500, 10))
    y = X[:, 3] + 0.3 * rng.normal(size=500) > 0
    problem = problem_of(X, y)
    _, history, certificate = fit_dmks(problem, DMKSSettings(coef_penalty=0.05))
    assert np.flatnonzero(history.beta).tolist() == [3]
    assert certificate.values["ks"] > 0.7
    assert "1 of 10 coefficients nonzero" in certificate.statement


def test_outliers_and_large_offsets_do_not_stop_the_climb():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(600, 3))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=600) > 0
    X[0, 0] = 1e5
    X[:, 1] = X[:, 1] * 1e-6 + 3.0
    _, history, certificate = fit_dmks(problem_of(X, y), DMKSSettings())
    assert certificate.values["ks"] == pytest.approx(history.ks[-1], abs=1e-12)
    assert certificate.values["ks"] > 0.7


def test_a_negative_penalty_is_refused():
    with pytest.raises(ValueError, match=r"coef_penalty is -0.1; give a number of at least 0"):
        fit_dmks(make_problem(0)[0], DMKSSettings(coef_penalty=-0.1))


def test_progress_goes_to_stderr_and_only_when_asked(capsys):
    fit_dmks(make_problem(0)[0], DMKSSettings())
    assert capsys.readouterr().err == ""
    fit_dmks(make_problem(0)[0], DMKSSettings(verbose=True))
    assert "DMKS" in capsys.readouterr().err
