"""TreeModel: saved, loaded, printed, and hostile files refused."""

import json

import numpy as np
import pytest
from models.test_linear_cost import deep_tree, number, text_of

from auctor.data import prepare
from auctor.learners.trees.treerank import TreeRankSettings, fit_treerank
from auctor.models import from_json, to_json
from auctor.models.serialization import checksum
from auctor.models.tree_rules import find_boxes
from auctor.testing import contracts

KINDS = {
    "stump": TreeRankSettings(max_depth=4),
    "tree": TreeRankSettings(max_depth=3, split="tree"),
}


def fit(kind):
    X, y = contracts.messy_table(0, n_rows=200)
    return fit_treerank(prepare(X, y, categorical_features=[4]), KINDS[kind])[0]


@pytest.fixture(scope="module", params=KINDS)
def model(request):
    return fit(request.param)


@pytest.fixture(scope="module")
def unions():
    return fit("tree")


def test_saved_model_scores_the_same(model, tmp_path):
    contracts.check_saved_model(model, contracts.messy_table(1)[0], tmp_path)


def test_counts_are_those_of_the_rows(model):
    X, y = contracts.messy_table(0, n_rows=200)
    scores = model.decision_function(X)
    for leaf in model.leaves:
        here = scores == model.intercept + model.value[leaf]
        assert (model.neg[leaf], model.pos[leaf]) == ((here & ~y).sum(), (here & y).sum())


def test_probabilities_rank_as_scores_do(model):
    X, _ = contracts.messy_table(3, n_rows=300)
    scores, p = model.decision_function(X), model.predict_proba(X)
    assert np.array_equal(
        np.unique(scores, return_inverse=True)[1], np.unique(p[:, 1], return_inverse=True)[1]
    )
    assert p.sum(axis=1) == pytest.approx(np.ones(300))


def test_unseen_categories_and_missing_values_score_alike(model):
    X, _ = contracts.messy_table(3, n_rows=100)
    unseen, missing = X.copy(), X.copy()
    unseen[:, 4], missing[:, 4] = 99.0, np.nan
    scores = model.decision_function(unseen)
    assert np.array_equal(scores, model.decision_function(missing))


def test_printing_lists_the_cells_best_first(model):
    text = str(model).splitlines()
    assert f"{len(model.leaves)} leaves, from the highest score to the lowest" in text[0]
    scores = [float(line.split()[1].rstrip(":")) for line in text[2:]]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == len(model.leaves)
    assert all(" rows are True where " in line for line in text[2:])


def test_long_models_print_in_short():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 3))
    y = rng.random(3000) < 0.5
    model, *_ = fit_treerank(prepare(X, y), TreeRankSettings(max_depth=8))
    assert str(model).endswith(f"... and {len(model.leaves) - 40} more leaves")


def test_boxes_are_the_cells(model):
    """Every combination of codes lies in a box of its own leaf and of no other."""
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, f.n_bins + 1, size=500) for f in model.features])
    leaf = model.apply(codes.astype(np.uint16))
    boxes = find_boxes(model, set(model.leaves.tolist()))
    assert max(map(len, boxes.values())) < 12, "as many boxes as are worked out: some may lack"
    for k, leaf_boxes in boxes.items():
        inside = np.zeros(500, dtype=bool)
        for box in leaf_boxes:
            inside |= np.all([allowed[codes[j]] for j, allowed in box.items()], axis=0)
        assert np.array_equal(inside, leaf == k)


def test_arrays_are_frozen(model):
    with pytest.raises(ValueError, match="read-only"):
        model.value[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        model.nodes.left[0] = 0


def spoil(model, change):
    """The text of a file with one change and a checksum that fits."""
    content = json.loads(to_json(model))
    change(content["body"])
    content["sha256"] = checksum(content)
    return json.dumps(content)


def put(name, value, at=0):
    return lambda body: body["nodes"][name].__setitem__(at, value)


def make_inner_shared(body):
    """Both sides of the root lead to the same inner node."""
    nodes = body["nodes"]
    inner = nodes["cell"].index(0)
    nodes["left"][0] = nodes["right"][0] = inner


def last_leaf(body):
    return len(body["nodes"]["feature"]) - 1


# What is changed, and the field that the error names.
HOSTILE = {
    "feature too large": ("feature", put("feature", 99)),
    "feature below -1": ("feature", put("feature", -2)),
    "feature no whole number": ("feature", put("feature", 0.5)),
    "feature as text": ("feature", put("feature", "0")),
    "cut too large": ("cut", put("cut", 10**6)),
    "cut negative": ("cut", put("cut", -1)),
    "cut beyond whole numbers": ("cut", put("cut", 1e200)),
    "above no flag": ("above", put("above", 2)),
    "missing no flag": ("missing", put("missing", -1)),
    "table no flag": ("table", put("table", 3)),
    "start beyond the table": ("start", put("start", 10**6)),
    "start of a number": ("start", put("start", 0)),
    "a cycle": ("left", put("left", 0)),
    "a child before its parent": ("right", put("right", 0, at=1)),
    "a child out of range": ("right", put("right", 10**6)),
    "a child of a leaf": ("left", lambda b: b["nodes"]["left"].__setitem__(last_leaf(b), 1)),
    "no child": ("left", put("left", -1)),
    "both children alike": ("cell", lambda b: put("left", b["nodes"]["right"][0])(b)),
    "an inner node twice": ("cell", make_inner_shared),
    "the root no cell": ("cell", put("cell", 0)),
    "a leaf no cell": ("cell", lambda b: b["nodes"]["cell"].__setitem__(last_leaf(b), 0)),
    "all nodes cells": ("cell", lambda b: b["nodes"].__setitem__("cell", [1] * (last_leaf(b) + 1))),
    "value huge": ("value", put("value", 1e299)),
    "value beyond floats": ("value", put("value", 1e308)),
    "values alike": (
        "value",
        lambda b: b["nodes"].__setitem__("value", [1.0] * (last_leaf(b) + 1)),
    ),
    "values infinite": ("intercept", lambda b: b.__setitem__("intercept", 1e305)),
    "intercept swallows values": ("value", lambda b: b.__setitem__("intercept", 1e60)),
    "probability above 1": (
        "probability",
        lambda b: b["nodes"].__setitem__("probability", [1.5] * (last_leaf(b) + 1)),
    ),
    "probability against the order": (
        "probability",
        lambda b: b["nodes"].update(probability=[1 - p for p in b["nodes"]["probability"]]),
    ),
    "negative weight": ("neg", put("neg", -1.0)),
    "a node less": ("cut", lambda b: b["nodes"]["cut"].pop()),
    "a weight less": ("pos", lambda b: b["nodes"]["pos"].pop()),
    "no nodes": ("feature", lambda b: [column.clear() for column in b["nodes"].values()]),
    "a column less": ("left", lambda b: b["nodes"].pop("left")),
    "a column more": ("extra", lambda b: b["nodes"].__setitem__("extra", [])),
    "table too short": ("start", lambda b: b["nodes"]["table"].clear()),
    "no features": ("feature", lambda b: b["features"].clear()),
    "feature without cuts": ("cuts", lambda b: b["features"][0].pop("cuts")),
    "cuts in disorder": ("cuts", lambda b: b["features"][0].__setitem__("cuts", [2.0, 1.0])),
    "nodes a list": ("nodes", lambda b: b.__setitem__("nodes", [])),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(unions, case):
    name, change = HOSTILE[case]
    with pytest.raises(ValueError, match=rf"model file: .*{name}"):
        from_json(spoil(unions, change))


def test_a_very_deep_file_is_no_trouble():
    """A chain of many nodes is walked without recursion."""
    content = json.loads(to_json(fit("stump")))
    n = 2000
    first = next(j for j, f in enumerate(content["body"]["features"]) if f.get("cuts"))
    inner, leaf = [1, 0] * n + [0], [0, 1] * n + [1]
    content["body"]["nodes"] = {
        "feature": [first if i else -1 for i in inner],
        "cut": [1 if i else 0 for i in inner],
        "above": [0] * (2 * n + 1),
        "missing": [0] * (2 * n + 1),
        "start": [-1] * (2 * n + 1),
        "table": [],
        "left": [k + 1 if i else -1 for k, i in enumerate(inner)],
        "right": [k + 2 if i else -1 for k, i in enumerate(inner)],
        "cell": [1] * (2 * n + 1),
        "neg": [1.0] * (2 * n + 1),
        "pos": [1.0] * (2 * n + 1),
        "value": [float(-k) if is_leaf else 0.0 for k, is_leaf in enumerate(leaf)],
        "probability": [0.5] * (2 * n + 1),
    }
    content["sha256"] = checksum(content)
    model = from_json(json.dumps(content))
    assert len(model.leaves) == n + 1
    assert "tree of depth 2000" in str(model)


def test_the_helper_itself_spoils_nothing(model):
    assert contracts.same_model(from_json(spoil(model, lambda b: None)), model)


def test_a_rule_of_very_many_conditions_is_cut_short():
    """A file of a thousand tests, one behind the other, prints in some lines that one can read."""
    form, body = deep_tree(1000)
    body["features"] = [number(f"x{j}") for j in range(1000)]
    is_inner = [k % 2 == 0 and k < 2000 for k in range(2001)]
    body["nodes"]["feature"] = [k // 2 if inner else -1 for k, inner in enumerate(is_inner)]
    body["nodes"]["cut"] = [int(inner) for inner in is_inner]
    text = str(from_json(text_of(form, body)))
    assert "(x0 > 0 or missing) and (x1 > 0 or missing) and " in text
    assert "and 980 more conditions" in text
    assert len(text) < 50_000
