"""Sparse tables: clean columns, and the bins and codes that the dense table would have."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from auctor import RankBoost, cross_val_auc
from auctor.data import SparseCodes, prepare, read_table
from auctor.data.sparse import clean_columns

NAN, INF = np.nan, np.inf


def make_table(seed, n_rows=40, n_columns=12):
    """Columns of all densities, from few values to many, some missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * rng.choice([1e-300, 1.0, 1e300], size=n_columns)
    X[:, ::3] = np.sign(X[:, ::3])
    X[:, 1::3] = rng.integers(-2, 3, size=X[:, 1::3].shape)
    X[rng.random(X.shape) < rng.choice([0.0, 0.5, 0.9, 1.0], size=n_columns)] = 0.0
    X[rng.random(X.shape) < rng.choice([0.0, 0.1, 1.0], size=n_columns, p=[0.5, 0.4, 0.1])] = NAN
    return X


def keep(X, y, **settings):
    return prepare(X, y, accept_sparse=True, keep_sparse=True, **settings)


def dense_codes(part):
    return np.stack([part.codes[j] for j in range(part.codes.shape[0])])


def assert_same(result, expected):
    """Features, codes, weights and places, one by one."""
    for ours, theirs in zip(result.features, expected.features, strict=True):
        assert (ours.name, ours.kind) == (theirs.name, theirs.kind)
        assert ours.cuts.tobytes() == theirs.cuts.tobytes()
        assert ours.centres.tobytes() == theirs.centres.tobytes()
        assert ours.categories == theirs.categories
    assert result.effective_rows == expected.effective_rows
    for ours, theirs in zip(result.partitions, expected.partitions, strict=True):
        assert isinstance(ours.codes, SparseCodes)
        assert ours.codes.shape == theirs.codes.shape
        assert np.array_equal(dense_codes(ours), theirs.codes)
        assert np.array_equal(ours.weight, theirs.weight)
        assert np.array_equal(ours.rows, theirs.rows)
        assert ours.n_pos == theirs.n_pos
        assert_in_order(ours)


def assert_in_order(part):
    """Each cell lists its rows in order, positives up to its middle, and none of a default."""
    codes = part.codes
    assert len(codes.rows) == codes.starts[-1]
    for cell in range(codes.n_cells):
        start, middle, stop = codes.starts[cell], codes.middles[cell], codes.starts[cell + 1]
        assert (np.diff(codes.rows[start:stop].astype(int)) > 0).all()
        assert (codes.rows[start:middle] < part.n_pos).all()
        assert (codes.rows[middle:stop] >= part.n_pos).all()
    usual = codes.first[:-1] + codes.default
    assert np.array_equal(codes.starts[usual], codes.starts[usual + 1])


@given(
    seed=st.integers(0, 10**6),
    max_bins=st.sampled_from([2, 3, 5, 255, 300]),
    weighted=st.sampled_from(["no", "whole", "fractions"]),
    categorical=st.sampled_from([(), (1,), (0, 4, 11)]),
)
def test_bins_and_codes_are_those_of_the_dense_table(seed, max_bins, weighted, categorical):
    X = make_table(seed)
    rng = np.random.default_rng(seed)
    y = np.arange(len(X)) % 2
    weight = {
        "no": None,
        "whole": np.concatenate([[1, 1], rng.integers(0, 4, len(X) - 2)]),
        "fractions": rng.random(len(X)) + 0.1,
    }[weighted]
    options = {
        "max_bins": max_bins,
        "sample_weight": weight,
        "categorical_features": list(categorical),
    }
    expected = prepare(X, y, **options)
    data = keep(sparse.csr_array(X), y, **options)
    assert_same(data, expected)
    assert_same(data.split(3), expected.split(3))
    chosen = rng.random(expected.n_rows) < 0.5
    assert_same(data.take(chosen), expected.take(chosen))


def test_entries_out_of_order_twice_and_zero():
    # Column 0: 0.1 + 0.2 + 0.3 in row 2, a stored 0 in row 1; column 1: 1 - 1 in row 0.
    values = [0.1, 5.0, 0.2, 0.0, 0.3, 1.0, -0.0, -1.0]
    rows = [2, 0, 2, 1, 2, 0, 3, 0]
    X = sparse.csc_array((values, rows, [0, 5, 8]), shape=(4, 2))
    before = X.copy()
    dense = np.array([[5.0, 0.0], [0.0, 0.0], [0.1 + 0.2 + 0.3, 0.0], [0.0, 0.0]])
    y = [0, 1, 1, 0]
    assert_same(keep(X, y), prepare(dense, y))
    assert np.array_equal(read_table(X, accept_sparse=True).numbers(0), dense[:, 0])
    # The user's matrix is as it was.
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(X, name), getattr(before, name))


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.float32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "dia", "bsr"])
def test_any_form_and_type(form, dtype):
    X = (np.random.default_rng(0).random((10, 4)) < 0.3).astype(dtype)
    y = np.arange(10) % 2
    assert_same(keep(sparse.csr_array(X).asformat(form), y), prepare(X, y))


def test_long_indices():
    X = sparse.csr_array(np.eye(6))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    y = [0, 1] * 3
    assert_same(keep(X, y), prepare(np.eye(6), y))


SHAPE = (6, 5)


def damaged(form, part, value, kind="array"):
    """A sparse table with one number of one of its arrays replaced."""
    dense = np.arange(30.0).reshape(SHAPE)
    make = getattr(sparse, f"{form}_{kind}")
    X = make(dense, blocksize=(2, 5)) if form == "bsr" else make(dense)
    if form == "lil":
        X.rows[1][2] = value
    elif form == "dok":
        X._dict[2, value] = 1.0
    else:
        array = getattr(X, part).copy()
        array[min(7, len(array) - 2)] = value
        setattr(X, part, array)
    return X


DAMAGES = [
    *(("csr", "indices", value) for value in (5, 10**6, -1, 2**31 - 1)),
    *(("csc", "indices", value) for value in (6, 10**6, -1)),
    *(("bsr", "indices", value) for value in (1, 10**6, -1)),
    *((form, "indptr", value) for form in ("csr", "csc") for value in (10**6, -1, 0)),
    *(("coo", "row", value) for value in (6, -1, 10**6)),
    *(("coo", "col", value) for value in (5, -1, 10**6)),
    *(("lil", "", value) for value in (5, -1, 10**6)),
    *(("dok", "", value) for value in (5, 10**6)),
]


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize(("form", "part", "value"), DAMAGES)
def test_indices_that_are_not_there_are_refused_before_anything_is_converted(
    form, part, value, kind, monkeypatch
):
    X = damaged(form, part, value, kind)
    for name in ("csc_array", "csc_matrix"):  # what would write to memory that is not its own
        monkeypatch.setattr(f"auctor.data.sparse.sparse.{name}", pytest.fail)
    with pytest.raises(ValueError, match=r"X is a damaged sparse matrix: .*(index|indptr)"):
        read_table(X, accept_sparse=True)


def test_arrays_of_different_lengths_are_refused():
    csr, lil = sparse.csr_array(np.eye(4)), sparse.lil_array(np.eye(4))
    csr.indices = csr.indices[:-1]
    lil.data[1] = [1.0, 2.0]
    dia = sparse.dia_array(np.eye(4))
    dia.offsets = np.array([0, 1], dtype=np.int32)
    for X in (csr, lil, dia):
        with pytest.raises(ValueError, match="X is a damaged sparse matrix"):
            read_table(X, accept_sparse=True)


def test_damaged_tables_are_refused_when_fitting_scoring_and_cross_validating():
    X, y = np.arange(30.0).reshape(SHAPE), [0, 1] * 3
    bad = damaged("csr", "indices", 10**6)
    tall = sparse.csc_array(np.eye(8))
    tall.indices[0] = 99
    ranker = RankBoost(n_estimators=2).fit(X, y)
    calls = (
        lambda: RankBoost(n_estimators=2).fit(bad, y),
        lambda: ranker.decision_function(bad),
        lambda: ranker.model_.decision_function(bad),
        lambda: cross_val_auc(RankBoost(n_estimators=2), tall, [0, 1] * 4, cv=2),
    )
    for call in calls:
        with pytest.raises(ValueError, match="damaged sparse matrix"):
            call()


def test_the_users_matrix_is_as_it_was():
    X = sparse.csr_array(np.eye(4))
    X.data, X.indices = np.append(X.data, 9.0), np.append(X.indices, 0)  # more than indptr tells
    clean_columns(X)
    assert len(X.data) == len(X.indices) == 5


def test_half_precision_and_objects():
    X = sparse.csr_array(np.eye(2))
    X.data = X.data.astype(np.float16)
    assert clean_columns(X).sum() == 2
    X.data = X.data.astype(object)
    with pytest.raises(ValueError, match="sparse matrix of type object; give numbers"):
        read_table(X, accept_sparse=True)


@pytest.mark.parametrize("categorical", [[], [1]])
def test_infinities_name_their_column(categorical):
    X = sparse.csr_array(np.array([[1.0, 0.0, INF], [0.0, INF, NAN], [2.0, -INF, 0.0]]))
    with pytest.raises(ValueError, match=r"column 'x1' holds 2 infinity value\(s\)"):
        keep(X, [0, 1, 0], categorical_features=categorical)


def test_infinities_of_absent_rows_are_refused_too():
    X = sparse.csr_array(np.array([[1.0], [0.0], [INF]]))
    with pytest.raises(ValueError, match="column 'x0' holds 1 infinity"):
        keep(X, [0, 1, 0], sample_weight=[1, 1, 0])


def test_codes_are_dense_unless_asked_for():
    X, y = sparse.csr_array(np.eye(4)), [0, 1, 0, 1]
    assert not prepare(X, y, accept_sparse=True).is_sparse
    assert not prepare(np.eye(4), y, keep_sparse=True).is_sparse
    assert keep(X, y).is_sparse


def test_frozen():
    codes = keep(sparse.csr_array(np.eye(4)), [0, 1, 0, 1]).partitions[0].codes
    with pytest.raises(dataclasses.FrozenInstanceError):
        codes.n_rows = 3
    for name in ("first", "default", "starts", "middles", "rows"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(codes, name)[...] = 0
