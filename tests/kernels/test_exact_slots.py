"""The top of an array of slots, found again after rows have moved."""

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


def top_by_definition(sample, contents):
    """Positives and negatives from the highest slot down, as long as they weigh at most k."""
    n_pos, n_neg = 0, 0
    for kind in contents[::-1]:
        more_pos, more_neg = n_pos + (kind == POSITIVE), n_neg + (kind == NEGATIVE)
        if more_pos * sample.weight_pos + more_neg * sample.weight_neg > sample.top:
            break
        n_pos, n_neg = more_pos, more_neg
    return n_pos, n_neg


@given(
    contents=kinds,
    changes=st.lists(st.tuples(st.integers(0, 29), st.sampled_from([0, 1, 2])), max_size=30),
    top=st.floats(0.0, 20.0),
    weights=st.tuples(st.floats(0.5, 3.0), st.floats(0.5, 3.0)),
)
def test_the_top_follows_what_changes(contents, changes, top, weights):
    contents, sample = np.array(contents, dtype=np.uint8), sample_with(top, *weights)
    result = extend_top(sample, contents, Top(len(contents), 0, 0))
    assert result[1:] == top_by_definition(sample, contents)
    for slot, kind in changes:
        if slot >= len(contents):
            continue
        start, n_pos, n_neg = result
        if slot >= start:
            n_pos += int(kind == POSITIVE) - int(contents[slot] == POSITIVE)
            n_neg += int(kind == NEGATIVE) - int(contents[slot] == NEGATIVE)
        contents[slot] = kind
        result = extend_top(sample, contents, Top(start, n_pos, n_neg))
        assert result[1:] == top_by_definition(sample, contents)
        assert (contents[result[0] :] == POSITIVE).sum() == result[1]


def test_slots_start_with_all_rows_above_the_cut():
    two, one = np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64)
    sample = Sample(two, one, 1.0, 1.0, 2.0, 0.0, 1.0)
    slots = Slots(np.array([[0, 1], [3, 5]], np.uint32), np.array([[2], [4]], np.uint32))
    contents = np.full(6, 9, dtype=np.uint8)
    top = fill_contents(sample, slots, contents)
    assert contents.tolist() == [EMPTY, EMPTY, EMPTY, POSITIVE, NEGATIVE, POSITIVE]
    assert top == (4, 1, 1)
