"""MartiRank over rows: the weak ranker of a node is a small tree or any estimator."""

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
from auctor.learners.common.row_table import RowTable, row_table
from auctor.learners.martirank.martirank import (
    History,
    Settings,
    certify,
    end_of_rows,
    has_live,
)
from auctor.learners.martirank.program import Node, gates_of, program_values
from auctor.learners.trees.weak_tree import WeakTree
from auctor.models import Calibration, Gate, RowProgram
from auctor.weak.estimator import RowRanker, fit_row_ranker, row_scores

# An edge smaller than this is rounding.
_LEAST_EDGE = 2.0**-40


def fit_martirank_rows(
    data: RankingData, settings: Settings
) -> tuple[RowProgram, History, Certificate]:
    """Train a program with a copy of the estimator ``settings.weak``, or a tree, at each node."""
    if isinstance(settings.weak, str):
        settings = replace(settings, weak=WeakTree(data.features, settings.weak_depth))
    table = row_table(data)
    history = History()
    rankers: list[list[RowRanker | None]] = []
    place = np.zeros(len(table.rows), dtype=np.uint16)
    progress = Progress(settings.n_estimators, "MartiRank", settings.verbose)
    for t in range(1, settings.n_estimators + 1):
        above = np.zeros((1, len(place)), dtype=np.uint8)
        pairs = [_train(t, i, table, place, settings, above) for i in range(t)]
        history.layers.append([node for node, _ in pairs])
        rankers.append([ranker for _, ranker in pairs])
        gates = gates_of(history.layers[-1], 2)
        route(above, table.rows, (0, len(place)), *gates, (settings.seed, t), place)
        progress.step()
        if not has_live(history.layers[-1]):
            break
    progress.close()
    model = _finish(data, history, rankers, settings)
    # Back from the order of the table to that of the partitions
    places = [place[np.searchsorted(table.rows, part.rows)] for part in data.partitions]
    return model, history, certify(data, history, places, settings)


def _train(
    t: int,
    i: int,
    table: RowTable,
    place: npt.NDArray[np.uint16],
    settings: Settings,
    above: npt.NDArray[np.uint8],
) -> tuple[Node, RowRanker | None]:
    """One node; marks in ``above`` which of its rows lie above the threshold."""
    rows = np.flatnonzero(place == i) if i != OUT else np.zeros(0, dtype=np.int64)
    positive, weight = table.positive[rows], table.weight[rows]
    neg, pos = here = _class_rows(positive, weight, table.row_units)
    totals = _class_rows(table.positive, table.weight, table.row_units)
    if min(here) < settings.min_class:
        return end_of_rows(t, i, False, here, totals), None
    ranker = fit_row_ranker(settings.weak, table.Z[rows], positive, weight, (settings.seed, t, i))
    if ranker.auc - 0.5 <= _LEAST_EDGE:
        return end_of_rows(t, i, True, here, totals), None
    above[0, rows] = row_scores(ranker.estimator, table.Z[rows]) >= ranker.threshold
    right = (1.0 + np.array([ranker.below, ranker.above])) / 2.0
    return Node(t, i, 0, right, neg, pos, ranker.epsilon, ranker.auc - 0.5, 0, 0.0), ranker


def _class_rows(
    positive: Bools,
    weight: Floats,
    row_units: tuple[float, float],
) -> tuple[float, float]:
    """Effective number of the negatives and of the positives."""
    neg, pos = float(weight[~positive].sum()), float(weight[positive].sum())
    return neg * row_units[0], pos * row_units[1]


def _finish(
    data: RankingData,
    history: History,
    rankers: list[list[RowRanker | None]],
    settings: Settings,
) -> RowProgram:
    """The program as a model, shifted so that Youden's point lies at score 0."""
    value, final = program_values(history.layers, settings.output, settings.n_estimators)
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
