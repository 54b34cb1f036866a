"""AUCBoost over small trees: its vote is a forest whose trees are added up."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData
from auctor.kernels.tree import TreeNodes
from auctor.learners.aucboost import History, Settings, certify
from auctor.learners.aucboost_rows import run_rounds
from auctor.learners.calibration import calibrate
from auctor.learners.certificate import Certificate
from auctor.learners.finish import training_order
from auctor.learners.forest import join_trees
from auctor.learners.row_table import row_table
from auctor.learners.tree import TreeBuilder
from auctor.learners.tree_model import shorten
from auctor.learners.weak_tree import WeakTree
from auctor.models import ForestModel, Member, on_grid
from auctor.models.forest import Walker, score_blocks
from auctor.weak.estimator import RowRanker

Floats = npt.NDArray[np.float64]


def fit_aucboost_trees(
    data: RankingData, settings: Settings
) -> tuple[ForestModel, History, Certificate]:
    """Boost trees of depth ``settings.weak_depth``."""
    history = History()
    weak = WeakTree(data.features, settings.weak_depth)
    members = run_rounds(row_table(data), replace(settings, weak=weak), history)
    roots, nodes, terms = _join(members)
    walker = Walker(nodes, roots, terms)
    scores = [score_blocks(walker, part.codes, "sum") for part in data.partitions]
    order = training_order(data, scores)
    short, features = shorten(nodes, data.features)
    negative, positive = data.classes.tolist()
    model = ForestModel(
        (negative, positive),
        0.0,
        calibrate(data, scores, order.cut),
        features,
        "sum",
        roots,
        short,
        terms,
        _importance(members, history, data.n_features),
        0.0 - order.cut,
    )
    return model, history, certify(history, order)


def _join(members: list[Member]) -> tuple[npt.NDArray[np.int64], TreeNodes, Floats]:
    """The trees one behind the other, with what each leaf adds to the score."""
    if not members:  # no tree has an edge: a single leaf that adds nothing
        builder = TreeBuilder()
        builder.add([0, 0], is_cell=True)
        return np.array([0]), builder.build().nodes, np.zeros(1)
    roots, nodes = join_trees([_tree(member).tree_.nodes for member in members])
    return roots, nodes, np.concatenate([_terms(member) for member in members])


def _tree(member: Member) -> WeakTree:
    tree: WeakTree = _ranker(member).estimator
    return tree


def _ranker(member: Member) -> RowRanker:
    assert isinstance(member.voter, RowRanker)
    return member.voter


def _terms(member: Member) -> Floats:
    """alpha times the expected label of each leaf; 0 at other nodes."""
    ranker, tree = _ranker(member), _tree(member)
    is_leaf = tree.tree_.nodes.feature < 0
    labels = np.where(tree.value_ >= ranker.threshold, ranker.above, ranker.below)
    terms = on_grid(np.asarray(labels, dtype=np.float64) * member.alpha)
    return np.where(is_leaf, terms, 0.0)


def _importance(members: list[Member], history: History, n_features: int) -> Floats:
    """Each feature's part in the fall of the bound: a round's, by the worth of the tree's tests."""
    total = np.zeros(n_features)
    for member, step in zip(members, history.rounds, strict=True):
        tree = _tree(member).tree_
        inner = np.flatnonzero(tree.nodes.feature >= 0)
        shares = tree.worth[inner] / tree.worth[inner].sum()
        np.add.at(total, tree.nodes.feature[inner], -np.log(step.z) * shares)
    return total / total.sum() if total.sum() > 0 else total
