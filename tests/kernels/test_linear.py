"""Linear algebra in a fixed order against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.linalg import cholesky_banded, solveh_banded

from auctor.kernels import linear


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5, 11])
def test_dot_is_the_inner_product(size):
    a, b = np.random.default_rng(size).normal(size=(2, size))
    assert linear.dot(a, b) == pytest.approx(float(np.dot(a, b)), abs=1e-14)


def test_products_of_a_matrix_and_a_vector():
    rng = np.random.default_rng(0)
    matrix, left, right = rng.normal(size=(7, 5)), rng.normal(size=7), rng.normal(size=5)
    left[2] = 0.0
    np.testing.assert_allclose(linear.matrix_vector(matrix, right), matrix @ right, atol=1e-14)
    np.testing.assert_allclose(linear.vector_matrix(left, matrix), left @ matrix, atol=1e-14)


def test_convolution():
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=9), rng.normal(size=4)
    a[3:5] = 0.0
    np.testing.assert_allclose(linear.convolve(a, b), np.convolve(a, b), atol=1e-14)


def test_exponential_and_logarithm():
    x = np.linspace(-30.0, 30.0, 41)
    np.testing.assert_allclose(linear.exp_each(x), np.exp(x), rtol=1e-15)
    np.testing.assert_allclose(linear.log_each(np.exp(x)), x, atol=1e-14)


@pytest.mark.parametrize("width", [1, 3, 5])
def test_banded_cholesky(width):
    bands = np.random.default_rng(width).normal(size=(width, 8))
    bands[0] = 10.0
    for d in range(1, width):
        bands[d, -d:] = 0.0
    factor, x = bands.copy(), np.arange(8.0)
    assert linear.factor_banded(factor)
    expected = cholesky_banded(bands, lower=True)
    np.testing.assert_allclose(factor, expected, atol=1e-13)
    linear.solve_banded(factor, x)
    np.testing.assert_allclose(x, solveh_banded(bands, np.arange(8.0), lower=True), atol=1e-13)


def test_a_matrix_that_is_not_definite_is_seen():
    assert not linear.factor_banded(np.array([[1.0, 1.0], [2.0, 0.0]]))
    assert not linear.factor_banded(np.array([[np.nan]]))


def test_the_shortest_solution_for_cells_in_several_blocks():
    rng = np.random.default_rng(2)
    values, weight = rng.normal(size=(5, 4)), np.zeros((5, 4))
    weight[:2, :2], weight[2:4, 2] = rng.random((2, 2)), 1.0  # two blocks, and what has no cell
    design = np.concatenate([np.eye(5).repeat(4, axis=0), np.tile(np.eye(4), (5, 1))], axis=1)
    root = np.sqrt(weight.ravel())
    best, *_ = np.linalg.lstsq(root[:, None] * design, root * values.ravel(), rcond=1e-10)
    rows, columns = np.empty(5), np.empty(4)
    linear.main_part(values, weight, rows, columns)
    np.testing.assert_allclose(np.concatenate([rows, columns]), best, atol=1e-12)
    assert linear.blocks_of(weight).tolist() == [0, 0, 2, 2, 4, 0, 0, 2, 8]
