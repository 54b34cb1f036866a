"""Values that stand out: which features have them, what a spike costs, and what it gains."""

import numpy as np
import pytest
from scipy.optimize import minimize

from auctor import SmoothAUCBoostCV
from auctor.data import Workers, prepare
from auctor.estimators.bands import estimator_bands
from auctor.learners.common.blocks import class_histogram
from auctor.learners.smooth import search
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.penalty import CURVATURE, Roughness
from auctor.learners.smooth.problem import FEWEST_BINS, Problem, spike_cost
from auctor.learners.smooth.search import find_amounts
from auctor.learners.smooth.settings import SmoothSettings
from auctor.metrics import auc


def spiky(seed=0, n_rows=1500):
    """The first feature holds codes: each value has a risk of its own; the others are smooth."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[:, 0] = rng.integers(0, 40, n_rows)
    risk = np.random.default_rng(7).normal(size=40)[X[:, 0].astype(int)]
    return X, 1.5 * risk + X[:, 1] + rng.normal(size=n_rows) > 0


def smooth(seed=0, n_rows=1500):
    """A line, a parabola, and noise; the first takes as many values as the codes do."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[:, 0] = rng.integers(0, 40, n_rows)
    return X, X[:, 0] / 10 - X[:, 1] ** 2 + rng.normal(size=n_rows) > 1


def loose_of(data, **changes):
    with Workers(1) as workers:
        result = Problem(data, SmoothSettings(**changes), workers).adapted()
    return result.loose


@pytest.mark.parametrize("seed", range(3))
def test_codes_are_found_and_smooth_features_are_not(seed):
    assert np.isfinite(loose_of(prepare(*spiky(seed)))).tolist() == [True, False, False]
    assert not np.isfinite(loose_of(prepare(*smooth(seed)))).any()


@pytest.mark.parametrize("seed", range(5))
def test_noise_does_not_stand_out(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 30, (600, 2)), rng.normal(size=(600, 2))])
    assert not np.isfinite(loose_of(prepare(X, rng.random(600) < 0.4))).any()


def test_where_nothing_may_stand_out():
    X, y = spiky()
    assert not np.isfinite(loose_of(prepare(X, y), signs=(1, 0, 0))).any()
    assert not np.isfinite(loose_of(prepare(X, y), roughness="bins")).any()
    assert not np.isfinite(loose_of(prepare(X, y, categorical_features=[0]))).any()
    few = X.copy()
    few[:, 0] = few[:, 0] % FEWEST_BINS
    assert not np.isfinite(loose_of(prepare(few, y))).any()


def test_weight_two_is_the_row_twice():
    X, y = spiky(n_rows=900)
    times = np.random.default_rng(1).integers(1, 3, len(y))
    copies = np.repeat(np.arange(len(y)), times)
    by_weight = loose_of(prepare(X, y, sample_weight=times, frequency_weights=True))
    by_copies = loose_of(prepare(X[copies], y[copies], frequency_weights=True))
    assert np.isfinite(by_weight[0])
    assert np.array_equal(by_weight, by_copies)


def test_the_cost_is_that_of_the_distances_made_up():
    """Gradients of stiffness times normal distances, and noise: noise / (2 stiffness variance)."""
    rng = np.random.default_rng(0)
    n, stiffness, noise, variance = 4000, 0.1, 1e-7, 0.04
    fraction = rng.dirichlet(np.full(n, 20.0))
    mass = stiffness * fraction / CURVATURE
    slow = np.sin(np.arange(n) / 500) * 0.05  # explained by the curve
    own = np.sqrt(variance) * rng.normal(size=n)
    chance = np.sqrt(noise / fraction) * rng.normal(size=n)
    gradient = fraction * (slow + stiffness * own + chance)
    expected = noise / (2 * stiffness * variance)
    even = np.ones(n)
    assert spike_cost(gradient, fraction, mass, noise, even) == pytest.approx(expected, rel=0.1)
    assert spike_cost(fraction * (slow + chance), fraction, mass, noise, even) == np.inf


@pytest.fixture(scope="module")
def loose_penalty():
    """Three features, the second of them loose."""
    X, y = spiky(n_rows=300)
    data = prepare(X, y, max_bins=16)
    with Workers(1) as workers:
        histogram = class_histogram(data, workers)
    roughness = Roughness(
        data, (histogram / histogram.sum(axis=2, keepdims=True)).mean(axis=0), "normal"
    )
    adapted = roughness.adapt(np.zeros((3, data.n_codes)))
    tight = roughness.weigh(0.02, 0.03, 0.0, adapted)
    return roughness.weigh(
        0.02, 0.03, 0.0, adapted._replace(loose=np.array([np.inf, 0.05, np.inf]))
    ), tight


def cost(penalty, f):
    return (f * penalty.gradient(f)).sum() / 2


def test_what_a_loose_feature_pays_is_the_least_over_all_lines(loose_penalty):
    penalty, tight = loose_penalty
    rng = np.random.default_rng(0)
    f = rng.normal(size=penalty.shape)
    alone = np.zeros_like(f)
    alone[1] = f[1]

    def pays(curve):
        table = np.zeros_like(f)
        table[1] = curve
        pull = tight.gradient(table)[1] - 2 * 0.05 * (f[1] - curve)
        return cost(tight, table) + 0.05 * ((f[1] - curve) ** 2).sum(), pull

    other = minimize(
        pays, f[1], jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-12}
    )
    assert cost(penalty, alone) == pytest.approx(other.fun, rel=1e-8)
    assert cost(penalty, alone) < cost(tight, alone)
    rest = f - alone
    assert cost(penalty, rest) == pytest.approx(cost(tight, rest), rel=1e-12)
    for j in range(3):
        single = penalty.of_feature(j)
        assert single.gradient(f[j : j + 1])[0] == pytest.approx(penalty.gradient(f)[j], rel=1e-9)


def test_its_gradient_is_that_of_the_form(loose_penalty):
    penalty, _ = loose_penalty
    rng = np.random.default_rng(1)
    f, way = rng.normal(size=(2, *penalty.shape))
    rise = cost(penalty, f + way) - cost(penalty, f - way)  # exact: the form is quadratic
    assert rise == pytest.approx(2 * (penalty.gradient(f) * way).sum(), rel=1e-9)


def test_the_solver_of_a_loose_feature_solves_its_system(loose_penalty):
    penalty, _ = loose_penalty
    rng = np.random.default_rng(2)
    mass = penalty.fraction * rng.random(penalty.shape)
    g = np.where(penalty.fraction > 0, rng.normal(size=penalty.shape), 0.0)
    result = penalty.solver(mass)(g)
    assert penalty.gradient(result) + CURVATURE * mass * result == pytest.approx(g, abs=1e-5)


def test_an_infinite_cost_is_that_of_a_very_large_one(loose_penalty):
    penalty, tight = loose_penalty
    rng = np.random.default_rng(3)
    f = rng.normal(size=penalty.shape)
    large = type(penalty)(penalty.squares, penalty.ridge, penalty.fraction, np.full(3, 1e9))
    assert large.gradient(f) == pytest.approx(tight.gradient(f), rel=1e-4, abs=1e-4)


def test_codes_are_ranked_better_than_by_a_line():
    X, y = spiky()
    unseen, labels = spiky(1)
    data = prepare(X, y)
    adapted, plain = (
        auc(labels, fit_smooth(data, SmoothSettings(adaptive=a))[0].decision_function(unseen))
        for a in (True, False)
    )
    assert adapted > plain + 0.01


def test_threads_and_partitions_do_not_show():
    X, y = spiky(n_rows=900)
    data = prepare(X, y)
    bodies = [
        fit_smooth(data.split(parts), SmoothSettings(n_jobs=n_jobs))[0].body()
        for parts, n_jobs in ((1, 1), (3, 2))
    ]
    assert bodies[0] == bodies[1]


def test_weights_that_are_uneven_by_chance_make_no_spikes():
    """Before, the sum of weights was taken for a number of rows: any value stood out."""
    rng = np.random.default_rng(2)
    X = rng.integers(0, 60, size=(3000, 3)).astype(float)
    y = X[:, 0] + 30 * rng.normal(size=3000) > 40
    for weight in (np.full(3000, 10.0), rng.lognormal(sigma=1.0, size=3000)):
        for scale in (1.0, 1000.0):
            assert np.isinf(loose_of(prepare(X, y, sample_weight=scale * weight))).all()


def two_folds(n_rows):
    held = np.arange(n_rows) % 2 == 0
    return [(~held, held), (held, ~held)]


def test_held_out_rows_confirm_codes():
    X, y = spiky(n_rows=900)
    chosen, _, _ = find_amounts(prepare(X, y), SmoothSettings(), two_folds(900))
    assert chosen.single_values


def test_values_that_held_out_rows_do_not_confirm_stay_on_the_curve():
    """All may leave the curve at almost no cost, but no held-out row gains by it."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, (600, 1)) + 0.0
    data = prepare(X, X[:, 0] / 20 + rng.normal(size=600) > 1)
    settings = SmoothSettings(loose=np.array([1e-5]))
    chosen, candidates, _ = find_amounts(data, settings, two_folds(600))
    assert not chosen.single_values
    # its AUCs are those without
    tight = SmoothSettings(loose=np.array([np.inf]))
    expected, _, _ = find_amounts(data, tight, two_folds(600))
    assert chosen in candidates
    assert chosen.aucs == pytest.approx(expected.aucs, abs=1e-3)


def test_the_final_fit_and_its_bands_follow_the_held_out_rows():
    X, y = spiky(n_rows=900)
    for confirmed in (True, False):
        ranker = SmoothAUCBoostCV(cv=2, interactions=0, penalties=[0.001], shrinkages=[0.001])
        with pytest.MonkeyPatch.context() as patch:
            if not confirmed:
                patch.setattr(search, "only_if_sure", lambda simple, other, rule: simple)
            ranker.fit(X, y)
        assert ranker.single_values_ == confirmed
        assert np.isfinite(ranker.history_.adapted.loose).any() == confirmed
        bands = estimator_bands(ranker, X, y, None, n_jobs=1, n_resamples=2)
        assert len(bands) == 3  # a refit gives the same model, or there were an error
