"""The embedded kyphosis rows against the table they were taken from."""

from hashlib import sha256

import numpy as np

from auctor.datasets import load_kyphosis


def test_values_are_those_of_the_table() -> None:
    """The digest is that of the CSV file from which the table was copied."""
    sample = load_kyphosis()
    head = ",".join([*sample.feature_names, "target"])
    rows = np.column_stack([sample.X, sample.y]).astype(np.int64).tolist()
    text = "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"
    digest = "1d6dfa22e7a45ea23a773664a2f94880016e79d7f0d79d367324acb3502ae729"
    assert sha256(text.encode()).hexdigest() == digest


def test_shape_and_classes() -> None:
    sample = load_kyphosis()
    assert sample.X.shape == (81, 3)
    assert np.bincount(sample.y).tolist() == [64, 17]
    assert sample.optimal_score is None


def test_a_change_to_one_copy_leaves_the_next_alone() -> None:
    load_kyphosis().X[:] = 0
    assert load_kyphosis().X.min() == 1
