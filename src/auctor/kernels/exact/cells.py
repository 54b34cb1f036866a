"""The best stump by interval arithmetic over cells (Csillag et al. 2021, Algorithm 2).

A stump adds a below its cut and b above it; a rank metric depends only on the step d = b - a. A
cell is a range of cuts times a range of steps. A row below all cuts of the cell stays, a row above
all of them moves by d, and a row between may do either. If every positive is raised and every
negative is lowered as far as the cell allows, no stump of the cell can have a larger metric than
the resulting scores. A row between moves or stays, whichever is better for the bound, so that each
class consists of two sorted lists that are merged. Scores, steps and cuts are whole numbers.
"""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Ints
from auctor.kernels.exact.sample import AUC, KS, Positions, Sample, margin_of, nearest_to_zero
from auctor.kernels.jit import inner_kernel, kernel


class Cell(NamedTuple):
    """The cuts first_cut .. last_cut with the steps low .. high."""

    first_cut: Any  # int64 in kernels, so that all cells have the same type
    last_cut: Any
    low: Any
    high: Any


class Buffers(NamedTuple):
    """Working memory of ``cell_bound``, allocated once."""

    stay: Ints
    move: Ints
    pos: Ints
    neg: Ints


@kernel
def metric_value(metric: int, sample: Sample, pos: Ints, neg: Ints) -> float:
    """The metric to be maximised (Csillag et al. 2021, equations 1 to 3), not normalised.

    These are the number of pairs in the right order (AUC), the largest difference of the
    distribution functions times both class sizes (KS), or the number of positives in the top.
    """
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
    n_top, j = 0, len(neg)
    for i in range(len(pos) - 1, -1, -1):
        while j > 0 and neg[j - 1] >= pos[i]:
            j -= 1
        above = (n_top + 1) * sample.weight_pos + (len(neg) - j) * sample.weight_neg
        if above > sample.top:
            break
        n_top += 1
    return float(n_top)


@kernel
def merge_sides(
    scores: Ints, ranks: Positions, cut: int, stay: int, move: int, buffers: Buffers, out: Ints
) -> None:
    """Add ``move`` to scores of rank above ``cut`` and ``stay`` to the others, in sorted order."""
    n_stay, n_move = 0, 0
    for i in range(len(scores)):
        stays = ranks[i] <= cut
        buffers.stay[n_stay] = buffers.move[n_move] = scores[i]
        n_stay += stays
        n_move += 1 - stays
    i, j, end = 0, 0, 0
    while i < n_stay and j < n_move:
        a, b = buffers.stay[i] + stay, buffers.move[j] + move
        first = a <= b
        out[end] = a if first else b
        i += first
        j += 1 - first
        end += 1
    for k in range(i, n_stay):
        out[end] = buffers.stay[k] + stay
        end += 1
    for k in range(j, n_move):
        out[end] = buffers.move[k] + move
        end += 1


@kernel
def cell_bound(
    metric: int,
    sample: Sample,
    rank_pos: Positions,
    rank_neg: Positions,
    cell: Cell,
    buffers: Buffers,
) -> float:
    """An upper bound on the metric of all stumps of a cell (Csillag et al. 2021, Algorithm 2).

    For a cell with a single stump the bound is the metric of that stump.
    """
    stay = -margin_of(sample, nearest_to_zero(cell.low, cell.high))
    move = cell.high - margin_of(sample, cell.high)  # increases with d, because theta < 2
    cut = cell.first_cut if move >= stay else cell.last_cut
    merge_sides(sample.pos, rank_pos, cut, stay, move, buffers, buffers.pos)
    cut = cell.first_cut if cell.low <= 0 else cell.last_cut
    merge_sides(sample.neg, rank_neg, cut, 0, cell.low, buffers, buffers.neg)
    n_pos, n_neg = len(sample.pos), len(sample.neg)
    return float(metric_value(metric, sample, buffers.pos[:n_pos], buffers.neg[:n_neg]))


@inner_kernel
def whole_cell(sample: Sample, rank_pos: Positions, rank_neg: Positions, reach: int) -> Cell:
    """The cell of all cuts that split the sample and all steps up to ``reach`` in size.

    If all ranks are equal, it has no cut.
    """
    first, last = rank_neg[0], rank_neg[0]
    for i in range(len(rank_pos)):
        first, last = min(first, rank_pos[i]), max(last, rank_pos[i])
    for j in range(len(rank_neg)):
        first, last = min(first, rank_neg[j]), max(last, rank_neg[j])
    return Cell(np.int64(first), np.int64(last) - 1, np.int64(-reach), np.int64(reach))


@kernel
def part_of(cell: Cell, part: int) -> Cell:
    """Quarter 0, 1, 2 or 3 of a cell. Quarters of a cell that cannot be halved may be empty."""
    cut, step = (cell.first_cut + cell.last_cut) // 2, (cell.low + cell.high) // 2
    first, last, low, high = cell.first_cut, cut, cell.low, step
    if part // 2 == 1:
        first, last = cut + 1, cell.last_cut
    if part % 2 == 1:
        low, high = step + 1, cell.high
    return Cell(first, last, low, high)


@kernel
def centre_of(cell: Cell) -> Cell:
    """The stump in the middle of a cell, as a cell."""
    cut, step = (cell.first_cut + cell.last_cut) // 2, (cell.low + cell.high) // 2
    return Cell(cut, cut, step, step)


@kernel
def bisect(
    metric: int,
    sample: Sample,
    rank_pos: Positions,
    rank_neg: Positions,
    reach: int,
    width: int,
    least: float,
    buffers: Buffers,
) -> tuple[float, int, int]:
    """Bisection of Csillag et al. (2021, Algorithm 2); returns (metric, cut, step).

    The cell is halved in both directions, and the quarter with the largest bound is followed,
    until its steps differ by at most ``width``. Wide cells often all have the bound of a perfect
    order; the paper does not say which one to follow, and we take the one whose centre has the
    largest metric. If no bound exceeds ``least``, which is the metric of another feature, the
    search ends with metric -1.
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
            bound = cell_bound(metric, sample, rank_pos, rank_neg, part, buffers)
            if bound < best or bound <= least:
                continue
            centre = cell_bound(metric, sample, rank_pos, rank_neg, centre_of(part), buffers)
            if bound > best or centre > best_centre:
                best, best_centre, chosen = bound, centre, part
        if best < 0.0:
            return -1.0, 0, 0
        cell = chosen
    point = centre_of(cell)
    value = cell_bound(metric, sample, rank_pos, rank_neg, point, buffers)
    return value, point.first_cut, point.low


@inner_kernel
def sink(heap: Ints, n: int, at: int) -> None:
    """Move an entry of the heap down until no child has a larger bound."""
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
    """Move an entry of the heap up until its parent has a bound that is not smaller."""
    while at > 0 and heap[(at - 1) // 2, 0] < heap[at, 0]:
        for k in range(5):
            heap[at, k], heap[(at - 1) // 2, k] = heap[(at - 1) // 2, k], heap[at, k]
        at = (at - 1) // 2


@inner_kernel
def best_first(
    metric: int,
    sample: Sample,
    rank_pos: Positions,
    rank_neg: Positions,
    reach: int,
    least: float,
    slack: float,
    max_cells: int,
    buffers: Buffers,
) -> tuple[float, int, int, float]:
    """Branch and bound over cells; returns (metric, cut, step, gap).

    The cell with the largest bound is split into quarters, until no bound exceeds the best metric
    by more than ``slack``. ``gap`` is how much better an unvisited stump could be: 0 if the search
    is complete, more if it stopped after ``max_cells`` bounds. The metric is -1 if none exceeds
    ``least``.
    """
    # The heap holds whole numbers; bounds of a user's metric are rounded up to units of 2^-20.
    unit = 2.0**20
    heap = np.empty((64, 5), dtype=np.int64)
    whole = whole_cell(sample, rank_pos, rank_neg, reach)
    best, cut, step = least, 0, 0
    value = -1.0
    n, n_bounds = 0, 0
    if whole.last_cut >= whole.first_cut:
        heap[0, 0], heap[0, 1], heap[0, 2] = 2**62, whole.first_cut, whole.last_cut
        heap[0, 3], heap[0, 4] = whole.low, whole.high
        n = 1
    while n > 0 and heap[0, 0] / unit > best + slack:
        if n_bounds >= max_cells:
            return value, cut, step, heap[0, 0] / unit - best
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
            bound = cell_bound(metric, sample, rank_pos, rank_neg, part, buffers)
            n_bounds += 1
            if bound <= best + slack:
                continue
            point = centre_of(part)
            here = cell_bound(metric, sample, rank_pos, rank_neg, point, buffers)
            if here > best:
                best, value, cut, step = here, here, point.first_cut, point.low
            is_point = part.first_cut == part.last_cut and part.low == part.high
            if bound > best + slack and not is_point:
                heap[n, 0], heap[n, 1], heap[n, 2] = int(np.ceil(bound * unit)), part[0], part[1]
                heap[n, 3], heap[n, 4] = part[2], part[3]
                rise(heap, n)
                n += 1
    return value, cut, step, 0.0


@kernel
def bisect_views(
    metric: int, sample: Sample, rank_pos: Positions, rank_neg: Positions, reach: int, width: int
) -> tuple[float, int, int, int]:
    """Run ``bisect`` on each view and return the best stump: (metric, view, cut, step)."""
    buffers = make_buffers(len(sample.pos), len(sample.neg))
    value, view, cut, step = -1.0, -1, 0, 0
    for v in range(len(rank_pos)):
        ranks = rank_pos[v], rank_neg[v]
        here, at, by = bisect(metric, sample, *ranks, reach, width, value, buffers)
        if here > value:
            value, view, cut, step = here, v, at, by
    return value, view, cut, step


@kernel
def search_views(
    metric: int,
    sample: Sample,
    rank_pos: Positions,
    rank_neg: Positions,
    reach: int,
    slack: float,
    max_cells: int,
) -> tuple[float, int, int, int, float]:
    """Run ``best_first`` on each view and return the best: (metric, view, cut, step, gap)."""
    buffers = make_buffers(len(sample.pos), len(sample.neg))
    value, view, cut, step, gap = -1.0, -1, 0, 0, 0.0
    for v in range(len(rank_pos)):
        here, at, by, open_gap = best_first(
            metric, sample, rank_pos[v], rank_neg[v], reach, value, slack, max_cells, buffers
        )
        if here > value:
            gap = max(gap - (here - value), 0.0)  # the gap to the new best metric
            value, view, cut, step = here, v, at, by
        gap = max(gap, open_gap)
    return value, view, cut, step, gap


@kernel
def make_buffers(n_pos: int, n_neg: int) -> Buffers:
    """Working memory for samples of this size."""
    larger = max(n_pos, n_neg) + 1
    return Buffers(
        np.empty(larger, dtype=np.int64),
        np.empty(larger, dtype=np.int64),
        np.empty(n_pos, dtype=np.int64),
        np.empty(n_neg, dtype=np.int64),
    )
