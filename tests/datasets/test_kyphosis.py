"""The embedded kyphosis rows against the table they were taken from."""

from pathlib import Path

import numpy as np

from auctor.datasets import load_kyphosis


def test_values_are_those_of_the_table(data_folder: Path) -> None:
    path = data_folder / "kyphosis.csv"
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    sample = load_kyphosis()
    header = path.read_text(encoding="utf-8").splitlines()[0]
    assert header.split(",") == [*sample.feature_names, "target"]
    np.testing.assert_array_equal(sample.X, table[:, :3])
    np.testing.assert_array_equal(sample.y, table[:, 3])


def test_shape_and_classes() -> None:
    sample = load_kyphosis()
    assert sample.X.shape == (81, 3)
    assert np.bincount(sample.y).tolist() == [64, 17]
    assert sample.optimal_score is None


def test_a_change_to_one_copy_leaves_the_next_alone() -> None:
    load_kyphosis().X[:] = 0
    assert load_kyphosis().X.min() == 1
