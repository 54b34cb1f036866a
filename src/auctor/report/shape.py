"""Facts on the model itself: a tree to draw, coefficients to list, and its text."""

from typing import Any

import numpy as np

from auctor._typing import Ints
from auctor.models import LinearModel, LinearTerm, Model, TreeModel
from auctor.models.tree_rules import codes_left, condition
from auctor.report.plain import clean

_MOST_LINES = 60
_LONGEST_LINE = 240
_MOST_TERMS = 200
_MOST_CELLS = 31  # more nodes would not fit on a screen
_LONGEST_TEST = 60


def shape_facts(model: Model) -> dict[str, Any]:
    """The type of the model, its text, and the numbers of its tree or coefficients."""
    lines = [clean(line, _LONGEST_LINE) for line in str(model).split("\n")]
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], f"... and {len(lines) - _MOST_LINES} more lines"]
    facts: dict[str, Any] = {"form": model.form, "text": lines, "tree": None, "terms": None}
    if isinstance(model, TreeModel):
        facts["tree"] = tree_cells(model)
    if isinstance(model, LinearModel):
        facts["terms"] = [_term_facts(model.columns[j]) for j in model.used[:_MOST_TERMS]]
    return facts


def _term_facts(term: LinearTerm) -> dict[str, Any]:
    """A coefficient, or the range of the contributions of categories."""
    return {
        "name": clean(term.name),
        "kind": "category" if term.is_category else "number",
        "weight": None if term.is_category else float(term.weight),
        "low": float(min(term.terms)) if term.terms else None,
        "high": float(max(term.terms)) if term.terms else None,
        "missing": float(term.missing),
    }


def tree_cells(model: TreeModel) -> list[dict[str, Any]]:
    """The first nodes of a ranking tree, level by level: their position and their counts."""
    upper, lower, depth = model.cells
    deepest = _deepest(depth)
    position = _positions(upper, lower, depth, deepest)
    shown = [cell for cell in position if depth[cell] <= deepest]
    shown.sort(key=lambda cell: (depth[cell], position[cell]))
    number = {cell: k for k, cell in enumerate(shown)}
    facts = []
    for cell in shown:
        is_open = upper[cell] >= 0 and depth[cell] < deepest
        facts.append(
            {
                "x": position[cell],
                "depth": int(depth[cell]),
                "children": [number[int(upper[cell])], number[int(lower[cell])]] if is_open else [],
                "cut_off": bool(upper[cell] >= 0 and not is_open),
                "neg": float(model.neg[cell]),
                "pos": float(model.pos[cell]),
                "score": float(model.intercept + model.value[cell]) if upper[cell] < 0 else None,
                "test": clean(_test(model, cell), _LONGEST_TEST) if is_open else "",
            }
        )
    return facts


def _deepest(depth: Ints) -> int:
    """The last level above which the tree has ``_MOST_CELLS`` nodes at most."""
    levels = np.cumsum(np.bincount(depth[depth >= 0]))
    return max(1, int(np.searchsorted(levels, _MOST_CELLS, side="right")) - 1)


def _positions(upper: Ints, lower: Ints, depth: Ints, deepest: int) -> dict[int, float]:
    """Horizontal positions: leaves at 0, 1, ..., other nodes midway between their children."""
    order, waiting = [], [0]
    position: dict[int, float] = {}
    while waiting:
        cell = waiting.pop()
        order.append(cell)
        if upper[cell] >= 0 and depth[cell] < deepest:
            waiting += [int(lower[cell]), int(upper[cell])]
        else:
            position[cell] = float(len(position))
    for cell in reversed(order):
        if cell not in position:
            children = int(upper[cell]), int(lower[cell])
            position[cell] = sum(position[child] for child in children) / 2
    return position


def _test(model: TreeModel, cell: int) -> str:
    """The condition for rows of a node to go to its left child, which has the higher scores."""
    feature = int(model.nodes.feature[cell])
    left, right = int(model.nodes.left[cell]), int(model.nodes.right[cell])
    if not (model.is_cell[left] and model.is_cell[right]):
        return f"a small tree that begins with {model.features[feature].name}"
    codes = codes_left(model, cell)
    if model.cells.upper[cell] != left:
        codes = ~codes
    return condition(model.features[feature], codes).strip("()")
