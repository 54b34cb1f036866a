"""The step of least margin in a range."""

from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.exact.sample import nearest_to_zero


@given(low=st.integers(-9, 9), width=st.integers(0, 9))
def test_the_step_of_least_size(low, width):
    nearest = nearest_to_zero(low, low + width)
    assert abs(nearest) == min(abs(step) for step in range(low, low + width + 1))
    assert low <= nearest <= low + width
