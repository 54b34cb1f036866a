"""Rows that are copies of each other: which, and how folds are drawn of them."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from auctor.data.copies import draw_units, find_copies
from auctor.data.table import read_table

NAN = float("nan")


def copies_of(X, y, kept=None, **options):
    return find_copies(
        read_table(X, accept_sparse=True), kept, np.asarray(y, dtype=bool), **options
    )


def test_rows_that_all_differ_have_no_copies():
    assert copies_of(np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2) is None


def test_copies_have_equal_features_and_one_label():
    X = [[1.0, NAN], [2.0, 0.0], [1.0, NAN], [2.0, -0.0], [3.0, 1.0], [3.0, 1.0], [3.0, 2.0]]
    assert copies_of(X, [1, 0, 1, 0, 1, 0, 1]).tolist() == [0, 1, 0, 1, 4, 5, 6]


def test_repeats_with_both_labels_are_those_of_a_coarse_table():
    X = np.random.default_rng(0).integers(0, 2, size=(400, 3))
    assert copies_of(X, np.arange(400) % 2) is None


def test_only_rows_that_count_are_looked_at():
    kept = np.array([True, True, False, True])
    assert copies_of([[1.0], [2.0], [1.0], [1.0]], [1, 0, 1], kept).tolist() == [0, 1, 0]


@pytest.mark.parametrize("n_columns", [1, 2, 3, 9])
def test_kinds_of_tables_agree(n_columns):
    rng = np.random.default_rng(n_columns)
    X = rng.integers(0, 3, size=(20, n_columns)).astype(float)[rng.integers(0, 20, size=60)]
    y = X.sum(axis=1) > n_columns
    expected = copies_of(X, y)
    text = pd.DataFrame({f"c{j}": X[:, j].astype(int).astype(str) for j in range(n_columns)})
    assert copies_of(text, y).tolist() == expected.tolist()
    assert copies_of(X.astype(np.float32), y).tolist() == expected.tolist()
    assert copies_of(X, y, categorical=frozenset({0})).tolist() == expected.tolist()
    assert copies_of(sparse.csr_array(X), y).tolist() == expected.tolist()
    slow = [next(k for k in range(60) if (X[k] == row).all()) for row in X]
    assert expected.tolist() == slow


def test_the_order_of_the_rows_does_not_matter():
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(20, 2)), rng.integers(1, 4, size=20), axis=0)
    order = rng.permutation(len(X))
    result, turned = copies_of(X, np.ones(len(X))), copies_of(X[order], np.ones(len(X)))
    together = result[:, None] == result
    assert np.array_equal(together[np.ix_(order, order)], turned[:, None] == turned)


def test_large_groups_are_spread():
    copies = np.concatenate([np.zeros(30, dtype=int), np.repeat(np.arange(30, 90, 2), 2)])
    first, unit = draw_units(copies, np.arange(90), 5)
    assert len(first) == 30 + 30
    assert np.array_equal(unit[:30], np.arange(30))  # 30 rows are more than a fold has
    assert np.array_equal(unit[30:], 30 + np.repeat(np.arange(30), 2))
    assert np.array_equal(copies[30:], first[unit[30:]])


def test_without_copies_every_row_is_drawn_by_itself():
    rows = np.array([3, 5, 8])
    first, unit = draw_units(None, rows, 2)
    assert first is rows
    assert unit.tolist() == [0, 1, 2]


def test_copies_among_many_rows_are_found_in_groups_of_hashes(monkeypatch):
    X = np.random.default_rng(1).integers(0, 40, size=(500, 2)).astype(float)
    positive = X.sum(axis=1) > 40
    expected = find_copies(read_table(X), None, positive)
    assert (expected != np.arange(500)).any()
    monkeypatch.setattr("auctor.data.copies._MANY_ROWS", 10)
    np.testing.assert_array_equal(find_copies(read_table(X), None, positive), expected)
