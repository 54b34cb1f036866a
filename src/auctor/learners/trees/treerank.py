"""TreeRank (paper 002, section 4.1): a tree whose leaves, from left to right, are the ranking.

A cell is split so that Ent(C') = alpha(C) beta(C') - beta(C) alpha(C') is largest, where C' is
the part that goes left, above the rest. The pairs of a positive and a negative inside the cell,
which counted one half each, then come apart: beta(C') alpha(C \\ C') of them into the right order
and alpha(C') beta(C \\ C') into the wrong one, so that AUC grows by half of the difference, which
is Ent(C') / 2.
"""

from dataclasses import dataclass, field

import numpy as np

from auctor._progress import Progress
from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.trees.grower import Rules
from auctor.learners.trees.grown_tree import GrownTree
from auctor.learners.trees.growth import grow
from auctor.learners.trees.pruning import Subtree, prune
from auctor.learners.trees.tree_to_model import build_tree, double_wins, is_concave
from auctor.models import TreeModel


@dataclass(frozen=True)
class TreeRankSettings:
    """What a fit can be told."""

    max_depth: int = 10
    min_samples_leaf: float = 5.0
    min_gain: float = 0.0
    split: str = "stump"
    leaf_depth: int = 3
    order: str = "tree"  # of the leaves; "rate" is by their share of positives
    pruning: str | None = None
    cv: int = 5
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = False

    @property
    def rules(self) -> Rules:
        leaf_depth = self.leaf_depth if self.split == "tree" else None
        return Rules(self.max_depth, self.min_samples_leaf, self.min_gain, leaf_depth)


@dataclass(frozen=True)
class Split:
    """A cell's split: its node in the model, the AUC gained, and the weights on both sides.

    ``feature`` is that of the first test; ``shares`` says how much of the gain is due to each
    feature where the split is a small tree.
    """

    node: int
    depth: int
    feature: int
    gain: float
    upper: tuple[float, float]  # (negatives, positives)
    lower: tuple[float, float]
    shares: tuple[tuple[int, float], ...]


@dataclass
class TreeRankHistory:
    """The splits of the tree, parents before children, and the sequence it was pruned along."""

    splits: list[Split] = field(default_factory=list)
    subtrees: list[Subtree] = field(default_factory=list)


def fit_treerank(
    data: RankingData, settings: TreeRankSettings
) -> tuple[TreeModel, TreeRankHistory, Certificate]:
    """Grow, prune where asked for, and say what the order of the leaves is worth."""
    history = TreeRankHistory()
    progress = Progress(settings.max_depth, "TreeRank", settings.verbose)
    with Workers(settings.n_jobs) as workers:
        tree = grow(data, settings.rules, workers, progress=progress)
        progress.close()
        if settings.pruning == "cv":
            told = settings.rules, settings.cv, settings.seed, workers, settings.order
            tree, history.subtrees = prune(data, tree, *told)
    history.splits = list_splits(tree, data.row_unit)
    return build_tree(data, tree, settings.order), history, certify(tree, settings.order)


def list_splits(tree: GrownTree, unit: float) -> list[Split]:
    """Every split of the tree with what it gained."""
    owner = find_owners(tree)
    inner = np.flatnonzero(tree.nodes.feature >= 0)
    worth = np.bincount(owner[inner], tree.worth[inner], len(owner))
    tests: dict[int, list[tuple[int, float]]] = {}
    for k in inner.tolist():
        share = float(tree.worth[k] / worth[owner[k]])
        tests.setdefault(int(owner[k]), []).append((int(tree.nodes.feature[k]), share))
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
            tuple((feature, gain * share) for feature, share in tests[cell]),
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
    """The ROC curve on the training rows: a line for each leaf (Proposition 13)."""
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
        return Certificate("No split gains AUC, and every row scores alike.", values)
    shape = "concave" if values["is_concave"] else "not concave"
    statement = (
        f"On the training rows the ROC curve is a broken line of {len(leaves)} pieces, {shape}, "
        f"with an AUC of {values['auc']:.6g} (a tree of depth {values['depth']})."
    )
    if order == "rate":
        statement += " No other order of these cells has a larger one."
    return Certificate(statement, values)
