"""Bounds of KS and precision at k for every cut of a view in one sweep.

A slot is a position in the order of scores. Each row has two slots, one for being above the cut and
one for being below it, as high (positives) or as low (negatives) as the steps of a strip allow. The
row changes its slot when the cut passes it. KS is then the root of a segment tree over the slots.
For precision at k the first slot of the top is updated, which moves little from cut to cut.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.kernels.exact.sample import Positions, Sample, Views, margin_of, nearest_to_zero
from auctor.kernels.exact.segment_tree import Tree, join_all, replace_leaf, set_leaf
from auctor.kernels.jit import inner_kernel, kernel

Contents = npt.NDArray[np.uint8]  # of each slot: EMPTY, POSITIVE or NEGATIVE

EMPTY, POSITIVE, NEGATIVE = 0, 1, 2


class Slots(NamedTuple):
    """The two slots of each row: if it is below the cut (0) and if it is above it (1)."""

    pos: Positions
    neg: Positions


@inner_kernel
def arrange_slots(sample: Sample, low: int, high: int, slots: Slots) -> None:
    """Find the two slots of each row, with positives as high and negatives as low as possible.

    The steps are low .. high. Among equal scores positives come first, since they do not count as
    above the negatives.
    """
    n_pos, n_neg = len(sample.pos), len(sample.neg)
    stay = -margin_of(sample, nearest_to_zero(low, high))
    move = high - margin_of(sample, high)
    end = np.int64(2**62)
    a, b, c, d = (
        0,
        0,
        0,
        0,
    )  # the next positive that stays, that moves, negative that stays, that moves
    for slot in range(2 * (n_pos + n_neg)):
        pos_stay = sample.pos[a] + stay if a < n_pos else end
        pos_move = sample.pos[b] + move if b < n_pos else end
        neg_stay = sample.neg[c] if c < n_neg else end
        neg_move = sample.neg[d] + low if d < n_neg else end
        if min(pos_stay, pos_move) <= min(neg_stay, neg_move):
            if pos_stay <= pos_move:
                slots.pos[0, a] = slot
                a += 1
            else:
                slots.pos[1, b] = slot
                b += 1
        elif neg_stay <= neg_move:
            slots.neg[0, c] = slot
            c += 1
        else:
            slots.neg[1, d] = slot
            d += 1


@inner_kernel
def fill_tree(sample: Sample, slots: Slots, tree: Tree) -> None:
    """Fill the tree with all rows above the cut; its largest prefix sum is KS times both sizes."""
    for i in range(len(tree.sums)):
        tree.sums[i] = tree.bests[i] = 0.0
    for i in range(len(sample.pos)):
        set_leaf(tree, slots.pos[1, i], -float(len(sample.neg)))
    for j in range(len(sample.neg)):
        set_leaf(tree, slots.neg[1, j], float(len(sample.pos)))
    join_all(tree)


@inner_kernel
def sweep_ks(
    sample: Sample, slots: Slots, views: Views, view: int, full: Tree, tree: Tree
) -> tuple[float, int]:
    """The largest bound on KS over the cuts of one view, and its cut.

    ``full`` is the tree with all rows above the cut.
    """
    order_pos, rank_pos = views.order_pos[view], views.rank_pos[view]
    order_neg, rank_neg = views.order_neg[view], views.rank_neg[view]
    n_pos, n_neg = len(order_pos), len(order_neg)
    for i in range(len(full.sums)):
        tree.sums[i] = full.sums[i]
        tree.bests[i] = full.bests[i]
    gain_pos, gain_neg = -float(n_neg), float(n_pos)
    i, j, best, cut = 0, 0, -1.0, 0
    while True:
        rank = rank_pos[i] if i < n_pos else rank_neg[j]
        if j < n_neg and rank_neg[j] < rank:
            rank = rank_neg[j]
        while i < n_pos and rank_pos[i] == rank:
            k = order_pos[i]
            replace_leaf(tree, slots.pos[1, k], slots.pos[0, k], gain_pos)
            i += 1
        while j < n_neg and rank_neg[j] == rank:
            k = order_neg[j]
            replace_leaf(tree, slots.neg[1, k], slots.neg[0, k], gain_neg)
            j += 1
        if i == n_pos and j == n_neg:
            return best, cut
        value = tree.bests[1]
        if value > best:
            best, cut = value, int(rank)


class Top(NamedTuple):
    """The rows that precision at k counts: those in slots from ``start`` on."""

    start: int
    n_pos: int
    n_neg: int


@kernel
def extend_top(sample: Sample, contents: Contents, top: Top) -> Top:
    """Move the start of the top to the first slot from which the rows weigh at most k."""
    start, n_pos, n_neg = top
    weight_pos, weight_neg, most = sample.weight_pos, sample.weight_neg, sample.top
    while n_pos * weight_pos + n_neg * weight_neg > most:
        n_pos -= contents[start] == POSITIVE
        n_neg -= contents[start] == NEGATIVE
        start += 1
    while start > 0:
        more_pos = n_pos + (contents[start - 1] == POSITIVE)
        more_neg = n_neg + (contents[start - 1] == NEGATIVE)
        if more_pos * weight_pos + more_neg * weight_neg > most:
            break
        start, n_pos, n_neg = start - 1, more_pos, more_neg
    return Top(start, n_pos, n_neg)


@kernel
def fill_contents(sample: Sample, slots: Slots, contents: Contents) -> Top:
    """Fill the slots with all rows above the cut; returns the top."""
    for slot in range(len(contents)):
        contents[slot] = EMPTY
    for i in range(len(sample.pos)):
        contents[slots.pos[1, i]] = POSITIVE
    for j in range(len(sample.neg)):
        contents[slots.neg[1, j]] = NEGATIVE
    return extend_top(sample, contents, Top(len(contents), 0, 0))


@inner_kernel
def sweep_top(
    sample: Sample,
    slots: Slots,
    views: Views,
    view: int,
    full: Contents,
    first: Top,
    contents: Contents,
) -> tuple[float, int]:
    """The largest bound on the positives in the top over the cuts of one view, and its cut.

    ``full`` has the contents of the slots with all rows above the cut, and ``first`` their top.
    """
    order_pos, rank_pos = views.order_pos[view], views.rank_pos[view]
    order_neg, rank_neg = views.order_neg[view], views.rank_neg[view]
    n_pos, n_neg = len(order_pos), len(order_neg)
    for slot in range(len(full)):
        contents[slot] = full[slot]
    start, top_pos, top_neg = first
    i, j, best, cut = 0, 0, -1, 0
    while True:
        rank = rank_pos[i] if i < n_pos else rank_neg[j]
        if j < n_neg and rank_neg[j] < rank:
            rank = rank_neg[j]
        while i < n_pos and rank_pos[i] == rank:
            above, below = slots.pos[1, order_pos[i]], slots.pos[0, order_pos[i]]
            contents[above], contents[below] = EMPTY, POSITIVE
            top_pos += int(below >= start) - int(above >= start)
            i += 1
        while j < n_neg and rank_neg[j] == rank:
            above, below = slots.neg[1, order_neg[j]], slots.neg[0, order_neg[j]]
            contents[above], contents[below] = EMPTY, NEGATIVE
            top_neg += int(below >= start) - int(above >= start)
            j += 1
        if i == n_pos and j == n_neg:
            return float(best), cut
        start, top_pos, top_neg = extend_top(sample, contents, Top(start, top_pos, top_neg))
        if top_pos > best:
            best, cut = top_pos, int(rank)
