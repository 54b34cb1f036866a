"""From a grown tree to a TreeModel: its cuts, scores and probabilities."""

from itertools import pairwise

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData
from auctor.learners.common.tree_nodes import shorten
from auctor.learners.trees.grown_tree import GrownTree
from auctor.models import Calibration, TreeModel

# Number of rows with the class proportions of the whole table that are added to each leaf.
_SHRINKAGE = 2.0

# Pooled leaves get slightly different probabilities; this is the range of the differences.
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
    """Youden's point: the score between two neighbouring leaves where TPR - FPR is largest.

    ``counts`` (leaf, class) and ``ranks`` begin with the best leaf. If several cuts are best, the
    highest is taken, as for other models. If there is only one leaf, the cut is above it, and no
    row is flagged.
    """
    if len(ranks) == 1:
        return float(ranks[0]) + 1.0
    total_neg, total_pos = counts.sum(axis=0).tolist()
    above_neg, above_pos = np.cumsum(counts[:-1], axis=0).T.tolist()
    gaps = [p * total_neg - n * total_pos for n, p in zip(above_neg, above_pos, strict=True)]
    best = max(range(len(gaps)), key=gaps.__getitem__)
    return float(ranks[best] + ranks[best + 1]) / 2.0


def leaf_probabilities(counts: Ints, row_unit: float) -> Floats:
    """Probability of the positive class in each leaf, the best leaf first.

    It is the fraction of positives (Delta in Remark 7 of Clémençon & Vayatis 2009), shrunk towards
    the fraction in all rows by adding two rows with that fraction. The fractions need not decrease
    along the order of the leaves: a cell is ranked by the splits above it, and the lower half of an
    upper cell may have a smaller fraction than the upper half of the lower cell. Probabilities must
    rank rows like the scores do. Leaves in the wrong order are therefore pooled (isotonic
    regression), and pooled leaves, which have different scores, get probabilities that differ by
    less than a millionth.
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
    pooled = np.repeat([hit / size for hit, size, _ in pools], [n for _, _, n in pools])
    position = (np.arange(len(pooled), 0, -1) - 0.5) / len(pooled)
    return (1.0 - _APART) * pooled + _APART * position


def double_wins(counts: Ints) -> int:
    """Twice the pairs in the right order, ties one half, from counts (leaf, class), best first."""
    below_neg = int(counts[:, 0].sum())
    total = 0
    for neg, pos in counts.tolist():
        below_neg -= neg
        total += pos * (2 * below_neg + neg)
    return total


def is_concave(counts: Ints) -> bool:
    """Whether the slopes pos / neg of the ROC curve do not increase from leaf to leaf."""
    return all(
        better[1] * worse[0] >= worse[1] * better[0] for better, worse in pairwise(counts.tolist())
    )
