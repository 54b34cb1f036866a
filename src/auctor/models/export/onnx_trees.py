"""Trees as the operator TreeEnsembleRegressor of ONNX, exactly.

The operator compares and adds in float64 if its thresholds are float64, but its results are
float32. They are therefore whole numbers below 2^24, which float32 holds exactly: the index of a
leaf, which is looked up in a table of float64 afterwards, or a group of the bits of a sum.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.models.export.onnx_graph import DOUBLE, INT32, ML, Graph

_EXACT = 2**24  # float32 holds all whole numbers up to it
_MAX_BITS = 52  # of a sum of leaves in units of their common grid
_MAX_LIMBS = 4
# Trees of one operator with a result for each tree. onnxruntime keeps 16 bytes for each thread, row
# and result, so that more of them take much memory.
_TREES_AT_ONCE = 16


class Test(NamedTuple):
    """A node that sends rows to ``yes`` if their column is at most ``cut``, others to ``no``.

    NaN goes to ``yes`` if ``nan_is_yes``. The children are numbers of nodes.
    """

    column: int
    cut: float
    yes: int
    no: int
    nan_is_yes: bool


@dataclass
class Tree:
    """A tree under construction: tests and leaves, in which nodes may share children.

    A leaf is a whole number, for instance the index of a value.
    """

    nodes: list[Test | int] = field(default_factory=list)
    root: int = 0
    _leaves: dict[int, int] = field(default_factory=dict)

    def add(self, test: Test) -> int:
        """Add a test, and return the number of its node."""
        self.nodes.append(test)
        return len(self.nodes) - 1

    def leaf(self, leaf: int) -> int:
        """The number of the node of a leaf, which is added if it is not there yet."""
        if leaf not in self._leaves:
            self._leaves[leaf] = len(self.nodes)
            self.nodes.append(leaf)
        return self._leaves[leaf]

    def search(
        self, column: int, cuts: Sequence[float], children: Sequence[int], missing: int | None
    ) -> int:
        """Add a binary search among the intervals between cuts, and return the number of its root.

        ``children`` has one node for each interval, which includes its upper end. NaN goes to
        ``missing``; it is None for columns without NaN.
        """
        differs = [k for k in range(len(cuts)) if children[k] != children[k + 1]]
        kept = [children[k] for k in differs] + [children[-1]]
        if missing is not None and missing != kept[-1]:
            # NaN is not at most a cut. It arrives in the last interval, like large numbers.
            kept[-1] = self.add(Test(column, np.inf, kept[-1], missing, False))
        return self._halve(column, [cuts[k] for k in differs], kept)

    def _halve(self, column: int, cuts: list[float], children: list[int]) -> int:
        if not cuts:
            return children[0]
        middle = len(cuts) // 2
        yes = self._halve(column, cuts[:middle], children[: middle + 1])
        no = self._halve(column, cuts[middle + 1 :], children[middle + 1 :])
        return self.add(Test(column, cuts[middle], yes, no, False))


class _Layout:
    """The nodes of a tree in an order that onnxruntime accepts.

    It places the child ``no`` right behind its parent, and only the child ``yes`` may be that of
    several nodes. Leaves are copied. A shared node that is the child ``no`` of one more node is
    reached by a test that every row passes.
    """

    def __init__(self, tree: Tree) -> None:
        self.nodes: list[Test | int] = []
        self._tree = tree
        self._placed: dict[int, int] = {}
        stack = [(tree.root, -1, True)]
        while stack:
            number, parent, is_yes = stack.pop()
            position = self._place(number, is_yes)
            if parent >= 0:
                self._link(parent, is_yes, position)
            node = tree.nodes[number]
            if position == len(self.nodes) - 1 and isinstance(node, Test):
                stack += [(node.yes, position, True), (node.no, position, False)]

    def _place(self, number: int, is_yes: bool) -> int:
        node, position = self._tree.nodes[number], len(self.nodes)
        if isinstance(node, int):
            self.nodes.append(node)
        elif number not in self._placed:
            self._placed[number] = position
            self.nodes.append(node)
        elif is_yes:
            return self._placed[number]
        else:
            self.nodes += [Test(0, np.inf, self._placed[number], position + 1, True), 0]
        return position

    def _link(self, parent: int, is_yes: bool, child: int) -> None:
        node = self.nodes[parent]
        assert isinstance(node, Test)
        self.nodes[parent] = node._replace(**{"yes" if is_yes else "no": child})


def _ensemble(
    graph: Graph, rows: str, trees: Iterable[Tree], weights: Ints, apart: bool
) -> tuple[str, int]:
    """Add a TreeEnsembleRegressor; returns its result and the number of columns of the result.

    Leaf number i adds ``weights[i]`` to the columns of the result. With ``apart`` each tree has a
    column of its own, and ``weights`` has one column.
    """
    from onnx import numpy_helper

    columns: dict[str, list[Any]] = {name: [] for name in _NODE_FIELDS}
    targets: dict[str, list[Any]] = {name: [] for name in _LEAF_FIELDS}
    cuts: list[float] = []
    added: list[float] = []
    n_trees = 0
    for number, tree in enumerate(trees):
        n_trees += 1
        for position, node in enumerate(_Layout(tree).nodes):
            test = node if isinstance(node, Test) else _NO_TEST
            mode = "BRANCH_LEQ" if isinstance(node, Test) else "LEAF"
            row = (number, position, mode, test.column, test.yes, test.no, int(test.nan_is_yes))
            for name, value in zip(_NODE_FIELDS, row, strict=True):
                columns[name].append(value)
            cuts.append(test.cut)
            if isinstance(node, Test):
                continue
            for limb, weight in enumerate(weights[node].tolist()):
                leaf = (number, position, number if apart else limb)
                for name, value in zip(_LEAF_FIELDS, leaf, strict=True):
                    targets[name].append(value)
                added.append(float(weight))
    n_targets = n_trees if apart else weights.shape[1]
    result = graph.op(
        "TreeEnsembleRegressor",
        rows,
        domain=ML,
        n_targets=n_targets,
        aggregate_function="SUM",
        post_transform="NONE",
        nodes_values_as_tensor=numpy_helper.from_array(np.array(cuts)),
        target_weights_as_tensor=numpy_helper.from_array(np.array(added)),
        **columns,
        **targets,
    )
    return result, n_targets


_NO_TEST = Test(0, 0.0, 0, 0, False)
_NODE_FIELDS = (
    "nodes_treeids",
    "nodes_nodeids",
    "nodes_modes",
    "nodes_featureids",
    "nodes_truenodeids",
    "nodes_falsenodeids",
    "nodes_missing_value_tracks_true",
)
_LEAF_FIELDS = ("target_treeids", "target_nodeids", "target_ids")


def leaf_numbers(graph: Graph, rows: str, trees: Sequence[Tree], n_leaves: int) -> str:
    """The number of the leaf of each row in each tree, as int32 [N, trees]."""
    if n_leaves > _EXACT:
        raise ValueError(
            f"this model has a table of {n_leaves:,} values, and the trees of ONNX can tell "
            f"{_EXACT:,} apart; export it to another format"
        )
    weights = np.arange(n_leaves).reshape(-1, 1)
    parts = [
        _ensemble(graph, rows, trees[first : first + _TREES_AT_ONCE], weights, apart=True)[0]
        for first in range(0, len(trees), _TREES_AT_ONCE)
    ]
    return graph.op("Cast", graph.join(parts), to=INT32)


def leaf_values(graph: Graph, rows: str, trees: Sequence[Tree], values: Floats) -> str:
    """The value of the leaf of each row in each tree, as double [N, trees]."""
    return graph.op("Gather", graph.constant(values), leaf_numbers(graph, rows, trees, len(values)))


def exact_sum(graph: Graph, rows: str, trees: Sequence[Tree], values: Floats) -> str | None:
    """The sum over trees of the values of the leaves, as double [N, 1], exactly.

    None if the values are not multiples of a power of two with which all sums are exact.
    """
    limbs = split_limbs(values, len(trees))
    if limbs is None:
        return None
    weights, units = limbs
    sums, n_limbs = _ensemble(graph, rows, trees, weights, apart=False)
    doubles = graph.op("Cast", sums, to=DOUBLE)
    parts = graph.split(graph.op("Mul", doubles, graph.constant(units[None, :])), n_limbs)
    return parts[0] if n_limbs == 1 else graph.op("Sum", *parts)


def split_limbs(values: Floats, n_trees: int) -> tuple[Ints, Floats] | None:
    """Numbers as sums of whole numbers times units, such that sums of ``n_trees`` are exact.

    Returns the whole numbers (values, limbs) and the unit of each limb, a power of two. The sum of
    ``n_trees`` of the whole numbers is at most 2^24 in size. The result is None if sums of the
    values themselves need not be exact in float64, or if that takes more than four limbs.

    Examples
    --------
    >>> split_limbs(np.array([0.5, -0.25, 3.0]), 10)
    (array([[ 2], [-1], [12]]), array([0.25]))
    """
    scale = _common_scale(values)
    largest = 0.0 if scale is None else float(np.abs(values).max() * scale)
    if scale is None or largest * n_trees >= 2.0**_MAX_BITS:
        return None
    width = 24 - (n_trees - 1).bit_length()  # limbs are at most 2^width in size
    if width < 1:
        return None
    rest = np.rint(values * scale).astype(np.int64)
    limbs: list[Ints] = []
    while rest.any() or not limbs:
        if len(limbs) == _MAX_LIMBS:
            return None
        # From -2^width to 2^width - 1, so that the limbs of small negative numbers are small.
        low = (rest + 2**width) % 2 ** (width + 1) - 2**width
        limbs.append(low)
        rest = (rest - low) >> (width + 1)
    units = np.ldexp(1.0 / scale, (width + 1) * np.arange(len(limbs)))
    return np.column_stack(limbs), units


def _common_scale(values: Floats) -> float | None:
    """The smallest power of two that makes all values whole numbers; None if it is above 2^60."""
    exponent = 0
    while (np.rint(values) != values).any():
        exponent += 1
        values = values * 2.0
        if exponent > 60:
            return None
    return float(2.0**exponent)
