"""Scores of sparse tables: those of the dense ones, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from auctor.data import SparseTable, category_feature, number_feature
from auctor.models import AdditiveModel, Calibration, on_grid


def make_model(features, steps, intercept=0.25):
    return AdditiveModel(("no", "yes"), 0.0, Calibration(1.0, 0.0), features, steps, intercept)


def random_model(rng, size=3.0):
    """Cuts on both sides of 0, at 0 and none; steps on the grid."""
    cuts = [[-1.0, 0.0, 2.0], [], [0.0], [0.5, 1.5], [-3.0], []]
    features = tuple(number_feature(f"x{j}", np.array(cut)) for j, cut in enumerate(cuts))
    steps = [on_grid(rng.normal(size=len(cut) + 2) * size) for cut in cuts]
    steps[1][:] = 0.5  # flat, but not 0
    return make_model(features, tuple(steps))


def random_table(rng):
    X = rng.integers(-4, 4, size=(30, 6)) * rng.choice([0.5, 1.0])
    X[rng.random(X.shape) < 0.6] = 0.0
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@given(seed=st.integers(0, 10**6))
def test_sparse_scores_equal_dense_ones(seed):
    rng = np.random.default_rng(seed)
    model, X = random_model(rng), random_table(rng)
    expected = model.decision_function(X)
    for form in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert np.array_equal(model.decision_function(form(X)), expected)
    assert np.array_equal(model.contributions(sparse.csr_array(X)), model.contributions(X))


def test_columns_are_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    model, X = random_model(rng), random_table(rng)
    expected = model.decision_function(X)
    monkeypatch.delattr(SparseTable, "_numbers")  # would make a column dense
    assert np.array_equal(model.decision_function(sparse.csr_array(X)), expected)


@pytest.mark.parametrize("size", [1 / 3, 1e5, 1e300])
def test_steps_whose_sums_round_are_added_as_in_a_dense_table(size):
    rng = np.random.default_rng(1)
    model, X = random_model(rng), random_table(rng)
    steps = tuple(each * size for each in model.steps)
    model = make_model(model.features, steps, 1e-9 * size)
    assert model._zero_steps is None
    scores = model.decision_function(sparse.csr_array(X))
    assert np.array_equal(scores, model.decision_function(X))


def test_categories_of_a_sparse_table():
    features = (category_feature("x0", (0, 2)), number_feature("x1", np.array([0.5])))
    model = make_model(features, (np.array([0.5, 1.0, 4.0]), np.array([0.0, 8.0, 16.0])))
    X = np.array([[0.0, 0.0], [2.0, 1.0], [3.0, np.nan], [np.nan, 0.0]])
    expected = [9.25, 20.25, 0.75, 8.75]
    assert model.decision_function(sparse.csr_array(X)).tolist() == expected
    assert model.decision_function(X).tolist() == expected


def test_infinities_name_the_column_also_where_the_steps_are_flat():
    X = np.zeros((3, 6))
    X[2, 1] = np.inf
    model = random_model(np.random.default_rng(0))
    with pytest.raises(ValueError, match="column 'x1' holds 1 infinity"):
        model.decision_function(sparse.csr_array(X))
