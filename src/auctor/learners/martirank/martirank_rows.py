"""MartiRank with weak rankers that score whole rows: small trees or scikit-learn estimators."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from auctor._progress import Progress
from auctor._typing import Bools, Floats
from auctor.data import RankingData
from auctor.kernels.program import OUT, route
from auctor.learners.certificate import Certificate
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import training_order
from auctor.learners.common.rounding import ROUNDING
from auctor.learners.common.row_table import RowTable, row_table
from auctor.learners.martirank.martirank import (
    MartiRankHistory,
    MartiRankSettings,
    certify,
    end_of_rows,
    has_live,
)
from auctor.learners.martirank.program import Node, gates_of, program_values
from auctor.learners.trees.weak_tree import WeakTree
from auctor.models import Calibration, Gate, RowProgram
from auctor.weak.estimator import RowRanker, fit_row_ranker, row_scores


def fit_martirank_rows(
    data: RankingData, settings: MartiRankSettings
) -> tuple[RowProgram, MartiRankHistory, Certificate]:
    """Train a program with a tree, or a copy of ``settings.estimator``, at each node."""
    if isinstance(settings.estimator, str):
        settings = replace(settings, estimator=WeakTree(data.features, settings.max_depth))
    table = row_table(data)
    history = MartiRankHistory()
    rankers: list[list[RowRanker | None]] = []
    position = np.zeros(len(table.rows), dtype=np.uint16)
    progress = Progress(settings.n_layers, "MartiRank", settings.verbose)
    for t in range(1, settings.n_layers + 1):
        above = np.zeros((1, len(position)), dtype=np.uint8)
        pairs = [_train(t, i, table, position, settings, above) for i in range(t)]
        history.layers.append([node for node, _ in pairs])
        rankers.append([ranker for _, ranker in pairs])
        gates = gates_of(history.layers[-1], 2)
        route(above, table.rows, (0, len(position)), *gates, (settings.seed, t), position)
        progress.step()
        if not has_live(history.layers[-1]):
            break
    progress.close()
    model = _finish(data, history, rankers, settings)
    # From the order of the table to that of the partitions.
    positions = [position[np.searchsorted(table.rows, part.rows)] for part in data.partitions]
    return model, history, certify(data, history, positions, settings)


def _train(
    t: int,
    i: int,
    table: RowTable,
    position: npt.NDArray[np.uint16],
    settings: MartiRankSettings,
    above: npt.NDArray[np.uint8],
) -> tuple[Node, RowRanker | None]:
    """Train one node; marks in ``above`` its rows that score above the threshold."""
    rows = np.flatnonzero(position == i) if i != OUT else np.zeros(0, dtype=np.int64)
    positive, weight = table.positive[rows], table.weight[rows]
    neg, pos = here = _class_rows(positive, weight, table.row_units)
    totals = _class_rows(table.positive, table.weight, table.row_units)
    if min(here) < settings.min_samples_leaf:
        return end_of_rows(t, i, False, here, totals), None
    ranker = fit_row_ranker(
        settings.estimator, table.Z[rows], positive, weight, (settings.seed, t, i)
    )
    if ranker.auc - 0.5 <= ROUNDING:
        return end_of_rows(t, i, True, here, totals), None
    above[0, rows] = row_scores(ranker.estimator, table.Z[rows]) >= ranker.threshold
    right = (1.0 + np.array([ranker.below, ranker.above])) / 2.0
    return Node(t, i, 0, right, neg, pos, ranker.epsilon, ranker.auc - 0.5, 0, 0.0), ranker


def _class_rows(
    positive: Bools,
    weight: Floats,
    row_units: tuple[float, float],
) -> tuple[float, float]:
    """Effective numbers of negatives and of positives."""
    neg, pos = float(weight[~positive].sum()), float(weight[positive].sum())
    return neg * row_units[0], pos * row_units[1]


def _finish(
    data: RankingData,
    history: MartiRankHistory,
    rankers: list[list[RowRanker | None]],
    settings: MartiRankSettings,
) -> RowProgram:
    """The program as a model, shifted so that Youden's point lies at score 0."""
    value, final = program_values(history.layers, settings.output, settings.n_layers)
    values = iter(value.tolist())
    layers = tuple(tuple(Gate(ranker, next(values)) for ranker in layer) for layer in rankers)
    negative, positive = data.classes.tolist()
    plain = RowProgram(
        (negative, positive), 0.0, Calibration(1.0, 0.0), data.features, layers, final, 0.0
    )
    scores = [plain.score_codes(part.dense_codes) for part in data.partitions]
    cut = training_order(data, scores).cut
    return RowProgram(
        plain.classes,
        0.0,
        calibrate(data, scores, cut),
        data.features,
        layers,
        final,
        0.0 - cut,
    )
