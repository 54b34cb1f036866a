"""The maximisation: it ends at a maximum, keeps monotone signs and respects its stopping rules."""

from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from auctor.data import Workers, prepare
from auctor.exceptions import SmoothWarning
from auctor.learners.smooth.fit import climb, fit_smooth
from auctor.learners.smooth.newton import Patience, maximise
from auctor.learners.smooth.objective import Barrier, Objective
from auctor.learners.smooth.penalty import gaps
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.settings import SmoothSettings

TIGHT = Patience(tol=1e-13, max_iter=2000)


def table(seed, n_rows=80, missing=0.15, max_bins=20):
    """Two numbers with missing values and a column of categories, one number useful."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[:, 2] = rng.integers(0, 3, size=n_rows)
    y = X[:, 0] - 0.5 * X[:, 1] ** 2 + (X[:, 2] == 1) + rng.normal(size=n_rows) > 0
    y[:2] = False, True
    X[rng.random(X.shape) < missing] = np.nan
    weight = rng.random(n_rows) + 0.5
    return prepare(X, y, sample_weight=weight, max_bins=max_bins, categorical_features=[2])


@pytest.fixture
def workers():
    with Workers(1) as workers:
        yield workers


def problem_of(data, workers, **changes):
    """The problem, its penalty and its objective; amounts that hold the tables together."""
    amounts = {"penalty": 2e-3, "shrinkage": 2e-3, "ridge": 2e-3, "adaptive": False}
    problem = Problem(data, SmoothSettings(**{**amounts, **changes}), workers)
    penalty = problem.roughness.weigh(*problem.amounts, problem.adapted())
    return problem, Objective(problem.sums, (penalty,))


@pytest.mark.parametrize(
    "changes", [{}, {"adaptive": True}, {"roughness": "bins"}, {"scale": "linear"}]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_end_is_a_maximum(seed, changes, workers):
    problem, objective = problem_of(table(seed), workers, **changes)
    point, history = maximise(objective, problem.start(), TIGHT)
    assert history.stopped_by in ("converged", "no further gain")
    assert np.abs(point.gradient).max() < 1e-6
    rng = np.random.default_rng(seed)
    for length in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(50):
            near = objective.at(point.x + length * rng.normal(size=point.x.shape))
            assert near.objective <= point.objective + 1e-10


@pytest.mark.parametrize("fpr_range", [None, (0.0, 0.5)])
def test_no_other_climber_gets_higher(fpr_range, workers):
    """scipy's L-BFGS-B on the same objective, from zero and from the top."""
    problem, objective = problem_of(table(2, max_bins=8), workers, fpr_range=fpr_range)

    def downhill(x):
        point = objective.at(x)
        return -point.objective, -point.gradient

    options = {"maxiter": 3000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-10}
    point, _ = maximise(objective, problem.start(), TIGHT)
    # The partial AUC has more tops than one: from elsewhere the other may end on a lower one.
    for start in (point.x, problem.start()):
        other = minimize(downhill, start, jac=True, method="L-BFGS-B", options=options)
        assert point.objective >= -other.fun - 1e-9
        if fpr_range is None or start is point.x:
            assert point.objective == pytest.approx(-other.fun, abs=1e-7)


def test_every_iteration_gains_and_the_usual_tolerance_is_close(workers):
    problem, objective = problem_of(table(3, n_rows=200), workers)
    usual, history = maximise(objective, problem.start(), Patience())
    assert history.stopped_by == "converged"
    assert (np.diff([0.5, *history.objective]) > 0).all()
    assert history.objective[-1] == usual.objective
    assert history.smoothed_auc[-1] == usual.smoothed_auc
    tight, _ = maximise(objective, problem.start(), TIGHT)
    assert usual.objective == pytest.approx(tight.objective, abs=1e-6)
    assert 0 <= history.gain_left <= 1e-7 / 2


def best_line(problem, objective):
    """The largest objective of a straight line on the normal scale, by the slope alone."""
    feature, fraction = problem.data.features[0], problem.roughness.fraction[0, 1:]
    line = np.concatenate([[0.0, 0.0], np.cumsum(gaps(feature, fraction, "normal"))])
    result = minimize_scalar(
        lambda slope: -objective.at(slope * line).smoothed_auc + 1e-3 * slope**2 * line[-1],
        bounds=(0, 20),
        method="bounded",
    )
    return -result.fun


@pytest.mark.parametrize("penalty", [100.0, 1e3, 1e12])
def test_a_large_penalty_leaves_a_straight_line(penalty, workers):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 1))
    data = prepare(x, x[:, 0] + rng.normal(size=100) > 0)
    problem, objective = problem_of(data, workers, penalty=penalty, shrinkage=1e-3)
    point, _ = maximise(objective, problem.start(), Patience(max_iter=50))
    assert point.smoothed_auc > 0.7
    assert point.objective == pytest.approx(best_line(problem, objective), abs=1e-4)


class Height(NamedTuple):
    """What a climber has to know of a point."""

    x: np.ndarray
    objective: float
    gradient: np.ndarray
    smoothed_auc: float = 0.0


class Bowl:
    """-(x - top)' A (x - top) / 2, with a metric that knows nothing of A."""

    barrier = None

    def __init__(self, size):
        rng = np.random.default_rng(size)
        root = rng.normal(size=(size, size))
        self.matrix = root @ root.T + np.eye(size)
        self.top = rng.normal(size=size)

    def at(self, x):
        pull = -self.matrix @ (x - self.top)
        return Height(x, float((x - self.top) @ pull) / 2, pull)

    def metric(self, point):
        return lambda g: g / 10


class Cliff:
    """sum of log(x) - x: undefined at x <= 0, largest at 1; the first steps fall off."""

    barrier = None

    def at(self, x):
        if (x <= 0).any():
            return None
        return Height(x, float((np.log(x) - x).sum()), 1 / x - 1)

    def metric(self, point):
        return lambda g: 100 * g


def test_a_quadratic_is_climbed_in_about_as_many_steps_as_it_has_dimensions():
    bowl = Bowl(6)
    point, history = maximise(bowl, np.zeros(6), Patience(tol=1e-16, max_iter=100))
    assert point.x == pytest.approx(bowl.top, abs=1e-6)
    # Steepest ascent with this metric takes some hundred.
    assert len(history.objective) < 30


def test_points_where_the_objective_is_undefined_are_passed_by():
    point, history = maximise(Cliff(), np.full(3, 5.0), Patience(tol=1e-14))
    assert point.x == pytest.approx(1, abs=1e-6)
    assert history.stopped_by == "converged"


def test_max_iter_and_the_word_from_outside_end_the_climb(workers):
    problem, objective = problem_of(table(4), workers)
    point, history = maximise(objective, problem.start(), Patience(tol=0.0, max_iter=3))
    assert history.stopped_by == "max_iter"
    assert len(history.objective) == len(history.smoothed_auc) == 3
    seen = []

    def after(point):
        seen.append(point)
        return len(seen) == 2

    stopped, history = maximise(objective, problem.start(), Patience(tol=0.0, after=after))
    assert history.stopped_by == "early stopping"
    assert len(history.objective) == 2
    assert stopped is seen[1]
    assert seen[0].objective < stopped.objective < point.objective


def monotone(data, signs, workers, **changes):
    """Tables and objective of a fit with signs, the latter without its barrier."""
    problem, objective = problem_of(data, workers, signs=signs, **changes)
    penalty = problem.roughness.weigh(*problem.amounts)
    point, history = problem.climb(penalty)
    assert point.objective == objective.at(point.x).objective
    return point.x.reshape(penalty.shape), point.objective, history


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("signs", [(1, 1, 0), (-1, -1, 0), (0, 1, 0)])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_monotone_signs_hold_everywhere(seed, signs, missing, workers):
    data = table(seed, missing=missing)
    result, _, history = monotone(data, signs, workers)
    assert history.stopped_by == "converged"
    for entries, feature, sign in zip(result, data.features, signs, strict=True):
        if sign:
            assert (sign * np.diff(entries[1 : feature.n_bins + 1])).min() > 0


def constrained(problem, objective, sign):
    """scipy's bounds on the increments of the first feature, the others free."""
    n_codes, n = problem.data.n_codes, problem.data.features[0].n_bins
    total = np.eye(problem.data.n_features * n_codes)
    total[1 : n + 1, 1 : n + 1] = np.tril(np.ones((n, n)))  # bins are sums of increments
    bounds = [(None, None)] * len(total)
    for index in range(2, n + 1):
        bounds[index] = (0, None) if sign > 0 else (None, 0)

    def downhill(z):
        point = objective.at(total @ z)
        return -point.objective, -total.T @ point.gradient

    options = {"maxiter": 5000, "maxfun": 9000, "ftol": 1e-15, "gtol": 1e-10}
    start = np.zeros(len(total))
    return -minimize(
        downhill, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options
    ).fun


@pytest.mark.parametrize("sign", [1, -1])
def test_the_monotone_maximum_is_that_of_another_solver(sign, workers):
    """Once where the sign is right, but noise is not, and once where it is wrong."""
    data = table(6)
    _, result, _ = monotone(data, (sign, 0, 0), workers)
    problem, objective = problem_of(data, workers)
    assert result == pytest.approx(constrained(problem, objective, sign), abs=1e-5)
    free, _ = maximise(objective, problem.start(), TIGHT)
    assert result < free.objective + 1e-12
    if sign < 0:
        assert result < free.objective - 0.01


def test_a_sign_that_holds_anyway_costs_nothing(workers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    data = prepare(X, X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=300) > 0, max_bins=30)
    amounts = {"penalty": 0.05}
    problem, objective = problem_of(data, workers, **amounts)
    free, _ = maximise(objective, problem.start(), TIGHT)
    steps = np.diff(free.x.reshape(2, -1)[:, 1:], axis=1) * [[1], [-1]]
    assert steps.min() > 0, "the case is meant to be monotone without a constraint"
    _, result, _ = monotone(data, (1, -1), workers, **amounts)
    assert result == pytest.approx(free.objective, abs=1e-5)


def test_the_objective_of_the_best_point_on_the_way_is_without_its_barrier(workers):
    data = table(0)
    problem, objective = problem_of(data, workers, signs=(1, 1, 0))
    point, _ = climb(problem, problem.amounts, None, validation=data)
    assert point.objective == pytest.approx(objective.at(point.x).objective, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_monotone_climb_starts_near_the_flat_score(seed, workers):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(150, 1))
    data = prepare(x, x[:, 0] + rng.normal(size=150) > 0)
    problem, _ = problem_of(data, workers, signs=(1,), penalty="auto", shrinkage="auto")
    most = problem.roughness.adapt(np.zeros((1, data.n_codes)))._replace(
        bend=np.full(1, 100.0), slope=np.full(1, 100.0)
    )
    objective = Objective(problem.sums, (problem.roughness.weigh(*problem.amounts, most),))
    assert objective.at(problem.start()).objective > 0.4


def test_the_barrier_and_its_derivatives():
    rng = np.random.default_rng(0)
    signs = np.array([[0, 1, 1, 0], [0, -1, 0, 0]], dtype=np.int8)
    barrier = Barrier(signs)
    f = np.array([[5.0, 0.0, 1.0, 3.0], [0.0, 2.0, 1.5, 9.0]])
    value, gradient = barrier.value_gradient(f, 0.3)
    assert barrier.count == 3
    increments = np.array([1.0, 2.0, 0.5])
    assert value == pytest.approx(0.3 * (np.log(increments) - increments).sum())
    bands, way, step = barrier.curvature(f, 0.3), rng.normal(size=f.shape), 1e-6
    ends = [barrier.value_gradient(f + side * way, 0.3) for side in (-step, step)]
    assert (ends[1][0] - ends[0][0]) / (2 * step) == pytest.approx((gradient * way).sum(), rel=1e-7)
    fall = -(ends[1][1] - ends[0][1]) / (2 * step)
    product = bands[0] * way
    product[:, 1:] += bands[1][:, :-1] * way[:, :-1]
    product[:, :-1] += bands[1][:, :-1] * way[:, 1:]
    assert product == pytest.approx(fall, rel=1e-6, abs=1e-8)
    assert not bands[2].any()


@pytest.mark.parametrize("signs", [(), (1, 0), (1, -1)])
def test_without_any_penalty_a_separating_feature_stays_finite(signs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    data = prepare(X, X[:, 0] > 0.2)
    changes = SmoothSettings(penalty=0.0, shrinkage=0.0, ridge=0.0, signs=signs, max_iter=10)
    with pytest.warns(SmoothWarning, match="no maximum"):
        model, history, certificate = fit_smooth(data, changes)
    assert not certificate.values["has_maximum"]
    assert "at a maximum" not in str(certificate)
    assert np.isfinite(history.objective).all()
    assert certificate.values["auc"] == 1
    assert certificate.values["smoothed_auc"] > 0.999
    assert 5 < np.ptp(model.decision_function(X)) < 100


def test_evaluate_is_the_objective_without_a_barrier(workers):
    problem, objective = problem_of(table(1), workers, signs=(1, 1, 0))
    penalty = problem.roughness.weigh(*problem.amounts)
    for x in (problem.start(), np.random.default_rng(0).normal(size=len(problem.start()))):
        result = problem.evaluate(penalty, x)
        expected = objective.at(x)
        assert result.objective == expected.objective
        assert np.array_equal(result.gradient, expected.gradient)


def test_a_start_rises_by_the_distances_of_the_bins(workers):
    """And where nothing must be monotone, it is flat, or where the pilot ended."""
    data = table(2, missing=0.0)
    problem, _ = problem_of(data, workers, signs=(1, -1, 0))
    start = problem.start().reshape(data.n_features, -1)
    for j, sign in ((0, 1), (1, -1)):
        feature, fraction = data.features[j], problem.roughness.fraction[j, 1:]
        n = feature.n_bins
        expected = sign * 0.01 * gaps(feature, fraction[:n], "normal")
        assert np.diff(start[j, 1 : n + 1]) == pytest.approx(expected, rel=1e-12)
    assert not start[2].any()
    free, _ = problem_of(data, workers)
    assert not free.start().any()
    piloted, _ = problem_of(data, workers, adaptive=True)
    assert piloted.start().any()
