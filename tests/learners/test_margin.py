"""The largest margins, against the paper's linear programs with every pair formed."""

import warnings
from types import SimpleNamespace

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from auctor._progress import Progress
from auctor.data import read_table
from auctor.data.labelled import read_rows
from auctor.datasets import make_r_of_k
from auctor.exceptions import MarginWarning
from auctor.learners.margin.certificate import certify_margin
from auctor.learners.margin.cutting_planes import CuttingPlanes, Limits
from auctor.learners.margin.fit import largest_margin
from auctor.learners.margin.hypotheses import MatrixHypotheses
from auctor.learners.margin.objectives import PairsObjective, RowsObjective, TangentObjective
from auctor.learners.margin.problems import LinearProblem, RowScores
from auctor.learners.margin.settings import MarginSettings
from auctor.learners.margin.snap import snap
from tests.reference import margin as reference

PAPER = {"negations": False, "constant": False, "relax": False, "gap_tol": 1e-8}
QUIET = Progress(None, "", False)


def problem_of(hypotheses):
    """What a certificate asks of a problem."""
    weights = hypotheses.weight_neg, hypotheses.weight_pos
    return SimpleNamespace(
        hypotheses=hypotheses, scores=lambda beta: RowScores(*hypotheses.scores(beta), *weights)
    )


def make_problem(seed):
    """Positives and negatives with ties, copies and few or many rows of each class."""
    rng = np.random.default_rng(seed)
    p, n = rng.integers(1, 12, size=2)
    count = int(rng.integers(1, 7))
    kinds = (
        lambda size: rng.uniform(-1, 1, size),
        lambda size: rng.integers(-1, 2, size).astype(float),
        lambda size: rng.integers(0, 2, size).astype(float),
    )
    kind = kinds[seed % 3]
    pos, neg = kind((p, count)), kind((n, count))
    if seed % 2 and p > 1 and n > 1:
        pos[p // 2 :], neg[n // 2 :] = pos[0], neg[-1]  # copies
    neg[:, 0] = -np.abs(neg[:, 0])
    return pos, neg


def hypotheses_of(pos, neg):
    return MatrixHypotheses(neg, pos, np.ones(len(neg)), np.ones(len(pos)))


def nu_of(seed, p, n):
    return float([1, p * n, max(1, p * n // 3), max(1.0, 0.37 * p * n)][seed % 4])


def fit(pos, neg, **settings):
    """The fit without its warnings, and its history."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarginWarning)
        return largest_margin(hypotheses_of(pos, neg), MarginSettings(**{**PAPER, **settings}))


def margin_by_pairs(pos, neg, beta, nu):
    """f of weights: the mean of the nu smallest margins."""
    margins = np.sort(reference.pair_margins(pos, neg) @ beta)
    taken = np.clip(nu - np.arange(len(margins)), 0.0, 1.0)
    return taken @ margins / nu


@pytest.mark.parametrize("seed", range(50))
def test_pairs_equal_the_whole_program_and_its_dual(seed):
    pos, neg = make_problem(seed)
    nu = nu_of(seed, len(pos), len(neg))
    solution, _ = fit(pos, neg, nu=nu)
    whole, dual = reference.solve_pairs(pos, neg, nu), reference.solve_pairs_dual(pos, neg, nu)
    assert whole.value == pytest.approx(dual.value, abs=1e-9)
    assert solution.value == pytest.approx(whole.value, abs=1e-7)
    assert solution.bound == pytest.approx(whole.value, abs=1e-7)
    assert solution.bound >= whole.value - 1e-10
    assert solution.value == pytest.approx(margin_by_pairs(pos, neg, solution.beta, nu), abs=1e-12)
    # The dual's weights are weights: on the simplex, and of the same margin.
    assert dual.alpha.sum() == pytest.approx(1.0, abs=1e-9)
    assert margin_by_pairs(pos, neg, dual.alpha, nu) == pytest.approx(solution.value, abs=1e-7)
    assert (solution.beta >= 0).all()
    assert solution.beta.sum() <= 1.0
    assert solution.beta.sum() == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_negations_and_the_constant_are_further_hypotheses(seed):
    pos, neg = make_problem(seed)
    nu = nu_of(seed, len(pos), len(neg))
    with_negations = [np.hstack([side, -side, np.ones((len(side), 1))]) for side in (pos, neg)]
    whole = reference.solve_pairs(*with_negations, nu)
    solution, _ = fit(pos, neg, nu=nu, negations=True, constant=True)
    assert solution.value == pytest.approx(whole.value, abs=1e-7)
    assert solution.value >= 0.0
    assert np.abs(solution.beta).sum() <= 1.0


@pytest.mark.parametrize("seed", range(8))
def test_weights_are_copies_of_rows(seed):
    pos, neg = make_problem(seed)
    rng = np.random.default_rng(seed)
    times_pos, times_neg = rng.integers(1, 4, len(pos)), rng.integers(1, 4, len(neg))
    nu = 0.3 * times_pos.sum() * times_neg.sum()
    weighted = MatrixHypotheses(neg, pos, times_neg.astype(float), times_pos.astype(float))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarginWarning)
        solution, _ = largest_margin(weighted, MarginSettings(**PAPER, nu=max(nu, 1.0)))
    copies = np.repeat(pos, times_pos, axis=0), np.repeat(neg, times_neg, axis=0)
    assert solution.value == pytest.approx(
        reference.solve_pairs_dual(*copies, max(nu, 1.0)).value, abs=1e-7
    )


@pytest.mark.parametrize("seed", range(12))
def test_reduced_equals_problems_7_and_8(seed):
    pos, neg = make_problem(seed)
    nu_pos, nu_neg = max(1.0, 0.45 * len(pos)), max(1.0, 0.3 * len(neg))
    solution, _ = fit(pos, neg, method="reduced", nu_pos=nu_pos, nu_neg=nu_neg)
    assert solution.value == pytest.approx(
        reference.solve_rows(pos, neg, nu_pos, nu_neg).value, abs=1e-7
    )
    assert solution.value == pytest.approx(
        reference.solve_rows_primal(pos, neg, nu_pos, nu_neg).value, abs=1e-7
    )


@pytest.mark.parametrize("seed", range(20))
def test_theorem_2(seed):
    pos, neg = make_problem(seed)
    over_pairs = reference.solve_hard_pairs(pos, neg)
    with_bias = reference.solve_hard_bias(pos, neg)
    assert over_pairs.value == pytest.approx(with_bias.value, abs=1e-9)
    solution, _ = fit(pos, neg, soft_margin=False)
    assert solution.value == pytest.approx(over_pairs.value, abs=1e-7)
    least = (reference.pair_margins(pos, neg) @ solution.beta).min()
    assert solution.value == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_theorem_3_and_corollary_4(seed):
    pos, neg = make_problem(seed)
    p, n = len(pos), len(neg)
    epsilon = (0.05, 0.2, 0.5)[seed % 3]
    solution, _ = fit(pos, neg, method="reduced", epsilon=epsilon)
    margins = reference.pair_margins(pos, neg) @ solution.beta
    # The product distributions are some of those over pairs: gamma-hat is above gamma*.
    gamma_star = reference.solve_pairs_dual(pos, neg, epsilon * p * n).value
    assert solution.bound >= gamma_star - 1e-9
    held = np.count_nonzero(margins >= gamma_star - 1e-7)
    assert held >= (p - solution.nu.pos) * (n - solution.nu.neg) - 1e-9
    assert (p - solution.nu.pos) * (n - solution.nu.neg) == pytest.approx(
        (1 - np.sqrt(epsilon)) ** 2 * p * n
    )


class TestHeuristic:
    @pytest.mark.parametrize("seed", range(10))
    def test_gamma_never_grows_and_ends_below_the_square_root_split(self, seed):
        pos, neg = make_problem(seed + 100)
        solution, history = fit(pos, neg, method="heuristic", epsilon=0.3)
        split, _ = fit(pos, neg, method="reduced", epsilon=0.3)
        assert (np.diff(history.gamma_path) <= 0).all()
        assert history.gamma_path[0] == pytest.approx(split.bound, abs=1e-7)
        assert solution.bound <= split.bound + 1e-9
        assert solution.nu.pos * solution.nu.neg == pytest.approx(0.3 * len(pos) * len(neg))
        exact = reference.solve_rows(pos, neg, solution.nu.pos, solution.nu.neg)
        assert solution.value == pytest.approx(exact.value, abs=1e-7)

    @pytest.mark.parametrize("seed", range(10))
    def test_problem_9(self, seed):
        pos, neg = make_problem(seed)
        p, n = len(pos), len(neg)
        nu, nu_c = 0.3 * p * n, np.sqrt(0.3) * p
        planes = CuttingPlanes(hypotheses_of(pos, neg), negations=False, constant=False)
        objective = TangentObjective(np.ones(n), np.ones(p), nu, nu_c)
        solution, _ = planes.solve(objective, Limits(tol=1e-8), QUIET)
        gamma, _ = reference.solve_tangent(pos, neg, nu, nu_c)
        assert solution.bound == pytest.approx(gamma, abs=1e-7)
        assert solution.value == pytest.approx(gamma, abs=1e-7)
        assert nu / n - 1e-9 <= solution.nu_pos <= 2 * nu_c - nu_c**2 / p + 1e-9
        # Its distribution is allowed in (7) at its nu+, which is therefore no larger.
        at = reference.solve_rows(pos, neg, min(solution.nu_pos, p), min(nu / solution.nu_pos, n))
        assert at.value <= gamma + 1e-7

    def test_the_path_is_that_of_the_epsilon_used(self):
        rng = np.random.default_rng(0)
        pos, neg = rng.normal(0.3, 1, (60, 3)) / 5, rng.normal(0, 1, (60, 3)) / 5
        settings = MarginSettings("heuristic", epsilon=0.01)
        with pytest.warns(MarginWarning, match=r"epsilon=0.01 leaves almost no soft margin"):
            solution, history = largest_margin(hypotheses_of(pos, neg), settings)
        assert solution.epsilon > 0.01
        assert (np.diff(history.gamma_path) <= 0).all()

    def test_an_early_end_of_a_later_step_is_reported(self, monkeypatch):
        rng = np.random.default_rng(5)
        pos, neg = rng.normal(0.9, 1, (50, 6)) / 5, rng.normal(0, 1, (30, 6)) / 5
        solve = CuttingPlanes.solve

        def stop_at_tangents(self, objective, limits, *rest):
            if isinstance(objective, TangentObjective):
                limits = limits._replace(max_iter=1)
            return solve(self, objective, limits, *rest)

        monkeypatch.setattr(CuttingPlanes, "solve", stop_at_tangents)
        settings = MarginSettings("heuristic", epsilon=0.3, **{**PAPER, "gap_tol": 1e-8})
        with pytest.warns(MarginWarning, match="max_iter"):
            largest_margin(hypotheses_of(pos, neg), settings)


@given(
    seed=st.integers(0, 10**6),
    method=st.sampled_from(["pairs", "reduced", "heuristic", "hard"]),
    epsilon=st.sampled_from([0.01, 0.1, 0.25, 0.5, 1.0]),
)
def test_certificate_counts_pairs(seed, method, epsilon):
    pos, neg = make_problem(seed)
    settings = MarginSettings(
        **{**PAPER, "constant": True},
        method="pairs" if method == "hard" else method,
        soft_margin=method != "hard",
        epsilon=epsilon,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarginWarning)
        solution, _ = largest_margin(hypotheses_of(pos, neg), settings)
    values = certify_margin(problem_of(hypotheses_of(pos, neg)), solution, settings).values
    # Counts are exact: the scores must be those of the fit, to the last bit.
    score_neg, score_pos = hypotheses_of(pos, neg).scores(solution.beta)
    np.testing.assert_allclose(score_pos, pos @ solution.beta, atol=1e-12)
    np.testing.assert_allclose(score_neg, neg @ solution.beta, atol=1e-12)
    differences = (score_pos[:, None] - score_neg).ravel()
    margins = differences / 2
    # rho is one of the margins, and the counts are those of all pairs.
    assert values["rho"] in margins or method in ("reduced", "heuristic")
    assert values["fraction_rho"] == np.mean(margins >= values["rho"])
    assert values["auc_rho"] == np.mean(differences >= values["rho"])
    assert values["pairs_rho"] == np.count_nonzero(margins >= values["rho"])
    assert values["auc"] == np.mean((differences > 0) + 0.5 * (differences == 0))
    assert values["n_pairs"] == len(margins)
    assert values["fraction_rho"] >= values["fraction_guaranteed"]
    assert values["fraction_gamma"] >= values["fraction_rho"]
    assert values["gamma"] <= values["rho"] + 1e-12
    if values["rho"] >= 0:
        assert values["auc_rho"] >= values["fraction_rho"]
    assert 0 <= values["gap"] <= 1e-5 or values["upper_bound"] < 1e-3
    # No other weights have more.
    alpha = np.random.default_rng(seed).dirichlet(np.ones(pos.shape[1]), size=5)
    for weights in alpha:
        if method == "pairs":
            value = margin_by_pairs(pos, neg, weights, solution.nu.pairs)
        else:
            planes = CuttingPlanes(hypotheses_of(pos, neg), negations=False, constant=True)
            ones = np.ones(len(neg)), np.ones(len(pos))
            value = planes.value(RowsObjective(*ones, solution.nu.neg, solution.nu.pos), weights)
        assert value <= values["upper_bound"] + 1e-10


def make_words(seed, n_rows, n_words):
    rng = np.random.default_rng(seed)
    X = (rng.random((n_rows, n_words)) < 0.05).astype(float)
    y = X[:, :40].sum(axis=1) + 0.5 * rng.normal(size=n_rows) > 2
    return X, y


class TestManyHypotheses:
    def test_generated_columns_equal_the_whole_program(self):
        X, y = make_words(0, 70, 1100)
        settings = MarginSettings(epsilon=0.4, gap_tol=1e-7, relax=False)
        solution, _ = largest_margin(hypotheses_of(X[y], X[~y]), settings)
        sides = [np.hstack([side, -side, 0 * side[:, :1]]) for side in (X[y], X[~y])]
        exact = reference.solve_pairs_dual(*sides, solution.nu.pairs)
        assert solution.value == pytest.approx(exact.value, abs=1e-7)
        assert solution.value > 0.01
        assert np.count_nonzero(solution.beta) < 100

    def test_sparse_and_dense_matrices(self):
        X, y = make_words(0, 70, 1100)
        settings = MarginSettings("reduced", epsilon=0.4, relax=False)
        weights = np.ones(int((~y).sum())), np.ones(int(y.sum()))
        dense, _ = largest_margin(MatrixHypotheses(X[~y], X[y], *weights), settings)
        sides = sparse.csr_array(X[~y]), sparse.csr_array(X[y])
        solution, _ = largest_margin(MatrixHypotheses(*sides, *weights), settings)
        assert solution.value == pytest.approx(dense.value, rel=2e-6)

    @pytest.mark.parametrize("negations", [True, False])
    def test_reduced_equals_the_program_over_rows(self, negations):
        X, y = make_words(1, 60, 1100)
        settings = MarginSettings(
            "reduced", epsilon=0.3, relax=False, negations=negations, gap_tol=1e-8
        )
        solution, _ = largest_margin(hypotheses_of(X[y], X[~y]), settings)
        sides = [np.hstack([s, -s, 0 * s[:, :1]]) if negations else s for s in (X[y], X[~y])]
        exact = reference.solve_rows(*sides, solution.nu.pos, solution.nu.neg)
        assert solution.value == pytest.approx(exact.value, abs=1e-7)


@pytest.mark.parametrize("method", ["pairs", "reduced", "heuristic"])
def test_a_path_equals_fits_by_themselves(method):
    rng = np.random.default_rng(5)
    pos, neg = rng.normal(0.9, 1, (50, 6)) / 5, rng.normal(0, 1, (70, 6)) / 5
    start = None
    for epsilon in (0.6, 0.5, 0.4, 0.35):
        settings = MarginSettings(method, epsilon=epsilon, relax=False, gap_tol=1e-8)
        cold, _ = largest_margin(hypotheses_of(pos, neg), settings)
        start, _ = largest_margin(hypotheses_of(pos, neg), settings, start)
        assert start.value == pytest.approx(cold.value, abs=1e-8)
        assert start.bound >= cold.value - 1e-12


class TestSnapping:
    def test_equal_weights_come_out_equal(self):
        sample = make_r_of_k(1000, n_features=100, k=10, r=3, noise=0.05, random_state=0)
        rows = read_rows(sample.y, None, None, len(sample.y))
        problem = LinearProblem(read_table(sample.X), rows, frozenset(), "features")
        settings = MarginSettings(epsilon=0.2, negations=False)
        solution, _ = largest_margin(problem.hypotheses, settings)
        used = np.flatnonzero(solution.beta)
        assert used.tolist() == list(range(10))
        assert len(np.unique(solution.beta[used])) == 1
        assert solution.gap <= 1e-6

    def test_the_margin_must_allow_it(self):
        beta = np.array([0.5000001, -0.4999998, 0.0])
        distance = lambda b: -np.abs(b - beta).max()  # noqa: E731
        snapped = snap(beta, distance, least=-1e-6)
        assert snapped[0] == -snapped[1] == pytest.approx(0.5, abs=1e-6)
        kept = snap(beta, distance, least=-1e-9)
        assert kept == pytest.approx(beta, abs=1e-11)
        assert kept[0] != -kept[1]

    @pytest.mark.parametrize("grid", [2.0**-10, 2.0**-40], ids=["coarse", "fine"])
    def test_weights_are_on_the_grid_and_never_grow(self, grid):
        beta = np.random.default_rng(0).dirichlet(np.ones(50))
        solution = snap(beta, lambda b: 0.0, least=1.0, grid=grid)
        assert (np.rint(solution / grid) == solution / grid).all()
        assert solution.sum() <= 1.0
        assert (solution <= beta).all()


class TestEarlyEnds:
    def check(self, solution, pos, neg, match):
        """Usable weights with their true gap."""
        assert np.abs(solution.beta).sum() <= 1.0
        assert np.count_nonzero(solution.beta) > 0
        best = reference.solve_pairs_dual(pos, neg, solution.nu.pairs).value
        assert solution.value <= best + 1e-9 <= solution.bound + 2e-9
        value = margin_by_pairs(pos, neg, solution.beta, solution.nu.pairs)
        assert solution.value == pytest.approx(value, abs=1e-12)
        assert np.isfinite(solution.bound)
        assert solution.gap == pytest.approx((solution.bound - value) / abs(solution.bound))
        assert solution.stopped_by == match

    def problem(self):
        rng = np.random.default_rng(8)
        return rng.normal(0.5, 1, (25, 8)) / 5, rng.normal(0, 1, (25, 8)) / 5

    def test_time_limit(self):
        pos, neg = self.problem()
        settings = MarginSettings(epsilon=0.3, time_limit=1e-9, **PAPER)
        with pytest.warns(MarginWarning, match=r"time limit of 1e-09 s was reached before .* gap"):
            solution, _ = largest_margin(hypotheses_of(pos, neg), settings)
        self.check(solution, pos, neg, "time limit")

    def test_max_iter(self):
        pos, neg = self.problem()
        settings = MarginSettings(epsilon=0.3, max_iter=3, **PAPER)
        with pytest.warns(MarginWarning, match="max_iter=3 was reached"):
            solution, _ = largest_margin(hypotheses_of(pos, neg), settings)
        self.check(solution, pos, neg, "iterations")

    @pytest.mark.parametrize("good_calls", [0, 4])
    def test_a_solver_that_fails(self, monkeypatch, good_calls):
        pos, neg = self.problem()
        status, calls = highspy.Highs.getModelStatus, []

        def fail_later(solver):
            calls.append(1)
            solution = status(solver)
            return solution if len(calls) <= good_calls else highspy.HighsModelStatus.kSolveError

        monkeypatch.setattr(highspy.Highs, "getModelStatus", fail_later)
        with pytest.warns(MarginWarning, match="the linear program's solver failed"):
            solution, _ = largest_margin(
                hypotheses_of(pos, neg), MarginSettings(epsilon=0.3, **PAPER)
            )
        self.check(solution, pos, neg, "solver")
        assert len(calls) == good_calls + 2  # once more from the start, then no more


class TestNoMargin:
    def noise(self):
        rng = np.random.default_rng(2)
        return rng.uniform(-1, 1, (60, 3)), rng.uniform(-1, 1, (60, 3))

    def test_epsilon_is_raised(self):
        pos, neg = self.noise()
        with pytest.warns(MarginWarning, match=r"epsilon=0.05 leaves almost no soft margin"):
            solution, _ = largest_margin(hypotheses_of(pos, neg), MarginSettings(epsilon=0.05))
        assert solution.epsilon > 0.05
        assert solution.value > 0

    @pytest.mark.parametrize("method", ["pairs", "reduced"])
    def test_or_kept(self, method):
        pos, neg = self.noise()
        settings = MarginSettings(method, epsilon=0.05, relax=False)
        with pytest.warns(MarginWarning, match="no weights have a positive soft margin"):
            solution, _ = largest_margin(hypotheses_of(pos, neg), settings)
        assert solution.epsilon == 0.05
        assert solution.value == pytest.approx(0.0, abs=1e-9)

    def test_next_to_none_is_measured_against_the_means_of_all_rows(self):
        # The first rows alone have far larger differences than the means of all.
        rng = np.random.default_rng(0)
        pos, neg = np.full((200, 1), 0.11), np.zeros((200, 1))
        pos[:3], neg[:3] = 1.0, -1.0
        pos += rng.uniform(0, 1e-6, pos.shape)
        solution, _ = largest_margin(
            hypotheses_of(pos, neg), MarginSettings("reduced", epsilon=0.0001)
        )
        assert solution.epsilon == 0.0001
        assert solution.value == pytest.approx(0.055, abs=1e-3)

    def test_hard_without_a_separation_is_negative(self):
        pos, neg = self.noise()
        with pytest.warns(MarginWarning, match="no weights separate the classes; .* -0"):
            solution, _ = largest_margin(
                hypotheses_of(pos, neg), MarginSettings(soft_margin=False, **PAPER)
            )
        assert solution.value < -0.1
        assert solution.value == pytest.approx(reference.solve_hard_pairs(pos, neg).value, abs=1e-7)

    def test_no_hypotheses_at_all(self):
        with pytest.warns(MarginWarning, match="no weights have a positive soft margin"):
            solution, _ = largest_margin(
                hypotheses_of(np.empty((3, 0)), np.empty((2, 0))), MarginSettings()
            )
        assert (solution.value, solution.bound, len(solution.beta)) == (0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"nu": 0.5}, r"nu is 0.5; give a number from 1 to 12, the number of pairs"),
        ({"nu": 13.0}, r"nu is 13; give a number from 1 to 12"),
        ({"method": "heuristic", "nu": 13.0}, r"nu is 13; give a number from 1 to 12"),
        ({"method": "reduced", "nu_pos": 4.0}, r"nu_pos is 4; .* 3, the number of positive rows"),
        ({"method": "reduced", "nu_neg": 5.0}, r"nu_neg is 5; .* 4, the number of negative rows"),
        ({"nu_pos": 1.0}, r"nu_pos or nu_neg is given with method='pairs'"),
        ({"method": "reduced", "nu": 2.0}, r"nu is given with method='reduced'"),
        (
            {"method": "heuristic", "nu_neg": 2.0},
            r"given with method='heuristic', which chooses them",
        ),
    ],
)
def test_nu_out_of_range(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        largest_margin(hypotheses_of(np.ones((3, 1)), np.zeros((4, 1))), MarginSettings(**options))


@pytest.mark.parametrize("nu", [1.0, 3.5, 20.0])
def test_an_objective_is_a_program_over_its_distributions(nu):
    """PairsObjective's worst distribution against a program that is handed every pair."""
    rng = np.random.default_rng(3)
    neg, pos = rng.integers(-2, 3, 5).astype(float), rng.integers(-2, 3, 4).astype(float)
    weights = PairsObjective(np.ones(5), np.ones(4), nu).worst(neg, pos)
    cost = (pos[:, None] - neg).ravel()
    best = linprog(cost, A_eq=np.ones((1, 20)), b_eq=[1.0], bounds=[(0, 1 / nu)] * 20).fun
    assert weights.pos @ pos - weights.neg @ neg == pytest.approx(best, abs=1e-9)
