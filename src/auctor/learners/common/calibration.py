"""Platt scaling: a logistic curve from training scores to probabilities."""

from math import log

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData
from auctor.kernels.scores import count_cells, logistic_line
from auctor.models import Calibration

# Number of cells of equal width in which scores are counted before the fit. The counts are whole
# numbers, so the fit does not depend on the order of the rows or on the partitions, and it needs
# only one pass over the rows.
N_CELLS = 2**14

# Newton's method stops at a step this small, which does not change the digits of a probability.
_NO_STEP = 1e-9
_MOST_STEPS = 50


def calibrate(data: RankingData, scores: list[Floats], cut: float) -> Calibration:
    """Logistic regression of the class on score - cut, with Platt's smoothed targets.

    The slope is kept positive, so that probabilities have the order of the scores.
    """
    low, high = score_ends(data, scores)
    spread = high - low
    weight_neg, weight_pos = data.class_weights
    targets = platt_targets(*data.effective_rows)
    expected = weight_neg * targets[0] + weight_pos * targets[1]
    prior = log(expected / (weight_neg + weight_pos - expected))
    if spread == 0.0:
        return Calibration(1.0, prior + (cut - low))
    counts = _count(data, scores, low, spread)
    size = counts.sum(axis=0)
    used = size > 0
    x = (np.arange(N_CELLS)[used] + 0.5) / N_CELLS
    slope, offset = _fit_logistic(
        x, (targets[0] * counts[0] + targets[1] * counts[1])[used], size[used], prior
    )
    slope = max(slope / spread, 1e-6)
    return Calibration(slope, offset + slope * (cut - low))


def score_ends(data: RankingData, scores: list[Floats]) -> tuple[float, float]:
    """The smallest and the largest score of all rows; NaN if there is one."""
    low = np.min([s.min(initial=np.inf) for s in scores])
    high = np.max([s.max(initial=-np.inf) for s in scores])
    return data.group.ends(low, high)


def platt_targets(n_neg: float, n_pos: float) -> Floats:
    """Platt's targets: (n + 1) / (n + 2) for positives and 1 / (n + 2) for negatives.

    n is the effective number of rows of the class. With the targets 1 and 0 the slope of separated
    classes would be infinite.

    Examples
    --------
    >>> platt_targets(n_neg=8, n_pos=3)
    array([0.1, 0.8])
    """
    return np.array([1 / (n_neg + 2), (n_pos + 1) / (n_pos + 2)])


def _count(data: RankingData, scores: list[Floats], low: float, spread: float) -> Ints:
    """Weight of each class (negative, positive) in each cell of the scores."""
    counts = np.zeros((2, N_CELLS), dtype=np.int64)
    for part, values in zip(data.partitions, scores, strict=True):
        for label, rows in zip((1, 0), part.class_slices, strict=True):
            count_cells(values[rows], part.weight[rows], low, spread / N_CELLS, counts[label])
    return data.group.sum(counts)


def _fit_logistic(x: Floats, hits: Floats, size: Floats, prior: float) -> tuple[float, float]:
    """Slope and offset of the maximum likelihood, by Newton's method with step halving.

    ``hits`` is the sum of the targets in each cell and ``size`` its weight. The loss is convex, and
    the smoothed targets give it a finite minimum.
    """
    slope, offset = 0.0, prior
    loss, *rest = logistic_line(x, hits, size, slope, offset)
    for _ in range(_MOST_STEPS):
        along, level = newton_step(*rest)
        if not max(abs(along), abs(level)) > _NO_STEP:
            break
        trial, *rest = logistic_line(x, hits, size, slope - along, offset - level)
        while trial > loss and max(abs(along), abs(level)) > _NO_STEP:
            along, level = along / 2, level / 2
            trial, *rest = logistic_line(x, hits, size, slope - along, offset - level)
        if trial > loss:
            break
        slope, offset, loss = slope - along, offset - level, trial
    return slope, offset


def newton_step(g0: float, g1: float, h00: float, h01: float, h11: float) -> tuple[float, float]:
    """The Newton step of two unknowns; a tiny ridge keeps the matrix invertible."""
    ridge = 1e-12 * (h00 + h11)
    h00, h11 = h00 + ridge, h11 + ridge
    determinant = h00 * h11 - h01 * h01
    if not determinant > 0.0:
        return 0.0, 0.0
    return (h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant
