"""The results of trees by the operator TreeEnsembleRegressor of ONNX, exactly.

The operator compares and adds in float64 if its thresholds are float64, but its results are
float32. They are therefore whole numbers of at most 2^24, which float32 holds exactly: the number
of a leaf, which is looked up in a table of float64 afterwards, or a limb (a group of bits) of a
sum. The newer operator TreeEnsemble has results in float64, but onnxruntime 1.20, of the end of
2024, cannot run it yet.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.models.export.onnx_graph import DOUBLE, INT32, ML, Graph
from auctor.models.export.onnx_trees import Branch, Layout, Tree

_EXACT = 2**24  # float32 holds all whole numbers up to it
_MAX_BITS = 52  # of a sum of leaves in units of their common power of two
_MAX_LIMBS = 4
# Trees of one operator with a result for each tree. onnxruntime keeps 16 bytes for each thread, row
# and result, so that more of them would take much memory.
_TREES_AT_ONCE = 16
_NO_BRANCH = Branch(0, 0.0, 0, 0, False)  # what a leaf has in the fields of branches


def leaf_values(graph: Graph, rows: str, trees: Sequence[Tree], values: Floats) -> str:
    """The value of the leaf of each row in each tree, as double [N, trees].

    Leaf number i of a tree has the value ``values[i]``.
    """
    return graph.op("Gather", graph.constant(values), leaf_numbers(graph, rows, trees, len(values)))


def leaf_numbers(graph: Graph, rows: str, trees: Sequence[Tree], n_leaves: int) -> str:
    """The number of the leaf of each row in each tree, as int32 [N, trees]."""
    if n_leaves > _EXACT:
        raise ValueError(
            f"this model has a table of {n_leaves:,} values, and the trees of ONNX can tell "
            f"{_EXACT:,} apart; export it to another format"
        )
    numbers = np.arange(n_leaves)
    parts = []
    for first in range(0, len(trees), _TREES_AT_ONCE):
        some = trees[first : first + _TREES_AT_ONCE]
        weights = [numbers[:, None]] * len(some)
        parts.append(_ensemble(graph, rows, some, weights, list(range(len(some)))))
    return graph.op("Cast", graph.join(parts), to=INT32)


def exact_sum(graph: Graph, rows: str, trees: Sequence[Tree], values: Floats) -> str | None:
    """The sum over trees of the values of the leaves, as double [N, 1], exactly.

    None if the values are not multiples of a power of two with which all sums are exact.
    """
    result = split_limbs(values, len(trees))
    if result is None:
        return None
    limbs, units = result
    sums = _ensemble(graph, rows, trees, [limbs] * len(trees), [0] * len(trees))
    doubles = graph.op("Cast", sums, to=DOUBLE)
    parts = graph.split(graph.op("Mul", doubles, graph.constant(units[None, :])), len(units))
    return graph.op("Sum", *parts)


def _ensemble(
    graph: Graph,
    rows: str,
    trees: Sequence[Tree],
    weights: Sequence[Ints],
    targets: Sequence[int],
) -> str:
    """Add the operator, whose result is float [N, columns].

    Leaf number i of tree t adds the entries of ``weights[t][i]`` to the columns of the result from
    ``targets[t]`` on.
    """
    from onnx import numpy_helper

    layouts = [Layout(tree).nodes for tree in trees]
    branches = [row for t, nodes in enumerate(layouts) for row in _branches(t, nodes)]
    leaves = [
        row
        for t, nodes in enumerate(layouts)
        for row in _leaves(t, nodes, weights[t].tolist(), targets[t])
    ]
    *fields, cuts = map(list, zip(*branches, strict=True))
    *leaf_fields, added = map(list, zip(*leaves, strict=True))
    attributes: dict[str, Any] = {
        **dict(zip(_NODE_FIELDS, fields, strict=True)),
        **dict(zip(_LEAF_FIELDS, leaf_fields, strict=True)),
    }
    return graph.op(
        "TreeEnsembleRegressor",
        rows,
        domain=ML,
        n_targets=max(t + w.shape[1] for t, w in zip(targets, weights, strict=True)),
        aggregate_function="SUM",
        post_transform="NONE",
        nodes_values_as_tensor=numpy_helper.from_array(np.array(cuts)),
        target_weights_as_tensor=numpy_helper.from_array(np.array(added, dtype=np.float64)),
        **attributes,
    )


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


def _branches(tree: int, nodes: Sequence[Branch | int]) -> Iterator[tuple[Any, ...]]:
    """The entries of all nodes in ``_NODE_FIELDS``, and their cuts."""
    for number, node in enumerate(nodes):
        mode = "BRANCH_LEQ" if isinstance(node, Branch) else "LEAF"
        column, cut, yes, no, nan_is_yes = node if isinstance(node, Branch) else _NO_BRANCH
        yield tree, number, mode, column, yes, no, int(nan_is_yes), cut


def _leaves(
    tree: int, nodes: Sequence[Branch | int], weights: list[list[int]], target: int
) -> Iterator[tuple[int, ...]]:
    """The entries of the leaves in ``_LEAF_FIELDS``, and what they add."""
    for number, node in enumerate(nodes):
        if not isinstance(node, Branch):
            for k, weight in enumerate(weights[node]):
                yield tree, number, target + k, weight


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
