"""Weights and effective numbers of rows in the entries of SmoothAUCBoost's tables."""

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.smooth import count_slopes
from auctor.learners.common.blocks import Block, class_blocks
from auctor.learners.smooth.smoothed_auc import scales


def code_fractions(histogram: Ints) -> Floats:
    """Class-balanced fraction of the rows in each code (features, codes).

    The fractions of a feature add up to 1, and each class counts for one half.
    """
    fractions = histogram / histogram.sum(axis=2, keepdims=True)
    return np.asarray(fractions.mean(axis=0))


def entry_rows(
    data: RankingData, histogram: Ints, workers: Workers
) -> tuple[Floats, Floats | None]:
    """Effective number of rows per code, and the ratio of its variance to that of equal weights.

    The variance of a weighted sum is a sum of squared weights: where a few heavy rows make up the
    weight of a code, it varies more than the weight alone suggests. The ratio is None where all
    rows of a class have the same weight, or where weights count copies of a row.
    """
    if data.rows_per_unit is not None or not _has_unequal_weights(data):
        units = np.array(data.row_units)[:, None, None]
        return np.asarray((histogram * units).sum(axis=0)), None
    squares = _square_histogram(data, workers)
    totals = np.array(data.class_weights, dtype=np.float64)
    kish = totals**2 / squares[:, 0].sum(axis=1)
    own = histogram.astype(np.float64) ** 2 / np.where(squares > 0, squares, 1.0)
    own *= (np.array(data.effective_rows) / kish)[:, None, None]  # fewer where rows are copies
    variance = (squares / (totals**2)[:, None, None]).sum(axis=0)
    equal = (histogram / (totals * kish)[:, None, None]).sum(axis=0)
    return own.sum(axis=0), np.divide(variance, equal, out=np.ones_like(equal), where=equal > 0)


def _has_unequal_weights(data: RankingData) -> bool:
    """Whether rows of the same class have different weights."""
    for label in (0, 1):
        weights = [part.weight[part.class_slices[label]] for part in data.partitions]
        low = min(weight.min(initial=np.iinfo(np.uint32).max) for weight in weights)
        high = max(weight.max(initial=0) for weight in weights)
        low, high = data.group.ends(low, high)
        if low < high:
            return True
    return False


def _square_histogram(data: RankingData, workers: Workers) -> Floats:
    """Squared weights per class, feature and code, summed as whole numbers."""
    own_largest = max(int(part.weight.max(initial=1)) for part in data.partitions)
    largest = data.group.largest(own_largest)
    factors = [scales(total)[0] for total in data.class_weights]
    relative = [part.new_rows(np.float64) for part in data.partitions]
    for part, out in zip(data.partitions, relative, strict=True):
        np.divide(part.weight, largest, out=out)

    def count(blocks: list[Block]) -> Ints:
        out = np.zeros((2, data.n_features, data.n_codes), dtype=np.int64)
        for k, label, start, stop in blocks:
            part, scale = data.partitions[k], factors[label]
            count_slopes(part.codes, part.weight, relative[k], scale, 0.0, start, stop, out[label])
        return out

    own = np.asarray(sum(workers.map(count, class_blocks(data, workers.count))))
    sums = data.group.sum(own)
    return sums * (largest / np.array(factors))[:, None, None]
