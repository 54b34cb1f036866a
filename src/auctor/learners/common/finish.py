"""From step tables over codes to a finished AdditiveModel with threshold and calibration."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.data import Partition, RankingData
from auctor.kernels.scores import add_table, sweep
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.reference import average_terms
from auctor.models import AdditiveModel, Surface, compress, on_grid


class TrainingOrder(NamedTuple):
    """How the scores order the training rows, or others."""

    cut: float  # Youden's point
    auc: float
    misranked: float  # share of pairs not in order, ties included


def finish_additive(
    data: RankingData,
    tables: list[Floats],
    surfaces: tuple[Surface, ...] = (),
    added: Sequence[Floats] = (),
) -> tuple[AdditiveModel, TrainingOrder]:
    """The model of the tables, shifted so that Youden's point lies at score 0.

    ``added`` is what the surfaces, or a model to start from, add to the rows of each partition.
    Whatever is computed here comes from sums of whole numbers or from sums in the order
    of the scores: the order of the rows and how they were cut into partitions cannot
    show in a single bit.
    """
    scores = [score_rows(part, tables) for part in data.partitions]
    for score, more in zip(scores, added, strict=len(added) > 0):
        score += more
    order = training_order(data, scores)
    pairs = [compress(f, t[: f.n_bins + 1]) for f, t in zip(data.features, tables, strict=True)]
    negative, positive = data.classes.tolist()
    model = AdditiveModel(
        (negative, positive),
        0.0,
        calibrate(data, scores, order.cut),
        tuple(feature for feature, _ in pairs),
        tuple(steps for _, steps in pairs),
        0.0 - order.cut,  # not -cut: the intercept of a flat model is +0.0
        surfaces,
        average_terms(data, tables, surfaces),
    )
    return model, order


def fill_missing(histogram: Any, tables: list[Floats]) -> None:
    """Where training had no missing value, a missing one scores as the average row does.

    ``histogram`` (class, feature, code) is that of the training rows, as ``RowWeights`` makes
    it; the average is over both classes alike. Tables of zeros stay as they are.
    """
    for j, table in enumerate(tables):
        if table.any():
            lines = histogram[:, j]
            share = (lines / lines.sum(axis=1, keepdims=True)).mean(axis=0)
            if share[0] == 0.0:
                table[0] = float(on_grid(np.array((share * table).sum())))


def score_rows(part: Partition, tables: list[Floats]) -> Floats:
    """Sum of the tables' entries for each row's codes; flat tables are passed over."""
    out = np.zeros(part.n_rows)
    for j, table in enumerate(tables):
        if table.any():
            add_table(part.codes[j], table, out)
    return out


def training_order(data: RankingData, scores: list[Floats]) -> TrainingOrder:
    """Sort each class and go through both once; scores that are not finite are refused."""
    check_finite(scores)
    neg, weight_neg = sorted_class(data, scores, 0)
    pos, weight_pos = sorted_class(data, scores, 1)
    total_neg, total_pos = map(float, data.class_weights)
    wrong, tied, cut = sweep(neg, weight_neg, pos, weight_pos, total_neg, total_pos)
    total = total_neg * total_pos
    return TrainingOrder(cut, 1 - (wrong + tied / 2) / total, (wrong + tied) / total)


def check_finite(scores: list[Floats]) -> None:
    """No kernel may see NaN, or scores whose distance is beyond a float64."""
    ends = [(float(s.min()), float(s.max())) for s in scores if len(s)]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    if not all(np.isfinite(end).all() for end in ends) or not np.isfinite(high - low):
        raise ValueError(
            f"the scores of the training rows run from {low:g} to {high:g}, which is no finite "
            "range; give columns of X, or an init, of a smaller size"
        )


def sorted_class(
    data: RankingData, scores: list[Floats], label: int
) -> tuple[Floats, npt.NDArray[np.uint32]]:
    """Scores and weights of one class in the order of the scores."""
    ends = [(0, p.n_pos) if label else (p.n_pos, p.n_rows) for p in data.partitions]
    values = np.concatenate([s[a:b] for s, (a, b) in zip(scores, ends, strict=True)])
    weight = np.concatenate(
        [p.weight[a:b] for p, (a, b) in zip(data.partitions, ends, strict=True)]
    )
    if (weight == 1).all():
        values.sort()  # many times as fast as finding an order
        return values, weight
    order = np.argsort(values, kind="stable")
    return values[order], weight[order]
