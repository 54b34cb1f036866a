"""Stumps: which codes lie above, and how they read."""

import numpy as np
import pytest

from auctor.data import category_feature, number_feature
from auctor.weak.stump import Stump, StumpSearch

FEATURES = (
    number_feature("age", np.array([20.0, 40.5])),
    category_feature("town", ("north", "south")),
)


@pytest.mark.parametrize(
    ("stump", "above", "words"),
    [
        (Stump(0, 1, False), [0, 0, 1, 1], "age > 20"),
        (Stump(0, 2, True), [1, 0, 0, 1], "age > 40.5 or missing"),
        (Stump(0, 3, True), [1, 0, 0, 0], "age is missing"),
        (Stump(1, 0, False, (2,)), [0, 0, 1, 0], "town is south"),
        (Stump(1, 0, True, (0, 1)), [1, 1, 0, 0], "town is missing or north"),
    ],
)
def test_codes_above_and_words(stump, above, words):
    assert stump.above(4).tolist() == [bool(a) for a in above]
    assert stump.describe(FEATURES) == words


def test_search_finds_the_set_of_categories():
    # shares of the positives: 1/4, 0, 3/4; of the negatives: 1/4, 1/2, 1/4
    histogram = np.array([[[0, 4, 0, 0], [1, 2, 1, 0]], [[0, 4, 0, 0], [1, 0, 3, 0]]])
    features = (number_feature("flat", np.empty(0)), FEATURES[1])
    assert StumpSearch(features).best(histogram) == Stump(1, 0, False, (2,))


def test_search_finds_nothing_where_the_classes_are_alike():
    histogram = np.array([[[0, 2, 1, 1]], [[0, 4, 2, 2]]])
    assert StumpSearch(FEATURES[:1]).best(histogram) is None
