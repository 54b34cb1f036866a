"""Forests of TreeRank trees: bootstrap samples of rows, random features at each node, mean ranks.

The rank of a leaf is its mid-rank among the rows that the tree was grown on: the fraction of them
in worse leaves plus half of the fraction in the leaf itself. The scores 2^D - k of a single tree
are numbers of leaves, and a tree that has cut one corner of the table into many small leaves would
outvote the others. The fraction of rows below is the same quantity in every tree, whatever its
depth, and its mean is the expected rank of a row. Each class counts for half of the rows, as in the
AUC: otherwise, if positives are rare, all leaves that hold them would have ranks close to 1, and
the mean could not distinguish them.
"""

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from auctor._progress import Progress
from auctor._text import count
from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.trees import TreeNodes
from auctor.learners.certificate import Certificate
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import training_order
from auctor.learners.common.max_features import number_of_features
from auctor.learners.common.tree_nodes import join_trees, shorten
from auctor.learners.trees.forest_bags import (
    Bag,
    BagDraws,
    OutOfBag,
    feature_draws,
    out_of_bag_auc,
    pack_bag,
    score_out_of_bag,
)
from auctor.learners.trees.grower import Rules
from auctor.learners.trees.grown_tree import GrownTree
from auctor.learners.trees.growth import grow
from auctor.learners.trees.treerank import find_owners
from auctor.models import Calibration, ForestModel, on_grid
from auctor.models.forest import Walker


@dataclass(frozen=True)
class ForestSettings:
    """Settings of a fit."""

    n_estimators: int = 200
    max_features: Any = "sqrt"
    aggregate: str = "mean"
    max_depth: int = 6
    min_samples_leaf: float = 5.0
    min_gain: float = 0.0
    split: str = "tree"
    leaf_depth: int = 4
    bootstrap: bool = True
    max_samples: float | None = None
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = False

    @property
    def rules(self) -> Rules:
        leaf_depth = self.leaf_depth if self.split == "tree" else None
        return Rules(self.max_depth, self.min_samples_leaf, self.min_gain, leaf_depth)


@dataclass(frozen=True, eq=False)
class Tree:
    """A tree of the forest: its size, and the gain in AUC of each feature on its training rows."""

    n_leaves: int
    depth: int
    gains: Floats


@dataclass
class ForestHistory:
    """The trees, and the out-of-bag scores if there are any."""

    trees: list[Tree] = field(default_factory=list)
    out_of_bag: OutOfBag | None = None

    def importance(self) -> Floats:
        """Contribution of each feature to the gain in AUC of all trees; the sum is 1."""
        total = np.sum([tree.gains for tree in self.trees], axis=0)
        return total / total.sum() if total.sum() > 0 else total


def fit_forest(
    data: RankingData, settings: ForestSettings
) -> tuple[ForestModel, ForestHistory, Certificate]:
    """Grow the trees independently, join them, and compute the out-of-bag scores."""
    planter = _Planter(data, settings)
    with Workers(settings.n_jobs) as workers:
        planted = workers.map(planter.plant, range(settings.n_estimators))
        planter.progress.close()
        trees = [tree for tree, _ in planted]
        roots, nodes = join_trees([tree.nodes for tree in trees])
        rank = np.concatenate([node_ranks(tree) for tree in trees])
        walker = Walker(nodes, roots, rank)
        bags = [bag for _, bag in planted]
        if not settings.bootstrap:  # all trees were trained on all rows: score them as new rows
            bags = [[np.zeros_like(bits) for bits in bag] for bag in bags]
        scored = score_out_of_bag(data, bags, walker, settings.aggregate, workers)
    history = ForestHistory([_summary(tree, data.n_features) for tree in trees])
    history.out_of_bag = scored if settings.bootstrap else None
    model = _build(data, settings, (roots, nodes, rank), history.importance())
    return _finish(data, model, scored), history, certify(data, history)


class _Planter:
    """Draws the training rows of a tree and grows it: the same tree for any number of threads."""

    def __init__(self, data: RankingData, settings: ForestSettings) -> None:
        self._n_drawn = number_of_features(settings.max_features, data.n_features)
        check_rows(data, settings)
        self._settings, self._draws = settings, BagDraws(data, settings.max_samples)
        self._data = _unweighted(data) if settings.bootstrap else data
        self._alone = Workers(1)  # each thread grows a tree of its own
        self._lock = Lock()
        self.progress = Progress(settings.n_estimators, "TreeRankForest", settings.verbose)

    def plant(self, number: int) -> tuple[GrownTree, Bag]:
        """Tree ``number``, and the rows that it was trained on."""
        rng = np.random.default_rng([self._settings.seed, number])
        weights = [part.weight for part in self._data.partitions]
        if self._settings.bootstrap:
            weights = self._draws.draw(rng)
        allowed = feature_draws(self._data.n_features, self._n_drawn, rng)
        rules = self._settings.rules
        tree = grow(self._data, rules, self._alone, weights=weights, allowed=allowed)
        with self._lock:
            self.progress.step()
        return tree, pack_bag(self._draws.seen(weights))


def check_rows(data: RankingData, settings: ForestSettings) -> None:
    """Refuse bootstrap samples of a class with one row: every tree would be trained on it."""
    if settings.bootstrap and min(data.n_pos, data.n_neg) < 2:
        raise ValueError(
            f"there are {data.n_pos} positive and {data.n_neg} negative rows, but bootstrap=True "
            "needs at least 2 of each class; give more rows or bootstrap=False"
        )


def _unweighted(data: RankingData) -> RankingData:
    """The same rows with weight 1; the probabilities of the draws depend on the weights."""
    parts = (
        replace(part, weight=np.ones(part.n_rows, dtype=np.uint32)) for part in data.partitions
    )
    return replace(data, partitions=tuple(parts), rows_per_unit=(1.0, 1.0))


def node_ranks(tree: GrownTree) -> Floats:
    """The mid-rank of each leaf, a multiple of GRID so that sums are exact; 0 at other nodes."""
    leaves, _ = tree.leaves()
    mass = (tree.counts[leaves] / tree.counts[0]).sum(axis=1)
    below = 2.0 - np.cumsum(mass)
    rank = np.zeros(len(tree.counts))
    rank[leaves] = np.clip(on_grid((below + mass / 2.0) / 2.0), 0.0, 1.0)
    return rank


def _summary(tree: GrownTree, n_features: int) -> Tree:
    gains = np.zeros(len(tree.counts))
    gains[tree.splits] = tree.gains()
    inner = np.flatnonzero(tree.nodes.feature >= 0)
    owner = find_owners(tree)[inner]
    # The gain of a split that is a small tree is divided among its tests by their own gains.
    total = np.bincount(owner, tree.gain[inner], len(gains))
    of_tests = gains[owner] * tree.gain[inner] / total[owner]
    by_feature = np.zeros(n_features)
    np.add.at(by_feature, tree.nodes.feature[inner], of_tests)
    n_leaves = int((tree.nodes.feature < 0).sum())
    return Tree(n_leaves, int(tree.depths().max()), by_feature)


def _build(
    data: RankingData,
    settings: ForestSettings,
    trees: tuple[Ints, TreeNodes, Floats],
    importance: Floats,
) -> ForestModel:
    roots, nodes, rank = trees
    short, features = shorten(nodes, data.features)
    negative, positive = data.classes.tolist()
    start = Calibration(1.0, 0.0)
    aggregate = settings.aggregate
    return ForestModel(
        (negative, positive), 0.0, start, features, aggregate, roots, short, rank, importance, 0.0
    )


def _finish(data: RankingData, model: ForestModel, scored: OutOfBag) -> ForestModel:
    """Set threshold and calibration by out-of-bag scores, because training scores are too good.

    If all rows of a class are in the training rows of all trees, there are no such scores, and the
    threshold is the middle rank.
    """
    rows, scores = scored.rows(data)
    if min(rows.n_pos, rows.n_neg) == 0:
        return model.finished(intercept=-0.5)
    cut = training_order(rows, scores).cut
    return model.finished(calibration=calibrate(rows, scores, cut), intercept=0.0 - cut)


def certify(data: RankingData, history: ForestHistory) -> Certificate:
    """The out-of-bag AUC with its interval."""
    values: dict[str, Any] = {
        "oob_auc": None,
        "low": None,
        "high": None,
        "level": None,
        "n_rows": 0,
        "n_never": data.n_rows,
        "mean_trees": 0.0,
        "n_trees": len(history.trees),
    }
    if history.out_of_bag is None:
        text = "There is no out-of-bag AUC: with bootstrap=False all trees are trained on all rows."
        return Certificate(text, values)
    rows, scores = history.out_of_bag.rows(data)
    area, interval = out_of_bag_auc(rows, scores, data.copy_groups)
    values["oob_auc"], values["n_rows"] = area, rows.n_rows
    values["n_never"] = data.n_rows - rows.n_rows
    seen = sum(int(n_trees.sum()) for n_trees in history.out_of_bag.n_trees)
    values["mean_trees"] = seen / max(rows.n_rows, 1)
    if area is None:
        text = (
            "There is no out-of-bag AUC, because all trees were trained on all rows of a class; "
            "give a larger n_estimators."
        )
        return Certificate(text, values)
    if interval is not None:
        values.update(low=interval.low, high=interval.high, level=interval.level)
    text = (
        f"Out-of-bag {interval or f'AUC {area:.3f}'}. Each row is scored by the trees that were "
        f"not trained on it, on average {values['mean_trees']:.3g} of {len(history.trees)}."
    )
    if data.copy_groups is not None:
        text += " Copies of a row count as one row in the interval."
    if values["n_never"]:
        text += f" This leaves out {count(values['n_never'], 'row')} that all trees have seen."
    return Certificate(text, values)
