"""Cells of pairs and sums by cell, against numpy."""

import numpy as np
import pytest

from auctor.kernels.arrays import read_only
from auctor.kernels.smooth import count_pair, pair_cells


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_cells_of_pairs(dtype):
    rng = np.random.default_rng(0)
    first, second = read_only(rng.integers(0, 200, (2, 500)).astype(dtype))
    groups = rng.integers(0, 17, (2, 200)).astype(np.uint16)
    out = np.empty(500, dtype=np.uint16)
    pair_cells(first, second, groups[0], groups[1], 17, out)
    assert (out == groups[0][first] * 17 + groups[1][second]).all()
    assert (np.array(np.divmod(out, 17)) == [groups[0][first], groups[1][second]]).all()


def test_cells_beyond_a_byte():
    out = np.empty(1, dtype=np.uint16)
    code, groups = read_only(np.array([1], dtype=np.uint8)), np.array([0, 16], dtype=np.uint16)
    pair_cells(code, code, groups, groups, 17, out)
    assert out.tolist() == [288]


def test_sums_by_cell():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 9, (2, 400)).astype(np.uint8)
    slopes = rng.integers(-(2**40), 2**40, 400)
    weight = read_only(rng.integers(1, 2**32, 400, dtype=np.uint32))
    sums, weights = np.zeros((2, 9, 9), dtype=np.int64)
    count_pair(codes[0], codes[1], slopes, weight, 50, 350, sums, weights)
    expected, expected_weights = np.zeros((2, 9, 9), dtype=np.int64)
    for i in range(50, 350):
        expected[codes[0, i], codes[1, i]] += slopes[i]
        expected_weights[codes[0, i], codes[1, i]] += int(weight[i])
    assert (sums == expected).all()
    assert (weights == expected_weights).all()


def test_no_rows():
    nothing = np.zeros((2, 9, 9), dtype=np.int64)
    codes = np.zeros(3, dtype=np.uint8)
    slopes, weight = np.ones(3, dtype=np.int64), read_only(np.ones(3, dtype=np.uint32))
    count_pair(codes, codes, slopes, weight, 2, 2, nothing[0], nothing[1])
    assert not nothing.any()
