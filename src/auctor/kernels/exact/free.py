"""Bounds of KS and precision at k for every cut of a view, whatever the step is.

They start the branch and bound of ``auctor.kernels.exact.strips``.
"""

from typing import NamedTuple

import numpy as np

from auctor.kernels.exact.sample import KS, Sample, Views, margin_of
from auctor.kernels.exact.segment_tree import Tree, join_all, put_leaf, set_leaf
from auctor.kernels.exact.slots import Slots
from auctor.kernels.jit import inner_kernel


@inner_kernel
def arrange_free(sample: Sample, slots: Slots) -> None:
    """Sort all rows by score, with the smallest possible margin; each row has one slot."""
    stay = -margin_of(sample, 0)
    i, j = 0, 0
    for slot in range(len(sample.pos) + len(sample.neg)):
        if i < len(sample.pos) and (j == len(sample.neg) or sample.pos[i] + stay <= sample.neg[j]):
            slots.pos[0, i] = slot
            i += 1
        else:
            slots.neg[0, j] = slot
            j += 1


class Gains(NamedTuple):
    """What a row at or below the threshold of its side adds to the bound."""

    pos: float
    neg: float
    rest: float  # is added to the sum of both sides


@inner_kernel
def free_gains(metric: int, sample: Sample) -> Gains:
    """The gains of rows below the threshold, whose sum bounds KS or precision at k.

    KS is such a sum. For precision at k it is a Lagrangian bound: the number of positives above
    the thresholds of both sides minus a price for every unit of weight above them beyond k, which
    is a bound for every price. The price is set to the fraction of positives among the rows
    between k / 2 and 2 k, which is close to the best one.
    """
    n_pos, n_neg = len(sample.pos), len(sample.neg)
    if metric == KS:
        return Gains(-float(n_neg), float(n_pos), 0.0)
    i, j = n_pos, n_neg
    passed, positive, total = 0.0, 0.0, 0.0
    while (i > 0 or j > 0) and passed < 2 * sample.top:
        from_pos = j == 0 or (i > 0 and sample.pos[i - 1] > sample.neg[j - 1])
        weight = sample.weight_pos if from_pos else sample.weight_neg
        passed += weight
        if passed > sample.top / 2:
            total += weight
            positive += weight if from_pos else 0.0
        i -= from_pos
        j -= 1 - from_pos
    fraction = min(max(positive / max(total, 1e-300), 0.05), 0.95)
    price = fraction / sample.weight_pos
    pos, neg = price * sample.weight_pos - 1.0, price * sample.weight_neg
    return Gains(pos, neg, price * sample.top - n_pos * pos - n_neg * neg)


@inner_kernel
def sweep_free(
    sample: Sample,
    gains: Gains,
    slots: Slots,
    views: Views,
    view: int,
    above: Tree,
    below: Tree,
) -> tuple[float, int]:
    """The largest bound over the cuts of a view and over all steps, and its cut.

    The thresholds of the rows below and above the cut differ by the step. Since every step is
    allowed, each side can have the threshold that is best for it.
    """
    order_pos, rank_pos = views.order_pos[view], views.rank_pos[view]
    order_neg, rank_neg = views.order_neg[view], views.rank_neg[view]
    n_pos, n_neg = len(order_pos), len(order_neg)
    for i in range(len(above.sums)):
        above.sums[i] = above.bests[i] = below.sums[i] = below.bests[i] = 0.0
    for i in range(n_pos):
        set_leaf(above, slots.pos[0, i], gains.pos)
    for j in range(n_neg):
        set_leaf(above, slots.neg[0, j], gains.neg)
    join_all(above)
    i, j, best, cut = 0, 0, -1.0, 0
    while True:
        rank = rank_pos[i] if i < n_pos else rank_neg[j]
        if j < n_neg and rank_neg[j] < rank:
            rank = rank_neg[j]
        while i < n_pos and rank_pos[i] == rank:
            leaf = slots.pos[0, order_pos[i]]
            put_leaf(above, leaf, 0.0)
            put_leaf(below, leaf, gains.pos)
            i += 1
        while j < n_neg and rank_neg[j] == rank:
            leaf = slots.neg[0, order_neg[j]]
            put_leaf(above, leaf, 0.0)
            put_leaf(below, leaf, gains.neg)
            j += 1
        if i == n_pos and j == n_neg:
            return best, cut
        value = above.bests[1] + below.bests[1] + gains.rest
        if value > best:
            best, cut = value, int(rank)


@inner_kernel
def side_threshold(
    sample: Sample, gains: Gains, views: Views, view: int, cut: int, is_above: bool
) -> int:
    """The best threshold of the rows on one side of a cut, midway between two of its rows."""
    n_pos, n_neg = len(sample.pos), len(sample.neg)
    on_side = np.zeros(n_pos + n_neg, dtype=np.bool_)
    for k in range(n_pos):
        on_side[views.order_pos[view, k]] = (views.rank_pos[view, k] > cut) == is_above
    for k in range(n_neg):
        on_side[n_pos + views.order_neg[view, k]] = (views.rank_neg[view, k] > cut) == is_above
    stay = -margin_of(sample, 0)
    i, j, total, best = 0, 0, 0.0, 0.0
    first = min(sample.pos[0] + stay, sample.neg[0])
    beyond = np.int64(sample.scale / 16) + 2  # beyond the last row of a side, but not far
    low, high, is_open = first - beyond, first - beyond, True
    while i < n_pos or j < n_neg:
        from_pos = i < n_pos and (j == n_neg or sample.pos[i] + stay <= sample.neg[j])
        here = sample.pos[i] + stay if from_pos else sample.neg[j]
        counts = on_side[i] if from_pos else on_side[n_pos + j]
        if counts:
            if is_open:
                high, is_open = here, False
            total += gains.pos if from_pos else gains.neg
            if total > best:
                best, low, high, is_open = total, here, here, True
        i += from_pos
        j += 1 - from_pos
    return (low + (low + beyond if is_open else high)) // 2
