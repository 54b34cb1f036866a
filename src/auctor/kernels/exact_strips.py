"""The best stump of ExactBoost, proved: branch and bound over ranges of the step, all cuts at once.

A strip is a range of steps d with every cut of every feature. For one strip and one feature the
rows are taken from above the cut to below it, one rank after the other, and the bound of each cut
follows from that of the last: for the AUC by counting, for each row that moves, the rows of the
other class that it leads before and after; for KS and precision at k in a tree over the line of
scores. What depends on d alone - who would lead whom - is shared by all features of the round.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel

Whole = npt.NDArray[np.int64]
Places = npt.NDArray[np.uint32]

# As in exact_cells, which this file must not import kernels from: a kernel that calls one of
# another file goes stale in the cache when that file changes.
AUC, KS, TOP = 0, 1, 2
BLOCK = 64


class Sample(NamedTuple):
    """The drawn rows of a round, each class in the order of its scores; as in exact_cells."""

    pos: Whole
    neg: Whole
    weight_pos: float
    weight_neg: float
    top: float
    theta: float
    scale: float


class Views(NamedTuple):
    """The drawn rows by rank in each view of a feature: their places, and the sorted ranks."""

    order_pos: Places
    rank_pos: Places
    order_neg: Places
    rank_neg: Places


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


class Slots(NamedTuple):
    """Where on the line of scores each row stands: below the cut (0) and above it (1)."""

    pos: Places
    neg: Places


class Tree(NamedTuple):
    """A binary tree over the slots in order; the leaves are the second half of the arrays.

    KS: ``sums`` of + for negatives and - for positives, ``bests`` the largest sum from the left.
    Precision at k: ``sums`` of weights, ``bests`` numbers of positives.
    """

    sums: npt.NDArray[np.float64]
    bests: npt.NDArray[np.float64]


class Best(NamedTuple):
    """The best stump, and by how much one that was not looked at could be better."""

    value: float
    view: int
    cut: int
    step: int
    gap: float
    n_strips: int


@kernel
def margin_of(sample: Sample, step: int) -> int:
    """The margin (1 + |d| / 2) theta of (7) in units; scores are whole, so its floor will do."""
    return int(np.floor(sample.theta * sample.scale + sample.theta * abs(step) / 2))


@kernel
def nearest_to_zero(low: int, high: int) -> int:
    """The step of least size, where the margin is least."""
    return max(low, 0) if low + high > 0 else min(high, 0)


@kernel
def find_leads(pos: Whole, neg: Whole, shift: int, led: Places, held: Places) -> None:
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


@kernel
def arrange_slots(sample: Sample, low: int, high: int, slots: Slots) -> None:
    """Order the places where rows may stand, positives as high and negatives as low as d allows.

    Of equal scores positives come first: they are not above.
    """
    n_pos, n_neg = len(sample.pos), len(sample.neg)
    stay = -margin_of(sample, nearest_to_zero(low, high))
    move = high - margin_of(sample, high)
    end = np.int64(2**62)
    a, b, c, d = 0, 0, 0, 0  # next of: positives that stay, that move, negatives that stay, move
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


@kernel
def join(metric: int, tree: Tree, node: int) -> None:
    """A node from its two children."""
    left, right = np.uint64(2 * node), np.uint64(2 * node + 1)
    here = np.uint64(node)
    tree.sums[here] = tree.sums[left] + tree.sums[right]
    if metric == KS:
        tree.bests[here] = max(tree.bests[left], tree.sums[left] + tree.bests[right])
    else:
        tree.bests[here] = tree.bests[left] + tree.bests[right]


@kernel
def set_leaf(tree: Tree, leaf: int, value: float, best: float) -> None:
    """The content of a slot."""
    place = np.uint64(len(tree.sums) // 2 + leaf)
    tree.sums[place] = value
    tree.bests[place] = best


@kernel
def fill_tree(metric: int, sample: Sample, slots: Slots, tree: Tree) -> None:
    """The tree with all rows above the cut."""
    for i in range(len(tree.sums)):
        tree.sums[i] = tree.bests[i] = 0.0
    gain_pos, best_pos, gain_neg, best_neg = leaf_values(metric, sample)
    for i in range(len(sample.pos)):
        set_leaf(tree, slots.pos[1, i], gain_pos, best_pos)
    for j in range(len(sample.neg)):
        set_leaf(tree, slots.neg[1, j], gain_neg, best_neg)
    for node in range(len(tree.sums) // 2 - 1, 0, -1):
        join(metric, tree, node)


@kernel
def leaf_values(metric: int, sample: Sample) -> tuple[float, float, float, float]:
    """Sum and best of a slot that holds a positive, and of one that holds a negative."""
    if metric == KS:
        return -float(len(sample.neg)), 0.0, float(len(sample.pos)), float(len(sample.pos))
    return sample.weight_pos, 1.0, sample.weight_neg, 0.0


@kernel
def put_leaf(metric: int, tree: Tree, leaf: int, value: float, best: float) -> None:
    """Change the content of a slot, and put the nodes above it right."""
    set_leaf(tree, leaf, value, best)
    node = (len(tree.sums) // 2 + leaf) // 2
    while node > 0:
        join(metric, tree, node)
        node //= 2


@kernel
def replace_leaf(metric: int, tree: Tree, old: int, new: int, value: float, best: float) -> None:
    """Move a row from one slot to another, and put the nodes above both right."""
    set_leaf(tree, old, 0.0, 0.0)
    set_leaf(tree, new, value, best)
    a, b = (len(tree.sums) // 2 + old) // 2, (len(tree.sums) // 2 + new) // 2
    while a != b:
        join(metric, tree, a)
        join(metric, tree, b)
        a //= 2
        b //= 2
    while a > 0:
        join(metric, tree, a)
        a //= 2


@kernel
def read_tree(metric: int, sample: Sample, tree: Tree) -> float:
    """The metric of the rows in their slots: for precision at k, down from the highest score."""
    if metric == KS:
        return float(tree.bests[1])
    node, found, above = 1, 0.0, 0.0
    half = len(tree.sums) // 2
    if tree.sums[1] <= sample.top:
        return float(tree.bests[1])
    while node < half:
        right = 2 * node + 1
        if above + tree.sums[right] <= sample.top:
            above += tree.sums[right]
            found += tree.bests[right]
            node = 2 * node
        else:
            node = right
    return found


@kernel
def sweep_slots(
    metric: int, sample: Sample, slots: Slots, views: Views, view: int, full: Tree, tree: Tree
) -> tuple[float, int]:
    """The largest bound over the cuts of one view, and its cut; ``full`` has all rows above."""
    order_pos, rank_pos = views.order_pos[view], views.rank_pos[view]
    order_neg, rank_neg = views.order_neg[view], views.rank_neg[view]
    n_pos, n_neg = len(order_pos), len(order_neg)
    for i in range(len(full.sums)):
        tree.sums[i] = full.sums[i]
        tree.bests[i] = full.bests[i]
    gain_pos, best_pos, gain_neg, best_neg = leaf_values(metric, sample)
    i, j, best, cut = 0, 0, -1.0, 0
    while True:
        rank = rank_pos[i] if i < n_pos else rank_neg[j]
        if j < n_neg and rank_neg[j] < rank:
            rank = rank_neg[j]
        while i < n_pos and rank_pos[i] == rank:
            k = order_pos[i]
            replace_leaf(metric, tree, slots.pos[1, k], slots.pos[0, k], gain_pos, best_pos)
            i += 1
        while j < n_neg and rank_neg[j] == rank:
            k = order_neg[j]
            replace_leaf(metric, tree, slots.neg[1, k], slots.neg[0, k], gain_neg, best_neg)
            j += 1
        if i == n_pos and j == n_neg:
            return best, cut
        value = read_tree(metric, sample, tree)
        if value > best:
            best, cut = value, int(rank)


@kernel
def arrange_free(sample: Sample, slots: Slots) -> None:
    """Order all rows by score at the least margin there is; one slot for each row."""
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
    """What a row at or below the threshold of its side adds, for a step that is left free."""

    pos: float
    neg: float
    rest: float  # what is added to the sum of both sides


@kernel
def free_gains(metric: int, sample: Sample) -> Gains:
    """KS is a sum over the rows below the threshold; precision at k is after a price is paid.

    The positives above the thresholds of both sides, less a price for every unit of weight there
    beyond k: whatever the price, no choice of k has more. It is best near the share of positives
    that the last rows of the top have, which is taken from the rows between k / 2 and 2 k.
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
    share = min(max(positive / max(total, 1e-300), 0.05), 0.95)
    price = share / sample.weight_pos
    pos, neg = price * sample.weight_pos - 1.0, price * sample.weight_neg
    return Gains(pos, neg, price * sample.top - n_pos * pos - n_neg * neg)


@kernel
def sweep_free(
    sample: Sample,
    gains: Gains,
    slots: Slots,
    views: Views,
    view: int,
    above: Tree,
    below: Tree,
) -> tuple[float, int]:
    """No step whatever has a larger metric on this view; the bound, and its cut.

    The threshold of the rows below the cut and that of those above differ by d, which is free:
    each side may be cut where it is parted best.
    """
    order_pos, rank_pos = views.order_pos[view], views.rank_pos[view]
    order_neg, rank_neg = views.order_neg[view], views.rank_neg[view]
    n_pos, n_neg = len(order_pos), len(order_neg)
    gain_pos, best_pos = gains.pos, max(gains.pos, 0.0)
    gain_neg, best_neg = gains.neg, max(gains.neg, 0.0)
    for i in range(len(above.sums)):
        above.sums[i] = above.bests[i] = below.sums[i] = below.bests[i] = 0.0
    for i in range(n_pos):
        set_leaf(above, slots.pos[0, i], gain_pos, best_pos)
    for j in range(n_neg):
        set_leaf(above, slots.neg[0, j], gain_neg, best_neg)
    for node in range(len(above.sums) // 2 - 1, 0, -1):
        join(KS, above, node)
    i, j, best, cut = 0, 0, -1.0, 0
    while True:
        rank = rank_pos[i] if i < n_pos else rank_neg[j]
        if j < n_neg and rank_neg[j] < rank:
            rank = rank_neg[j]
        while i < n_pos and rank_pos[i] == rank:
            leaf = slots.pos[0, order_pos[i]]
            put_leaf(KS, above, leaf, 0.0, 0.0)
            put_leaf(KS, below, leaf, gain_pos, best_pos)
            i += 1
        while j < n_neg and rank_neg[j] == rank:
            leaf = slots.neg[0, order_neg[j]]
            put_leaf(KS, above, leaf, 0.0, 0.0)
            put_leaf(KS, below, leaf, gain_neg, best_neg)
            j += 1
        if i == n_pos and j == n_neg:
            return best, cut
        value = above.bests[1] + below.bests[1] + gains.rest
        if value > best:
            best, cut = value, int(rank)


@kernel
def side_threshold(
    sample: Sample, gains: Gains, views: Views, view: int, cut: int, is_above: bool
) -> int:
    """Where the rows on one side of a cut are parted best, midway to the next row there."""
    n_pos, n_neg = len(sample.pos), len(sample.neg)
    on_side = np.zeros(n_pos + n_neg, dtype=np.bool_)
    for k in range(n_pos):
        on_side[views.order_pos[view, k]] = (views.rank_pos[view, k] > cut) == is_above
    for k in range(n_neg):
        on_side[n_pos + views.order_neg[view, k]] = (views.rank_neg[view, k] > cut) == is_above
    stay = -margin_of(sample, 0)
    i, j, total, best = 0, 0, 0.0, 0.0
    first = min(sample.pos[0] + stay, sample.neg[0])
    beyond = np.int64(sample.scale / 16) + 2  # past the last row of a side; small steps are safer
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


class Tools(NamedTuple):
    """Working memory of a search, for pairs or for slots; what is not needed has length 0."""

    leads: Leads
    below_pos: Counter
    below_neg: Counter
    slots: Slots
    full: Tree
    tree: Tree


@kernel
def make_counter(n_places: int) -> Counter:
    """Room for places 0 .. n_places, the end included."""
    n_blocks = n_places // BLOCK + 1
    return Counter(np.zeros(n_blocks * BLOCK, dtype=np.int32), np.zeros(n_blocks, dtype=np.int32))


@kernel
def make_tools(metric: int, n_pos: int, n_neg: int) -> Tools:
    """The working memory for samples of this size."""
    pairs_pos, pairs_neg = (n_pos, n_neg) if metric == AUC else (0, 0)
    slots_pos, slots_neg = (0, 0) if metric == AUC else (n_pos, n_neg)
    n_leaves = 1
    while n_leaves < 2 * (slots_pos + slots_neg):
        n_leaves *= 2
    leads = Leads(
        np.empty((3, pairs_pos), dtype=np.uint32), np.empty((3, pairs_neg), dtype=np.uint32)
    )
    slots = Slots(
        np.empty((2, slots_pos), dtype=np.uint32), np.empty((2, slots_neg), dtype=np.uint32)
    )
    full = Tree(np.zeros(2 * n_leaves), np.zeros(2 * n_leaves))
    tree = Tree(np.zeros(2 * n_leaves), np.zeros(2 * n_leaves))
    return Tools(leads, make_counter(pairs_pos), make_counter(pairs_neg), slots, full, tree)


@kernel
def arrange(metric: int, sample: Sample, low: int, high: int, tools: Tools) -> float:
    """What a strip needs before its features are looked at; the pairs led to begin with."""
    if metric == AUC:
        return float(arrange_leads(sample, low, high, tools.leads))
    arrange_slots(sample, low, high, tools.slots)
    fill_tree(metric, sample, tools.slots, tools.full)
    return 0.0


@kernel
def sweep_view(
    metric: int, sample: Sample, views: Views, view: int, start: float, tools: Tools
) -> tuple[float, int]:
    """The largest bound over the cuts of one view in the arranged strip, and its cut."""
    if metric == AUC:
        return sweep_pairs(start, tools.leads, views, view, tools.below_pos, tools.below_neg)
    return sweep_slots(metric, sample, tools.slots, views, view, tools.full, tools.tree)


class Strips(NamedTuple):
    """The strips that are still open; they are few, and the best is looked for one by one."""

    low: Whole
    high: Whole
    bound: npt.NDArray[np.float64]
    views: npt.NDArray[np.float64]  # (strip, view): the bound of each view


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
    bounds: npt.NDArray[np.float64],
) -> tuple[float, int, int, int, int]:
    """Bounds with the step left free, and the best stump that they point to.

    For KS the margin, which grows with the step, is all that keeps them from being reached.
    """
    n_views = len(bounds)
    gains = free_gains(metric, sample)
    cuts = np.zeros(n_views, dtype=np.int64)
    arrange_free(sample, tools.slots)
    for v in range(n_views):
        bounds[v], cuts[v] = sweep_free(
            sample, gains, tools.slots, views, v, tools.full, tools.tree
        )
    value, view, cut, step, n_sweeps = -1.0, -1, 0, 0, n_views
    is_open = np.ones(n_views, dtype=np.bool_)
    for _ in range(n_views):
        v = 0
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
    return value, view, cut, step, n_sweeps


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
    value, view, cut, step = -1.0, -1, 0, 0
    n, n_sweeps, low, high, n_parts = 0, 0, -reach, reach, n_start
    if metric != AUC:
        value, view, cut, step, n_sweeps = first_look(
            metric, sample, views, reach, slack, tools, parent
        )
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
            start = arrange(metric, sample, strips.low[n], strips.high[n], tools)
            strips.bound[n] = -1.0
            for v in range(n_views):
                strips.views[n, v] = -1.0
                if parent[v] > value + slack:
                    bound, _ = sweep_view(metric, sample, views, v, start, tools)
                    strips.views[n, v] = bound
                    strips.bound[n] = max(strips.bound[n], bound)
                    n_sweeps += 1
            if strips.bound[n] <= value + slack:
                continue
            middle = (strips.low[n] + strips.high[n]) // 2
            start = arrange(metric, sample, middle, middle, tools)
            for v in range(n_views):
                if strips.views[n, v] > value + slack:
                    found, at = sweep_view(metric, sample, views, v, start, tools)
                    n_sweeps += 1
                    if found > value:
                        value, view, cut, step = found, v, at, middle
            if strips.bound[n] > value + slack and strips.low[n] < strips.high[n]:
                n += 1
        if n == 0:
            return Best(value, view, cut, step, 0.0, n_sweeps)
        k = most_hopeful(strips, n)
        if strips.bound[k] <= value + slack:
            return Best(value, view, cut, step, 0.0, n_sweeps)
        if n_sweeps >= max_strips:
            return Best(value, view, cut, step, strips.bound[k] - value, n_sweeps)
        low, high, n_parts = strips.low[k], strips.high[k], 2
        for v in range(n_views):
            parent[v] = strips.views[k, v]
        n -= 1
        copy_strip(strips, n, strips, k)
