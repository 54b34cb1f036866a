"""From step tables over codes to a finished AdditiveModel: threshold, calibration, reference."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Indices, Ints
from auctor.data import Feature, Partition, RankingData
from auctor.data.row_arrays import row_blocks
from auctor.kernels.scores import add_table, sweep
from auctor.kernels.sorting import sort_floats
from auctor.learners.common.calibration import calibrate, score_ends
from auctor.learners.common.score_line import sweep_shared
from auctor.models import AdditiveModel, Reference, Surface, compress, on_grid
from auctor.models.reference import weighted_mean


def average_terms(
    data: RankingData, tables: Sequence[Floats], surfaces: Sequence[Surface] = ()
) -> Reference:
    """The average of each feature's table, then of each surface, over the rows of the data.

    Rows count by their weights, which are whole numbers: the result has the same bits for any order
    of the rows, any partitions, and weights times a constant. Averages are rounded to the grid of
    the steps, so that contributions minus their averages add up exactly.
    """
    counts = [_count_table(data, j, table) for j, table in enumerate(tables)]
    counts += [_count_cells(data, surface) for surface in surfaces]
    ends = np.cumsum([len(own) for own in counts])
    whole = np.split(data.group.sum(np.concatenate(counts)), ends[:-1])
    values = [*tables, *(surface.values.ravel() for surface in surfaces)]
    averages = [_average(*both) for both in zip(values, whole, strict=True)]
    return Reference(on_grid(np.array(averages)))


def _count_table(data: RankingData, j: int, table: Floats) -> Ints:
    """The weight of each code of a feature; nothing if its table is one of zeros."""
    counts = np.zeros(len(table) if table.any() else 0, dtype=np.int64)
    for part in data.partitions if len(counts) else ():
        counts += _count(part.codes[j], part.weight, len(table))
    return counts


def _count_cells(data: RankingData, surface: Surface) -> Ints:
    """The weight of each cell of a surface."""
    (a, b), axes = surface.features, surface.axes
    first, second = codes_in(data.features[a], axes[0]), codes_in(data.features[b], axes[1])
    width, size = surface.values.shape[1], surface.values.size
    counts = np.zeros(size, dtype=np.int64)
    for part in data.partitions:
        for rows in row_blocks(part.n_rows):
            cells = first[part.codes[a][rows]] * width + second[part.codes[b][rows]]
            counts += _count(cells, part.weight[rows], size)
    return counts


def _count(codes: npt.NDArray[np.integer], weight: npt.NDArray[np.uint32], size: int) -> Ints:
    """The weight of each code: sums of whole numbers below 2^53, which are exact in floats."""
    out = np.zeros(size, dtype=np.int64)
    for rows in row_blocks(len(codes)):  # bincount makes copies of eight bytes for each row
        out += np.bincount(codes[rows], weights=weight[rows], minlength=size).astype(np.int64)
    return out


def _average(values: Floats, counts: Ints) -> float:
    """The weighted mean; 0 without counts, for a table of zeros (most features of a wide one)."""
    return weighted_mean(values, counts / counts.sum()) if len(counts) else 0.0


def codes_in(feature: Feature, coarser: Feature) -> Indices:
    """For each code of ``feature`` the code of ``coarser``, whose cuts are a subset of its cuts.

    This does not hold for a model with an init, which has other cuts.
    """
    if feature.is_category:
        known = {category: code for code, category in enumerate(coarser.categories, start=1)}
        return np.array([0, *(known.get(category, 0) for category in feature.categories)])
    ends = np.append(feature.cuts, np.inf)
    return np.concatenate([[0], 1 + np.searchsorted(coarser.cuts, ends)])


class TrainingOrder(NamedTuple):
    """Youden's point and the AUC of scores on the training rows, or on other rows."""

    cut: float  # the score at Youden's point
    auc: float
    misranked: float  # fraction of the pairs that are not in order, ties included


class ClassHistogram(Protocol):
    """Weights (class, feature, code): an int64 array, or a ``RaggedHistogram`` of sparse codes."""

    def __getitem__(self, index: tuple[slice, int], /) -> Ints:
        """``histogram[:, j]``: the weights (class, code) of one feature."""


def finish_additive(
    data: RankingData,
    tables: list[Floats],
    surfaces: tuple[Surface, ...] = (),
    added: Sequence[Floats] = (),
) -> tuple[AdditiveModel, TrainingOrder]:
    """The model of the tables, shifted so that Youden's point is at score 0.

    ``tables[j]`` has ``data.n_codes`` entries: what each code of feature j adds to the score, code
    0 for missing values (``fill_missing`` sets it where no training row has one). Entries are
    multiples of the grid (``on_grid``), so that sums are exact. Add the steps to a table of zeros:
    a step times False is -0.0 for a negative step, and would be printed as -0.
    ``added`` is the sum of the surfaces, or of an initial model, for the rows of each partition.
    Everything here is computed from sums of whole numbers or from sums in the order of the scores:
    no bit of the result depends on the order of the rows or on the partitions.
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


def fill_missing(histogram: ClassHistogram, tables: list[Floats]) -> None:
    """Score a missing value as the average row, for features without one in the training rows.

    ``histogram`` holds the weights of the training rows (``class_histogram`` counts them). The
    tables are changed in place; tables of zeros stay as they are.
    """
    for j, table in enumerate(tables):
        if table.any():
            fill_missing_code(histogram[:, j], table)


def fill_missing_code(weights: Floats | Ints, table: Floats) -> None:
    """``fill_missing`` for one feature; ``weights`` (class, code) are those of its codes.

    The average is class-balanced: each class counts for one half.
    """
    fraction = (weights / weights.sum(axis=1, keepdims=True)).mean(axis=0)
    if fraction[0] == 0.0:
        table[0] = float(on_grid(np.array((fraction * table).sum())))


def score_rows(part: Partition, tables: list[Floats]) -> Floats:
    """The sum of the table entries of each row's codes; tables of zeros are skipped."""
    out = part.new_rows(np.float64, 0.0)
    for j, table in enumerate(tables):
        if table.any():
            add_table(part.codes[j], table, out)
    return out


def training_order(data: RankingData, scores: list[Floats]) -> TrainingOrder:
    """Youden's point and the AUC of the scores; scores that are not finite raise an error."""
    check_finite(data, scores)
    wrong, tied, cut = order_pairs(data, scores)
    total_neg, total_pos = map(float, data.class_weights)
    total = total_neg * total_pos
    return TrainingOrder(cut, 1 - (wrong + tied / 2) / total, (wrong + tied) / total)


def order_pairs(data: RankingData, scores: list[Floats]) -> tuple[float, float, float]:
    """The weight of wrongly ordered pairs, that of tied pairs, and Youden's threshold."""
    if data.group.size > 1:
        return sweep_shared(data, scores)
    neg, weight_neg = sorted_class(data, scores, 0)
    pos, weight_pos = sorted_class(data, scores, 1)
    wrong, tied, cut = sweep(neg, weight_neg, pos, weight_pos, *data.class_weights)
    return wrong, tied, cut


def check_finite(data: RankingData, scores: list[Floats]) -> None:
    """Raise an error for NaN, and for scores whose range is too large for a float64."""
    low, high = score_ends(data, scores)
    if not np.isfinite(high - low):
        raise ValueError(
            f"the scores of the training rows range from {low:g} to {high:g}, which is not a "
            "finite range; give columns of X, or an init, with smaller values"
        )


def sorted_class(
    data: RankingData, scores: list[Floats], label: int
) -> tuple[Floats, npt.NDArray[np.uint32]]:
    """Scores and weights of one class (0 negative, 1 positive) of this process, sorted by score."""
    parts = data.partitions
    rows = [part.class_slices[1 - label] for part in parts]
    values = _join([score[own] for score, own in zip(scores, rows, strict=True)])
    weight = _join([part.weight[own] for part, own in zip(parts, rows, strict=True)])
    if (weight == 1).all():
        ordered, spare = parts[0].empty_rows((2, len(values)), np.float64)
        sort_floats(values, ordered, spare)  # much faster than argsort
        return ordered, weight
    order = np.argsort(values, kind="stable")
    return values[order], weight[order]


def _join(arrays: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The arrays one after the other; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
