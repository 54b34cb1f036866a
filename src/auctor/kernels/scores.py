"""Single passes over the scores of two classes: wrong pairs, best threshold, logistic losses."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import kernel


@kernel
def add_table(column: npt.NDArray[Any], table: Floats, out: Floats) -> None:
    """Add to each row the entry of the table for its code."""
    for i in range(len(column)):
        out[i] += table[column[i]]


# Products of two sums of weights, of up to 40 bits each, are added up in two parts: multiples of
# 2^LOW_BITS, and the rest.
LOW_BITS = 22
_LOW = (1 << LOW_BITS) - 1


@kernel
def sweep(
    neg: Floats,
    weight_neg: npt.NDArray[np.uint32],
    pos: Floats,
    weight_pos: npt.NDArray[np.uint32],
    total_neg: int,
    total_pos: int,
) -> tuple[float, float, float]:
    """The weight of wrongly ordered pairs, that of tied pairs, and Youden's threshold.

    Scores are sorted within each class. The threshold (Youden 1950) is midway between two
    neighbouring scores, where the fraction of positives above minus that of negatives above is
    largest; the highest one among equals, which flags the fewest rows, as ``RocCurve.youden`` does.
    If all scores are equal, it is above them, and no row is flagged. The result
    depends only on the weights of each distinct score, so that neither the order of tied rows nor
    a row twice instead of weight 2 makes a difference. All sums are whole numbers.
    """
    i, j = 0, 0
    below_neg, below_pos = np.int64(0), np.int64(0)
    wrong, wrong_low = np.int64(0), np.int64(0)
    tied, tied_low = np.int64(0), np.int64(0)
    cut, last = 0.0, 0.0
    best, best_low = np.int64(np.iinfo(np.int64).min), np.int64(0)
    while i < len(neg) or j < len(pos):
        from_neg = j == len(pos) or (i < len(neg) and neg[i] <= pos[j])
        score = neg[i] if from_neg else pos[j]
        # The rows so far are below the cut, the others above; there is no cut before the first.
        # Counts instead of rates, so that cuts of equal gaps compare as equal.
        gap_low = below_neg * (total_pos & _LOW) - below_pos * (total_neg & _LOW)
        gap = below_neg * (total_pos >> LOW_BITS) - below_pos * (total_neg >> LOW_BITS)
        gap += gap_low >> LOW_BITS
        gap_low &= _LOW
        if i + j == 0:
            cut = score + max(1.0, abs(score)) if abs(score) < np.inf else score
        elif gap > best or (gap == best and gap_low >= best_low):
            cut, best, best_low = last / 2 + score / 2, gap, gap_low
            if cut <= last:  # neighbouring floats: a row at the cut is above it
                cut = score
        here_neg, here_pos = np.int64(0), np.int64(0)
        # The row of the score itself is counted first, because NaN is not equal to itself.
        if from_neg:
            here_neg += np.int64(weight_neg[i])
            i += 1
        else:
            here_pos += np.int64(weight_pos[j])
            j += 1
        while i < len(neg) and neg[i] == score:
            here_neg += np.int64(weight_neg[i])
            i += 1
        while j < len(pos) and pos[j] == score:
            here_pos += np.int64(weight_pos[j])
            j += 1
        below_neg += here_neg
        below_pos += here_pos
        above_neg = total_neg - below_neg
        wrong += here_pos * (above_neg >> LOW_BITS)
        wrong_low += here_pos * (above_neg & _LOW)
        tied += here_pos * (here_neg >> LOW_BITS)
        tied_low += here_pos * (here_neg & _LOW)
        last = score
    scale = 2.0**LOW_BITS
    return wrong * scale + wrong_low, tied * scale + tied_low, cut


@kernel
def count_cells(
    scores: Floats,
    weight: npt.NDArray[np.uint32],
    low: float,
    width: float,
    counts: Ints,
) -> None:
    """Add the weight of each row to the cell of its score; the first cell starts at ``low``."""
    last = len(counts) - 1
    for i in range(len(scores)):
        position = (scores[i] - low) / width
        # NaN goes to the first cell, because comparisons with it are false.
        cell = last if position >= last else (int(position) if position > 0.0 else 0)
        counts[cell] += np.int64(weight[i])


@kernel
def logistic_line(
    x: Floats,
    hits: Floats,
    size: Floats,
    slope: float,
    offset: float,
) -> tuple[float, float, float, float, float, float]:
    """The logistic loss of ``slope * x + offset`` (Platt 1999), and its derivatives.

    Cell i has ``size[i]`` rows, of which ``hits[i]`` are positive. Returns the loss, the gradient
    by slope and offset, and the second derivatives (slope twice, slope and offset, offset twice).
    """
    loss, g0, g1, h00, h01, h11 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(x)):
        z = slope * x[i] + offset
        decayed = np.exp(-abs(z))  # the argument is negative, so that it cannot overflow
        p = (1.0 if z >= 0.0 else decayed) / (1.0 + decayed)
        loss += size[i] * (max(z, 0.0) + np.log1p(decayed)) - hits[i] * z
        error, curvature = size[i] * p - hits[i], size[i] * p * (1.0 - p)
        g0 += error * x[i]
        g1 += error
        h00 += curvature * x[i] * x[i]
        h01 += curvature * x[i]
        h11 += curvature
    return loss, g0, g1, h00, h01, h11


@kernel
def logistic_rows(
    z: Floats,
    positive: Bools,
    weight: Floats,
    pull: Floats,
) -> float:
    """The logistic loss of the scores of the rows; ``pull`` is set to the negative gradient."""
    loss = 0.0
    for i in range(len(z)):
        decayed = np.exp(-abs(z[i]))
        p = (1.0 if z[i] >= 0.0 else decayed) / (1.0 + decayed)
        hit = 1.0 if positive[i] else 0.0
        loss += weight[i] * (max(z[i], 0.0) + np.log1p(decayed) - hit * z[i])
        pull[i] = weight[i] * (hit - p)
    return loss
