"""Counters of marked places, which the sweep for the AUC stands on."""

from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.exact import pairs


@given(places=st.lists(st.integers(0, 149), max_size=40), asked=st.integers(0, 150))
def test_marked_places_are_counted(places, asked):
    counter = pairs.make_counter(150)
    for place in set(places):
        pairs.mark(counter, place)
    assert pairs.marked(counter, asked) == sum(place < asked for place in set(places))
    pairs.clear(counter)
    assert pairs.marked(counter, 150) == 0
