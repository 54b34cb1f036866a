"""Roughness: the banded forms against the formulas they stand for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor.data import Workers, prepare
from auctor.learners.common.blocks import class_histogram
from auctor.learners.smooth.penalty import CURVATURE, FEW_VALUES, Roughness, gaps

SCALES = ["normal", "arcsinh", "linear"]


def roughness_of(data, scale="normal"):
    with Workers(1) as workers:
        histogram = class_histogram(data, workers)
    fractions = histogram / histogram.sum(axis=2, keepdims=True)
    return Roughness(data, fractions.mean(axis=0), scale)


def numbers(n_bins, seed=0, n_features=1):
    """Columns of ``n_bins`` values each, unevenly spaced and filled, none missing."""
    rng = np.random.default_rng(seed)
    n_rows = 6 * n_bins
    columns = []
    for _ in range(n_features):
        values = np.cumsum(rng.random(n_bins) + 0.1)
        positions = np.concatenate([np.arange(n_bins), rng.integers(0, n_bins, n_rows - n_bins)])
        columns.append(values[positions])
    return prepare(np.column_stack(columns), np.arange(n_rows) % 2)


def messy(seed):
    """A number with missing values, categories with some, and a constant."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 30, 50), rng.integers(0, 4, 50), np.ones(50)]) * 1.0
    X[rng.random((50, 3)) < 0.2] = np.nan
    weight = rng.integers(1, 4, size=50)
    return prepare(X, rng.permutation(50) % 2, sample_weight=weight, categorical_features=[1])


def cost(penalty, f):
    """f'Pf."""
    return (f * penalty.gradient(f)).sum() / 2


def positions_of(data, scale):
    """Places of the bins of the only feature, the first at 0."""
    fraction = roughness_of(data).fraction[0, 1:]
    return np.concatenate([[0.0], np.cumsum(gaps(data.features[0], fraction, scale))])


@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), n_bins=st.integers(2, 9))
def test_bins_are_the_second_differences_of_the_paper(seed, n_bins):
    """Beyond both ends the end is repeated (section 3.2), so that its first difference counts."""
    f = np.random.default_rng(seed).normal(size=n_bins)
    second = np.diff(np.pad(f, 1, mode="edge"), 2)
    penalty = roughness_of(numbers(n_bins), "bins").weigh(0.7, 0.0, 0.0)
    table = np.concatenate([[9.0], f])[None]
    assert cost(penalty, table) == pytest.approx(0.7 * (second**2).sum(), rel=1e-10)
    slope = roughness_of(numbers(n_bins), "bins").weigh(0.0, 0.7, 0.0)
    assert cost(slope, table) == pytest.approx(0.7 * (np.diff(f) ** 2).sum(), rel=1e-10)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n_bins", [2, 3, 40])
def test_a_straight_line_has_no_curvature_and_its_slope_is_its_length(scale, n_bins):
    data = numbers(n_bins)
    positions = positions_of(data, scale)
    line = np.concatenate([[0.0], 3 * positions - 1])[None]
    roughness = roughness_of(data, scale)
    assert cost(roughness.weigh(1.0, 0.0, 0.0), line) == pytest.approx(0, abs=1e-8)
    assert cost(roughness.weigh(0.0, 1.0, 0.0), line) == pytest.approx(9 * positions[-1], rel=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_the_curvature_of_a_parabola_is_the_length_between_the_ends(scale):
    data = numbers(40)
    positions = positions_of(data, scale)
    parabola = np.concatenate([[0.0], positions**2])[None]  # f'' = 2
    result = cost(roughness_of(data, scale).weigh(1.0, 0.0, 0.0), parabola)
    h = np.diff(positions)
    assert result == pytest.approx(4 * (h[:-1] + h[1:]).sum() / 2, rel=1e-9)


@pytest.mark.parametrize(("n_bins", "bends"), [(FEW_VALUES, False), (FEW_VALUES + 1, True)])
def test_numbers_of_few_values_may_jump(n_bins, bends):
    f = np.zeros((1, n_bins + 1))
    f[0, 2] = 1.0
    roughness = roughness_of(numbers(n_bins))
    assert (cost(roughness.weigh(1.0, 0.0, 0.0), f) > 0) == bends
    assert cost(roughness.weigh(0.0, 1.0, 0.0), f) > 0


@pytest.mark.parametrize("max_bins", [50, 200])
def test_the_mesh_does_not_matter(max_bins):
    """exp(-p^2) on the normal scale: the integrals of f''^2 and f'^2 are known."""
    x = np.random.default_rng(0).normal(size=(4000, 1))
    data = prepare(x, np.arange(4000) % 2, max_bins=max_bins)
    positions = positions_of(data, "normal")
    f = np.concatenate([[0.0], np.exp(-((positions - positions[-1] / 2) ** 2))])[None]
    roughness = roughness_of(data, "normal")
    bend, slope = (cost(roughness.weigh(*w), f) for w in ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    assert bend == pytest.approx(3 * np.sqrt(np.pi / 2), rel=0.02)
    assert slope == pytest.approx(np.sqrt(np.pi / 2), rel=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_categories_and_missing_values_are_drawn_to_the_weighted_mean(seed):
    data = messy(seed)
    roughness = roughness_of(data)
    f = np.random.default_rng(seed).normal(size=roughness.fraction.shape)
    number, category, constant = (
        (f[j] - roughness.fraction[j] @ f[j]) ** 2 for j in range(data.n_features)
    )
    n_categories = data.features[1].n_bins
    expected = number[0] + category[: n_categories + 1].sum() + constant[0]
    assert cost(roughness.weigh(0.0, 0.0, 0.3), f) == pytest.approx(0.3 * expected, rel=1e-10)


def test_fractions_count_both_classes_equally():
    data = prepare([[1.0], [1.0], [1.0], [2.0]], [0, 0, 0, 1])
    assert roughness_of(data).fraction.tolist() == [[0.0, 0.5, 0.5]]


@pytest.mark.parametrize("scale", [*SCALES, "bins"])
def test_the_gradient_is_that_of_the_form(scale):
    rng = np.random.default_rng(0)
    penalty = roughness_of(messy(0), scale).weigh(0.3, 0.2, 0.7)
    f = rng.normal(size=penalty.shape)
    for _ in range(5):
        way = rng.normal(size=penalty.shape)
        rise = cost(penalty, f + way) - cost(penalty, f - way)  # exact: the form is quadratic
        assert rise == pytest.approx(2 * (penalty.gradient(f) * way).sum(), rel=1e-9)


@pytest.mark.parametrize("scale", [*SCALES, "bins"])
def test_the_penalty_leaves_constants_alone(scale):
    penalty = roughness_of(messy(1), scale).weigh(1.0, 1.0, 1.0)
    assert penalty.gradient(np.full(penalty.shape, 3.0)) == pytest.approx(0, abs=1e-7)


def dense(linear, shape):
    """The matrix of a linear map of tables."""
    units = np.eye(int(np.prod(shape)))
    return np.column_stack([linear(unit.reshape(shape)).ravel() for unit in units])


@pytest.mark.parametrize("with_extra", [False, True])
def test_the_solver_solves_its_banded_system(with_extra):
    rng = np.random.default_rng(2)
    data = numbers(18, n_features=3)
    penalty = roughness_of(data).weigh(0.02, 0.03, 0.0)
    matrix = dense(penalty.gradient, penalty.shape)
    mass = penalty.fraction * rng.random(penalty.shape)
    matrix += np.diag(CURVATURE * mass.ravel())
    extra = None
    if with_extra:
        extra = np.zeros((3, *penalty.shape))
        extra[0, :, 1:], extra[1, :, 1:-1] = 5.0, -1.5
        flat = extra.reshape(3, -1)
        matrix += np.diag(flat[0]) + np.diag(flat[1, :-1], 1) + np.diag(flat[1, :-1], -1)
    g = rng.normal(size=penalty.shape)
    used = penalty.fraction > 0
    g[~used] = 0.0
    result = penalty.solver(mass, extra)(g)
    assert result.shape == penalty.shape
    assert not result[~used].any()
    assert (matrix @ result.ravel()).reshape(g.shape) == pytest.approx(g, rel=1e-5, abs=1e-5)


def test_the_solver_counts_the_ridge_twice_on_its_diagonal():
    data = prepare([["a"], ["b"], ["a"], ["b"]], [0, 1, 1, 0])
    penalty = roughness_of(data).weigh(0.0, 0.0, 3.0)
    g = np.array([[0.0, 1.0, 2.0]])
    result = penalty.solver(penalty.fraction)(g)
    assert result == pytest.approx(g / (2 * 3.0 + CURVATURE * 0.5), rel=1e-7)


@pytest.mark.parametrize("amount", [0.0, 1e-12, 1.0, 1e6, 1e12])
def test_the_solver_is_finite_and_climbs_whatever_the_amounts(amount):
    rng = np.random.default_rng(3)
    penalty = roughness_of(messy(2)).weigh(amount, amount, amount)
    solve = penalty.solver(penalty.fraction)
    for _ in range(5):
        g = rng.normal(size=penalty.shape)
        step = solve(g)
        assert np.isfinite(step).all()
        assert (step * g).sum() > 0


def test_adapted_multiples_are_inverse_to_the_roughness():
    data = numbers(20, n_features=2)
    roughness = roughness_of(data, "linear")
    rng = np.random.default_rng(4)
    f = np.zeros(roughness.fraction.shape)
    f[:, 1:] = rng.normal(size=(2, 20)) * [[1.0], [0.5]]
    curvature, slope = (
        np.array([cost(p, f * [[1.0], [0.0]]), cost(p, f * [[0.0], [1.0]])])
        for p in (roughness.weigh(1.0, 0.0, 0.0), roughness.weigh(0.0, 1.0, 0.0))
    )
    result = roughness.adapt(f)
    assert result.bend == pytest.approx(curvature.mean() / curvature, rel=1e-6)
    assert result.slope == pytest.approx(slope.mean() / slope, rel=1e-6)
    # The multiples weigh each feature's own part, and the ridge goes with the slope.
    weighed = roughness.weigh(2.0, 0.0, 0.0, result)
    assert cost(weighed, f) == pytest.approx(2 * 2 * curvature.mean(), rel=1e-6)


def test_adapted_multiples_are_bounded():
    data = numbers(20, n_features=30)
    roughness = roughness_of(data)
    rng = np.random.default_rng(5)
    f = np.zeros(roughness.fraction.shape)
    assert np.array_equal(roughness.adapt(f)[:2], np.ones((2, 30)))
    f[0, 1:] = rng.normal(size=20)  # the only one that is not flat
    bend, slope = roughness.adapt(f)[:2]
    assert bend[0] == slope[0] == 0.1
    assert (bend[1:] == 100).all()
    assert (slope[1:] == 100).all()


def test_missing_values_and_categories_adapt_by_their_ridge():
    data = messy(0)
    roughness = roughness_of(data)
    f = np.zeros(roughness.fraction.shape)
    f[1, 1:5] = [1.0, -1.0, 2.0, 0.0]
    result = roughness.adapt(f)
    bend, slope = result[:2]
    assert np.array_equal(bend, np.ones(3))
    assert slope[0] == slope[2] == 100
    assert slope[1] == pytest.approx(1 / 3, rel=1e-6)
    ridge = roughness.weigh(0.0, 0.0, 1.0, result)
    plain = roughness.weigh(0.0, 0.0, 1.0)
    assert cost(ridge, f) == pytest.approx(cost(plain, f) / 3, rel=1e-6)


def test_penalties_above_a_thousand_count_as_a_thousand():
    roughness = roughness_of(messy(0))
    f = np.random.default_rng(0).normal(size=roughness.fraction.shape)
    at_most = roughness.weigh(1e3, 1e3, 1e3)
    for amounts in ((1e4, 1e3, 1e3), (1e3, 1e9, 1e3), (1e3, 1e3, 1e12), (1e300, 1e300, 1e300)):
        assert np.array_equal(roughness.weigh(*amounts).gradient(f), at_most.gradient(f))
    adapted = roughness.adapt(f)._replace(bend=np.full(3, 100.0), slope=np.full(3, 100.0))
    held = roughness.weigh(20.0, 20.0, 20.0, adapted)
    assert np.array_equal(held.gradient(f), at_most.gradient(f))
    assert not np.array_equal(roughness.weigh(999.0, 1e3, 1e3).gradient(f), at_most.gradient(f))


@pytest.mark.parametrize("scale", ["normal", "bins"])
def test_the_penalty_of_one_feature_is_its_part(scale):
    penalty = roughness_of(messy(3), scale).weigh(0.3, 0.2, 0.7)
    f = np.random.default_rng(3).normal(size=penalty.shape)
    for j in range(3):
        alone = penalty.of_feature(j)
        assert alone.shape == (1, penalty.shape[1])
        assert np.array_equal(alone.gradient(f[j : j + 1])[0], penalty.gradient(f)[j])


def test_differences_come_first_where_penalties_are_large():
    """A line that is 1e6 up costs no more than the same line at 0."""
    data = numbers(40)
    penalty = roughness_of(data, "linear").weigh(1e3, 0.0, 0.0)
    line = np.append(0.0, positions_of(data, "linear"))[None]
    assert np.abs(penalty.gradient(line)).max() < 1e-6
    assert np.abs(penalty.gradient(line + 1e3)).max() < 1e-3
