"""From a grown tree to a TreeModel: cuts that are used, values, probabilities."""

from itertools import pairwise

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature, RankingData, number_feature
from auctor.kernels.trees import TreeNodes
from auctor.learners.trees.grown_tree import GrownTree
from auctor.models import Calibration, TreeModel

# Rows of the whole table's mix of classes that are added to each leaf.
_SHRINKAGE = 2.0

# Leaves that share a probability are set so much apart, all of them together.
_APART = 2.0**-20


def build_tree(data: RankingData, tree: GrownTree, order: str = "tree") -> TreeModel:
    """The model of a tree, shifted so that Youden's point lies at score 0."""
    nodes, features = shorten(tree.nodes, data.features)
    leaves, ranks = tree.leaves(order)
    value, probability = np.zeros((2, len(tree.counts)))
    value[leaves] = ranks
    probability[leaves] = leaf_probabilities(tree.counts[leaves], data.row_unit)
    neg, pos = tree.counts.T * data.row_unit
    negative, positive = data.classes.tolist()
    cut = youden_cut(tree.counts[leaves], ranks)
    return TreeModel(
        (negative, positive),
        0.0,
        Calibration(1.0, 0.0),
        features,
        nodes,
        tree.is_cell.copy(),
        neg,
        pos,
        value,
        probability,
        0.0 - cut,  # not -cut: the intercept of a single leaf is +0.0
    )


def youden_cut(counts: Ints, ranks: Ints) -> float:
    """Midway between two neighbouring leaves, where share of positives above exceeds negatives'.

    ``counts`` (leaf, class) and ``ranks`` stand best first. Of several cuts the lowest, as for
    other models; the value of the leaf where there is only one.
    """
    if len(ranks) == 1:
        return float(ranks[0])
    total_neg, total_pos = counts.sum(axis=0).tolist()
    above_neg, above_pos = np.cumsum(counts[:-1], axis=0).T.tolist()
    gaps = [p * total_neg - n * total_pos for n, p in zip(above_neg, above_pos, strict=True)]
    best = max(range(len(gaps)), key=lambda k: (gaps[k], k))
    return float(ranks[best] + ranks[best + 1]) / 2.0


def leaf_probabilities(counts: Ints, row_unit: float) -> Floats:
    """Probability of the positive class in each leaf, best first: Delta of Remark 7, shrunk.

    Delta is the share of positives. A leaf of few rows is drawn towards the share in the whole
    by two rows of it. Nothing makes the shares fall along the order of the leaves: a cell is
    ranked by the splits above it, and the lower half of an upper cell may hold a smaller share
    than the upper half of the lower one. Probabilities must rank as scores do, so that leaves
    out of order are pooled (the nearest falling sequence, in squares); and pooled ones, which
    the score tells apart, are set apart by less than a millionth.
    """
    neg, pos = counts.T * row_unit
    prior = pos.sum() / (pos.sum() + neg.sum())
    pools: list[tuple[float, float, int]] = []  # (positives, rows, leaves)
    hits = (pos + _SHRINKAGE * prior).tolist()
    for hit, size in zip(hits, (pos + neg + _SHRINKAGE).tolist(), strict=True):
        pools.append((hit, size, 1))
        while len(pools) > 1 and pools[-1][0] * pools[-2][1] >= pools[-2][0] * pools[-1][1]:
            more_hits, more_rows, more_leaves = pools.pop()
            hit, size, n_leaves = pools[-1]
            pools[-1] = hit + more_hits, size + more_rows, n_leaves + more_leaves
    shares = np.repeat([hit / size for hit, size, _ in pools], [n for _, _, n in pools])
    position = (np.arange(len(shares), 0, -1) - 0.5) / len(shares)
    return (1.0 - _APART) * shares + _APART * position


def double_wins(counts: Ints) -> int:
    """Twice the pairs in order, ties one half, from the counts (leaf, class), best first."""
    below_neg = int(counts[:, 0].sum())
    total = 0
    for neg, pos in counts.tolist():
        below_neg -= neg
        total += pos * (2 * below_neg + neg)
    return total


def is_concave(counts: Ints) -> bool:
    """Whether the slopes pos / neg of the ROC curve never rise from leaf to leaf."""
    return all(
        better[1] * worse[0] >= worse[1] * better[0] for better, worse in pairwise(counts.tolist())
    )


def shorten(
    nodes: TreeNodes, features: tuple[Feature, ...]
) -> tuple[TreeNodes, tuple[Feature, ...]]:
    """The nodes over features that have only the cuts that some node uses."""
    cut, start = nodes.cut.copy(), nodes.start.copy()
    table: list[int] = []
    shortened = []
    for j, feature in enumerate(features):
        here = np.flatnonzero(nodes.feature == j)
        if feature.is_category:
            cut[here] = 0  # the table says it all
            for k in here.tolist():
                start[k] = len(table)
                table += nodes.table[nodes.start[k] :][: feature.n_bins + 1].tolist()
            shortened.append(feature)
            continue
        # The last bin as the cut has every known value below it.
        used = np.unique(nodes.cut[here][nodes.cut[here] < feature.n_bins])
        cut[here] = np.searchsorted(used, nodes.cut[here]) + 1
        shortened.append(number_feature(feature.name, feature.cuts[used - 1]))
    # Copies: the model makes its arrays read-only.
    plain = TreeNodes(*(array.copy() for array in nodes))
    table_array = np.array(table, dtype=np.int64)
    return plain._replace(cut=cut, start=start, table=table_array), tuple(shortened)
