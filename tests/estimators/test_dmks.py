"""DMKS as scikit-learn users meet it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auctor import DMKS
from auctor.datasets import load_kyphosis
from auctor.metrics import auc, ks
from auctor.models import LinearModel, to_json
from auctor.testing.contracts import check_saved_model, messy_table


def logistic():
    return make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression(max_iter=1000))


def test_it_ranks_unseen_rows_and_says_its_ks(cancer):
    X, y = cancer
    scorer = DMKS().fit(X[:400], y[:400])
    assert isinstance(scorer.model_, LinearModel)
    assert scorer.ks_ == ks(y[:400], scorer.decision_function(X[:400]))
    assert scorer.ks_ == scorer.certificate_.values["ks"] > 0.95
    assert ks(y[400:], scorer.decision_function(X[400:])) > 0.85
    assert scorer.score(X[400:], y[400:]) == auc(y[400:], scorer.decision_function(X[400:]))
    assert scorer.n_iter_ == len(scorer.history_.ks) - 1
    assert scorer.feature_importances_.sum() == pytest.approx(1.0)
    # KS is reached at the threshold of predict.
    predicted = scorer.predict(X[:400])
    reached = predicted[y[:400] == 1].mean() - predicted[y[:400] == 0].mean()
    assert reached == pytest.approx(scorer.ks_, abs=1e-12)


def test_coefficients_are_in_the_units_of_the_columns(cancer):
    X, y = cancer
    scorer = DMKS().fit(X[:, :6], y)
    assert scorer.coef_names_ == [f"x{j}" for j in range(6)]
    shift = scorer.decision_function(X[:, :6]) - X[:, :6] @ scorer.coef_
    assert np.ptp(shift) < 1e-9
    again = DMKS(coef_init=scorer.coef_).fit(X[:, :6], y)
    assert again.certificate_.values["start_ks"] == scorer.ks_ == again.ks_


def test_names_of_the_coefficients(people):
    X, y = people
    scorer = DMKS().fit(X, y)
    assert scorer.coef_names_ == [
        "age",
        "town is north",
        "town is south",
        "town is west",
        "town is missing",
        "member",
        "age is missing",
    ]
    assert scorer.coef_.shape == (7,)
    assert scorer.feature_importances_[3] == 0  # the constant


def test_every_table_gives_the_same_bits(people, tmp_path):
    X, y = people
    scorer = DMKS().fit(X, y)
    assert scorer.ks_ > 0.55
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        other = DMKS().fit(table, y.to_numpy())
        assert to_json(other.model_) == to_json(scorer.model_)
        assert np.array_equal(other.decision_function(table), scorer.decision_function(X))
    check_saved_model(scorer.model_, X, tmp_path)


@pytest.mark.parametrize("penalty", [0.0, 0.02])
@pytest.mark.parametrize("seed", range(6))
def test_weights_are_copies_and_order_is_irrelevant(seed, penalty):
    X, y = messy_table(seed)
    rng = np.random.default_rng(seed)
    scorer = DMKS(penalty, categorical_features=[4], frequency_weights=True)
    weight = rng.integers(0, 4, size=len(y))
    weight[:2] = 1
    copies = np.repeat(np.arange(len(y)), weight)
    by_weight = clone(scorer).fit(X, y, sample_weight=weight)
    by_copies = clone(scorer).fit(X[copies], y[copies])
    assert to_json(by_copies.model_) == to_json(by_weight.model_)
    assert by_copies.ks_ == by_weight.ks_
    order = rng.permutation(len(y))
    turned = clone(scorer).fit(X[order], y[order], sample_weight=weight[order])
    assert to_json(turned.model_) == to_json(by_weight.model_)


def test_fractional_weights():
    X, y = messy_table(7, 100)
    weight = np.random.default_rng(7).random(100) + 0.1
    scorer = DMKS().fit(X, y, sample_weight=weight)
    # Weights are rounded to 24 bits of the largest.
    expected = ks(y, scorer.decision_function(X), sample_weight=weight)
    assert scorer.ks_ == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("density", [0.1, 0.6])
def test_sparse_equals_dense(density):
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(150, 12)), 1) * (rng.random((150, 12)) < density)
    y = X[:, 0] + X[:, 1] - X[:, 2] + 0.5 * rng.normal(size=150) > 0.4
    dense = DMKS().fit(X, y)
    for make in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        fitted = DMKS().fit(make(X), y)
        assert to_json(fitted.model_) == to_json(dense.model_)
        scores = fitted.decision_function(make(X))
        assert scores.tobytes() == dense.decision_function(X).tobytes()


def test_constant_columns_are_not_used():
    X, y = messy_table(1, 100)
    scorer = DMKS().fit(X, y)
    other = X.copy()
    other[:, 3] = 1e6
    assert np.array_equal(scorer.decision_function(X), scorer.decision_function(other))
    flat = DMKS().fit(np.ones((40, 2)), np.arange(40) % 2)
    assert flat.coef_.size == 0
    assert flat.ks_ == 0.0
    assert flat.predict_proba(np.ones((1, 2))) == pytest.approx(0.5, abs=1e-6)


def test_a_missing_value_counts_as_learned():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + 0.2 * rng.normal(size=200) > 0.5
    X[y & (rng.random(200) < 0.5), 1] = np.nan  # missing says positive
    scorer = DMKS().fit(X, y)
    with_value, without = scorer.decision_function([[0.0, 0.0], [0.0, np.nan]])
    assert without > with_value


def test_a_large_penalty_gives_a_constant_score(cancer, tmp_path):
    X, y = cancer
    scorer = DMKS(coef_penalty=2.0).fit(X, y)
    assert not scorer.coef_.any()
    assert not scorer.feature_importances_.any()
    assert np.ptp(scorer.decision_function(X)) == 0
    assert scorer.ks_ == 0.0
    assert np.isfinite(scorer.predict_proba(X)).all()
    check_saved_model(scorer.model_, X, tmp_path)


def test_a_penalty_does_not_see_the_unit_of_a_column(cancer):
    X, y = cancer
    usual = DMKS(coef_penalty=0.01).fit(X, y)
    # A power of two changes no digit.
    other = DMKS(coef_penalty=0.01).fit(X * 2.0 ** np.arange(-15, 15), y)
    assert 0 < np.count_nonzero(usual.coef_) < 30
    assert np.array_equal(usual.coef_ != 0, other.coef_ != 0)
    assert usual.ks_ == other.ks_


def test_separable_classes_stay_finite():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X @ [1.0, -1.0, 2.0] > 0.1
    X[:, 0] += y  # a gap: the maximum of each coordinate need not part what only just can be
    scorer = DMKS().fit(X, y)
    assert scorer.ks_ == 1.0
    assert np.isfinite(scorer.coef_).all()
    assert (scorer.predict(X) == y).all()


def test_positive_label_threshold_and_pickle(people):
    X, y = people
    usual, turned = DMKS().fit(X, y), DMKS(pos_label="no").fit(X, y)
    assert (usual.pos_label_, turned.pos_label_) == ("yes", "no")
    assert turned.score(X, y) == pytest.approx(usual.score(X, y), abs=0.05)
    assert (usual.predict(X) == turned.predict(X)).mean() > 0.85
    high = DMKS(threshold=0.1).fit(X, y)
    assert (high.predict(X) == "yes").tolist() == (high.decision_function(X) > 0.1).tolist()
    assert high.model_.threshold == 0.1
    copy = pickle.loads(pickle.dumps(usual))
    assert np.array_equal(copy.decision_function(X), usual.decision_function(X))
    assert cross_val_score(DMKS(), X, y, cv=3).mean() > 0.7


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"coef_penalty": -0.1}, r"'coef_penalty' parameter of DMKS must be .* range \[0.* -0.1"),
        ({"tol": -1.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"coef_init": "zeros"}, "'coef_init' parameter"),
        ({"coef_init": [1.0]}, r"coef_init has shape \(1,\); give 3 coefficients.* of x0, x1, x2"),
        ({"coef_init": [1.0, np.nan, 0.0]}, "coef_init has NaN or infinite coefficients"),
        ({"coef_init": ["a", "b", "c"]}, "give 'logistic' or an array of numbers"),
    ],
)
def test_each_mistake_has_its_sentence(settings, sentence):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    with pytest.raises(ValueError, match=sentence):
        DMKS(**settings).fit(X, X[:, 0] > 0)


def test_one_class_is_named():
    with pytest.raises(ValueError, match=r"y has 1 class \(1.0\); auctor needs exactly two"):
        DMKS().fit(np.arange(6.0)[:, None], np.ones(6))


def test_values_too_large_for_a_sum_are_named():
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match=r"column 'x0' has values of 1e\+290 or more"):
        DMKS().fit(rng.normal(size=(40, 2)) * 1e300, np.arange(40) % 2)


def test_no_warning_where_nothing_is_odd(cancer):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        DMKS().fit(*cancer)
    assert [str(one.message) for one in caught] == []


def check_against_logistic_regression(X, y):
    """The training KS is at least that of logistic regression, and a local maximum."""
    scorer = DMKS().fit(X, y)
    regression = logistic().fit(X, y)
    assert scorer.ks_ == ks(y, scorer.decision_function(X))
    assert scorer.ks_ >= ks(y, regression.decision_function(X))
    assert scorer.ks_ >= scorer.certificate_.values["start_ks"]
    assert scorer.certificate_.values["largest_gain"] == 0.0


def test_training_ks_is_at_least_that_of_logistic_regression(cancer):
    check_against_logistic_regression(*cancer)
    sample = load_kyphosis()
    check_against_logistic_regression(sample.X, sample.y)


@pytest.mark.parametrize("name", ["heart", "liver", "ionosphere", "german", "a1a", "diabetes"])
def test_training_ks_on_real_tables(data_folder, name):
    path = data_folder / f"{name}.csv"
    if not path.is_file():
        pytest.skip(f"AUCTOR_DATA has no {name}")
    frame = pd.read_csv(path)
    check_against_logistic_regression(
        frame.drop(columns="target").to_numpy(dtype=float), frame["target"].to_numpy()
    )
