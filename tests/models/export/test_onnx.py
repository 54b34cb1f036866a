"""ONNX graphs of models and plans, run by onnxruntime: the scores of the model, bit for bit."""

import json
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
from golden.cases import CASES, messy_table
from golden.machines import stored
from hypothesis import given, settings
from hypothesis import strategies as st
from models.export.onnx_session import make_feed, open_session, properties, run_rows
from models.export.random_plans import CUTS, FORMS, INPUTS, borderline_rows, random_plan
from reference.plan import evaluate, read_row, score_row

from auctor.data import category_feature, number_feature
from auctor.models import AdditiveModel, Calibration, ScorerModel, from_json
from auctor.models.export import plan as p
from auctor.models.export.onnx import plan_to_onnx
from auctor.models.export.onnx_ensemble import split_limbs

ROWS = borderline_rows(seed=1, count=60)


def check_same(result, expected):
    scores, probabilities, labels = result
    assert scores.tolist() == [one[0] for one in expected]
    assert probabilities == pytest.approx([one[1] for one in expected], rel=1e-12)
    assert labels.tolist() == [one[2] for one in expected]


@pytest.mark.parametrize("on_grid", [True, False], ids=["exact sums", "any values"])
@pytest.mark.parametrize("form", FORMS)
def test_every_term_at_borderline_values(form, on_grid):
    plan = random_plan(form, seed=3, on_grid=on_grid)
    proto = plan_to_onnx(plan)
    onnx.checker.check_model(proto, full_check=True)
    session, expected = open_session(proto), [score_row(plan, row) for row in ROWS]
    check_same(session.run(None, make_feed(proto, ROWS)), expected)
    check_same(session.run(None, make_feed(proto, ROWS[:1])), expected[:1])
    assert [len(out) for out in session.run(None, make_feed(proto, []))] == [0, 0, 0]


@pytest.mark.parametrize("name", CASES)
def test_golden_models_of_all_forms(name):
    model = from_json(stored(name))
    X, _ = messy_table()
    rows = [dict(zip(model.feature_names, row, strict=True)) for row in X.tolist()]
    scores, probabilities, labels = run_rows(model.to_onnx(), rows)
    assert scores.tolist() == model.decision_function(X).tolist()
    assert probabilities == pytest.approx(model.predict_proba(X)[:, 1], rel=1e-12)
    assert labels.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("form", ["forest", "program"])
def test_many_rows_and_threads(form):
    plan = random_plan(form, seed=5)
    proto, rows = plan_to_onnx(plan), ROWS * 10
    one, two = (run_rows(proto, rows, threads) for threads in (1, 2))
    assert one[0].tolist() == two[0].tolist() == 10 * [score_row(plan, row)[0] for row in ROWS]


def test_float32_inputs_score_as_the_rounded_number():
    plan = replace(random_plan("steps", seed=8), inputs=(p.Input("x", "number"), *INPUTS[1:]))
    plan = replace(plan, score=p.Steps(p.Bins(0, CUTS), (9.0, *map(float, range(len(CUTS) + 1)))))
    proto = plan_to_onnx(plan, input_types="float32")
    assert proto.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT
    rows = [row for row in ROWS if row["x"] is None or not abs(row["x"]) > 3e38]
    scores, _, _ = run_rows(proto, rows)
    rounded = [{**r, "x": None if r["x"] is None else float(np.float32(r["x"]))} for r in rows]
    assert scores.tolist() == [score_row(plan, row)[0] for row in rounded]
    moved = 0
    for row, near, score in zip(rows, rounded, scores.tolist(), strict=True):
        if score != score_row(plan, row)[0]:
            moved += 1  # only if a cut lies between the number and the rounded one
            low, high = sorted([row["x"], near["x"]])
            assert any(low <= cut <= high for cut in CUTS) and high - low <= 2.0**-24 * abs(high)
    assert moved > 0


def additive(*features, classes=(0, 1), threshold=0.0, missing_codes=None):
    """Bin k of a feature adds k; missing values add 0."""
    steps = tuple(np.arange(feature.n_bins + 1.0) for feature in features)
    head = classes, threshold, Calibration(1.0, 0.0)
    return AdditiveModel(*head, features, steps, 0.0, missing_codes=missing_codes or {})


@pytest.mark.parametrize(
    ("categories", "kind", "values", "scores"),
    [
        (("a", "", "b"), "string", ["b", "", "a", "c", None], [3, 2, 1, 0, 0]),
        ((3, 2**62, 0), "int64", [2**62, 2**62 + 1, 3, None], [2, 0, 1, 0]),
        ((False, True), "bool", [True, False], [2, 1]),
        ((0.1, 2), "float64", [0.1, 2.0, np.float32(0.1), None], [1, 2, 0, 0]),
        ((True, 7), "int64", [1, 7, 0], [1, 2, 0]),
    ],
)
def test_categories_have_the_type_of_their_values(categories, kind, values, scores):
    proto = additive(category_feature("c", categories)).to_onnx()
    assert json.loads(properties(proto)["inputs"])[0]["type"] == kind
    assert run_rows(proto, [{"c": value} for value in values])[0].tolist() == scores


def test_type_of_a_column_whose_nodes_have_some_of_its_categories():
    tree = p.Tree((p.CategoryNode(0, (3,), 1, 2), p.Leaf(1.0), p.Leaf(0.0)))
    own = p.Input("c", "code", categories=(0.5, 3))
    plan = p.Plan((own,), tree, p.Logistic(1.0, 0.0), 0.0, (0, 1))
    rows = [{"c": value} for value in (3.0, 0.5, 3.5, None)]
    assert run_rows(plan_to_onnx(plan), rows)[0].tolist() == [1, 0, 0, 0]


def test_values_that_stand_for_missing_ones():
    features = number_feature("n", np.array([-20.0])), category_feature("c", ("a", "b"))
    model = additive(*features, missing_codes={"n": (-9, 4), "c": ("b",)})
    rows = [{"n": n, "c": "b"} for n in (-9.0, 4.0, -8.0, -30.0)] + [{"n": None, "c": "a"}]
    assert run_rows(model.to_onnx(), rows)[0].tolist() == [0, 0, 2, 1, 1]


def test_types_of_inputs_can_be_chosen():
    features = (
        number_feature("n", np.array([2.0**53])),
        category_feature("flag", (False, True)),
        number_feature("x", np.array([0.5])),
    )
    model = additive(*features)
    proto = model.to_onnx(input_types={"n": "int64", "flag": "float64", "x": "bool"})
    rows = [{"n": 2**53 + 2, "flag": None, "x": True}, {"n": 2**53, "flag": 1.0, "x": False}]
    assert run_rows(proto, rows)[0].tolist() == [4, 4]


@pytest.mark.parametrize(
    ("types", "words"),
    [
        ("int32", "input_types is 'int32'; give 'float64' or 'float32'"),
        ({"y": "float64"}, "'y', which is not a feature of the model; give some of 'n', 'c'"),
        ({"n": "string"}, r"input_types\['n'\] is 'string'; give 'float64' or 'float32'"),
        ({"c": "float32"}, r"input_types\['c'\] is 'float32'; give 'int64' or 'float64' or 'bool'"),
        ({"c": "bool"}, "column 'c' has the category 7, which is not a value of the type bool"),
    ],
)
def test_wrong_types_of_inputs(types, words):
    model = additive(number_feature("n", np.array([0.0])), category_feature("c", (7,)))
    with pytest.raises(ValueError, match=words):
        model.to_onnx(input_types=types)


def test_category_that_no_type_holds():
    model = additive(category_feature("c", (2**64 - 1,)))
    with pytest.raises(ValueError, match="18446744073709551615, which is not a value of the type"):
        model.to_onnx()


def test_hostile_names():
    names = ("", "score", "score_", "v1", "nul\0", "a b\n'\"", "\N{PILE OF POO}", "column_0")
    proto = additive(*(number_feature(name, np.array([0.0])) for name in names)).to_onnx()
    onnx.checker.check_model(proto, full_check=True)
    inputs = json.loads(properties(proto)["inputs"])
    assert [own["name"] for own in inputs] == list(names)
    changed = {own["name"]: own["input"] for own in inputs if own["name"] != own["input"]}
    assert changed == {"": "column_0_", "nul\0": "column_4"}
    outputs = {"score": "score__", "probability": "probability", "label": "label"}
    assert json.loads(properties(proto)["outputs"]) == outputs
    assert [own.name for own in proto.graph.output] == list(outputs.values())
    rows = [dict.fromkeys(names, -1.0) | {name: 1.0} for name in names]
    assert run_rows(proto, rows)[0].tolist() == [len(names) + 1.0] * len(names)


@pytest.mark.parametrize(
    "classes", [("no", "yes"), (0, 1), (False, True), (-1.5, 2.25), (2**63, 1)], ids=str
)
def test_labels_at_the_threshold(classes):
    model = additive(number_feature("n", np.array([0.0])), classes=classes, threshold=2.0)
    proto = model.to_onnx()
    labels = run_rows(proto, [{"n": -1.0}, {"n": 1.0}])[2]
    assert labels.tolist() == list(classes)
    if all(isinstance(label, (bool, str)) for label in classes) or classes == (0, 1):
        assert [type(label) for label in labels.tolist()] == [type(label) for label in classes]


def test_only_columns_that_change_the_score_are_inputs():
    flat = number_feature("flat", np.array([0.0]))
    model = additive(number_feature("a", np.array([0.0])), flat, category_feature("empty", ()))
    model = replace(model, steps=(model.steps[0], np.ones(3), np.zeros(1)))
    assert [own.name for own in model.to_onnx().graph.input] == ["a"]
    constant = replace(model, steps=(np.zeros(3), np.ones(3), np.zeros(1)))
    assert run_rows(constant.to_onnx(), [{"a": None}, {"a": 3.0}])[0].tolist() == [1.0, 1.0]


def test_metadata_and_versions():
    proto = additive(number_feature("n", np.array([0.0])), threshold=0.1).to_onnx()
    words = properties(proto)
    assert (words["threshold"], words["classes"]) == ("0.1", "[0, 1]")
    assert json.loads(words["inputs"]) == [
        {"name": "n", "input": "n", "kind": "number", "type": "float64"}
    ]
    assert {own.domain: own.version for own in proto.opset_import} == {"": 17, "ai.onnx.ml": 3}
    assert (proto.ir_version, proto.producer_name) == (8, "auctor")


def test_file_is_written_whole(tmp_path):
    model = additive(number_feature("n", np.array([0.0])))
    proto = model.to_onnx(tmp_path / "model.onnx")
    assert (tmp_path / "model.onnx").read_bytes() == proto.SerializeToString()
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]
    with pytest.raises(IsADirectoryError):
        model.to_onnx(tmp_path)


def test_model_that_cannot_be_saved():
    model = ScorerModel((0, 1), 0.0, Calibration(1.0, 0.0), ("a",), (len,), np.ones(1), 0.0)
    with pytest.raises(ValueError, match="a model file cannot hold"):
        model.to_onnx()


def test_missing_package_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'auctor\[export\]'"):
        additive(number_feature("n", np.array([0.0]))).to_onnx()


whole = st.integers(-(2**40), 2**40)


@given(st.lists(whole, min_size=1, max_size=20), st.integers(0, 40), st.integers(1, 3000))
@settings(max_examples=40)
def test_limbs_add_up_exactly(numbers, exponent, n_trees):
    values = np.ldexp(np.array(numbers, dtype=np.float64), -exponent)
    result = split_limbs(values, n_trees)
    if result is None:
        largest = np.abs(numbers).max() * n_trees
        assert largest >= 2**52 or np.abs(numbers).max() >= 2 ** (4 * (24 - n_trees.bit_length()))
        return
    limbs, units = result
    assert (limbs @ units).tolist() == values.tolist()
    assert np.abs(limbs).max() * n_trees <= 2**24


def test_values_without_a_common_grid_have_no_limbs():
    assert split_limbs(np.array([0.1, 1e-30]), 2) is None
    assert split_limbs(np.array([2.0**51, 1.0]), 2) is None


def test_reference_reads_rows_as_the_graph_does():
    """The witness of these tests: a threshold is in the bin below it, and its neighbour is not."""
    steps = p.Steps(p.Bins(0, (0.1,)), (0.0, 1.0, 2.0))
    plan = p.Plan(INPUTS, steps, p.Logistic(1.0, 0.0), 0.0, (0, 1))
    rows = [{**ROWS[0], "x": x} for x in (0.1, float(np.nextafter(0.1, 1.0)))]
    assert [evaluate(steps, read_row(plan, row)) for row in rows] == [1.0, 2.0]
