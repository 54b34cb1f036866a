"""What the model is: a tree to draw, coefficients to list, and in any case its own words."""

from typing import Any

import numpy as np

from auctor._typing import Ints
from auctor.models import LinearModel, LinearTerm, Model, TreeModel
from auctor.models.tree_rules import codes_left, condition
from auctor.report.plain import clean

_MOST_LINES = 60
_LONGEST_LINE = 240
_MOST_TERMS = 200
_MOST_CELLS = 31  # more would not fit on a screen
_LONGEST_TEST = 60


def shape_facts(model: Model) -> dict[str, Any]:
    """The form of the model, its text, and the numbers to draw it where there is a drawing."""
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
    """A coefficient, or the range of what categories add."""
    return {
        "name": clean(term.name),
        "kind": "category" if term.is_category else "number",
        "weight": None if term.is_category else float(term.weight),
        "low": float(min(term.terms)) if term.terms else None,
        "high": float(max(term.terms)) if term.terms else None,
        "missing": float(term.missing),
    }


def tree_cells(model: TreeModel) -> list[dict[str, Any]]:
    """The first cells of a ranking tree, level by level: where they stand and who is in them."""
    upper, lower, depth = model.cells
    deepest = _deepest(depth)
    place = _positions(upper, lower, depth, deepest)
    shown = [cell for cell in place if depth[cell] <= deepest]
    shown.sort(key=lambda cell: (depth[cell], place[cell]))
    number = {cell: k for k, cell in enumerate(shown)}
    facts = []
    for cell in shown:
        is_open = upper[cell] >= 0 and depth[cell] < deepest
        facts.append(
            {
                "x": place[cell],
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
    """The last level down to which no more than ``_MOST_CELLS`` cells are."""
    levels = np.cumsum(np.bincount(depth[depth >= 0]))
    return max(1, int(np.searchsorted(levels, _MOST_CELLS, side="right")) - 1)


def _positions(upper: Ints, lower: Ints, depth: Ints, deepest: int) -> dict[int, float]:
    """Leaves of the drawing from left to right 0, 1, ..., and cells midway above their two."""
    order, waiting = [], [0]
    place: dict[int, float] = {}
    while waiting:
        cell = waiting.pop()
        order.append(cell)
        if upper[cell] >= 0 and depth[cell] < deepest:
            waiting += [int(lower[cell]), int(upper[cell])]
        else:
            place[cell] = float(len(place))
    for cell in reversed(order):
        if cell not in place:
            place[cell] = (place[int(upper[cell])] + place[int(lower[cell])]) / 2
    return place


def _test(model: TreeModel, cell: int) -> str:
    """Which rows of a cell go to its better part, on the left."""
    feature = int(model.nodes.feature[cell])
    left, right = int(model.nodes.left[cell]), int(model.nodes.right[cell])
    if not (model.is_cell[left] and model.is_cell[right]):
        return f"a tree, by {model.features[feature].name} first"
    codes = codes_left(model, cell)
    if model.cells.upper[cell] != left:
        codes = ~codes
    return condition(model.features[feature], codes).strip("()")
