"""Forests of TreeRank trees: bags of rows, random features at each node, ranks averaged.

The rank of a leaf is its mid-rank among the rows that the tree has grown on: the share of them
in worse leaves and half of the share in its own. The paper's own scores 2^D - k are numbers of
leaves, and a tree that has cut one corner of the table into many small leaves would outvote the
others; the share of rows below is the same quantity in every tree, whatever its depth, and the
mean of it is the expected rank that the row has among others. Each class counts for half of the
rows, as it does in the AUC: where positives are rare, the leaves that hold them would otherwise
all have ranks next to 1, and the mean could not tell them apart.
"""

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.trees import TreeNodes
from auctor.learners.certificate import Certificate
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import training_order
from auctor.learners.common.max_features import number_of_features
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
from auctor.learners.trees.tree_to_model import shorten
from auctor.learners.trees.treerank import find_owners
from auctor.models import Calibration, ForestModel, on_grid
from auctor.models.forest import Walker


@dataclass(frozen=True)
class ForestSettings:
    """What a fit can be told."""

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
    """A tree of the forest: its size, and the AUC that each feature gained on its bag."""

    n_leaves: int
    depth: int
    gains: Floats


@dataclass
class ForestHistory:
    """The trees, and the out-of-bag scores where there are any."""

    trees: list[Tree] = field(default_factory=list)
    out_of_bag: OutOfBag | None = None

    def importance(self) -> Floats:
        """Each feature's share of what all trees gained."""
        total = np.sum([tree.gains for tree in self.trees], axis=0)
        return total / total.sum() if total.sum() > 0 else total


def fit_forest(
    data: RankingData, settings: ForestSettings
) -> tuple[ForestModel, ForestHistory, Certificate]:
    """Grow the trees, each by itself, join them, and score the rows that trees have not seen."""
    planter = _Planter(data, settings)
    with Workers(settings.n_jobs) as workers:
        planted = workers.map(planter.plant, range(settings.n_estimators))
        planter.progress.close()
        trees = [tree for tree, _ in planted]
        roots, nodes = join_trees([tree.nodes for tree in trees])
        rank = np.concatenate([node_ranks(tree) for tree in trees])
        walker = Walker(nodes, roots, rank)
        bags = [bag for _, bag in planted]
        if not settings.bootstrap:  # every tree has seen every row: score them as new ones
            bags = [[np.zeros_like(bits) for bits in bag] for bag in bags]
        scored = score_out_of_bag(data, bags, walker, settings.aggregate, workers)
    history = ForestHistory([_summary(tree, data.n_features) for tree in trees])
    history.out_of_bag = scored if settings.bootstrap else None
    model = _build(data, settings, (roots, nodes, rank), history.importance())
    return _finish(data, model, scored), history, certify(data, settings, history)


class _Planter:
    """Draws a bag and grows a tree on it: the same one for any number of threads."""

    def __init__(self, data: RankingData, settings: ForestSettings) -> None:
        self._n_drawn = number_of_features(settings.max_features, data.n_features)
        check_rows(data, settings)
        self._settings, self._draws = settings, BagDraws(data, settings.max_samples)
        self._data = _unweighted(data) if settings.bootstrap else data
        self._alone = Workers(1)  # threads work on trees, not in them
        self._lock = Lock()
        self.progress = Progress(settings.n_estimators, "TreeRankForest", settings.verbose)

    def plant(self, number: int) -> tuple[GrownTree, Bag]:
        """Tree ``number``, and the rows it has seen."""
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
    """A bag of a class of one row is that row: no tree would not have seen it."""
    if settings.bootstrap and min(data.n_pos, data.n_neg) < 2:
        raise ValueError(
            f"bootstrap=True needs two rows or more of each class, found {data.n_pos} positive and "
            f"{data.n_neg} negative; set bootstrap=False"
        )


def _unweighted(data: RankingData) -> RankingData:
    """The same rows, each of weight 1: a bag counts rows, and the weights are in its chances."""
    parts = (
        replace(part, weight=np.ones(part.n_rows, dtype=np.uint32)) for part in data.partitions
    )
    return replace(data, partitions=tuple(parts), rows_per_unit=(1.0, 1.0))


def join_trees(trees: list[TreeNodes]) -> tuple[Ints, TreeNodes]:
    """The nodes of all trees, one behind the other, and where each tree begins."""
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


def node_ranks(tree: GrownTree) -> Floats:
    """The mid-rank of each leaf, on the grid where sums are exact; 0 at other nodes."""
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
    # A split that is a small tree has gained by all of its tests, by the worth of each.
    worth = np.bincount(owner, tree.worth[inner], len(gains))
    shares = gains[owner] * tree.worth[inner] / worth[owner]
    by_feature = np.zeros(n_features)
    np.add.at(by_feature, tree.nodes.feature[inner], shares)
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
    """Threshold and calibration, by out-of-bag scores: those of rows seen are too good.

    Where every row of a class has been seen by every tree, no row says anything, and the
    threshold is the middle rank.
    """
    rows, scores = scored.rows(data)
    if min(rows.n_pos, rows.n_neg) == 0:
        return model.finished(intercept=-0.5)
    cut = training_order(rows, scores).cut
    return model.finished(calibration=calibrate(rows, scores, cut), intercept=0.0 - cut)


def certify(data: RankingData, settings: ForestSettings, history: ForestHistory) -> Certificate:
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
        return Certificate("Without bootstrap every tree has seen every row.", values)
    rows, scores = history.out_of_bag.rows(data)
    area, interval = out_of_bag_auc(rows, scores, data.copy_groups)
    values["oob_auc"], values["n_rows"] = area, rows.n_rows
    values["n_never"] = data.n_rows - rows.n_rows
    seen = sum(int(n_trees.sum()) for n_trees in history.out_of_bag.n_trees)
    values["mean_trees"] = seen / max(rows.n_rows, 1)
    if area is None:
        text = "No out-of-bag AUC: every row of a class was seen by every tree; grow more trees."
        return Certificate(text, values)
    if interval is not None:
        values.update(low=interval.low, high=interval.high, level=interval.level)
    text = f"Out of bag, {interval or f'AUC {area:.3f}'}: each row is scored by the trees that "
    text += f"have not seen it, {values['mean_trees']:.3g} of {len(history.trees)} on average"
    if data.copy_groups is not None:
        text += "; copies of a row count once in the interval"
    if values["n_never"]:
        text += f"; {values['n_never']} rows that every tree has seen are left out"
    return Certificate(f"{text}.", values)
