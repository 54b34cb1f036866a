"""SmoothTreeBoost: boosted trees on a loss over pairs, beside the smooth additive model."""

from dataclasses import replace
from math import frexp, ldexp
from typing import NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.trees import TreeNodes
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import training_order
from auctor.learners.common.tree_nodes import join_trees, shorten
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.search import find_amounts
from auctor.learners.smooth.settings import SmoothSettings, loose_where
from auctor.learners.tree_boost.certificate import certify
from auctor.learners.tree_boost.grower import Tree
from auctor.learners.tree_boost.history import TreeBoostHistory
from auctor.learners.tree_boost.mixture import Mixture, find_mixture, score_codes, spread
from auctor.learners.tree_boost.rounds import Booster, sum_up
from auctor.learners.tree_boost.settings import TreeBoostSettings
from auctor.models import AdditiveModel, Calibration, ForestModel, Model, sum_models

_NO_CALIBRATION = Calibration(1.0, 0.0)
# Significant digits of the factor of the smooth model, in bits.
_FACTOR_BITS = 16


class _Forest(NamedTuple):
    """The trees of a fit and the scores of the training rows by them."""

    trees: list[Tree]
    covers: list[Ints]
    scores: list[Floats]
    start: list[Floats]  # scores before the first tree; empty if they are 0


def fit_tree_boost(
    data: RankingData,
    settings: TreeBoostSettings,
    *,
    folds: list[tuple[Bools, Bools]] | None = None,
    smooth: SmoothSettings | None = None,
    n_pairs: int = 0,
    first: Model | None = None,
    offset: Floats | None = None,
    journal: Journal = NO_JOURNAL,
) -> tuple[Model, TreeBoostHistory, Certificate]:
    """Boost trees on ``data``.

    Parameters
    ----------
    data : RankingData
        The training rows.
    settings : TreeBoostSettings
        The settings of the fit.
    folds : list of (mask, mask), optional
        Rows to train on and to hold out. They choose the number of trees, and their weight beside
        the smooth model; without folds there are ``n_estimators`` trees of weight one half.
    smooth : SmoothSettings, optional
        Settings of the smooth model that is added to the trees; None for trees alone. With folds,
        its penalties are chosen on them.
    n_pairs : int, default=0
        Maximum number of pairs of features whose surfaces the smooth model may have, if they help
        on the folds.
    first : Model, optional
        A model that the trees start from, whose scores are ``offset``.
    offset : ndarray, optional
        The scores that the trees start from, by the index of the row in the table.
    journal : Journal, optional
        What the fit notes of its steps.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_tree_boost(data, TreeBoostSettings(n_estimators=5))
    >>> len(history.gains)
    5
    """
    history = TreeBoostHistory()
    with Workers(settings.n_jobs) as workers:
        if folds:
            held_out = None
            if smooth is not None:
                smooth, held_out = _choose_penalties(data, smooth, folds, n_pairs, journal)
            part = journal.part("number of trees")
            history.mixture = find_mixture(data, settings, folds, held_out, workers, part)
            history.stopped_by = _reason(history.mixture, settings)
            settings = replace(settings, n_estimators=history.mixture.n_trees)
        forest = _boost(data, settings, offset, history, workers, journal)
    additive = None
    if smooth is not None:
        additive, smooth_history, _ = fit_smooth(data, smooth, journal=journal.part("smooth"))
        history.smooth_importances = smooth_history.importances
    model, scores = _join(data, forest, additive, first, history)
    order = training_order(data, scores)
    shift = model.intercept - order.cut  # type: ignore[attr-defined]
    model = replace(model, intercept=shift, calibration=calibrate(data, scores, order.cut))  # type: ignore[call-arg]
    return model, history, certify(data, scores, order, history, settings)


def _choose_penalties(
    data: RankingData,
    smooth: SmoothSettings,
    folds: list[tuple[Bools, Bools]],
    n_pairs: int,
    journal: Journal,
) -> tuple[SmoothSettings, list[list[Floats]]]:
    """The penalties and the number of surfaces that do best on the folds.

    Also returns the scores of the held-out rows of each fold.
    """
    chosen, _, scores = find_amounts(
        data, smooth, folds, surfaces=n_pairs, journal=journal.part("penalties")
    )
    smooth = replace(
        smooth,
        **chosen.amounts._asdict(),
        interactions=chosen.interactions,
        loose=loose_where(chosen.single_values, data),
    )
    return smooth, scores


def _reason(mixture: Mixture, settings: TreeBoostSettings) -> str:
    return "n_estimators" if mixture.n_trees == settings.n_estimators else "held-out AUC"


def _boost(
    data: RankingData,
    settings: TreeBoostSettings,
    offset: Floats | None,
    history: TreeBoostHistory,
    workers: Workers,
    journal: Journal,
) -> _Forest:
    """All rounds on all rows."""
    booster = Booster(data, settings, workers, offset, journal)
    start = [] if offset is None else [values.copy() for values in booster.scores.values]
    forest = _Forest([], [], booster.scores.values, start)
    n_known = len(booster.log.known)
    progress = Progress(settings.n_estimators, "SmoothTreeBoost", settings.verbose, resumed=n_known)
    for _ in range(settings.n_estimators):
        added = booster.add()
        if added is None:
            history.stopped_by = "nothing left"
            break
        tree, cover = added
        forest.trees.append(tree)
        forest.covers.append(cover)
        history.n_leaves.append(tree.n_leaves)
        history.gains.append(float(tree.gain.sum()) / booster.n_balanced)
        progress.step()
    progress.close()
    return forest._replace(covers=sum_up(data, forest.trees, forest.covers))


def _join(
    data: RankingData,
    forest: _Forest,
    additive: AdditiveModel | None,
    first: Model | None,
    history: TreeBoostHistory,
) -> tuple[Model, list[Floats]]:
    """The model of all parts before its threshold is set, and the scores of the training rows."""
    trees = _forest_model(data, forest) if forest.trees else None
    start = additive if first is None else first
    if trees is None:
        history.weight = 0.0 if start is not None else 1.0
        model = start if start is not None else _forest_model(data, _stump(data))
        scores = forest.scores if additive is None else score_codes(additive, data)
        return replace(model, threshold=0.0), scores
    if first is not None:
        added = [s - t for s, t in zip(forest.scores, forest.start, strict=True)]
        of_trees = spread(data, added)
        history.weight = of_trees / (of_trees + spread(data, forest.start))
        return sum_models([first, trees], [1.0, 1.0]), forest.scores
    if additive is None:
        return trees, forest.scores
    return _mix(data, forest, additive, trees, history)


def _mix(
    data: RankingData,
    forest: _Forest,
    additive: AdditiveModel,
    trees: ForestModel,
    history: TreeBoostHistory,
) -> tuple[Model, list[Floats]]:
    """The weighted sum of the smooth model and the trees."""
    smooth = score_codes(additive, data)
    if history.mixture is not None:
        history.weight, factor = history.mixture.weight, history.mixture.smooth_factor
    else:
        history.weight, factor = 0.5, spread(data, forest.scores) / spread(data, smooth)
    if history.weight == 1.0:
        return trees, forest.scores
    digits, exponent = frexp(factor)
    factor = ldexp(round(ldexp(digits, _FACTOR_BITS)), exponent - _FACTOR_BITS)
    model = sum_models([additive, trees], [factor, 1.0])
    for score, of_trees in zip(smooth, forest.scores, strict=True):
        score *= factor
        score += of_trees
    return model, smooth


def _stump(data: RankingData) -> _Forest:
    """A forest of one leaf of value 0, for a fit without trees."""
    one = np.array([-1])
    nodes = TreeNodes(one, one + 1, one + 1, one + 1, one, one[:0], one, one)
    cover = np.array([sum(data.class_weights)])
    return _Forest([Tree(nodes, np.zeros(1), np.zeros(1))], [cover], [], [])


def _forest_model(data: RankingData, forest: _Forest) -> ForestModel:
    """The sum of the trees, without a shift of the scores."""
    roots, joined = join_trees([tree.nodes for tree in forest.trees])
    nodes, features = shorten(joined, data.features)
    gain = np.concatenate([tree.gain for tree in forest.trees])
    inner = nodes.feature >= 0
    total = np.bincount(nodes.feature[inner], gain[inner], data.n_features).astype(np.float64)
    importance = total / (total.sum() or 1.0)
    negative, positive = data.classes.tolist()
    return ForestModel(
        (negative, positive),
        0.0,
        _NO_CALIBRATION,
        features,
        "sum",
        roots,
        nodes,
        np.concatenate([tree.value for tree in forest.trees]),
        importance,
        0.0,
        cover=np.concatenate(forest.covers).astype(np.float64),
    )
