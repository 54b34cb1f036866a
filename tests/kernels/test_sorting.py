"""Radix sort against ``sorted`` and ``np.sort``, on small sizes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels import sorting
from auctor.kernels.arrays import read_only
from auctor.kernels.sorting import bits_of, radix_sort, sort_floats, sorted_hashes


def radix_sorted(values):
    values = np.array(values, dtype=np.float64)
    out, spare = np.empty((2, len(values)))
    radix_sort(bits_of(values), True, out.view(np.uint64), spare.view(np.uint64))
    return out


@given(values=st.lists(st.floats(allow_nan=False), max_size=40))
def test_floats_are_sorted_as_python_sorts_them(values):
    ordered = radix_sorted(values)
    assert ordered.tolist() == sorted(values)
    assert radix_sorted(-ordered).tolist() == sorted(-x for x in values)


@given(values=st.lists(st.floats(), max_size=20))
def test_nan_is_last_whatever_its_bits(values):
    ordered = radix_sorted(values)
    assert np.array_equal(ordered, np.sort(values), equal_nan=True)
    assert not np.signbit(ordered[ordered == 0.0]).any()


@given(values=st.lists(st.integers(0, 2**64 - 1), max_size=40))
def test_whole_numbers_are_sorted(values):
    keys = np.array(values, dtype=np.uint64)
    out, spare = np.empty((2, len(keys)), dtype=np.uint64)
    radix_sort(read_only(keys), False, out, spare)
    assert out.tolist() == sorted(values)


@pytest.mark.parametrize("n_values", [99, 100])
def test_short_and_long_columns_are_sorted(n_values, monkeypatch):
    monkeypatch.setattr(sorting, "LONG", 100)
    rng = np.random.default_rng(0)
    values = rng.normal(size=n_values).round(2)
    values[::7] = np.nan
    out, spare = np.empty((2, n_values))
    sort_floats(values, out, spare)
    assert np.array_equal(out, np.sort(values), equal_nan=True)
    hashes = rng.integers(0, 2**63, size=n_values).astype(np.uint64)
    assert np.array_equal(sorted_hashes(hashes), np.sort(hashes))
