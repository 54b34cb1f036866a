"""The nodes of a model's trees as those of a plan."""

from auctor._typing import Floats, Ints
from auctor.data.features import Feature
from auctor.kernels.trees import TreeNodes
from auctor.models.export.plan import CategoryNode, Leaf, Node, NumberNode, Tree


def plan_trees(
    features: tuple[Feature, ...], nodes: TreeNodes, roots: Ints, values: Floats
) -> tuple[Tree, ...]:
    """The trees that begin at ``roots``; ``values`` has the value of each leaf."""
    plain = [_node(features, nodes, values, k) for k in range(len(nodes.feature))]
    ends = [*roots.tolist()[1:], len(plain)]
    return tuple(
        Tree(tuple(_moved(node, start) for node in plain[start:end]))
        for start, end in zip(roots.tolist(), ends, strict=True)
    )


def _node(features: tuple[Feature, ...], nodes: TreeNodes, values: Floats, k: int) -> Node:
    j, left, right = int(nodes.feature[k]), int(nodes.left[k]), int(nodes.right[k])
    if j < 0:
        return Leaf(float(values[k]))
    feature = features[j]
    if feature.is_category:
        return _category_node(feature, nodes, k)
    above, below = (left, right) if nodes.above[k] == 1 else (right, left)
    missing = left if nodes.missing[k] == 1 else right
    code = int(nodes.cut[k])
    # A cut before the first bin or after the last one leaves one side empty.
    if code == 0:
        return NumberNode(j, 0.0, above, above, missing)
    if code >= feature.n_bins:
        return NumberNode(j, 0.0, below, below, missing)
    return NumberNode(j, float(feature.cuts[code - 1]), below, above, missing)


def _category_node(feature: Feature, nodes: TreeNodes, k: int) -> CategoryNode:
    start = int(nodes.start[k])
    sides = nodes.table[start : start + feature.n_bins + 1].tolist()
    # The side of missing values is also that of unknown categories, which cannot be listed.
    inside = [c for c, side in zip(feature.categories, sides[1:], strict=True) if side != sides[0]]
    children = (int(nodes.left[k]), int(nodes.right[k]))
    outside = 0 if sides[0] == 1 else 1
    j = int(nodes.feature[k])
    return CategoryNode(j, tuple(inside), children[1 - outside], children[outside])


def _moved(node: Node, start: int) -> Node:
    """The node with the numbers of its children counted from the root of its tree."""
    match node:
        case NumberNode(j, cut, below, above, missing):
            return NumberNode(j, cut, below - start, above - start, missing - start)
        case CategoryNode(j, categories, inside, outside):
            return CategoryNode(j, categories, inside - start, outside - start)
    return node
