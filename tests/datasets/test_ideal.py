"""The ideal tree of Clémençon & Vayatis (2009): against a grid search, and Proposition 15."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.datasets import (
    approximate_roc,
    discrete_roc,
    exponential_roc,
    gaussian_pair_roc,
    gaussian_roc,
    make_gaussian_pair,
    power_roc,
    quadratic_roc,
    r_of_k_roc,
    t_pair_roc,
)
from auctor.metrics import roc_distance
from tests.reference import ideal as slow

BENT = {
    "linear": quadratic_roc(0.9),
    "exponential 2": exponential_roc(2.0),
    "exponential 5": exponential_roc(5.0),
}
STEEP = {
    "gaussian": gaussian_roc(1.0),
    "power": power_roc(0.5),
    "gaussian pair": gaussian_pair_roc(),
    "t pair": t_pair_roc(),
}
SMOOTH = {**BENT, **STEEP}


def levels(distribution, depths):
    return [approximate_roc(distribution, depth=depth) for depth in depths]


def ratios(approximations, name):
    values = np.array([getattr(level, name) for level in approximations])
    return values[:-1] / values[1:]


@pytest.mark.parametrize("distribution", SMOOTH.values(), ids=SMOOTH)
def test_knots_are_those_of_a_grid_search(distribution):
    # A fine broken line in place of ROC*, for speed; its knots are 0.006 apart in log slope.
    t = np.linspace(min(distribution.high, 12), max(distribution.low, -12), 4001)
    alpha, beta = (np.concatenate([[0], rate, [1]]) for rate in distribution.rates(t))
    approximation = approximate_roc(distribution, depth=2)
    knots = slow.approximate_roc(lambda a: float(np.interp(a, alpha, beta)), 2)
    np.testing.assert_allclose(np.transpose(approximation.knots), knots, atol=2e-3)
    auc = np.trapezoid([b for _, b in knots], [a for a, _ in knots])
    assert approximation.auc == pytest.approx(auc, abs=1e-5)


@pytest.mark.parametrize("depth", [0, 1, 2, 3])
def test_knots_and_distances_by_formula_and_grid(depth):
    approximation = approximate_roc(exponential_roc(2.0), depth=depth)

    def roc(alpha):
        return np.expm1(-2 * alpha) / np.expm1(-2)

    knots = slow.approximate_roc(roc, depth)
    np.testing.assert_allclose(np.transpose(approximation.knots), knots, atol=2e-6)
    np.testing.assert_allclose(
        (approximation.d1, approximation.d_inf), slow.distances(roc, knots), rtol=1e-5
    )


@pytest.mark.parametrize("distribution", [*SMOOTH.values(), r_of_k_roc()], ids=[*SMOOTH, "r of k"])
def test_depth_zero_is_the_diagonal(distribution):
    approximation = approximate_roc(distribution, depth=0)
    assert approximation.alpha.tolist() == approximation.beta.tolist() == [0, 1]
    assert approximation.auc == 0.5
    assert approximation.d1 == pytest.approx(distribution.optimal_auc - 0.5)
    # Proposition 19: the first knot has slope 1, where ROC* is farthest above the diagonal.
    alpha, beta = distribution.rates(0.0)
    assert approximation.d_inf == pytest.approx(float(beta - alpha))


@pytest.mark.parametrize("distribution", SMOOTH.values(), ids=SMOOTH)
def test_auc_rises_to_the_optimum_and_knots_lie_on_the_curve(distribution):
    approximations = levels(distribution, range(7))
    areas = [level.auc for level in approximations]
    assert areas == sorted(areas)
    assert areas[-1] < distribution.optimal_auc
    for shallow, deep in pairwise(approximations):
        assert (np.diff(deep.alpha) > 0).all()
        np.testing.assert_array_equal(deep.alpha[::2], shallow.alpha)
    np.testing.assert_allclose(
        approximations[4].beta, distribution.tpr(approximations[4].alpha), atol=1e-6
    )
    # A broken line inside a concave curve is itself concave.
    slopes = np.diff(approximations[5].beta) / np.diff(approximations[5].alpha)
    assert (np.diff(slopes) < 1e-9).all()


@pytest.mark.parametrize("distribution", SMOOTH.values(), ids=SMOOTH)
def test_distances_are_those_of_a_finer_line(distribution):
    result, fine = approximate_roc(distribution, depth=3), approximate_roc(distribution, depth=10)
    l1, sup = roc_distance(result.knots, fine.knots)
    assert result.d1 == pytest.approx(l1, abs=2 * fine.d1)
    # The next level's knots are knots of the finer line too, so this distance is exact.
    assert result.d_inf == pytest.approx(sup, abs=1e-10)


@pytest.mark.parametrize("distribution", SMOOTH.values(), ids=SMOOTH)
def test_d1_falls_fourfold(distribution):
    falls = ratios(levels(distribution, range(3, 9)), "d1")
    assert (falls > 3).all() and (falls < 5).all()
    assert falls[-1] == pytest.approx(4, abs=0.02)


def test_few_degrees_of_freedom_lose_no_digits():
    # Alpha and beta have kinks here; an integral that runs over one puts the AUC 1.5e-8 off.
    falls = ratios(levels(t_pair_roc(0.3), (9, 10)), "d1")
    assert falls[0] == pytest.approx(4, abs=0.02)


@pytest.mark.parametrize("distribution", BENT.values(), ids=BENT)
def test_d_inf_falls_fourfold_where_proposition_15_applies(distribution):
    falls = ratios(levels(distribution, range(3, 9)), "d_inf")
    assert (falls > 3).all() and (falls < 5).all()
    assert falls[-1] == pytest.approx(4, abs=0.02)


@pytest.mark.parametrize("rate", [0.5, 2.0, 5.0])
def test_the_bounds_of_proposition_15(rate):
    # The largest second derivative of ROC* is at 0; a chord of width w is at most M w^2 / 8 off.
    largest = rate**2 / -np.expm1(-rate)
    for approximation in levels(exponential_roc(rate), range(9)):
        width = np.diff(approximation.alpha)
        assert approximation.d_inf <= largest * width.max() ** 2 / 8 + 1e-15
        assert approximation.d1 <= largest * (width**3).sum() / 12 + 1e-15
        # Widths are at most C / 2^D, which is what makes the rate N^-2.
        assert width.max() * 2**approximation.depth < 1 + rate / 2


def test_constant_bend_has_dyadic_knots():
    for approximation in levels(quadratic_roc(0.6), range(9)):
        n_cells = 2**approximation.depth
        np.testing.assert_allclose(
            approximation.alpha, np.arange(n_cells + 1) / n_cells, atol=1e-12
        )
        assert approximation.d1 == pytest.approx(0.6 / 6 / n_cells**2, rel=1e-6)
        assert approximation.d_inf == pytest.approx(0.6 / 4 / n_cells**2, rel=1e-6)


def test_without_a_bounded_slope_d_inf_only_halves():
    for approximation in levels(power_roc(0.5), range(9)):
        n_cells = 2**approximation.depth
        np.testing.assert_allclose(approximation.beta, np.arange(n_cells + 1) / n_cells, atol=1e-12)
        assert approximation.d1 == pytest.approx(1 / 6 / n_cells**2, rel=1e-6)
        assert approximation.d_inf == pytest.approx(1 / 4 / n_cells, rel=1e-9)


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(any), min_size=2, max_size=8
    ).filter(lambda cells: all(map(sum, zip(*cells, strict=True))))
)
def test_a_broken_line_is_reached(masses):
    distribution = discrete_roc(*zip(*masses, strict=True))
    approximations = levels(distribution, range(8))
    areas = np.array([level.auc for level in approximations])
    assert (np.diff(areas) > -1e-12).all()
    # Each level adds a corner to every cell that has one, and 8 kinds make 7 corners.
    assert approximations[7].auc == pytest.approx(distribution.optimal_auc, abs=1e-12)
    assert approximations[7].d_inf < 1e-12
    for axis in approximations[7].knots:
        assert (np.diff(axis) >= 0).all()


def test_one_split_is_enough_for_one_corner():
    approximation = approximate_roc(r_of_k_roc(noise=0.2), depth=1)
    np.testing.assert_allclose(approximation.knots, [[0, 0.2, 1], [0, 0.8, 1]], atol=1e-12)
    assert approximation.auc == pytest.approx(0.8)
    # Remark 9: no gain, no split; the lower cells are empty.
    deeper = approximate_roc(r_of_k_roc(noise=0.2), depth=3)
    assert len(deeper.alpha) == 9
    assert ": 2 pieces," in repr(deeper)


def test_result_is_a_frozen_sentence():
    approximation = approximate_roc(gaussian_roc(1.0), depth=2)
    assert repr(approximation) == (
        "ideal tree of depth 2 for two Gaussians 1 apart: 4 pieces, "
        "AUC 0.742420 (optimal 0.760250), d1 0.018, d-infinity 0.07"
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        approximation.depth = 3
    with pytest.raises(ValueError, match="read-only"):
        approximation.alpha[0] = 1


@pytest.mark.parametrize(
    ("distribution", "depth", "words"),
    [
        (gaussian_roc(), -1, "depth is -1; give a whole number of at least 0"),
        (gaussian_roc(), 17, "depth is 17; give a whole number of at most 16"),
        (gaussian_roc(), 2.5, r"depth is 2\.5; give a whole number"),
        (gaussian_roc(), True, "depth is True; give a whole number"),
        (make_gaussian_pair(5, 5), 2, "optimal is a Sample; give an OptimalRoc"),
        ("gaussian", 2, "optimal is a str; give an OptimalRoc"),
    ],
)
def test_errors_say_what_would_do(distribution, depth, words):
    with pytest.raises(ValueError, match=words):
        approximate_roc(distribution, depth=depth)
