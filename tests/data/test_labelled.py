"""Labels and weights read together; what is wrong with them is tested with ``prepare``."""

import numpy as np
import pytest

from auctor.data import prepare
from auctor.data.labelled import read_rows


def test_rows_without_weights():
    rows = read_rows(["b", "a", "b"], None, None, 3)
    assert rows.kept is None
    assert not rows.is_weighted
    assert rows.positive.tolist() == [True, False, True]
    assert rows.classes.tolist() == ["a", "b"]
    values = np.arange(3)
    assert rows.pick(values) is values


def test_rows_of_weight_0_are_absent():
    rows = read_rows([0, 1, 2, 0], [1.5, 1, 0, 0], None, 4)
    assert rows.kept.tolist() == [True, True, False, False]
    assert rows.pick(np.arange(4)).tolist() == [0, 1]
    assert rows.weight.tolist() == [3, 2]
    with pytest.raises(ValueError, match="y, without its rows of weight 0, has 1 class"):
        read_rows([0, 1, 1], [0, 1, 1], None, 3)


def test_the_other_label_positive():
    assert read_rows([0, 1], None, 0, 2).positive.tolist() == [True, False]


def test_lengths_that_differ():
    with pytest.raises(ValueError, match="inconsistent numbers of samples: 3 and 2"):
        read_rows([0, 1], None, None, 3)


def test_rows_without_codes_stand_as_prepared_rows_do():
    y, weight = np.array([0, 1, 0, 1, 1]), np.array([1, 2, 0, 3, 0.5])
    data = read_rows(y, weight, None, 5).without_codes()
    whole = prepare(np.arange(5.0)[:, None], y, sample_weight=weight)
    assert data.n_pos == whole.n_pos
    assert data.effective_rows == whole.effective_rows
    # Binning may order the rows of a class in its own way: compare by place.
    by_position = [
        dict(zip(d.partitions[0].rows.tolist(), d.partitions[0].weight.tolist(), strict=True))
        for d in (data, whole)
    ]
    assert by_position[0] == by_position[1]
