"""The leaves of a ranking tree as rules, such as "age > 30 and town is one of a, c"."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from auctor._text import count
from auctor._typing import Bools, Ints
from auctor.data import Feature
from auctor.kernels.trees import TreeNodes
from auctor.models.tree_cells import Cells

Codes = Bools  # the codes of one feature that are allowed
Box = dict[int, Codes]  # index of a feature -> its allowed codes; all codes of other features are

# A cell can be the union of very many boxes: no more than this number are computed.
_MAX_BOXES = 12
_SHOWN_BOXES = 3
_SHOWN_CATEGORIES = 6
_SHOWN_CONDITIONS = 20


class Trees(Protocol):
    """The attributes of a `TreeModel` or `ForestModel` that the test of a node depends on."""

    @property
    def features(self) -> tuple[Feature, ...]: ...
    @property
    def nodes(self) -> TreeNodes: ...


class RankingTree(Trees, Protocol):
    """The attributes of a `TreeModel` that rules depend on."""

    @property
    def is_cell(self) -> Bools: ...
    @property
    def cells(self) -> Cells: ...


def list_rules(tree: RankingTree, leaves: Ints) -> list[str]:
    """The rule of each leaf: conditions joined by "and", boxes by "or"."""
    boxes = find_boxes(tree, set(leaves.tolist()))
    return [_describe(tree.features, boxes.get(leaf, [])) for leaf in leaves.tolist()]


def find_boxes(tree: RankingTree, leaves: set[int]) -> dict[int, list[Box]]:
    """The boxes that each leaf consists of, or the first ``_MAX_BOXES`` of them."""
    upper, lower, _ = tree.cells
    wanted = set(leaves)
    for cell in range(len(upper) - 1, -1, -1):
        if upper[cell] in wanted or lower[cell] in wanted:
            wanted.add(cell)
    boxes: dict[int, list[Box]] = {0: [{}]}
    for cell in sorted(wanted):
        if upper[cell] < 0:
            continue
        for box in boxes.pop(cell, []):
            for end, part in _follow(tree, cell, box):
                end_boxes = boxes.setdefault(end, [])
                if end in wanted and len(end_boxes) < _MAX_BOXES:
                    end_boxes.append(part)
    return boxes


def _follow(tree: RankingTree, cell: int, box: Box) -> Iterator[tuple[int, Box]]:
    """For each path through the split of a cell, where it ends and which part of the box takes it.

    Empty parts are left out.
    """
    waiting = [(cell, box)]
    while waiting:
        k, part = waiting.pop()
        if k != cell and tree.is_cell[k]:
            yield k, part
            continue
        j = int(tree.nodes.feature[k])
        allowed = part.get(j, np.ones(tree.features[j].n_bins + 1, dtype=np.bool_))
        left = codes_left(tree, k)
        # The right side first, because the last entry of the stack is visited first.
        for child, side in ((tree.nodes.right[k], ~left), (tree.nodes.left[k], left)):
            if (allowed & side).any():
                waiting.append((int(child), {**part, j: allowed & side}))


def codes_left(tree: Trees, k: int) -> Codes:
    """Which codes of its feature go left at node k."""
    nodes, n_codes = tree.nodes, tree.features[int(tree.nodes.feature[k])].n_bins + 1
    if nodes.start[k] >= 0:
        return nodes.table[nodes.start[k] :][:n_codes] == 1
    left = (np.arange(n_codes) > nodes.cut[k]) == (nodes.above[k] == 1)
    left[0] = nodes.missing[k] == 1
    return left


def _describe(features: tuple[Feature, ...], boxes: list[Box]) -> str:
    texts = [_rule(features, box) for box in boxes]
    if len(texts) > _SHOWN_BOXES:
        rest = "other" if len(texts) == _MAX_BOXES else f"{len(texts) - _SHOWN_BOXES} more"
        texts = [*texts[:_SHOWN_BOXES], f"in {rest} boxes"]
    return ", or ".join(texts)


def _rule(features: tuple[Feature, ...], box: Box) -> str:
    """The conditions of a box joined by "and"; only the first if there are very many."""
    texts = list(_conditions(features, box))
    if len(texts) > _SHOWN_CONDITIONS:
        n_more = len(texts) - _SHOWN_CONDITIONS
        texts = [*texts[:_SHOWN_CONDITIONS], count(n_more, "more condition")]
    return " and ".join(texts) or "there is no condition"


def _conditions(features: tuple[Feature, ...], box: Box) -> Iterator[str]:
    for j, codes in box.items():
        text = condition(features[j], codes)
        if text:
            yield text


def condition(feature: Feature, codes: Codes) -> str:
    """The allowed codes of a feature as a condition; empty text if all codes are allowed.

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
