"""Models as ONNX graphs, which onnxruntime and other engines run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._files import complete_file, output_file
from auctor.models.export import plan as p
from auctor.models.export.onnx_graph import BOOL, DOUBLE, INT64, ML, STRING, Graph
from auctor.models.export.onnx_inputs import TYPES, OnnxInput, list_inputs, read_columns
from auctor.models.export.onnx_terms import Columns, Translator

# Versions that onnxruntime has known since 2022.
OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
OUTPUTS = ("score", "probability", "label")


def plan_to_onnx(
    plan: p.Plan,
    path: str | Path | None = None,
    input_types: str | Mapping[str, str] | None = None,
) -> Any:
    """The ONNX model of a plan, which is also written to ``path``; see `Model.to_onnx`."""
    _check_installed()
    if path is not None:
        output_file(path)  # raises its errors before the work
    plan = replace(plan, score=p.simplified(plan.score))
    inputs = list_inputs(plan, plan.used or (0,), input_types)
    model = _build(plan, inputs)
    if path is not None:
        with complete_file(path) as temporary:
            temporary.write_bytes(model.SerializeToString())
    return model


def _check_installed() -> None:
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(
            "to_onnx needs the package onnx; install it with pip install 'auctor[export]'"
        ) from error


def _build(plan: p.Plan, inputs: Sequence[OnnxInput]) -> Any:
    from onnx import helper

    taken = {own.onnx_name for own in inputs}
    names = [_unused(name, taken) for name in OUTPUTS]
    graph = Graph([*taken, *names])
    columns = read_columns(graph, plan, inputs)
    score = Translator(graph, columns).column(plan.score)
    classes, label_type = _classes(plan.classes)
    for name, values in (
        (names[0], score),
        (names[1], _probability(graph, score, plan.probability)),
        (names[2], _label(graph, score, plan.threshold, classes)),
    ):
        graph.op("Squeeze", values, graph.constant(np.array([1])), result=name)
    types = (DOUBLE, DOUBLE, label_type)
    model = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "auctor",
            [_value(own.onnx_name, TYPES[own.type], ["N", 1]) for own in inputs],
            [_value(name, kind, ["N"]) for name, kind in zip(names, types, strict=True)],
            graph.constants,
        ),
        producer_name="auctor",
        producer_version=_version(),
        ir_version=IR_VERSION,
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)],
    )
    helper.set_model_props(model, _metadata(plan, inputs, names))
    return model


def _version() -> str:
    from auctor import __version__

    return __version__


def _unused(name: str, taken: set[str]) -> str:
    """The name of an output, with underscores where a column has the same name."""
    while name in taken:
        name += "_"
    return name


def _value(name: str, kind: int, shape: list[Any]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, kind, shape)


def _metadata(plan: p.Plan, inputs: Sequence[OnnxInput], names: Sequence[str]) -> dict[str, str]:
    """What the model's properties say, as texts."""
    features = [
        {"name": own.name, "input": own.onnx_name, "kind": own.kind, "type": own.type}
        for own in inputs
    ]
    return {
        "auctor_version": _version(),
        "classes": json.dumps(plan.classes),
        "threshold": repr(plan.threshold),
        "inputs": json.dumps(features),
        "outputs": json.dumps(dict(zip(OUTPUTS, names, strict=True))),
    }


def _probability(graph: Graph, score: str, rule: p.Logistic | p.Lookup) -> str:
    """The probability of the positive class."""
    if isinstance(rule, p.Lookup):
        return _lookup(graph, score, rule)
    product = graph.op("Mul", score, graph.number(rule.slope))
    z = graph.op("Add", product, graph.number(rule.offset))
    # exp of a number that is not positive, so that nothing overflows.
    decayed = graph.op("Exp", graph.op("Neg", graph.op("Abs", z)))
    is_above = graph.op("GreaterOrEqual", z, graph.number(0.0))
    numerator = graph.op("Where", is_above, graph.number(1.0), decayed)
    return graph.op("Div", numerator, graph.op("Add", decayed, graph.number(1.0)))


def _lookup(graph: Graph, score: str, rule: p.Lookup) -> str:
    # A score equal to one of the list belongs to it, so the cut is the number before it.
    cuts = np.nextafter(np.array(rule.scores[1:], dtype=np.float64), -np.inf)
    first, values = rule.probabilities[0], rule.probabilities
    steps = p.Steps(p.Bins(0, tuple(cuts.tolist())), (first, *values))
    return Translator(graph, Columns(graph, {0: score}, {})).column(steps)


def _label(graph: Graph, score: str, threshold: float, classes: npt.NDArray[Any]) -> str:
    is_positive = graph.op("GreaterOrEqual", score, graph.number(threshold))
    return graph.op("Gather", graph.constant(classes), graph.op("Cast", is_positive, to=INT64))


def _classes(classes: tuple[Any, Any]) -> tuple[npt.NDArray[Any], int]:
    """The labels as an array, and the type of the output of labels."""
    if any(isinstance(label, str) for label in classes):
        return np.array([str(label) for label in classes], dtype=object), STRING
    if all(isinstance(label, bool) for label in classes):
        return np.array(classes), BOOL
    if all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in classes):
        return np.array(classes, dtype=np.int64), INT64
    return np.array(classes, dtype=np.float64), DOUBLE
