"""Kernels of DMKS (Fang & Chen 2019): the best threshold, and the best change of one coefficient.

KS is the fraction of the positives above the threshold minus that of the negatives; higher scores
always mean positive. Weights are whole numbers, so that the weight above a threshold is exact.
"""

from typing import NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.kernels.jit import kernel


class Rows(NamedTuple):
    """The whole weights of the rows, negatives first: rows from ``n_neg`` on are positive."""

    weight: Ints
    n_neg: int
    total_neg: int
    total_pos: int


class Column(NamedTuple):
    """One column of the matrix: the rows in which it is not 0, and the values there."""

    row: Ints
    x: Floats


class Cut(NamedTuple):
    """A threshold, its KS, and the weight of each class above it."""

    ks: float
    threshold: float
    above_neg: int
    above_pos: int


class Bounds(NamedTuple):
    """The limits of the change of a coefficient."""

    low: float
    high: float
    step: float  # how far to go into an unbounded interval
    clearance: float  # smallest distance of a score from the threshold


@kernel
def best_cut(scores: Floats, order: Ints, rows: Rows, min_gap: float) -> Cut:
    """The threshold of largest KS, in the middle of a gap between scores; the widest among equals.

    ``order`` sorts the scores. Scores closer together than ``min_gap`` may differ by rounding only
    and are not separated. A threshold below all scores has KS 0.
    """
    neg, pos = rows.total_neg, rows.total_pos
    best, width = 0.0, np.inf
    threshold = scores[order[0]] - 1.0
    best_neg, best_pos = neg, pos
    for k in range(len(order) - 1):
        row = order[k]
        if row < rows.n_neg:
            neg -= rows.weight[row]
        else:
            pos -= rows.weight[row]
        gap = scores[order[k + 1]] - scores[row]
        if gap < min_gap:
            continue
        value = pos / rows.total_pos - neg / rows.total_neg
        if value > best or (value == best and gap > width):
            best, width = value, gap
            threshold = scores[row] + gap / 2
            best_neg, best_pos = neg, pos
    return Cut(best, threshold, best_neg, best_pos)


@kernel
def crossings(scores: Floats, threshold: float, column: Column) -> Floats:
    """The change of the coefficient at which the score of each row reaches the threshold."""
    out = np.empty(len(column.x), dtype=np.float64)
    for i in range(len(out)):
        out[i] = (threshold - scores[column.row[i]]) / column.x[i]
    return out


@kernel
def best_move(
    crossing: Floats, order: Ints, column: Column, rows: Rows, cut: Cut, bounds: Bounds
) -> tuple[float, float]:
    """The exact best change of one coefficient at a fixed threshold; returns (KS, change).

    ``order`` sorts the crossings. Between two neighbouring crossings no row changes its side, so
    that KS is constant there; the change is the middle of the best interval, the widest among
    equals. Row i blocks ``clearance / |x_i|`` on either side of its crossing. If every interval is
    blocked, KS is -1 and the change 0.
    """
    n_moving = len(order)
    # For a change of minus infinity, exactly the rows with negative x are above the threshold.
    neg, pos = cut.above_neg, cut.above_pos
    ends = np.empty(
        n_moving + 1, dtype=np.float64
    )  # where the blocked range of rows k, k + 1, ... begins
    ends[n_moving] = np.inf
    for k in range(n_moving - 1, -1, -1):
        i = order[k]
        x, row = column.x[i], column.row[i]
        ends[k] = min(ends[k + 1], crossing[i] - bounds.clearance / abs(x))
        is_above = crossing[i] < 0.0 if x > 0.0 else crossing[i] > 0.0
        change = (int(x < 0.0) - int(is_above)) * rows.weight[row]
        if row < rows.n_neg:
            neg += change
        else:
            pos += change
    best, width, move = -1.0, 0.0, 0.0
    start = -np.inf
    for k in range(n_moving + 1):
        if k > 0:
            i = order[k - 1]
            x, row = column.x[i], column.row[i]
            start = max(start, crossing[i] + bounds.clearance / abs(x))
            change = rows.weight[row] if x > 0.0 else -rows.weight[row]
            if row < rows.n_neg:
                neg += change
            else:
                pos += change
        first, last = max(start, bounds.low), min(ends[k], bounds.high)
        if not first < last:
            continue
        if k == 0:
            first = max(first, last - 2.0 * bounds.step)
        if k == n_moving:
            last = min(last, first + 2.0 * bounds.step)
        value = pos / rows.total_pos - neg / rows.total_neg
        if value > best or (value == best and last - first > width):
            best, width = value, last - first
            move = first + width / 2
    return best, move


@kernel
def add_column(scores: Floats, column: Column, factor: float) -> None:
    """Add ``factor`` times the column to the scores, in place."""
    for i in range(len(column.x)):
        scores[column.row[i]] += factor * column.x[i]
