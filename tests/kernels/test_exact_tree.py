"""The tree over slots against sums from the left by definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.exact import segment_tree as trees

values = st.lists(st.integers(-5, 5), min_size=1, max_size=40)


def largest_sum(array):
    """The largest sum of the first slots; no slots have the sum 0."""
    return max(0.0, np.cumsum(array).max())


@given(array=values, seed=st.integers(0, 1000))
def test_the_root_has_the_largest_sum_from_the_left(array, seed):
    array = np.array(array, dtype=float)
    tree = trees.make_tree(len(array))
    for slot, value in enumerate(array):
        trees.set_leaf(tree, slot, value)
    trees.join_all(tree)
    assert tree.bests[1] == largest_sum(array)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        old, new = rng.choice(len(array), 2, replace=len(array) == 1)
        value = float(rng.integers(-5, 6))
        array[old], array[new] = 0.0, value
        trees.replace_leaf(tree, old, new, value)
        assert tree.bests[1] == largest_sum(array)
        array[old] = value - 1
        trees.put_leaf(tree, old, value - 1)
        assert tree.bests[1] == largest_sum(array)
        assert tree.sums[1] == array.sum()
