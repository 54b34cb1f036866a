"""Equal rows put together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from auctor.data import copies as distinct
from auctor.data.copies import distinct_rows

NAN = float("nan")

tables = st.lists(
    st.tuples(*[st.sampled_from([0.0, -0.0, 1.0, -1.0, 0.5, NAN])] * 3), min_size=1, max_size=12
).map(np.array)


def key(row):
    """A row as text, in which NaN equals NaN and 0 equals -0."""
    return str((np.asarray(row) + 0.0).tolist())


def groups(matrix, weight):
    """What the library finds: the weight of each distinct row."""
    rows, totals = distinct_rows(matrix, weight)
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    return {key(dense[i]): int(total) for i, total in zip(rows, totals, strict=True)}


@given(table=tables, seed=st.integers(0, 99))
def test_every_distinct_row_once_with_the_weight_of_its_copies(table, seed):
    weight = np.random.default_rng(seed).integers(1, 5, size=len(table))
    slow = {}
    for row, w in zip(table, weight.tolist(), strict=True):
        slow[key(row)] = slow.get(key(row), 0) + w
    assert groups(table, weight) == slow
    assert len(distinct_rows(table, weight)[0]) == len(slow)


@settings(max_examples=50)
@given(table=tables, seed=st.integers(0, 99))
def test_sparse_and_the_order_of_the_rows_do_not_show(table, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    weight = np.arange(1, len(table) + 1)
    rows, totals = distinct_rows(table, weight)
    turned, turned_totals = distinct_rows(table[order], weight[order])
    assert [key(table[i]) for i in rows] == [key(table[order][i]) for i in turned]
    assert totals.tolist() == turned_totals.tolist()
    by_entries, entry_totals = distinct_rows(sparse.csr_array(table), weight)
    assert [key(table[i]) for i in by_entries] == [key(table[i]) for i in rows]
    assert entry_totals.tolist() == totals.tolist()


def test_explicit_zeros_of_a_sparse_table_are_zeros():
    cells = np.array([0.0, 1.0, -0.0]), (np.array([0, 1, 2]), np.array([0, 1, 1]))
    matrix = sparse.csr_array(cells, shape=(4, 2))
    assert groups(matrix, np.ones(4, dtype=int)) == {"[0.0, 0.0]": 3, "[0.0, 1.0]": 1}


def test_the_column_of_a_value_counts():
    assert len(groups(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 1]))) == 2
    assert len(groups(np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1, 1]))) == 2


def test_a_large_table():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, size=(3000, 6)).astype(float)
    result = groups(table, np.ones(3000, dtype=int))
    distinct_values, counts = np.unique(table, axis=0, return_counts=True)
    assert result == {key(row): n for row, n in zip(distinct_values, counts.tolist(), strict=True)}


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_a_collision_leaves_every_row_by_itself(make, monkeypatch):
    def same(matrix):
        return np.zeros(matrix.shape[0], dtype=np.uint64)

    monkeypatch.setattr(distinct, "hash_dense", same)
    monkeypatch.setattr(distinct, "hash_sparse", same)
    table = np.array([[1.0, NAN], [1.0, NAN], [2.0, NAN]])
    rows, totals = distinct_rows(make(table), np.array([1, 2, 3], dtype=np.uint32))
    assert rows.tolist() == [0, 1, 2]
    assert totals.tolist() == [1, 2, 3]
    # Rows that are equal may have one hash.
    rows, totals = distinct_rows(make(table[:2]), np.array([1, 2], dtype=np.uint32))
    assert rows.tolist() == [0]
    assert totals.tolist() == [3]
