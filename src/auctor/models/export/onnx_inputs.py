"""The inputs of an ONNX graph: their names and types, and their values as doubles."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from auctor._text import first_few
from auctor.data.features import Category
from auctor.models.export import plan as p
from auctor.models.export.onnx_ensemble import leaf_numbers
from auctor.models.export.onnx_graph import BOOL, DOUBLE, FLOAT, INT64, ML, STRING, Graph
from auctor.models.export.onnx_terms import Codes, Columns
from auctor.models.export.onnx_trees import Tree

TYPES = {"float64": DOUBLE, "float32": FLOAT, "int64": INT64, "bool": BOOL, "string": STRING}
# The types that an input of each kind may have.
_ALLOWED = {
    "number": ("float64", "float32", "int64", "bool"),
    "code": ("int64", "float64", "bool"),
    "text": ("string",),
}
_LARGEST_INT = 2**63 - 1


class OnnxInput(NamedTuple):
    """An input of the graph: a column of the rows, of shape [N, 1]."""

    number: int  # among the inputs of the plan
    name: str  # of the column
    onnx_name: str
    kind: str
    type: str
    categories: tuple[Category, ...]  # without those that stand for missing values


def list_inputs(
    plan: p.Plan, used: Sequence[int], input_types: str | Mapping[str, str] | None
) -> list[OnnxInput]:
    """The inputs that a graph of the plan has."""
    types = _read_types(plan, input_types)
    found = _categories(plan.score)
    names = _unique_names([plan.inputs[j].name for j in used])
    out = []
    for j, onnx_name in zip(used, names, strict=True):
        own = plan.inputs[j]
        missing = set(own.missing_codes)
        categories = tuple(value for value in found.get(j, ()) if value not in missing)
        # The categories of a tree's nodes need not be all that the column has.
        kind = types.get(own.name) or _usual_type(own, own.categories or categories)
        out.append(OnnxInput(j, own.name, onnx_name, own.kind, kind, categories))
        _check_codes(out[-1])
    return out


def _read_types(plan: p.Plan, input_types: str | Mapping[str, str] | None) -> dict[str, str]:
    """The type of each input for which one was given."""
    kinds = {own.name: own.kind for own in plan.inputs}
    if input_types is None:
        return {}
    if isinstance(input_types, str):
        if input_types not in ("float64", "float32"):
            raise ValueError(
                f"input_types is {input_types!r}; give 'float64' or 'float32' for all numbers, or "
                "a dict from names of columns to types"
            )
        return {name: input_types for name, kind in kinds.items() if kind == "number"}
    for name, given in input_types.items():
        if name not in kinds:
            raise ValueError(
                f"input_types has the name {name!r}, which is not a feature of the model; give "
                f"some of {first_few(kinds)}"
            )
        if given not in _ALLOWED[kinds[name]]:
            allowed = " or ".join(map(repr, _ALLOWED[kinds[name]]))
            raise ValueError(f"input_types[{name!r}] is {given!r}; give {allowed}")
    return dict(input_types)


def _usual_type(own: p.Input, categories: tuple[Category, ...]) -> str:
    """The type of the values that a user has."""
    if own.kind != "code":
        return "float64" if own.kind == "number" else "string"
    if all(isinstance(value, bool) for value in categories):
        return "bool"
    return "int64" if all(isinstance(value, int) for value in categories) else "float64"


def _check_codes(own: OnnxInput) -> None:
    """Check that categories which are numbers have a value in the type of the input."""
    if own.kind != "code":
        return
    for value in own.categories:
        if not _fits(value, own.type):
            raise ValueError(
                f"column {own.name!r} has the category {value!r}, which is not a value of the "
                f"type {own.type} of its ONNX input; give another type in input_types, or export "
                "the model to another format"
            )


def _fits(value: Category, kind: str) -> bool:
    if kind == "bool":
        return value in (0, 1)
    if kind == "int64":
        return value == int(value) and abs(int(value)) <= _LARGEST_INT
    return isinstance(value, float) or abs(int(value)) <= 2**53


def _unique_names(names: Sequence[str]) -> list[str]:
    """Names of inputs: those of the columns, unless ONNX runtimes cannot have them.

    A name must not be empty, and the C interface of onnxruntime ends it at the first NUL.
    """
    taken, out = set(names), []
    for k, name in enumerate(names):
        new = name
        if not name or "\0" in name:
            new = f"column_{k}"
            while new in taken:
                new += "_"
            taken.add(new)
        out.append(new)
    return out


def _categories(term: p.Term) -> dict[int, dict[Category, None]]:
    """Index of a categorical input -> all categories that the terms have, in order."""
    out: dict[int, dict[Category, None]] = {}
    for j, categories in _category_lists(term):
        out.setdefault(j, {}).update(dict.fromkeys(categories))
    return out


def _category_lists(term: p.Term) -> Any:
    match term:
        case p.Steps(bins):
            if bins.categories is not None:
                yield bins.input, bins.categories
        case p.Grid(first, second):
            for bins in (first, second):
                if bins.categories is not None:
                    yield bins.input, bins.categories
        case p.Tree(nodes):
            for node in nodes:
                if isinstance(node, p.CategoryNode):
                    yield node.input, node.categories
        case p.Forest(parts) | p.Program(parts) | p.Sum(parts):
            for part in parts:
                yield from _category_lists(part)
        case p.Rounded(part) | p.Times(part):
            yield from _category_lists(part)


def read_columns(graph: Graph, plan: p.Plan, inputs: Sequence[OnnxInput]) -> Columns:
    """The inputs as columns of doubles: numbers, NaN where missing, or codes of categories."""
    names, codes = {}, {}
    for own in inputs:
        if own.kind == "number":
            names[own.number] = _numbers(graph, own, plan.inputs[own.number].missing_codes)
        else:
            codes[own.number] = {value: code for code, value in enumerate(own.categories, start=1)}
            names[own.number] = _codes(graph, own, codes[own.number])
    return Columns(graph, names, codes)


def _numbers(graph: Graph, own: OnnxInput, missing_codes: tuple[Category, ...]) -> str:
    doubles = own.onnx_name
    if own.type != "float64":
        doubles = graph.op("Cast", doubles, to=DOUBLE)
    for code in missing_codes:
        is_missing = graph.op("Equal", doubles, graph.number(float(code)))
        doubles = graph.op("Where", is_missing, graph.number(np.nan), doubles)
    return doubles


def _codes(graph: Graph, own: OnnxInput, codes: Codes) -> str:
    """The codes of categories, 0 for other values."""
    if own.type == "float64":
        return graph.op("Cast", _find_numbers(graph, own.onnx_name, codes), to=DOUBLE)
    column = own.onnx_name
    codes = codes or {"" if own.type == "string" else 0: 0}  # an encoder must have a key
    if own.type == "string":
        keys: dict[str, Any] = {"keys_strings": list(codes)}
    else:
        keys = {"keys_int64s": [int(value) for value in codes]}
        column = graph.op("Cast", column, to=INT64) if own.type == "bool" else column
    result = graph.op(
        "LabelEncoder",
        column,
        domain=ML,
        values_int64s=list(codes.values()),
        default_int64=0,
        **keys,
    )
    return graph.op("Cast", result, to=DOUBLE)


def _find_numbers(graph: Graph, column: str, codes: Codes) -> str:
    """The codes of numbers that are compared for equality, by a binary search.

    LabelEncoder has no keys of type double in the version that older runtimes know.
    """
    tree = Tree()
    cuts: list[float] = []
    children = [tree.leaf(0)]
    for value in sorted(codes, key=float):
        below = float(np.nextafter(float(value), -np.inf))
        if not cuts or cuts[-1] < below:
            cuts.append(below)
            children.append(tree.leaf(codes[value]))
        else:  # the number before this one is a category, too
            children[-1] = tree.leaf(codes[value])
        cuts.append(float(value))
        children.append(tree.leaf(0))
    tree.root = tree.search(0, cuts, children, tree.leaf(0))
    return leaf_numbers(graph, column, [tree], len(codes) + 1)
