"""Passes over the scores of two classes: misranked pairs, Youden's cut, a logistic fit."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


@kernel
def add_table(
    line: npt.NDArray[Any], table: npt.NDArray[np.float64], out: npt.NDArray[np.float64]
) -> None:
    """Add to each row the table's entry for its code."""
    for i in range(len(line)):
        out[i] += table[line[i]]


@kernel
def sweep(
    neg: npt.NDArray[np.float64],
    weight_neg: npt.NDArray[np.uint32],
    pos: npt.NDArray[np.float64],
    weight_pos: npt.NDArray[np.uint32],
    total_neg: float,
    total_pos: float,
) -> tuple[float, float, float]:
    """Weight of misranked pairs, weight of tied pairs, and Youden's cut, from sorted scores.

    The totals are those of the weights of each class. The cut lies midway between the two
    neighbouring scores where the share of positives above exceeds that of negatives above
    most; of several, the lowest. Where all scores are equal it is that score. Only the
    weights per distinct score enter, in their order, so that neither the order of tied rows
    nor a row given twice shows in the result.
    """
    i, j = 0, 0
    below_neg, below_pos = np.int64(0), np.int64(0)
    wrong, tied = 0.0, 0.0
    cut, best, last = 0.0, -np.inf, 0.0
    while i < len(neg) or j < len(pos):
        from_neg = j == len(pos) or (i < len(neg) and neg[i] <= pos[j])
        score = neg[i] if from_neg else pos[j]
        # With these rows below the cut and the rest above; before the first there is no cut.
        gap = below_neg / total_neg - below_pos / total_pos
        if i + j == 0:
            cut = score
        elif gap > best:
            cut, best = last / 2 + score / 2, gap
        here_neg, here_pos = np.int64(0), np.int64(0)
        while i < len(neg) and neg[i] == score:
            here_neg += np.int64(weight_neg[i])
            i += 1
        while j < len(pos) and pos[j] == score:
            here_pos += np.int64(weight_pos[j])
            j += 1
        below_neg += here_neg
        below_pos += here_pos
        wrong += np.float64(here_pos) * (total_neg - np.float64(below_neg))
        tied += np.float64(here_pos) * np.float64(here_neg)
        last = score
    return wrong, tied, cut


@kernel
def logistic_sums(
    scores: npt.NDArray[np.float64],
    weight: npt.NDArray[np.uint32],
    target: float,
    line: tuple[float, float, float, float],
    unit: float,
    sums: npt.NDArray[np.int64],
) -> None:
    """Add the loss, gradient and curvature of a logistic line over rows of one class.

    ``line`` is (low, spread, slope, offset): z = slope * x + offset, where x = (score -
    low) / spread lies in [0, 1]. Each term is rounded to a multiple of ``unit`` before it
    is weighed: sums in whole numbers do not depend on their order.
    """
    low, spread, slope, offset = line
    for i in range(len(scores)):
        x = (scores[i] - low) / spread
        z = slope * x + offset
        decayed = np.exp(-abs(z))
        p = (1.0 if z >= 0 else decayed) / (1.0 + decayed)
        miss = p - target
        curve = p * (1.0 - p)
        w = np.int64(weight[i])
        sums[0] += w * np.int64(np.rint((max(z, 0.0) + np.log1p(decayed) - target * z) / unit))
        sums[1] += w * np.int64(np.rint(miss * x / unit))
        sums[2] += w * np.int64(np.rint(miss / unit))
        sums[3] += w * np.int64(np.rint(curve * x * x / unit))
        sums[4] += w * np.int64(np.rint(curve * x / unit))
        sums[5] += w * np.int64(np.rint(curve / unit))
