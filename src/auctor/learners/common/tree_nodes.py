"""The nodes of fitted trees: several trees in one array, and features with the cuts in use."""

import numpy as np

from auctor._typing import Ints
from auctor.data import Feature, number_feature
from auctor.kernels.trees import TreeNodes


def join_trees(trees: list[TreeNodes]) -> tuple[Ints, TreeNodes]:
    """The nodes of all trees in one array, and the root of each tree."""
    sizes = [len(nodes.feature) for nodes in trees]
    roots = np.cumsum([0, *sizes[:-1]])
    tables = np.cumsum([0, *(len(nodes.table) for nodes in trees[:-1])])
    moved = [
        nodes._replace(
            start=np.where(nodes.start >= 0, nodes.start + table, -1),
            left=np.where(nodes.left >= 0, nodes.left + root, -1),
            right=np.where(nodes.right >= 0, nodes.right + root, -1),
        )
        for nodes, root, table in zip(trees, roots.tolist(), tables.tolist(), strict=True)
    ]
    return roots, TreeNodes(*(np.concatenate(columns) for columns in zip(*moved, strict=True)))


def shorten(
    nodes: TreeNodes, features: tuple[Feature, ...]
) -> tuple[TreeNodes, tuple[Feature, ...]]:
    """The nodes, and the features with only those cuts that some node uses."""
    cut, start = nodes.cut.copy(), nodes.start.copy()
    table: list[int] = []
    shortened = []
    for j, feature in enumerate(features):
        here = np.flatnonzero(nodes.feature == j)
        if feature.is_category:
            cut[here] = 0  # categories are in the table
            for k in here.tolist():
                start[k] = len(table)
                table += nodes.table[nodes.start[k] :][: feature.n_bins + 1].tolist()
            shortened.append(feature)
            continue
        # A cut at the last bin has all values that are not missing below it; it needs no cut.
        used = np.unique(nodes.cut[here][nodes.cut[here] < feature.n_bins])
        cut[here] = np.searchsorted(used, nodes.cut[here]) + 1
        shortened.append(number_feature(feature.name, feature.cuts[used - 1]))
    # Copies: the model makes its arrays read-only.
    plain = TreeNodes(*(array.copy() for array in nodes))
    table_array = np.array(table, dtype=np.int64)
    return plain._replace(cut=cut, start=start, table=table_array), tuple(shortened)
