"""TreeRank: a tree whose leaves, from left to right, are the ranking.

The algorithm is that of Clémençon & Vayatis (2009), section 4.1. A cell C is split so that
Ent(C') = alpha(C) beta(C') - beta(C) alpha(C') is largest, where C' is the part that goes left and
ranks above the rest. The pairs of a positive and a negative row inside the cell were ties, which
count one half each. After the split, beta(C') alpha(C \\ C') of them are in the right order and
alpha(C') beta(C \\ C') in the wrong one, so that the AUC grows by half of the difference, which is
Ent(C') / 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from auctor._progress import Progress
from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.trees.grower import Rules
from auctor.learners.trees.grown_tree import GrownTree
from auctor.learners.trees.growth import grow
from auctor.learners.trees.pruning import RowMasks, Subtree, prune
from auctor.learners.trees.tree_to_model import build_tree, double_wins, is_concave
from auctor.models import TreeModel


@dataclass(frozen=True)
class TreeRankSettings:
    """Settings of a fit."""

    max_depth: int = 10
    min_samples_leaf: float = 5.0
    min_gain: float = 0.0
    split: str = "stump"
    leaf_depth: int = 3
    order: str = "tree"  # of the leaves; "rate" orders them by their fraction of positives
    pruning: str | None = None
    cv: int | Sequence[RowMasks] = 5  # folds of pruning="cv"
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = False

    @property
    def rules(self) -> Rules:
        leaf_depth = self.leaf_depth if self.split == "tree" else None
        return Rules(self.max_depth, self.min_samples_leaf, self.min_gain, leaf_depth)


@dataclass(frozen=True)
class Split:
    """The split of a cell: its node in the model, the gain in AUC, and the weights on both sides.

    ``feature`` is that of the first test. If the split is a small tree, ``gains`` divides the gain
    among the features of its tests.
    """

    node: int
    depth: int
    feature: int
    gain: float
    upper: tuple[float, float]  # (negatives, positives)
    lower: tuple[float, float]
    gains: tuple[tuple[int, float], ...]  # (feature, gain in AUC)


@dataclass
class TreeRankHistory:
    """The splits of the tree, parents before children, and the subtrees considered in pruning."""

    splits: list[Split] = field(default_factory=list)
    subtrees: list[Subtree] = field(default_factory=list)


def fit_treerank(
    data: RankingData, settings: TreeRankSettings, journal: Journal = NO_JOURNAL
) -> tuple[TreeModel, TreeRankHistory, Certificate]:
    """Grow a tree, prune it if asked for, and certify the ROC curve of its leaves.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> settings = TreeRankSettings(min_samples_leaf=1)
    >>> model, history, certificate = fit_treerank(data, settings)
    >>> print(certificate)
    The ROC curve on the training rows has 4 segments, is concave, and has an AUC of 1 (a tree of
    depth 3).
    """
    history = TreeRankHistory()
    progress = Progress(settings.max_depth, "TreeRank", settings.verbose)
    with Workers(settings.n_jobs) as workers:
        tree = grow(data, settings.rules, workers, progress=progress, journal=journal.part("tree"))
        progress.close()
        if settings.pruning == "cv":
            options = settings.rules, settings.cv, settings.seed, workers, settings.order
            tree, history.subtrees = prune(data, tree, *options, journal)
    history.splits = list_splits(tree, data.row_unit)
    return build_tree(data, tree, settings.order), history, certify(tree, settings.order)


def list_splits(tree: GrownTree, unit: float) -> list[Split]:
    """Every split of the tree with its gain in AUC."""
    owner = find_owners(tree)
    inner = np.flatnonzero(tree.nodes.feature >= 0)
    total = np.bincount(owner[inner], tree.gain[inner], len(owner))
    tests: dict[int, list[tuple[int, float]]] = {}
    for k in inner.tolist():
        fraction = float(tree.gain[k] / total[owner[k]])
        tests.setdefault(int(owner[k]), []).append((int(tree.nodes.feature[k]), fraction))
    depth = tree.depths()
    weights = (tree.counts * unit).tolist()
    return [
        Split(
            cell,
            int(depth[cell]),
            int(tree.nodes.feature[cell]),
            gain,
            tuple(weights[tree.upper[cell]]),
            tuple(weights[tree.lower[cell]]),
            tuple((feature, gain * fraction) for feature, fraction in tests[cell]),
        )
        for cell, gain in zip(tree.splits.tolist(), tree.gains().tolist(), strict=True)
    ]


def find_owners(tree: GrownTree) -> Ints:
    """The cell whose split each node belongs to."""
    owner = np.arange(len(tree.counts))
    for k in np.flatnonzero(tree.nodes.feature >= 0).tolist():
        for child in (tree.nodes.left[k], tree.nodes.right[k]):
            if not tree.is_cell[child]:
                owner[child] = owner[k]
    return owner


def certify(tree: GrownTree, order: str = "tree") -> Certificate:
    """The ROC curve on the training rows, with a segment for each leaf (Proposition 13)."""
    leaves, _ = tree.leaves(order)
    counts = tree.counts[leaves]
    total_neg, total_pos = tree.counts[0].tolist()
    neg, pos = np.cumsum(counts, axis=0).T.tolist()
    knots = [(0.0, 0.0)]
    knots += [(n / total_neg, p / total_pos) for n, p in zip(neg, pos, strict=True)]
    values = {
        "auc": double_wins(counts) / (2 * total_neg * total_pos),
        "knots": knots,
        "is_concave": is_concave(counts),
        "n_leaves": len(leaves),
        "depth": int(tree.depths().max()),
    }
    if len(leaves) == 1:
        return Certificate("No split increases the AUC: all rows have the same score.", values)
    shape = "is concave" if values["is_concave"] else "is not concave"
    statement = (
        f"The ROC curve on the training rows has {len(leaves)} segments, {shape}, and has an AUC "
        f"of {values['auc']:.6g} (a tree of depth {values['depth']})."
    )
    if order == "rate":
        statement += " No other order of these leaves has a larger AUC."
    return Certificate(statement, values)
