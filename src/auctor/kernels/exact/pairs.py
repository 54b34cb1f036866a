"""The AUC of every cut of a view in one sweep: rows move below the cut one after the other.

For each row that moves, the rows of the other class that it leads before and after are counted.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.kernels.exact.sample import Places, Sample, Views, margin_of, nearest_to_zero
from auctor.kernels.jit import kernel

BLOCK = 64


class Leads(NamedTuple):
    """Who leads whom in a strip: on the same side, positive above, positive below the cut.

    ``led[k, i]`` negatives are led by positive i; ``held[k, j]`` positives do not lead negative j.
    """

    led: Places
    held: Places


class Counter(NamedTuple):
    """Marked places: ``small`` those before a place in its block, ``big`` in blocks before it."""

    small: npt.NDArray[np.int32]
    big: npt.NDArray[np.int32]


@kernel
def find_leads(pos: Ints, neg: Ints, shift: int, led: Places, held: Places) -> None:
    """Count the negatives below each positive moved by ``shift``, and the reverse."""
    j = 0
    for i in range(len(pos)):
        moved = pos[i] + shift
        while j < len(neg) and neg[j] < moved:
            held[j] = i
            j += 1
        led[i] = j
    for k in range(j, len(neg)):
        held[k] = len(pos)


@kernel
def arrange_leads(sample: Sample, low: int, high: int, leads: Leads) -> float:
    """Fill in ``leads`` for the steps low .. high; the pairs led while all are on one side.

    A pair on the same side does not see d but by its margin; one with the positive above is
    helped most by the largest d, one with the positive below by the smallest.
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
def make_counter(n_places: int) -> Counter:
    """Room for places 0 .. n_places, the end included."""
    n_blocks = n_places // BLOCK + 1
    return Counter(np.zeros(n_blocks * BLOCK, dtype=np.int32), np.zeros(n_blocks, dtype=np.int32))


@kernel
def clear(counter: Counter) -> None:
    """Unmark all places."""
    for i in range(len(counter.small)):
        counter.small[i] = 0
    for i in range(len(counter.big)):
        counter.big[i] = 0


@kernel
def mark(counter: Counter, place: int) -> None:
    """Mark a place. Unsigned indices let both loops be vectorised."""
    block = np.uint64(place) // np.uint64(BLOCK) + np.uint64(1)
    for i in range(np.uint64(place) + np.uint64(1), block * np.uint64(BLOCK)):
        counter.small[i] += 1
    for i in range(block, np.uint64(len(counter.big))):
        counter.big[i] += 1


@kernel
def marked(counter: Counter, place: int) -> int:
    """Number of marked places before ``place``."""
    return counter.small[place] + counter.big[np.uint64(place) // np.uint64(BLOCK)]


@kernel
def sweep_pairs(
    start: float, leads: Leads, views: Views, view: int, below_pos: Counter, below_neg: Counter
) -> tuple[float, int]:
    """The largest bound of the AUC over the cuts of one view, in pairs, and its cut."""
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
            # Before: those above on the same side, those below with the positive above.
            # After: those above with the positive below, those below on the same side.
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
