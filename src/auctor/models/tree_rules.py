"""The cells of a TreeModel in words."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from auctor._typing import Bools, Ints
from auctor.data import Feature

if TYPE_CHECKING:
    from auctor.models.tree import TreeModel

Codes = Bools  # the codes of one feature that are allowed
Box = dict[int, Codes]  # feature -> its codes; other features are free

# A cell of unions can be the union of very many boxes: no more of them are worked out.
_MOST_BOXES = 12
_SHOWN_BOXES = 3
_SHOWN_CATEGORIES = 6
_SHOWN_CONDITIONS = 20


def list_rules(model: "TreeModel", leaves: Ints) -> list[str]:
    """The rule of each leaf: conditions joined by "and", boxes by "or"."""
    boxes = find_boxes(model, set(leaves.tolist()))
    return [_describe(model.features, boxes.get(leaf, [])) for leaf in leaves.tolist()]


def find_boxes(model: "TreeModel", leaves: set[int]) -> dict[int, list[Box]]:
    """Boxes of the cells on the way to the leaves; at most ``_MOST_BOXES`` of each."""
    upper, lower, _ = model.cells
    wanted = set(leaves)
    for cell in range(len(upper) - 1, -1, -1):
        if upper[cell] in wanted or lower[cell] in wanted:
            wanted.add(cell)
    boxes: dict[int, list[Box]] = {0: [{}]}
    for cell in sorted(wanted):
        if upper[cell] < 0:
            continue
        for box in boxes.pop(cell, []):
            for end, part in _follow(model, cell, box):
                found = boxes.setdefault(end, [])
                if end in wanted and len(found) < _MOST_BOXES:
                    found.append(part)
    return boxes


def _follow(model: "TreeModel", cell: int, box: Box) -> Iterator[tuple[int, Box]]:
    """The parts of a box that each path through a cell's split cuts out, without empty ones."""
    waiting = [(cell, box)]
    while waiting:
        k, part = waiting.pop()
        if k != cell and model.is_cell[k]:
            yield k, part
            continue
        j = int(model.nodes.feature[k])
        allowed = part.get(j, np.ones(model.features[j].n_bins + 1, dtype=np.bool_))
        left = codes_left(model, k)
        # The right one first: what was put down last is taken up first.
        for child, side in ((model.nodes.right[k], ~left), (model.nodes.left[k], left)):
            if (allowed & side).any():
                waiting.append((int(child), {**part, j: allowed & side}))


def codes_left(model: "TreeModel", k: int) -> Codes:
    """Which codes go left at node k."""
    nodes, n_codes = model.nodes, model.features[int(model.nodes.feature[k])].n_bins + 1
    if nodes.start[k] >= 0:
        return nodes.table[nodes.start[k] :][:n_codes] == 1
    left = (np.arange(n_codes) > nodes.cut[k]) == (nodes.above[k] == 1)
    left[0] = nodes.missing[k] == 1
    return left


def _describe(features: tuple[Feature, ...], boxes: list[Box]) -> str:
    texts = [_rule(features, box) for box in boxes]
    if len(texts) > _SHOWN_BOXES:
        left = "other" if len(texts) == _MOST_BOXES else f"{len(texts) - _SHOWN_BOXES} more"
        texts = [*texts[:_SHOWN_BOXES], f"in {left} boxes"]
    return ", or ".join(texts)


def _rule(features: tuple[Feature, ...], box: Box) -> str:
    """The conditions of a box; of very many, which nobody would read, the first."""
    texts = list(_conditions(features, box))
    if len(texts) > _SHOWN_CONDITIONS:
        n_more = len(texts) - _SHOWN_CONDITIONS
        texts = [*texts[:_SHOWN_CONDITIONS], f"{n_more} more condition(s) hold"]
    return " and ".join(texts) or "anything holds"


def _conditions(features: tuple[Feature, ...], box: Box) -> Iterator[str]:
    for j, codes in box.items():
        text = condition(features[j], codes)
        if text:
            yield text


def condition(feature: Feature, codes: Codes) -> str:
    """The codes of a feature in words; nothing where all are allowed.

    Examples
    --------
    >>> from auctor.data import category_feature, number_feature
    >>> age = number_feature("age", np.array([30.0, 50.0]))
    >>> condition(age, np.array([True, False, True, True]))
    '(age > 30 or missing)'
    >>> condition(category_feature("town", ("a", "b")), np.array([False, True, False]))
    'town is a'
    >>> condition(category_feature("town", ("a", "b", "c")), np.array([True, True, False, True]))
    'town is one of a, c, missing'
    """
    known = np.flatnonzero(codes[1:])
    if len(known) == 0:
        return f"{feature.name} is missing"
    if len(known) == len(codes) - 1:
        return "" if codes[0] else f"{feature.name} is not missing"
    if feature.is_category:
        return _categories(feature, known, bool(codes[0]))
    low, high = int(known[0]), int(known[-1])
    above = f"{feature.cuts[low - 1]:.6g}" if low > 0 else ""
    up_to = f"{feature.cuts[high]:.6g}" if high < len(codes) - 2 else ""
    if not above:
        text = f"{feature.name} <= {up_to}"
    elif not up_to:
        text = f"{feature.name} > {above}"
    else:
        text = f"{above} < {feature.name} <= {up_to}"
    return f"({text} or missing)" if codes[0] else text


def _categories(feature: Feature, known: Ints, missing: bool) -> str:
    names = [str(feature.categories[i]) for i in known[:_SHOWN_CATEGORIES]]
    if len(known) > _SHOWN_CATEGORIES:
        names.append(f"{len(known) - _SHOWN_CATEGORIES} more")
    names += ["missing"] * missing
    return f"{feature.name} is {'one of ' * (len(names) > 1)}{', '.join(names)}"
