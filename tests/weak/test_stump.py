"""Stumps: which codes are above the cut, and the search for the best one."""

import numpy as np
import pytest

from auctor.data import category_feature, number_feature
from auctor.weak.stump import Stump, StumpSearch

FEATURES = (
    number_feature("age", np.array([20.0, 40.5])),
    category_feature("town", ("north", "south")),
)


@pytest.mark.parametrize(
    ("stump", "above"),
    [
        pytest.param(Stump(0, 1, False), [0, 0, 1, 1], id="age > 20"),
        pytest.param(Stump(0, 2, True), [1, 0, 0, 1], id="age > 40.5 or missing"),
        pytest.param(Stump(0, 3, True), [1, 0, 0, 0], id="age is missing"),
        pytest.param(Stump(1, 0, False, (2,)), [0, 0, 1, 0], id="town is south"),
        pytest.param(Stump(1, 0, True, (0, 1)), [1, 1, 0, 0], id="town is missing or north"),
    ],
)
def test_codes_above(stump, above):
    assert stump.above(4).tolist() == [bool(a) for a in above]


def test_search_finds_the_set_of_categories():
    # fractions of the positives: 1/4, 0, 3/4; of the negatives: 1/4, 1/2, 1/4
    histogram = np.array([[[0, 4, 0, 0], [1, 2, 1, 0]], [[0, 4, 0, 0], [1, 0, 3, 0]]])
    features = (number_feature("flat", np.empty(0)), FEATURES[1])
    assert StumpSearch(features).best(histogram) == Stump(1, 0, False, (2,))


def test_search_finds_nothing_where_the_classes_are_alike():
    histogram = np.array([[[0, 2, 1, 1]], [[0, 4, 2, 2]]])
    assert StumpSearch(FEATURES[:1]).best(histogram) is None
