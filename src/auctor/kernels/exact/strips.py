"""The best stump of ExactBoost by branch and bound over ranges of the step, all cuts at once.

A strip is a range of steps d with every cut of every feature. A sweep goes through the cuts of one
feature in one strip: rows pass from above the cut to below it, rank by rank, and the bound of each
cut is updated from that of the cut before (``pairs`` for the AUC, ``slots`` for KS and precision at
k). The order of pairs, which depends only on d, is computed once for all features of the round.
The bounds are those of Csillag et al. (2021, Algorithm 2); the order of the search is our own.
"""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.kernels.exact.free import arrange_free, free_gains, side_threshold, sweep_free
from auctor.kernels.exact.pairs import Counter, Leads, arrange_leads, make_counter, sweep_pairs
from auctor.kernels.exact.sample import AUC, KS, Sample, Views
from auctor.kernels.exact.segment_tree import Tree, make_tree
from auctor.kernels.exact.slots import (
    Contents,
    Slots,
    Top,
    arrange_slots,
    fill_contents,
    fill_tree,
    sweep_ks,
    sweep_top,
)
from auctor.kernels.jit import inner_kernel, kernel


class Best(NamedTuple):
    """The best stump, and the gap: how much better a stump that was not visited could be."""

    value: float
    view: int
    cut: int
    step: int
    gap: float
    n_sweeps: int


class Tools(NamedTuple):
    """Working memory of a search; arrays that the metric does not need have length 0."""

    leads: Leads
    below_pos: Counter
    below_neg: Counter
    slots: Slots
    full_tree: Tree
    tree: Tree
    full_contents: Contents
    contents: Contents


class Arranged(NamedTuple):
    """The state of a strip with all rows above the cut: the number of pairs led, or the top."""

    n_led: float
    top: Top


@kernel
def make_tools(metric: int, n_pos: int, n_neg: int) -> Tools:
    """Allocate the working memory for samples of this size."""
    pairs_pos, pairs_neg = (n_pos, n_neg) if metric == AUC else (0, 0)
    slots_pos, slots_neg = (0, 0) if metric == AUC else (n_pos, n_neg)
    n_slots = 2 * (slots_pos + slots_neg)
    n_contents = 0 if metric == KS else n_slots
    return Tools(
        Leads(np.empty((3, pairs_pos), dtype=np.uint32), np.empty((3, pairs_neg), dtype=np.uint32)),
        make_counter(pairs_pos),
        make_counter(pairs_neg),
        Slots(np.empty((2, slots_pos), dtype=np.uint32), np.empty((2, slots_neg), dtype=np.uint32)),
        make_tree(n_slots),
        make_tree(n_slots),
        np.empty(n_contents, dtype=np.uint8),
        np.empty(n_contents, dtype=np.uint8),
    )


@kernel
def arrange(metric: int, sample: Sample, low: int, high: int, tools: Tools) -> Arranged:
    """Compute what depends on the steps of a strip alone, before the sweeps over its features."""
    n_led, top = 0.0, Top(0, 0, 0)
    if metric == AUC:
        n_led = arrange_leads(sample, low, high, tools.leads)
    else:
        arrange_slots(sample, low, high, tools.slots)
        if metric == KS:
            fill_tree(sample, tools.slots, tools.full_tree)
        else:
            top = fill_contents(sample, tools.slots, tools.full_contents)
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
    return sweep_top(
        sample, tools.slots, views, view, tools.full_contents, start.top, tools.contents
    )


class Strips(NamedTuple):
    """The strips that may hold a better stump; they are few, so that a plain list will do."""

    low: Ints
    high: Ints
    bound: Floats
    views: Floats  # (strip, view): the bound of each view


@inner_kernel
def make_strips(n_strips: int, n_views: int) -> Strips:
    """Allocate a list of open strips."""
    return Strips(
        np.zeros(n_strips, dtype=np.int64),
        np.zeros(n_strips, dtype=np.int64),
        np.zeros(n_strips),
        np.zeros((n_strips, n_views)),
    )


@inner_kernel
def copy_strip(source: Strips, a: int, target: Strips, b: int) -> None:
    """Copy strip a of one list to strip b of another, or of the same list."""
    target.low[b], target.high[b] = source.low[a], source.high[a]
    target.bound[b] = source.bound[a]
    for v in range(source.views.shape[1]):
        target.views[b, v] = source.views[a, v]


@inner_kernel
def most_hopeful(strips: Strips, n: int) -> int:
    """The index of the strip with the largest bound; the first one if several bounds are equal."""
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
    """Bounds over all steps (written to ``bounds``), and the best stump that they suggest.

    For KS only the margin, which grows with the step, keeps a stump from reaching these bounds.
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
        here, at = sweep_view(metric, sample, views, v, start, tools)
        n_sweeps += 1
        if here > value:
            value, view, cut, step = here, v, at, middle
    return Best(value, view, cut, step, 0.0, n_sweeps)


@inner_kernel
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
    """Compute the bounds of a strip, and try the step in its middle; returns the best stump.

    ``parent`` has the bounds of the strip that this one is a part of: views whose bound is not
    above the best metric are skipped.
    """
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
                here, at_cut = sweep_view(metric, sample, views, v, start, tools)
                n_sweeps += 1
                if here > value:
                    value, view, cut, step = here, v, at_cut, middle
    return Best(value, view, cut, step, 0.0, n_sweeps)


@kernel
def best_stump(
    metric: int,
    sample: Sample,
    views: Views,
    reach: int,
    n_start: int,
    slack: float,
    max_sweeps: int,
) -> Best:
    """The stump of largest metric over all views, cuts and steps up to ``reach`` in size.

    The steps are divided into ``n_start`` strips. Then the strip with the largest bound is halved,
    until no bound exceeds the best metric by more than ``slack``, or ``max_sweeps`` sweeps were
    made: then ``gap`` is how much better a stump that was not visited could be. The step in the
    middle of every strip is tried, too.
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
            # From the middle outwards, so that of equally good stumps the smaller step is taken.
            part = n_parts // 2 + (k // 2 if k % 2 == 0 else -1 - k // 2)
            strips.low[n] = low + width * part // n_parts
            strips.high[n] = low + width * (part + 1) // n_parts - 1
            if strips.low[n] > strips.high[n]:
                continue
            best = look_into(metric, sample, views, strips, n, parent, best, slack, tools)
            # A strip of a single step has been tried completely.
            if strips.bound[n] > best.value + slack and strips.low[n] < strips.high[n]:
                n += 1
        k = most_hopeful(strips, n)
        if n == 0 or strips.bound[k] <= best.value + slack:
            return best
        if best.n_sweeps >= max_sweeps:
            value, view, cut, step, _, n_sweeps = best
            return Best(value, view, cut, step, strips.bound[k] - value, n_sweeps)
        low, high, n_parts = strips.low[k], strips.high[k], 2
        for v in range(n_views):
            parent[v] = strips.views[k, v]
        n -= 1
        copy_strip(strips, n, strips, k)
