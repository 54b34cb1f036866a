"""Scores one row by the description of a model in ``MODEL``. It needs nothing but Python 3.10."""

import math
from bisect import bisect_left, bisect_right
from typing import Any

LARGEST_TERM = 1e300

MODEL: dict[str, Any] = {}


def score_row(row: Any, model: dict[str, Any] = MODEL) -> dict[str, Any]:
    """Score, probability, label and contributions of a row, a dict of name -> value.

    None and NaN are missing values. The contributions are None for models whose score is not a sum
    of terms; otherwise ``base`` plus their sum is the score.
    """
    values: list[Any] = [None] * len(model["inputs"])
    for j in model["used"]:
        values[j] = _read(model["inputs"][j], row)
    score = _term(model["score"], values)
    result: dict[str, Any] = {
        "score": score,
        "probability": _probability(model["probability"], score),
        "label": model["classes"][1 if score >= model["threshold"] else 0],
        "base": None,
        "contributions": None,
    }
    if model["explained"] is not None:
        result["base"] = model["explained"]["base"]
        result["contributions"] = _contributions(model["explained"], values, score)
    return result


def _read(column: dict[str, Any], row: Any) -> Any:
    """The value of a column in the row; None if it is missing."""
    name, kind = column["name"], column["kind"]
    if name not in row:
        raise ValueError(f"the row has no {name!r}; give None for a missing value")
    value = row[name]
    if value is None or value != value:
        return None
    if isinstance(value, str) != (kind == "text"):
        raise ValueError(f"{name!r} is {value!r}; give {'text' if kind == 'text' else 'a number'}")
    if kind == "number":
        value = float(value)
        if math.isinf(value):
            raise ValueError(f"{name!r} is infinite; give a finite number, or None for missing")
    return None if value in column["missing"] else value


def _term(term: Any, values: list[Any]) -> Any:
    if isinstance(term, float):
        return term
    kind = term["kind"]
    if kind == "steps":
        return term["values"][_bin(term["bins"], values)]
    if kind == "grid":
        first, second = (_bin(bins, values) for bins in term["bins"])
        return term["values"][first][second]
    if kind == "slope":
        value = values[term["input"]]
        return term["missing"] if value is None else _clip(term["weight"] * value)
    if kind == "times":
        return _clip(term["weight"] * _term(term["term"], values))
    if kind == "rounded":
        return _round(_term(term["term"], values), term["grid"], term["bound"])
    if kind == "forest":
        return _forest(term, values)
    if kind == "program":
        return _program(term, values)
    return _add([_term(part, values) for part in term["terms"]])


def _add(numbers: list[Any]) -> Any:
    # sum() of Python 3.12 corrects its rounding errors, which the model does not.
    total = numbers[0]
    for number in numbers[1:]:
        total += number
    return total


def _clip(value: float) -> float:
    return min(max(value, -LARGEST_TERM), LARGEST_TERM)


def _round(value: float, grid: float, bound: float) -> float:
    return round(value / grid) * grid if abs(value) < bound else value


def _bin(bins: Any, values: list[Any]) -> int:
    """0 for a missing value or unknown category, else the number of the bin from 1 on."""
    value = values[bins["input"]]
    if value is None:
        return 0
    if "cuts" in bins:
        return 1 + bisect_left(bins["cuts"], value)
    return 1 + bins["categories"].index(value) if value in bins["categories"] else 0


def _leaf(nodes: list[Any], values: list[Any]) -> Any:
    node = nodes[0]
    while isinstance(node, list):
        value = values[node[0]]
        if isinstance(node[1], list):
            _, categories, inside, outside = node
            node = nodes[inside if value is not None and value in categories else outside]
        elif value is None:
            node = nodes[node[4]]
        else:
            node = nodes[node[2] if value <= node[1] else node[3]]
    return node


def _forest(term: Any, values: list[Any]) -> Any:
    leaves = [_leaf(nodes, values) for nodes in term["trees"]]
    n = len(leaves)
    if term["aggregate"] == "median":
        leaves.sort()
        return (leaves[(n - 1) // 2] + leaves[n // 2]) / 2.0
    return _add(leaves) / n if term["aggregate"] == "mean" else _add(leaves)


def _program(term: Any, values: list[Any]) -> Any:
    """The expected value of the node where the row ends: chances are carried down the layers."""
    n_layers = len(term["final"]) - 1
    chance, total, first = [1.0] + [0.0] * n_layers, 0.0, 0
    for layer in range(1, n_layers + 1):
        for i in range(layer - 1, -1, -1):
            gate = term["gates"][first + i]
            if isinstance(gate, dict):
                right = chance[i] * _term(gate, values)
                chance[i + 1] += right
                chance[i] -= right
            else:
                total += chance[i] * gate
                chance[i] = 0.0
        first += layer
    for here, value in zip(chance, term["final"], strict=True):
        total += here * value
    return total


def _probability(rule: Any, score: float) -> Any:
    if "scores" in rule:
        return rule["probabilities"][max(bisect_right(rule["scores"], score) - 1, 0)]
    z = rule["slope"] * score + rule["offset"]
    decayed = math.exp(-abs(z))
    return (1.0 if z >= 0 else decayed) / (1.0 + decayed)


def _contributions(explained: Any, values: list[Any], score: float) -> dict[str, float]:
    terms = explained["terms"]
    adds = [_term(term["adds"], values) for term in terms]
    largest = max(range(len(adds)), key=lambda k: abs(adds[k]))
    for _ in range(2):  # what rounding has left over
        adds[largest] += score - (explained["constant"] + _add(adds))
    return {term["name"]: value - term["average"] for term, value in zip(terms, adds, strict=True)}
