"""A plan as plain JSON values, which ``score_row.py`` and ``score_row.js`` score rows with."""

from typing import Any

from auctor.data.features import Category
from auctor.models.export.plan import (
    Bins,
    CategoryNode,
    Constant,
    Explained,
    Forest,
    Grid,
    Leaf,
    Logistic,
    Node,
    Plan,
    Program,
    Rounded,
    Slope,
    Steps,
    Sum,
    Term,
    Times,
    Tree,
)


def plan_data(plan: Plan) -> dict[str, Any]:
    """The plan as dicts, lists, numbers and text."""
    rule = plan.probability
    return {
        "inputs": [
            {"name": name, "kind": kind, "missing": [_plain(code) for code in codes]}
            for name, kind, codes in plan.inputs
        ],
        "used": list(plan.used),
        "score": _term(plan.score),
        "probability": (
            {"slope": rule.slope, "offset": rule.offset}
            if isinstance(rule, Logistic)
            else {"scores": list(rule.scores), "probabilities": list(rule.probabilities)}
        ),
        "threshold": plan.threshold,
        "classes": list(plan.classes),
        "explained": None if plan.explained is None else _explained(plan.explained),
    }


def _explained(explained: Explained) -> dict[str, Any]:
    return {
        "reference": explained.reference,
        "constant": explained.constant,
        "base": explained.base,
        "terms": [
            {"name": name, "inputs": list(inputs), "adds": _term(adds), "average": average}
            for name, inputs, adds, average in explained.terms
        ],
    }


def _plain(value: Category) -> Category:
    """A category; a boolean is the number that it equals."""
    return int(value) if isinstance(value, bool) else value


def _bins(bins: Bins) -> dict[str, Any]:
    if bins.categories is None:
        return {"input": bins.input, "cuts": list(bins.cuts)}
    return {"input": bins.input, "categories": [_plain(value) for value in bins.categories]}


def _node(node: Node) -> Any:
    """The value of a leaf, or a list that begins with the index of the input."""
    if isinstance(node, Leaf):
        return node.value
    if isinstance(node, CategoryNode):
        categories = [_plain(value) for value in node.categories]
        return [node.input, categories, node.inside, node.outside]
    return [node.input, node.cut, node.below, node.above, node.missing]


def _term(term: Term) -> Any:
    match term:
        case Constant(value):
            return value
        case Steps(bins, values):
            return {"kind": "steps", "bins": _bins(bins), "values": list(values)}
        case Grid(first, second, values):
            rows = [list(row) for row in values]
            return {"kind": "grid", "bins": [_bins(first), _bins(second)], "values": rows}
        case Slope(j, weight, missing):
            return {"kind": "slope", "input": j, "weight": weight, "missing": missing}
        case Tree(nodes):
            return {"kind": "forest", "trees": [list(map(_node, nodes))], "aggregate": "sum"}
        case Forest(trees, aggregate):
            listed = [list(map(_node, tree.nodes)) for tree in trees]
            return {"kind": "forest", "trees": listed, "aggregate": aggregate}
        case Program(gates, final):
            return {"kind": "program", "gates": list(map(_term, gates)), "final": list(final)}
        case Sum(terms):
            return {"kind": "sum", "terms": list(map(_term, terms))}
        case Rounded(part, grid, bound):
            return {"kind": "rounded", "term": _term(part), "grid": grid, "bound": bound}
        case Times(part, weight):
            return {"kind": "times", "term": _term(part), "weight": weight}
