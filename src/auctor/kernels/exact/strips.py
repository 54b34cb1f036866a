"""The best stump of ExactBoost, proved: branch and bound over ranges of the step, all cuts at once.

A strip is a range of steps d with every cut of every feature. For one strip and one feature the
rows are taken from above the cut to below it, one rank after the other, and the bound of each cut
follows from that of the last: ``exact_pairs`` for the AUC, ``exact_slots`` for KS and precision at
k. What depends on d alone - who would lead whom - is shared by all features of the round.
"""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.kernels.exact.free import arrange_free, free_gains, side_threshold, sweep_free
from auctor.kernels.exact.pairs import Counter, Leads, arrange_leads, make_counter, sweep_pairs
from auctor.kernels.exact.sample import AUC, KS, Sample, Views
from auctor.kernels.exact.segment_tree import Tree, make_tree
from auctor.kernels.exact.slots import (
    Line,
    Slots,
    Top,
    arrange_slots,
    fill_line,
    fill_tree,
    sweep_ks,
    sweep_top,
)
from auctor.kernels.jit import kernel


class Best(NamedTuple):
    """The best stump, and by how much one that was not looked at could be better."""

    value: float
    view: int
    cut: int
    step: int
    gap: float
    n_strips: int


class Tools(NamedTuple):
    """Working memory of a search, by metric; what is not needed has length 0."""

    leads: Leads
    below_pos: Counter
    below_neg: Counter
    slots: Slots
    full_tree: Tree
    tree: Tree
    full_line: Line
    line: Line


class Arranged(NamedTuple):
    """What a strip is like with all rows above the cut: pairs led, or the top."""

    n_led: float
    top: Top


@kernel
def make_tools(metric: int, n_pos: int, n_neg: int) -> Tools:
    """The working memory for samples of this size."""
    pairs_pos, pairs_neg = (n_pos, n_neg) if metric == AUC else (0, 0)
    slots_pos, slots_neg = (0, 0) if metric == AUC else (n_pos, n_neg)
    n_slots = 2 * (slots_pos + slots_neg)
    n_line = 0 if metric == KS else n_slots
    return Tools(
        Leads(np.empty((3, pairs_pos), dtype=np.uint32), np.empty((3, pairs_neg), dtype=np.uint32)),
        make_counter(pairs_pos),
        make_counter(pairs_neg),
        Slots(np.empty((2, slots_pos), dtype=np.uint32), np.empty((2, slots_neg), dtype=np.uint32)),
        make_tree(n_slots),
        make_tree(n_slots),
        np.empty(n_line, dtype=np.uint8),
        np.empty(n_line, dtype=np.uint8),
    )


@kernel
def arrange(metric: int, sample: Sample, low: int, high: int, tools: Tools) -> Arranged:
    """What a strip needs before its features are looked at."""
    n_led, top = 0.0, Top(0, 0, 0)
    if metric == AUC:
        n_led = arrange_leads(sample, low, high, tools.leads)
    else:
        arrange_slots(sample, low, high, tools.slots)
        if metric == KS:
            fill_tree(sample, tools.slots, tools.full_tree)
        else:
            top = fill_line(sample, tools.slots, tools.full_line)
    return Arranged(n_led, top)


@kernel
def sweep_view(
    metric: int, sample: Sample, views: Views, view: int, start: Arranged, tools: Tools
) -> tuple[float, int]:
    """The largest bound over the cuts of one view in the arranged strip, and its cut."""
    if metric == AUC:
        return sweep_pairs(start.n_led, tools.leads, views, view, tools.below_pos, tools.below_neg)
    if metric == KS:
        return sweep_ks(sample, tools.slots, views, view, tools.full_tree, tools.tree)
    return sweep_top(sample, tools.slots, views, view, tools.full_line, start.top, tools.line)


class Strips(NamedTuple):
    """The strips that are still open; they are few, and the best is looked for one by one."""

    low: Ints
    high: Ints
    bound: Floats
    views: Floats  # (strip, view): the bound of each view


@kernel
def make_strips(n_strips: int, n_views: int) -> Strips:
    """Room for open strips."""
    return Strips(
        np.zeros(n_strips, dtype=np.int64),
        np.zeros(n_strips, dtype=np.int64),
        np.zeros(n_strips),
        np.zeros((n_strips, n_views)),
    )


@kernel
def copy_strip(source: Strips, a: int, target: Strips, b: int) -> None:
    """Strip a of one store becomes strip b of another, or of the same."""
    target.low[b], target.high[b] = source.low[a], source.high[a]
    target.bound[b] = source.bound[a]
    for v in range(source.views.shape[1]):
        target.views[b, v] = source.views[a, v]


@kernel
def most_hopeful(strips: Strips, n: int) -> int:
    """The open strip of the largest bound; of several the first."""
    best = 0
    for k in range(1, n):
        if strips.bound[k] > strips.bound[best]:
            best = k
    return best


@kernel
def first_look(
    metric: int,
    sample: Sample,
    views: Views,
    reach: int,
    slack: float,
    tools: Tools,
    bounds: Floats,
) -> Best:
    """Bounds with the step left free, and the best stump that they point to.

    For KS the margin, which grows with the step, is all that keeps them from being reached.
    """
    n_views = len(bounds)
    gains = free_gains(metric, sample)
    cuts = np.zeros(n_views, dtype=np.int64)
    arrange_free(sample, tools.slots)
    for i in range(n_views):
        bounds[i], cuts[i] = sweep_free(
            sample, gains, tools.slots, views, i, tools.full_tree, tools.tree
        )
    value, view, cut, step, n_sweeps = -1.0, -1, 0, 0, n_views
    is_open = np.ones(n_views, dtype=np.bool_)
    for _ in range(n_views):
        # A plain 0 would be a type of its own to Numba, and everything below compiled twice.
        v: Any = np.int64(0)
        for other in range(1, n_views):
            if is_open[other] and (not is_open[v] or bounds[other] > bounds[v]):
                v = other
        if bounds[v] <= value + slack:
            break
        is_open[v] = False
        middle = side_threshold(sample, gains, views, v, cuts[v], False)
        middle -= side_threshold(sample, gains, views, v, cuts[v], True)
        middle = min(max(middle, -reach), reach)
        start = arrange(metric, sample, middle, middle, tools)
        found, at = sweep_view(metric, sample, views, v, start, tools)
        n_sweeps += 1
        if found > value:
            value, view, cut, step = found, v, at, middle
    return Best(value, view, cut, step, 0.0, n_sweeps)


@kernel
def look_into(
    metric: int,
    sample: Sample,
    views: Views,
    strips: Strips,
    at: int,
    parent: Floats,
    best: Best,
    slack: float,
    tools: Tools,
) -> Best:
    """Bounds of a strip on the views that its ``parent`` leaves hope for; its middle is tried."""
    low, high = strips.low[at], strips.high[at]
    value, view, cut, step, _, n_sweeps = best
    start = arrange(metric, sample, low, high, tools)
    strips.bound[at] = -1.0
    for v in range(len(parent)):
        strips.views[at, v] = -1.0
        if parent[v] > value + slack:
            bound, _ = sweep_view(metric, sample, views, v, start, tools)
            strips.views[at, v] = bound
            strips.bound[at] = max(strips.bound[at], bound)
            n_sweeps += 1
    if strips.bound[at] > value + slack:
        middle = (low + high) // 2
        start = arrange(metric, sample, middle, middle, tools)
        for v in range(len(parent)):
            if strips.views[at, v] > value + slack:
                found, here = sweep_view(metric, sample, views, v, start, tools)
                n_sweeps += 1
                if found > value:
                    value, view, cut, step = found, v, here, middle
    return Best(value, view, cut, step, 0.0, n_sweeps)


@kernel
def best_stump(
    metric: int,
    sample: Sample,
    views: Views,
    reach: int,
    n_start: int,
    slack: float,
    max_strips: int,
) -> Best:
    """The stump of the largest metric over all views, cuts and steps up to ``reach``.

    The steps are cut into ``n_start`` strips; then the strip of the largest bound is halved until
    no bound exceeds the best metric found by more than ``slack``, or until ``max_strips`` sweeps
    were made: then ``gap`` says by how much a better stump could still be hidden. A view is looked
    at in a strip only as long as its bound leaves hope. Every strip also tries its middle.
    """
    n_views = len(views.order_pos)
    tools = make_tools(metric, len(sample.pos), len(sample.neg))
    strips = make_strips(64, n_views)
    parent = np.full(n_views, np.inf)
    best = Best(-1.0, -1, 0, 0, 0.0, 0)
    # A plain 0 would be a type of its own to Numba, and everything below compiled twice.
    n, low, high, n_parts = np.int64(0), -reach, reach, n_start
    if metric != AUC:
        best = first_look(metric, sample, views, reach, slack, tools, parent)
    while True:
        if n + n_parts > len(strips.low):
            larger = make_strips(2 * (n + n_parts), n_views)
            for k in range(n):
                copy_strip(strips, k, larger, k)
            strips = larger
        width = high - low + 1
        for k in range(n_parts):
            # From the middle outwards: of stumps that are equally good the smaller step is taken.
            part = n_parts // 2 + (k // 2 if k % 2 == 0 else -1 - k // 2)
            strips.low[n] = low + width * part // n_parts
            strips.high[n] = low + width * (part + 1) // n_parts - 1
            if strips.low[n] > strips.high[n]:
                continue
            best = look_into(metric, sample, views, strips, n, parent, best, slack, tools)
            # A strip of one step has been tried by now.
            if strips.bound[n] > best.value + slack and strips.low[n] < strips.high[n]:
                n += 1
        k = most_hopeful(strips, n)
        if n == 0 or strips.bound[k] <= best.value + slack:
            return best
        if best.n_strips >= max_strips:
            value, view, cut, step, _, n_sweeps = best
            return Best(value, view, cut, step, strips.bound[k] - value, n_sweeps)
        low, high, n_parts = strips.low[k], strips.high[k], 2
        for v in range(n_views):
            parent[v] = strips.views[k, v]
        n -= 1
        copy_strip(strips, n, strips, k)
