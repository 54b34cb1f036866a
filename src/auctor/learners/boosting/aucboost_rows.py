"""AUCBoost with weak rankers that score whole rows: scikit-learn estimators and small trees.

The algorithm is that of ``aucboost``, but the row weights are floats, because the scores of an
estimator can be any numbers. ``fit_aucboost_rows`` makes a vote of fitted estimators, and
``fit_aucboost_trees`` a sum of trees, which can be saved.
"""

from dataclasses import replace

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats, Ints
from auctor.data import RankingData
from auctor.data.copies import row_hashes
from auctor.kernels.linear import exp_each
from auctor.kernels.trees import TreeNodes
from auctor.learners.boosting.aucboost import (
    AUCBoostHistory,
    AUCBoostSettings,
    Round,
    certify,
    weight_of,
)
from auctor.learners.certificate import Certificate
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import training_order
from auctor.learners.common.rounding import ROUNDING
from auctor.learners.common.row_table import RowTable, row_table
from auctor.learners.common.tree_nodes import join_trees, shorten
from auctor.learners.trees.grown_tree import TreeBuilder
from auctor.learners.trees.weak_tree import WeakTree
from auctor.models import Calibration, ForestModel, Member, VoteModel, on_grid
from auctor.models.forest import Walker, score_blocks
from auctor.weak.estimator import RowRanker, fit_row_ranker


def fit_aucboost_rows(
    data: RankingData, settings: AUCBoostSettings
) -> tuple[VoteModel, AUCBoostHistory, Certificate]:
    """Boost copies of the scikit-learn estimator ``settings.estimator``."""
    members, history = run_rounds(row_table(data), settings)
    negative, positive = data.classes.tolist()
    plain = VoteModel(
        (negative, positive), 0.0, Calibration(1.0, 0.0), data.features, tuple(members), 0.0
    )
    scores = [plain.score_codes(part.dense_codes) for part in data.partitions]
    order = training_order(data, scores)
    model = VoteModel(
        plain.classes,
        0.0,
        calibrate(data, scores, order.cut),
        data.features,
        plain.members,
        0.0 - order.cut,
    )
    return model, history, certify(history, order)


def run_rounds(table: RowTable, settings: AUCBoostSettings) -> tuple[list[Member], AUCBoostHistory]:
    """Make rounds until there is a reason to stop."""
    history = AUCBoostHistory()
    table = _in_order_of_values(table)
    y = np.where(table.positive, 1.0, -1.0)
    # Half D+ plus half D-.
    totals = np.where(
        table.positive, table.weight[table.positive].sum(), table.weight[~table.positive].sum()
    )
    D = table.weight / totals / 2
    progress = Progress(settings.n_estimators, "AUCBoost", settings.verbose)
    members: list[Member] = []
    no_steps: Floats = np.zeros(0)
    while len(members) < settings.n_estimators:
        seed = (settings.seed, len(members))
        ranker = fit_row_ranker(settings.estimator, table.Z, table.positive, D, seed)
        if ranker.auc - 0.5 <= ROUNDING:
            history.stopped_by = "no ranker is better than chance"
            break
        alpha = weight_of(ranker.epsilon)
        D = D * exp_each(-alpha * y * ranker.labels(table.Z))
        z = float(D.sum())
        D /= z
        members.append(Member(ranker, alpha))
        history.rounds.append(Round(-1, no_steps, ranker.auc - 0.5, ranker.epsilon, alpha, z))
        progress.step(f"bound {history.bound:.4g}")
        if ranker.epsilon < ROUNDING:
            history.stopped_by = "the last ranker makes no error"
            break
        if settings.target_loss is not None and history.bound <= settings.target_loss:
            history.stopped_by = "the bound has reached target_loss"
            break
    progress.close(history.stopped_by)
    return members, history


def _in_order_of_values(table: RowTable) -> RowTable:
    """The rows in an order that depends on their values only.

    The weights are floats, and the last digits of their sums depend on the order of the terms. The
    model must not depend on the order of the rows in the table.
    """
    order = np.lexsort((table.weight, table.positive, row_hashes(table.Z)))
    return RowTable(
        table.Z[order],
        table.positive[order],
        table.weight[order],
        table.rows[order],
        table.row_units,
    )


def fit_aucboost_trees(
    data: RankingData, settings: AUCBoostSettings
) -> tuple[ForestModel, AUCBoostHistory, Certificate]:
    """Boost trees of depth ``settings.max_depth``."""
    weak = WeakTree(data.features, settings.max_depth)
    members, history = run_rounds(row_table(data), replace(settings, estimator=weak))
    roots, nodes, terms = _join(members)
    walker = Walker(nodes, roots, terms)
    scores = [score_blocks(walker, part.dense_codes, "sum") for part in data.partitions]
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


def _join(members: list[Member]) -> tuple[Ints, TreeNodes, Floats]:
    """The nodes of all trees in one array, with what each leaf adds to the score."""
    if not members:  # no tree is better than chance: a single leaf that adds nothing
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


def _importance(members: list[Member], history: AUCBoostHistory, n_features: int) -> Floats:
    """Contribution of each feature to the decrease of the bound; the sum is 1.

    The decrease of a round is divided among the tests of its tree in proportion to their gains.
    """
    total = np.zeros(n_features)
    for member, step in zip(members, history.rounds, strict=True):
        tree = _tree(member).tree_
        inner = np.flatnonzero(tree.nodes.feature >= 0)
        fractions = tree.gain[inner] / tree.gain[inner].sum()
        np.add.at(total, tree.nodes.feature[inner], -np.log(step.z) * fractions)
    return total / total.sum() if total.sum() > 0 else total
