"""Bounds of the AUC for every cut of a view in one sweep.

A strip is a range of steps. At first all rows are above the cut; then they pass below it one by
one, and the number of pairs in the right order is updated for each row.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.kernels.exact.sample import Positions, Sample, Views, margin_of, nearest_to_zero
from auctor.kernels.jit import inner_kernel, kernel

BLOCK = 64


class Leads(NamedTuple):
    """The pairs in the right order in a strip ("the positive leads the negative").

    Index k is 0 if both rows are on the same side of the cut, 1 if only the positive is above it,
    2 if only the negative is. Positive i leads ``led[k, i]`` negatives; ``held[k, j]`` positives
    do not lead negative j.
    """

    led: Positions
    held: Positions


class Counter(NamedTuple):
    """A set of marked positions with fast counts of those before a position.

    ``small`` counts the marked positions before each position within its block, ``big`` those in
    the blocks before each block.
    """

    small: npt.NDArray[np.int32]
    big: npt.NDArray[np.int32]


@inner_kernel
def find_leads(pos: Ints, neg: Ints, shift: int, led: Positions, held: Positions) -> None:
    """Count the negatives below each positive plus ``shift``, and the positives not above each."""
    j = 0
    for i in range(len(pos)):
        moved = pos[i] + shift
        while j < len(neg) and neg[j] < moved:
            held[j] = i
            j += 1
        led[i] = j
    for k in range(j, len(neg)):
        held[k] = len(pos)


@inner_kernel
def arrange_leads(sample: Sample, low: int, high: int, leads: Leads) -> float:
    """Fill ``leads`` for the steps low .. high; returns the pairs led if all rows are on one side.

    The step changes the order of a pair on the same side only through the margin. For a pair with
    the positive above the cut the largest step is best, with the negative above it the smallest.
    """
    same = -margin_of(sample, nearest_to_zero(low, high))
    up, down = high - margin_of(sample, high), -low - margin_of(sample, low)
    find_leads(sample.pos, sample.neg, same, leads.led[0], leads.held[0])
    find_leads(sample.pos, sample.neg, up, leads.led[1], leads.held[1])
    find_leads(sample.pos, sample.neg, down, leads.led[2], leads.held[2])
    total = 0
    for i in range(len(sample.pos)):
        total += leads.led[0, i]
    return float(total)


@kernel
def make_counter(n_positions: int) -> Counter:
    """A counter without marks for positions 0 .. n_positions, the end included."""
    n_blocks = n_positions // BLOCK + 1
    return Counter(np.zeros(n_blocks * BLOCK, dtype=np.int32), np.zeros(n_blocks, dtype=np.int32))


@kernel
def clear(counter: Counter) -> None:
    """Unmark all positions."""
    for i in range(len(counter.small)):
        counter.small[i] = 0
    for i in range(len(counter.big)):
        counter.big[i] = 0


@kernel
def mark(counter: Counter, position: int) -> None:
    """Mark a position. Unsigned indices let both loops be vectorised."""
    block = np.uint64(position) // np.uint64(BLOCK) + np.uint64(1)
    for i in range(np.uint64(position) + np.uint64(1), block * np.uint64(BLOCK)):
        counter.small[i] += 1
    for i in range(block, np.uint64(len(counter.big))):
        counter.big[i] += 1


@kernel
def marked(counter: Counter, position: int) -> int:
    """Number of marked positions before ``position``."""
    return counter.small[position] + counter.big[np.uint64(position) // np.uint64(BLOCK)]


@inner_kernel
def sweep_pairs(
    start: float, leads: Leads, views: Views, view: int, below_pos: Counter, below_neg: Counter
) -> tuple[float, int]:
    """The largest bound on the AUC over the cuts of one view, in pairs, and its cut."""
    order_pos, rank_pos = views.order_pos[view], views.rank_pos[view]
    order_neg, rank_neg = views.order_neg[view], views.rank_neg[view]
    led, held = leads.led, leads.held
    n_pos, n_neg = len(order_pos), len(order_neg)
    clear(below_pos)
    clear(below_neg)
    i, j, best, cut = 0, 0, np.int64(-1), np.int64(0)
    total = np.int64(start)
    while True:
        rank = rank_pos[i] if i < n_pos else rank_neg[j]
        if j < n_neg and rank_neg[j] < rank:
            rank = rank_neg[j]
        while i < n_pos and rank_pos[i] == rank:
            k = order_pos[i]
            # Before the move the positive is on the same side as negatives above the cut, and
            # above those below it. After the move it is below the former, and on the same side
            # as the latter.
            same, up, down = led[0, k], led[1, k], led[2, k]
            total += np.int64(down) - np.int64(same) + 2 * marked(below_neg, same)
            total -= marked(below_neg, up) + marked(below_neg, down)
            mark(below_pos, k)
            i += 1
        while j < n_neg and rank_neg[j] == rank:
            k = order_neg[j]
            same, up, down = held[0, k], held[1, k], held[2, k]
            total += np.int64(same) - np.int64(up) - 2 * marked(below_pos, same)
            total += marked(below_pos, up) + marked(below_pos, down)
            mark(below_neg, k)
            j += 1
        if i == n_pos and j == n_neg:
            return float(best), int(cut)
        if total > best:
            best, cut = total, np.int64(rank)
