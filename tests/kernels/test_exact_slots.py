"""The top of a line of slots, found again after rows have moved."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.exact.sample import Sample
from auctor.kernels.exact.slots import (
    EMPTY,
    NEGATIVE,
    POSITIVE,
    Slots,
    Top,
    extend_top,
    fill_contents,
)

kinds = st.lists(st.sampled_from([EMPTY, POSITIVE, NEGATIVE]), max_size=30)


def sample_with(top, weight_pos=1.0, weight_neg=1.0):
    none = np.zeros(0, dtype=np.int64)
    return Sample(none, none, weight_pos, weight_neg, top, 0.0, 1.0)


def top_by_definition(sample, line):
    """Positives and negatives from the highest slot down, as long as they weigh at most k."""
    n_pos, n_neg = 0, 0
    for kind in line[::-1]:
        more_pos, more_neg = n_pos + (kind == POSITIVE), n_neg + (kind == NEGATIVE)
        if more_pos * sample.weight_pos + more_neg * sample.weight_neg > sample.top:
            break
        n_pos, n_neg = more_pos, more_neg
    return n_pos, n_neg


@given(
    line=kinds,
    changes=st.lists(st.tuples(st.integers(0, 29), st.sampled_from([0, 1, 2])), max_size=30),
    top=st.floats(0.0, 20.0),
    weights=st.tuples(st.floats(0.5, 3.0), st.floats(0.5, 3.0)),
)
def test_the_top_follows_what_changes(line, changes, top, weights):
    line, sample = np.array(line, dtype=np.uint8), sample_with(top, *weights)
    result = extend_top(sample, line, Top(len(line), 0, 0))
    assert result[1:] == top_by_definition(sample, line)
    for slot, kind in changes:
        if slot >= len(line):
            continue
        start, n_pos, n_neg = result
        if slot >= start:
            n_pos += int(kind == POSITIVE) - int(line[slot] == POSITIVE)
            n_neg += int(kind == NEGATIVE) - int(line[slot] == NEGATIVE)
        line[slot] = kind
        result = extend_top(sample, line, Top(start, n_pos, n_neg))
        assert result[1:] == top_by_definition(sample, line)
        assert (line[result[0] :] == POSITIVE).sum() == result[1]


def test_a_line_starts_with_all_rows_above_the_cut():
    two, one = np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64)
    sample = Sample(two, one, 1.0, 1.0, 2.0, 0.0, 1.0)
    slots = Slots(np.array([[0, 1], [3, 5]], np.uint32), np.array([[2], [4]], np.uint32))
    line = np.full(6, 9, dtype=np.uint8)
    top = fill_contents(sample, slots, line)
    assert line.tolist() == [EMPTY, EMPTY, EMPTY, POSITIVE, NEGATIVE, POSITIVE]
    assert top == (4, 1, 1)
