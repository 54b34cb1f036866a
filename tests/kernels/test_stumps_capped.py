"""The kernels of the capped distributions, row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.arrays import read_only
from auctor.kernels.stumps import LEAST_FACTOR, change_factors, cut_at_cap, weigh_around_cap

SCALE = 2.0**40

rows = st.lists(
    st.tuples(st.integers(0, 16).map(lambda k: k / 16), st.integers(1, 4)), min_size=1, max_size=20
)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_factors_change_by_the_code_of_their_row(dtype):
    factor = np.array([1.0, 2.0, 3.0, 4.0])
    codes = np.array([0, 2, 2, 1], dtype=dtype)
    if dtype == np.uint8:  # as the codes of dense tables are; those of sparse ones can be written
        codes = read_only(codes)
    change_factors(codes, factor, np.array([5.0, 0.25, 10.0]), 1, 4)
    assert factor.tolist() == [1.0, 20.0, 30.0, 1.0]


def test_a_factor_never_becomes_zero():
    factor = np.array([1e-200, 1.0])
    change_factors(read_only(np.zeros(2, dtype=np.uint8)), factor, np.array([1e-200]), 0, 2)
    assert factor.tolist() == [LEAST_FACTOR, 1e-200]


@given(rows, st.integers(1, 8), st.integers(0, 16))
def test_weights_around_the_cap_are_those_of_the_rows(table, c, sixteenths):
    factor = np.array([f for f, _ in table])
    weight = read_only(np.array([w for _, w in table], dtype=np.uint32))
    cap = sixteenths / 16  # some rows lie on the cap, and count as below
    above = c * factor > cap
    weighed = weigh_around_cap(weight, factor, float(c), cap, SCALE, 0, len(table))
    assert weighed[0] == int(weight[above].sum())
    assert weighed[1] == int((weight[~above] * factor[~above]).sum() * SCALE)
    assert weighed[2] == max(factor[~above], default=0.0)
    middle = len(table) // 2
    parts = [
        weigh_around_cap(weight, factor, float(c), cap, SCALE, a, b)
        for a, b in ((0, middle), (middle, len(table)))
    ]
    assert weighed[:2] == (parts[0][0] + parts[1][0], parts[0][1] + parts[1][1])


def test_a_row_of_weight_two_weighs_what_the_row_twice_weighs():
    third = np.array([1 / 3, 1 / 3])
    two, ones = (read_only(np.array(w, dtype=np.uint32)) for w in ([2], [1, 1]))
    heavy = weigh_around_cap(two, third[:1], 1.0, 1.0, 2.0**60, 0, 1)
    twice = weigh_around_cap(ones, third, 1.0, 1.0, 2.0**60, 0, 2)
    assert heavy == twice


def test_cut_raises_by_c_up_to_the_cap():
    factor = np.array([0.1, 0.2, 0.5, 0.7])
    cut_at_cap(factor, 2.0, 0.5, 0, 3)
    assert factor.tolist() == [0.2, 0.4, 0.5, 0.7]
