"""The work of loading, printing, scoring and saving a file grows in proportion to its size.

Calls of functions are counted instead of seconds: the count is the same on every machine.
"""

import json
import sys

import numpy as np
import pytest

from auctor.models import ExplainedModel, from_json, to_json
from auctor.models.serialization import checksum


def number(name, cuts=(0.0,)):
    return {"name": name, "kind": "number", "cuts": list(cuts)}


def additive(features, surfaces=()):
    steps = [{**f, "missing": 0.0, "steps": list(range(len(f["cuts"]) + 1))} for f in features]
    body = {"intercept": 0.0, "features": steps}
    return "additive", {**body, "surfaces": list(surfaces)} if surfaces else body


def surface(pair, axes):
    size = (len(axes[0]["cuts"]) + 2) * (len(axes[1]["cuts"]) + 2)
    return {"features": list(pair), "axes": axes, "values": list(range(size))}


def many_features(n):
    return additive([number(f"x{j}") for j in range(n)])


def many_cuts(n):
    return additive([number("x0", range(n))])


def surfaces_of_many_pairs(n):
    features = [number(f"x{j}") for j in range(n // 20)]
    pairs = [(a, b) for a in range(n // 20) for b in range(a)][:n]
    return additive(features, [surface(p, [features[j] for j in p]) for p in pairs])


def surfaces_of_one_pair(n):
    features = [number("x0"), number("x1")]
    axes = [[number("x0", [k]), number("x1")] for k in range(n)]
    return additive(features, [surface((0, 1), pair) for pair in axes])


def many_columns(n):
    terms = [{"name": f"x{j}", "kind": "number", "weight": 1.0, "missing": 0.0} for j in range(n)]
    return "linear", {"intercept": 0.0, "columns": terms}


def nodes(feature, left, right):
    rest = {"start": [-1] * len(feature), "table": []}
    flags = {name: [0] * len(feature) for name in ("cut", "above", "missing")}
    return {"feature": feature, **flags, **rest, "left": left, "right": right}


def deep_tree(n):
    """Every right child is split again."""
    feature = [0, -1] * n + [-1]
    left = [k + 1 if k % 2 == 0 else -1 for k in range(2 * n)] + [-1]
    right = [k + 2 if k % 2 == 0 else -1 for k in range(2 * n)] + [-1]
    size = 2 * n + 1
    floats = {"neg": [1.0] * size, "pos": [1.0] * size, "value": list(range(size))}
    rising = {"probability": [k / size for k in range(size)], "cell": [1] * size}
    body = {**nodes(feature, left, right), **floats, **rising}
    return "tree", {"intercept": 0.0, "features": [number("x0")], "nodes": body}


def many_trees(n):
    roots = range(0, 3 * n, 3)
    feature, rank = [0, -1, -1] * n, [0.0, 0.0, 1.0] * n
    left = [child for root in roots for child in (root + 1, -1, -1)]
    right = [child for root in roots for child in (root + 2, -1, -1)]
    body = {**nodes(feature, left, right), "rank": rank}
    features = [{**number("x0"), "importance": 1.0}]
    head = {"intercept": 0.0, "aggregate": "mean", "features": features}
    return "forest", {**head, "roots": list(roots), "nodes": body}


def program(n):
    layers = int((2 * n) ** 0.5)
    size = layers * (layers + 1) // 2
    body = {name: [0] * size for name in ("feature", "cut", "low", "high", "missing", "value")}
    body |= {"start": [-1] * size, "table": []}
    features = [number("x0")]
    head = {"intercept": 0.0, "n_layers": layers, "final": [0.0] * (layers + 1)}
    return "program", {**head, "features": features, "nodes": body}


def many_covers(n):
    form, body = many_trees(n)
    body["nodes"]["cover"] = [2.0, 1.0, 1.0] * n
    return form, body


def many_parts(n):
    makers = many_features, many_trees, many_columns, many_covers
    parts = [make(1) for _ in range(n // 4) for make in makers]
    parts = [{"form": form, "weight": 1.0, "body": body} for form, body in parts]
    return "sum", {"intercept": 0.0, "parts": parts}


def parts_of_many_features(n):
    parts = [make(n) for make in (many_features, many_columns)]
    parts = [{"form": form, "weight": 0.5, "body": body} for form, body in parts]
    return "sum", {"intercept": 0.0, "parts": parts}


def parts_of_many_surfaces(n):
    form, body = surfaces_of_many_pairs(n)
    return "sum", {"intercept": 0.0, "parts": [{"form": form, "weight": 1.0, "body": body}] * 2}


FILES = (
    many_features,
    many_cuts,
    surfaces_of_many_pairs,
    surfaces_of_one_pair,
    many_columns,
    deep_tree,
    many_trees,
    program,
    many_covers,
    many_parts,
    parts_of_many_features,
    parts_of_many_surfaces,
)


def text_of(form, body):
    content = {"format": "auctor-model", "version": 1, "form": form, "classes": [0, 1]}
    content |= {"threshold": 0.0, "calibration": {"slope": 1.0, "offset": 0.0}, "body": body}
    return json.dumps({**content, "sha256": checksum(content)})


def use(text):
    model = from_json(text)
    str(model)
    to_json(model)
    model.decision_function(np.zeros((1, len(model.feature_names))))
    if isinstance(model, ExplainedModel) and model.why_unexplained is None:
        model.contributions(np.zeros((1, len(model.feature_names))))


def count_calls(text):
    calls = 0

    def count(frame, event, argument):
        nonlocal calls
        calls += event in ("call", "c_call")

    previous = sys.getprofile()
    sys.setprofile(count)
    try:
        use(text)
    finally:
        sys.setprofile(previous)
    return calls


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_twice_the_file_is_twice_the_work(make):
    texts = [text_of(*make(n)) for n in (200, 400)]
    use(texts[0])  # compiles
    few, many = map(count_calls, texts)
    assert many < 2.2 * few * (len(texts[1]) / (2 * len(texts[0])))
