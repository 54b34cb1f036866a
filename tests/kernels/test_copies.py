"""The hash of rows, column by column, against numpy's."""

import numpy as np
import pytest

from auctor.data.copies import column_salt, row_hashes
from auctor.kernels.copies import mix_column

# Hashes are meant to overflow, which numpy says where kernels run without compilation.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def test_hashes_are_those_of_distinct_rows():
    matrix = 1.0 + np.random.default_rng(0).random((50, 3))  # no 0, whose hash is 0 there
    out = np.zeros(50, dtype=np.uint64)
    for j, salt in enumerate(column_salt(np.arange(3))):
        mix_column(np.ascontiguousarray(matrix[:, j]).view(np.uint64), salt, out)
    assert np.array_equal(out, row_hashes(matrix))
    assert len(np.unique(out)) == 50


def test_all_nan_are_one_value_and_no_zero_is_negative():
    values = np.array([np.nan, -np.nan, 0.0, -0.0, 1.0, -1.0])
    values[1] = np.frombuffer(np.uint64(0xFFF8000000000123).tobytes())[0]
    out = np.zeros(6, dtype=np.uint64)
    mix_column(values.view(np.uint64), np.uint64(7), out)
    assert out[0] == out[1]
    assert out[2] == out[3]
    assert len(np.unique(out)) == 4
