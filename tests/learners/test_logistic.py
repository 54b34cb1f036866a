"""The logistic regression that DMKS starts from, against scikit-learn's."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from auctor.learners.dmks.logistic import logistic_coefficients


@pytest.mark.parametrize("n_columns", [1, 5, 60])
def test_coefficients_are_scikit_learns(n_columns):
    rng = np.random.default_rng(n_columns)
    X = rng.normal(size=(80, n_columns))
    positive = X[:, 0] + rng.logistic(size=80) > 0.5
    weight = rng.integers(1, 4, 80).astype(float)
    peer = LogisticRegression(tol=1e-8, max_iter=10_000).fit(X, positive, sample_weight=weight)
    coefficients = logistic_coefficients(X, positive, weight)
    np.testing.assert_allclose(coefficients, peer.coef_[0], atol=2e-4)


def test_a_sparse_matrix_gives_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.3)
    positive = X[:, 0] + rng.logistic(size=50) > 0.0
    weight = np.ones(50)
    dense, few = (logistic_coefficients(m, positive, weight) for m in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(few, dense, atol=1e-6)


def test_separated_classes_stay_finite():
    x = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    coefficients = logistic_coefficients(x, x[:, 0] > 0, np.ones(4))
    assert 0.5 < coefficients[0] < 5.0
