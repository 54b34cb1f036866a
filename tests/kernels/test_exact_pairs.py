"""Counters of marked places, which the sweep for the AUC stands on."""

from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.exact import pairs


@given(positions=st.lists(st.integers(0, 149), max_size=40), asked=st.integers(0, 150))
def test_marked_positions_are_counted(positions, asked):
    counter = pairs.make_counter(150)
    for position in set(positions):
        pairs.mark(counter, position)
    assert pairs.marked(counter, asked) == sum(position < asked for position in set(positions))
    pairs.clear(counter)
    assert pairs.marked(counter, 150) == 0
