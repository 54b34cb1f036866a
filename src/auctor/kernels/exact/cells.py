"""Stumps of ExactBoost by interval arithmetic over cells (Csillag et al. 2021, Algorithm 2).

A cell is a range of cuts times a range of steps d = b - a, the only part of a stump's two values
that a rank metric sees. A row below all the cuts stays, one above all of them moves by d, one
between may do either. Raising every positive and lowering every negative as far as the cell
allows gives scores whose metric no stump of the cell can exceed. A row between goes with whichever
of the two sides serves it better, so that each class is cut in two, and what was sorted once is
only merged. Scores, steps and cuts are whole numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Ints
from auctor.kernels.exact.sample import AUC, KS, Places, Sample, margin_of, nearest_to_zero
from auctor.kernels.jit import kernel


class Cell(NamedTuple):
    """Cuts first_cut .. last_cut, steps low .. high."""

    first_cut: Any  # int64 in kernels: a cell must not change its type
    last_cut: Any
    low: Any
    high: Any


class Room(NamedTuple):
    """Working memory of ``cell_bound``, made once."""

    stay: Ints
    move: Ints
    pos: Ints
    neg: Ints


@kernel
def metric_value(metric: int, sample: Sample, pos: Ints, neg: Ints) -> float:
    """What is to be large: pairs in order, gap times both sizes, or positives in the top."""
    if metric == AUC:
        won, i, j = 0, 0, 0
        while i < len(pos) and j < len(neg):
            beaten = neg[j] < pos[i]
            won += 0 if beaten else j
            j += beaten
            i += 1 - beaten
        return float(won + (len(pos) - i) * j)
    if metric == KS:
        widest, i, j = 0, 0, 0
        while j < len(neg):
            take = i < len(pos) and pos[i] <= neg[j]
            i += take
            j += 1 - take
            widest = max(widest, j * len(pos) - i * len(neg))
        return float(widest)
    found, j = 0, len(neg)
    for i in range(len(pos) - 1, -1, -1):
        while j > 0 and neg[j - 1] >= pos[i]:
            j -= 1
        above = (found + 1) * sample.weight_pos + (len(neg) - j) * sample.weight_neg
        if above > sample.top:
            break
        found += 1
    return float(found)


@kernel
def merge_sides(
    scores: Ints, ranks: Places, cut: int, stay: int, move: int, room: Room, out: Ints
) -> None:
    """Add ``move`` to the scores of rank above ``cut`` and ``stay`` to the others, sorted."""
    n_stay, n_move = 0, 0
    for i in range(len(scores)):
        stays = ranks[i] <= cut
        room.stay[n_stay] = room.move[n_move] = scores[i]
        n_stay += stays
        n_move += 1 - stays
    i, j, place = 0, 0, 0
    while i < n_stay and j < n_move:
        a, b = room.stay[i] + stay, room.move[j] + move
        first = a <= b
        out[place] = a if first else b
        i += first
        j += 1 - first
        place += 1
    for k in range(i, n_stay):
        out[place] = room.stay[k] + stay
        place += 1
    for k in range(j, n_move):
        out[place] = room.move[k] + move
        place += 1


@kernel
def cell_bound(
    metric: int, sample: Sample, rank_pos: Places, rank_neg: Places, cell: Cell, room: Room
) -> float:
    """No stump of the cell has a larger metric; for a cell of one stump, its metric."""
    stay = -margin_of(sample, nearest_to_zero(cell.low, cell.high))
    move = cell.high - margin_of(sample, cell.high)  # grows with d, as theta is below 2
    cut = cell.first_cut if move >= stay else cell.last_cut
    merge_sides(sample.pos, rank_pos, cut, stay, move, room, room.pos)
    cut = cell.first_cut if cell.low <= 0 else cell.last_cut
    merge_sides(sample.neg, rank_neg, cut, 0, cell.low, room, room.neg)
    n_pos, n_neg = len(sample.pos), len(sample.neg)
    return float(metric_value(metric, sample, room.pos[:n_pos], room.neg[:n_neg]))


@kernel
def whole_cell(sample: Sample, rank_pos: Places, rank_neg: Places, reach: int) -> Cell:
    """All cuts that part the sample, all steps up to ``reach``; no cut where ranks are equal."""
    first, last = rank_neg[0], rank_neg[0]
    for i in range(len(rank_pos)):
        first, last = min(first, rank_pos[i]), max(last, rank_pos[i])
    for j in range(len(rank_neg)):
        first, last = min(first, rank_neg[j]), max(last, rank_neg[j])
    return Cell(np.int64(first), np.int64(last) - 1, np.int64(-reach), np.int64(reach))


@kernel
def part_of(cell: Cell, part: int) -> Cell:
    """Quarter 0 .. 3 of a cell; one that cannot be halved further has quarters without a stump."""
    cut, step = (cell.first_cut + cell.last_cut) // 2, (cell.low + cell.high) // 2
    first, last, low, high = cell.first_cut, cut, cell.low, step
    if part // 2 == 1:
        first, last = cut + 1, cell.last_cut
    if part % 2 == 1:
        low, high = step + 1, cell.high
    return Cell(first, last, low, high)


@kernel
def centre_of(cell: Cell) -> Cell:
    """The stump in the middle, as a cell of its own."""
    cut, step = (cell.first_cut + cell.last_cut) // 2, (cell.low + cell.high) // 2
    return Cell(cut, cut, step, step)


@kernel
def bisect(
    metric: int,
    sample: Sample,
    rank_pos: Places,
    rank_neg: Places,
    reach: int,
    width: int,
    least: float,
    room: Room,
) -> tuple[float, int, int]:
    """Algorithm 2: halve both sides of the cell and follow the best bound; (metric, cut, step).

    Steps are told apart down to ``width``. Wide cells often all have the bound of a perfect
    order; the paper leaves open which to follow, and we take the one whose centre is best. As
    soon as no bound exceeds ``least`` the search ends with metric -1: another feature is as good.
    """
    cell = whole_cell(sample, rank_pos, rank_neg, reach)
    if cell.last_cut < cell.first_cut:
        return -1.0, 0, 0
    while cell.first_cut < cell.last_cut or cell.high - cell.low > width:
        best, best_centre, chosen = -1.0, -1.0, cell
        for k in range(4):
            part = part_of(cell, k)
            if part.first_cut > part.last_cut or part.low > part.high:
                continue
            bound = cell_bound(metric, sample, rank_pos, rank_neg, part, room)
            if bound < best or bound <= least:
                continue
            centre = cell_bound(metric, sample, rank_pos, rank_neg, centre_of(part), room)
            if bound > best or centre > best_centre:
                best, best_centre, chosen = bound, centre, part
        if best < 0.0:
            return -1.0, 0, 0
        cell = chosen
    point = centre_of(cell)
    found = cell_bound(metric, sample, rank_pos, rank_neg, point, room)
    return found, point.first_cut, point.low


@kernel
def sink(heap: Ints, n: int, at: int) -> None:
    """Move the entry at a place of the heap down to where it belongs."""
    while True:
        child = 2 * at + 1
        if child >= n:
            return
        if child + 1 < n and heap[child + 1, 0] > heap[child, 0]:
            child += 1
        if heap[child, 0] <= heap[at, 0]:
            return
        for k in range(5):
            heap[at, k], heap[child, k] = heap[child, k], heap[at, k]
        at = child


@kernel
def rise(heap: Ints, at: int) -> None:
    """Move the entry at a place of the heap up to where it belongs."""
    while at > 0 and heap[(at - 1) // 2, 0] < heap[at, 0]:
        for k in range(5):
            heap[at, k], heap[(at - 1) // 2, k] = heap[(at - 1) // 2, k], heap[at, k]
        at = (at - 1) // 2


@kernel
def best_first(
    metric: int,
    sample: Sample,
    rank_pos: Places,
    rank_neg: Places,
    reach: int,
    least: float,
    slack: float,
    max_cells: int,
    room: Room,
) -> tuple[float, int, int, float]:
    """Branch and bound over cells: (metric, cut, step, gap); metric -1 if none exceeds ``least``.

    The cell of the largest bound is quartered, until no bound exceeds the best metric found by
    more than ``slack``. ``gap`` is by how much a stump that was not looked at could be better:
    0 where that is proved, more where ``max_cells`` bounds were not enough.
    """
    # Bounds of a metric of one's own need not be whole; they are kept in 2^-20.
    unit = 2.0**20
    heap = np.empty((64, 5), dtype=np.int64)
    whole = whole_cell(sample, rank_pos, rank_neg, reach)
    best, cut, step = least, 0, 0
    found = -1.0
    n, n_bounds = 0, 0
    if whole.last_cut >= whole.first_cut:
        heap[0, 0], heap[0, 1], heap[0, 2] = 2**62, whole.first_cut, whole.last_cut
        heap[0, 3], heap[0, 4] = whole.low, whole.high
        n = 1
    while n > 0 and heap[0, 0] / unit > best + slack:
        if n_bounds >= max_cells:
            return found, cut, step, heap[0, 0] / unit - best
        cell = Cell(heap[0, 1], heap[0, 2], heap[0, 3], heap[0, 4])
        n -= 1
        for k in range(5):
            heap[0, k] = heap[n, k]
        sink(heap, n, 0)
        if n + 4 > len(heap):
            larger = np.empty((2 * len(heap), 5), dtype=np.int64)
            for i in range(n):
                for k in range(5):
                    larger[i, k] = heap[i, k]
            heap = larger
        for quarter in range(4):
            part = part_of(cell, quarter)
            if part.first_cut > part.last_cut or part.low > part.high:
                continue
            bound = cell_bound(metric, sample, rank_pos, rank_neg, part, room)
            n_bounds += 1
            if bound <= best + slack:
                continue
            point = centre_of(part)
            here = cell_bound(metric, sample, rank_pos, rank_neg, point, room)
            if here > best:
                best, found, cut, step = here, here, point.first_cut, point.low
            is_point = part.first_cut == part.last_cut and part.low == part.high
            if bound > best + slack and not is_point:
                heap[n, 0], heap[n, 1], heap[n, 2] = int(np.ceil(bound * unit)), part[0], part[1]
                heap[n, 3], heap[n, 4] = part[2], part[3]
                rise(heap, n)
                n += 1
    return found, cut, step, 0.0


@kernel
def bisect_views(
    metric: int, sample: Sample, rank_pos: Places, rank_neg: Places, reach: int, width: int
) -> tuple[float, int, int, int]:
    """The best of what Algorithm 2 finds in each view: (metric, view, cut, step)."""
    room = make_room(len(sample.pos), len(sample.neg))
    value, view, cut, step = -1.0, -1, 0, 0
    for v in range(len(rank_pos)):
        found, at, by = bisect(metric, sample, rank_pos[v], rank_neg[v], reach, width, value, room)
        if found > value:
            value, view, cut, step = found, v, at, by
    return value, view, cut, step


@kernel
def search_views(
    metric: int,
    sample: Sample,
    rank_pos: Places,
    rank_neg: Places,
    reach: int,
    slack: float,
    max_cells: int,
) -> tuple[float, int, int, int, float]:
    """The best stump of all views by branch and bound: (metric, view, cut, step, gap)."""
    room = make_room(len(sample.pos), len(sample.neg))
    value, view, cut, step, gap = -1.0, -1, 0, 0, 0.0
    for v in range(len(rank_pos)):
        found, at, by, open_gap = best_first(
            metric, sample, rank_pos[v], rank_neg[v], reach, value, slack, max_cells, room
        )
        if found > value:
            gap = max(gap - (found - value), 0.0)  # what was open before is measured from here
            value, view, cut, step = found, v, at, by
        gap = max(gap, open_gap)
    return value, view, cut, step, gap


@kernel
def make_room(n_pos: int, n_neg: int) -> Room:
    """Working memory for samples of this size."""
    larger = max(n_pos, n_neg) + 1
    return Room(
        np.empty(larger, dtype=np.int64),
        np.empty(larger, dtype=np.int64),
        np.empty(n_pos, dtype=np.int64),
        np.empty(n_neg, dtype=np.int64),
    )
