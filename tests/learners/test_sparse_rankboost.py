"""RankBoost on sparse codes equals RankBoost on dense ones, bit for bit."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from auctor.data import SparseCodes, prepare
from auctor.learners.boosting import sparse_weights as sparse_rows
from auctor.learners.boosting.rankboost import RankBoostSettings, fit_rankboost
from auctor.learners.boosting.sparse_weights import RaggedHistogram, stump_search
from auctor.models import to_json

FORMS = [
    sparse.csr_array,
    sparse.csc_array,
    sparse.coo_array,
    sparse.csr_matrix,
    sparse.csc_matrix,
    sparse.coo_matrix,
]


def make_table(seed: int, n_rows: int = 60, n_columns: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Mostly zeros: 0/1 columns, counts, negative and many-valued ones, missing values, ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, ::3] = 1.0
    X[:, 1::3] = np.round(3 * X[:, 1::3])
    density = rng.choice([0.0, 0.05, 0.3, 0.95, 1.0], size=n_columns)
    X[rng.random(X.shape) >= density] = 0.0
    X[rng.random(X.shape) < rng.choice([0.0, 0.05])] = np.nan
    y = np.nan_to_num(X).sum(axis=1) + rng.normal(size=n_rows) > 0.5
    y[:4] = 0, 1, 0, 1
    return X, y


def both(X, y, matrix=None, **settings):
    """The same table with dense and with sparse codes."""
    matrix = sparse.csr_array(X) if matrix is None else matrix
    dense = prepare(X, y, **settings)
    kept = prepare(matrix, y, accept_sparse=True, keep_sparse=True, **settings)
    assert kept.is_sparse
    assert not dense.is_sparse
    return dense, kept


def assert_same_fit(dense, kept, settings, validation=(None, None)):
    ours, history, certificate = fit_rankboost(kept, settings, validation[1])
    theirs, expected, statement = fit_rankboost(dense, settings, validation[0])
    assert history == expected  # every round's stump, r, alpha and z
    assert str(certificate) == str(statement)
    assert to_json(ours) == to_json(theirs)
    return ours


@given(
    seed=st.integers(0, 10**6),
    weights=st.sampled_from(["none", "whole", "fractions"]),
    max_bins=st.sampled_from([2, 7, 255, 300]),
    n_partitions=st.integers(1, 3),
    n_jobs=st.integers(1, 2),
)
def test_sparse_equals_dense(seed, weights, max_bins, n_partitions, n_jobs):
    X, y = make_table(seed)
    rng = np.random.default_rng(seed)
    weight = {
        "none": None,
        "whole": np.concatenate([np.ones(4), rng.integers(0, 4, len(y) - 4)]),
        "fractions": rng.random(len(y)) + 0.1,
    }[weights]
    dense, kept = both(X, y, sample_weight=weight, max_bins=max_bins)
    steps = RankBoostSettings(40, n_jobs=n_jobs)
    model = assert_same_fit(dense, kept.split(n_partitions), steps)
    scores = model.decision_function(sparse.csr_array(X))
    assert np.array_equal(scores, model.decision_function(X))


@pytest.mark.parametrize("seed", range(6))
def test_categories(seed):
    X, y = make_table(seed)
    X[:, 3] = np.random.default_rng(seed).integers(0, 4, len(y))
    y = y | (X[:, 3] == 2)
    dense, kept = both(X, y, categorical_features=[1, 3], max_bins=6)
    model = assert_same_fit(dense, kept, RankBoostSettings(30))
    assert model.features[3].is_category
    scores = model.decision_function(sparse.csr_array(X))
    assert np.array_equal(scores, model.decision_function(X))


@pytest.mark.parametrize("seed", range(6))
def test_early_stopping(seed):
    X, y = make_table(seed, n_rows=200)
    held = np.arange(200) % 3 == 0
    dense, kept = both(X, y)
    assert_same_fit(
        dense.take(~held),
        kept.take(~held),
        RankBoostSettings(60, 0.5, n_iter_no_change=5),
        (dense.take(held), kept.take(held).split(2)),
    )


@pytest.mark.parametrize("form", FORMS)
def test_any_sparse_form(form):
    X, y = make_table(3)
    dense, kept = both(X, y, form(X))
    assert_same_fit(dense, kept, RankBoostSettings(10))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_threads_share_the_features(n_jobs, monkeypatch):
    monkeypatch.setattr(sparse_rows, "ENTRIES_PER_WORKER", 50)
    X, y = make_table(1)
    dense, kept = both(X, y)
    assert len(sparse_rows.feature_runs(kept, n_jobs)) == n_jobs
    assert_same_fit(dense, kept.split(2), RankBoostSettings(30, n_jobs=n_jobs))


def test_a_feature_of_many_values_does_not_widen_the_others():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 300)) < 0.02).astype(float)
    X[:, 7] = rng.normal(size=400)
    dense, kept = both(X, np.arange(400) % 2, max_bins=255)
    assert dense.n_codes == kept.n_codes == 256
    # 255 bins and the missing ones; missing, 0 and 1 of the others, at most
    assert kept.partitions[0].codes.n_cells <= 256 + 299 * 3
    assert_same_fit(dense, kept, RankBoostSettings(20))


def test_ragged_lines_are_those_of_an_array():
    counts = np.array([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
    histogram = RaggedHistogram(counts, np.array([0, 2, 5]), 4)
    assert histogram.shape == (2, 2, 4)
    assert histogram[:, 0].tolist() == [[1, 2, 0, 0], [6, 7, 0, 0]]
    assert histogram[:, 1].tolist() == [[3, 4, 5, 0], [8, 9, 10, 0]]


def test_no_stump_where_all_columns_are_empty():
    X = sparse.csr_array((6, 3))
    data = prepare(X, [0, 1] * 3, accept_sparse=True, keep_sparse=True)
    model, history, _ = fit_rankboost(data, RankBoostSettings(5))
    assert history.stopped_by == "no stump is better than chance"
    assert model.decision_function(X).tolist() == [-1.0] * 6
    assert stump_search(data).best(RaggedHistogram(np.ones((2, 6), int), np.arange(4) * 2, 2)) is (
        None
    )


def test_memory_follows_the_entries():
    n_rows, n_columns = 10_000, 2000
    rng = np.random.default_rng(0)
    places = rng.choice(n_rows * n_columns, n_rows * n_columns // 500, replace=False)
    entries = np.ones(len(places)), np.divmod(places, n_columns)
    X = sparse.csr_array(entries, shape=(n_rows, n_columns))
    y = X[:, :50].sum(axis=1) + rng.random(n_rows) > 0.7
    small = prepare(X[:50, :20], [0, 1] * 25, accept_sparse=True, keep_sparse=True)
    fit_rankboost(small, RankBoostSettings(2))  # compiles
    tracemalloc.start()
    data = prepare(X, y, accept_sparse=True, keep_sparse=True)
    model, _, _ = fit_rankboost(data, RankBoostSettings(30))
    model.decision_function(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(data.partitions[0].codes, SparseCodes)
    assert peak < n_rows * n_columns / 2  # dense codes take a byte a cell


def test_words_of_texts():
    """Few words are in many texts, most words in one or none, as in collections of real texts."""
    rng = np.random.default_rng(0)
    frequency = 0.6 * np.arange(1.0, 2001.0) ** -1.2
    columns = rng.permutation(2000)
    X = sparse.csr_array(rng.random((4000, 2000)) < frequency[columns], dtype=np.uint8)
    n_texts = X.sum(axis=0)
    assert n_texts.max() > 2000 and np.median(n_texts) <= 1 and (n_texts == 0).sum() > 500
    informative = np.argsort(columns)[[3, 11, 40]]
    y = X[:, informative].sum(axis=1) + np.arange(4000) % 3 > 1
    dense, kept = both(X.toarray(), y, X)
    assert_same_fit(dense, kept, RankBoostSettings(40))
