"""Files whose features have more bins than 16 bits count: rows go where their value says."""

import numpy as np
import pytest
from models.test_linear_cost import deep_tree, many_trees, number, program, text_of

from auctor.models import from_json

CUTS = range(70_000)
FAR = 66_000  # a cut that leaves 65,536 bins and more below it


def tree():
    form, body = deep_tree(1)  # left, to the leaf of value 1, where x0 is below the cut
    body["nodes"]["cut"][0], body["nodes"]["missing"][0] = FAR + 1, 1
    return form, body


def forest():
    form, body = many_trees(1)
    body["nodes"]["cut"][0], body["nodes"]["missing"][0] = FAR + 1, 1
    return form, body


def one_layer():
    form, body = program(1)
    body["nodes"] |= {"cut": [FAR + 1], "high": [1.0]}
    body["final"] = [0.0, 1.0]
    return form, body


@pytest.mark.parametrize("make", [tree, forest, one_layer])
def test_numbers(make):
    form, body = make()
    body["features"][0] |= number("x0", CUTS)
    model = from_json(text_of(form, body))
    low, at, above, high, missing = model.decision_function(
        [[0.0], [float(FAR)], [FAR + 0.5], [1e9], [np.nan]]
    )
    assert low == at == missing < above == high


@pytest.mark.parametrize("make", [tree, forest])
def test_categories(make):
    form, body = make()
    body["features"][0] |= {"kind": "category", "categories": list(CUTS)}
    del body["features"][0]["cuts"]
    body["nodes"]["start"][0], body["nodes"]["cut"][0] = 0, 0
    body["nodes"]["table"] = [1] * (FAR + 1) + [0] * (len(CUTS) - FAR)
    model = from_json(text_of(form, body))
    scores = model.decision_function([[0.0], [FAR - 1.0], [float(FAR)], [69_999.0]])
    assert scores[0] == scores[1] < scores[2] == scores[3]
