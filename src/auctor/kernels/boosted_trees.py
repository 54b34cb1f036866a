"""Boosted trees: histograms of slopes, the best splits of a level, and what a tree adds to rows.

A row has a slope (how fast the objective grows with its score, up to the sign of its class) and a
curvature. Both are whole numbers of at least 0 that share one int64: the slope in the upper half,
the curvature in the lower one. One addition then adds both, exactly, as long as the sums of a class
stay below 2^31 and 2^32. The rows of a node are a list of row numbers for each class.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints, RowIndices
from auctor.kernels.jit import kernel
from auctor.kernels.trees import TreeNodes

HALF = 32  # bits of the curvature in a packed sum
_LOWER = 2**HALF - 1
# Rows that are read together before they are counted, so that many are fetched at the same time.
_PREFETCHED = 64
# A gain below this is a rounding error.
_LEAST_GAIN = 1e-12


@kernel
def mix(seed: np.uint64, number: np.uint64) -> np.uint64:
    """A random-looking 64-bit number for each pair of numbers (the finaliser of SplitMix64)."""
    z = seed + (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@kernel
def draw_rows(
    rows: Ints, start: int, stop: int, seed: np.uint64, limit: np.uint64, order: RowIndices
) -> np.uint64:
    """Draw each of the rows start..stop with probability limit / 2^64; returns their number.

    The draw of a row depends on the seed and on its index in the table, ``rows``, alone, so that
    partitions and threads do not matter.
    """
    count = np.uint64(0)
    for i in range(start, stop):
        order[count] = i
        count += np.uint64(mix(seed, np.uint64(rows[i])) < limit)
    return count


@kernel
def draw_features(seed: np.uint64, n_drawn: int, allowed: Bools) -> None:
    """Draw ``n_drawn`` features for each row of ``allowed`` (nodes, features) without replacement.

    Only features that are True at the start are drawn; the others become or stay False.
    """
    n_features = allowed.shape[1]
    candidates = np.empty(n_features, dtype=np.int64)
    for k in range(allowed.shape[0]):
        count = 0
        for j in range(n_features):
            if allowed[k, j]:
                candidates[count] = j
                count += 1
                allowed[k, j] = False
        for i in range(min(n_drawn, count)):
            number = mix(seed, np.uint64(k * n_features + i))
            other = i + np.int64(number % np.uint64(count - i))
            j = candidates[other]
            candidates[other] = candidates[i]
            allowed[k, j] = True


@kernel
def sum_rounded(values: Floats, weight: npt.NDArray[np.uint32], start: int, stop: int) -> float:
    """Sum of weight * round(value * 2^20) over rows start..stop, exact while below 2^53."""
    total = np.int64(0)
    for i in range(start, stop):
        total += np.int64(weight[i]) * np.int64(np.rint(values[i] * 1048576.0))
    return np.float64(total) / 1048576.0


@kernel
def pack_rows(
    slope: Floats,
    curvature: Floats,
    weight: npt.NDArray[np.uint32],
    start: int,
    stop: int,
    slope_scale: float,
    curvature_scale: float,
    is_whole: bool,
    packed: Ints,
) -> None:
    """Slope and curvature of rows start..stop, times weight and scale, as one whole number each.

    If ``is_whole``, they are rounded before they are multiplied by the weight, so that a row of
    weight 2 counts exactly as two rows. For large weights, whose sum leaves few bits to a row of
    weight 1, they are rounded after it.
    """
    for i in range(start, stop):
        w = np.float64(weight[i])
        if is_whole:
            upper = np.int64(weight[i]) * np.int64(np.rint(slope[i] * slope_scale))
            lower = np.int64(weight[i]) * np.int64(np.rint(curvature[i] * curvature_scale))
        else:
            upper = np.int64(np.rint(w * slope[i] * slope_scale))
            lower = np.int64(np.rint(w * curvature[i] * curvature_scale))
        packed[i] = (upper << HALF) + lower


@kernel
def count_packed(
    tile: npt.NDArray[Any],
    first_bin: Ints,
    order: RowIndices,
    packed: Ints,
    begin: Ints,
    end: Ints,
    lists: Ints,
    slot: Ints,
    histogram: Ints,
) -> np.int64:
    """Count some lists of rows: the sum of their packed numbers by bin, in the slot of each list.

    ``tile`` is (rows, features), and ``histogram`` (slots, bins of all features). The rows of a
    block are read once before they are counted: these reads are independent, so that many rows are
    fetched from memory at the same time. Their sum is returned so that the compiler keeps the loop.
    """
    width = tile.shape[1]
    checksum = np.int64(0)
    for k in range(len(lists)):
        bins = histogram[slot[k]]
        for first in range(begin[lists[k]], end[lists[k]], _PREFETCHED):
            last = min(first + _PREFETCHED, end[lists[k]])
            for i in range(first, last):
                checksum += np.int64(tile[order[i], 0]) + packed[order[i]]
            i = first
            while i + 1 < last:  # two rows share a step
                amount_a, codes_a = packed[order[i]], tile[order[i]]
                amount_b, codes_b = packed[order[i + 1]], tile[order[i + 1]]
                for j in range(width):
                    start = np.uint64(first_bin[j])
                    bins[start + np.uint64(codes_a[j])] += amount_a
                    bins[start + np.uint64(codes_b[j])] += amount_b
                i += 2
            if i < last:
                amount_a, codes_a = packed[order[i]], tile[order[i]]
                for j in range(width):
                    bins[np.uint64(first_bin[j]) + np.uint64(codes_a[j])] += amount_a
    return checksum


@kernel
def subtract_packed(whole: Ints, part: Ints, histogram: Ints) -> None:
    """Subtract the histogram in each slot ``part`` from that in slot ``whole``."""
    for k in range(len(whole)):
        of_whole, of_part = histogram[whole[k]], histogram[part[k]]
        for i in range(len(of_whole)):
            of_whole[i] -= of_part[i]


@kernel
def send_packed(
    codes: npt.NDArray[Any],
    order: RowIndices,
    begin: Ints,
    end: Ints,
    feature: Ints,
    goes_left: npt.NDArray[np.uint8],
    new_order: RowIndices,
    buffer: RowIndices,
    middle: Ints,
) -> None:
    """Partition the list of rows of each node; rows before ``middle[k]`` of the new list go left.

    The order of the rows is kept on both sides, so that memory is read in one direction. Every row
    is written to both sides, and the next row overwrites the wrong copy: there is no branch to
    mispredict.
    """
    for k in range(len(begin)):
        column, side = codes[feature[k]], goes_left[k]
        left, n_right = np.uint64(begin[k]), np.uint64(0)
        for i in range(np.uint64(begin[k]), np.uint64(end[k])):
            row = order[i]
            goes = np.uint64(side[column[row]])
            new_order[left] = row
            buffer[n_right] = row
            left += goes
            n_right += np.uint64(1) - goes
        for i in range(n_right):
            new_order[left + i] = buffer[i]
        middle[k] = left


class BoostFeatures(NamedTuple):
    """The features of a tile."""

    first_bin: Ints  # of each feature in the histogram, the bin of missing values
    n_bins: Ints
    is_category: Bools
    sign: Ints  # 1 or -1 if the score must increase or decrease with the feature, else 0


class BoostNodes(NamedTuple):
    """The nodes to be split."""

    slot: Ints  # of their histograms
    totals: Ints  # (node, class): packed sums of the negatives and of the positives
    bounds: Floats  # (node, 2): between which their values must be
    allowed: Bools  # (node, feature); without rows if every feature is allowed


class BoostRule(NamedTuple):
    """How sums become values and gains.

    With s the slopes and c the curvatures of a side in units of rows, and u = N / n the factor of a
    class, its slope is G = u+ s+ - u- s-, its curvature H = u+ c+ + u- c-, and the variance of G
    is V = u+^2 c+ + u-^2 c-. The effective curvature is E = H^2 / V. The best value is
    (G / H) E / (E + l2), and the gain half of its product with G.
    """

    slope: Floats  # u per packed unit of the slope, (negative, positive)
    curvature: Floats  # u per packed unit of the curvature
    variance: Floats  # u^2 per packed unit of the curvature
    l2: float
    category_l2: float  # in place of l2 in tests of categories
    category_smooth: float  # added to E where categories are sorted
    min_curvature: float  # E of each side, at least


class BoostSplits(NamedTuple):
    """The best split of each node: codes up to ``cut``, or the set ``goes_left``, go left."""

    gain: Floats
    feature: Ints  # -1 if no split gains anything
    cut: Ints
    missing: Ints  # whether missing values go left
    left: Ints  # (node, class): packed sums of the left side
    value: Floats  # (node, side)
    goes_left: npt.NDArray[np.uint8]  # (node, code)


class _Side(NamedTuple):
    slope: float  # G
    curvature: float  # H
    variance: float  # V


@kernel
def _side(neg: np.int64, pos: np.int64, rule: BoostRule) -> _Side:
    """G, H and V of packed sums."""
    slope_neg, slope_pos = np.float64(neg >> HALF), np.float64(pos >> HALF)
    curve_neg, curve_pos = np.float64(neg & _LOWER), np.float64(pos & _LOWER)
    return _Side(
        rule.slope[1] * slope_pos - rule.slope[0] * slope_neg,
        rule.curvature[1] * curve_pos + rule.curvature[0] * curve_neg,
        rule.variance[1] * curve_pos + rule.variance[0] * curve_neg,
    )


@kernel
def _is_enough(side: _Side, rule: BoostRule) -> bool:
    """Whether E = H^2 / V of a side is large enough."""
    return (
        side.curvature > 0.0
        and side.curvature * side.curvature >= rule.min_curvature * side.variance
    )


@kernel
def _value(side: _Side, l2: float, low: float, high: float) -> float:
    """The best value of a side within bounds: (G / H) E / (E + l2) = G H / (H^2 + l2 V)."""
    value = 0.0
    if side.curvature > 0.0:
        square = side.curvature * side.curvature
        value = side.slope * side.curvature / (square + l2 * side.variance)
    return min(max(value, low), high)


@kernel
def _gain(side: _Side, l2: float, value: float) -> float:
    """What a value gains, by the quadratic model with curvature H (1 + l2 / E) = H + l2 V / H."""
    if side.curvature <= 0.0:
        return 0.0
    stiffness = side.curvature + l2 * side.variance / side.curvature
    return side.slope * value - 0.5 * stiffness * value * value


@kernel
def _split_gain(left: _Side, right: _Side, l2: float, is_free: bool, bounds: Floats) -> float:
    """What the best values of two sides gain together; without bounds half of G times the value."""
    low, high = (-np.inf, np.inf) if is_free else (bounds[0], bounds[1])
    value_left, value_right = _value(left, l2, low, high), _value(right, l2, low, high)
    if is_free:
        return 0.5 * (left.slope * value_left + right.slope * value_right)
    return _gain(left, l2, value_left) + _gain(right, l2, value_right)


@kernel
def leaf_value(neg: int, pos: int, rule: BoostRule, low: float, high: float) -> float:
    """The value of a node that is not split."""
    return _value(_side(np.int64(neg), np.int64(pos), rule), rule.l2, low, high)


@kernel
def find_boost_splits(
    negative: Ints,
    positive: Ints,
    nodes: BoostNodes,
    features: BoostFeatures,
    rule: BoostRule,
    splits: BoostSplits,
) -> None:
    """The best split of each node by the features of a tile, written to ``splits``.

    ``negative`` and ``positive`` are packed histograms (slots, bins). A number is cut after every
    code, with missing values (code 0) on either side. Categories are sorted by G / H, shrunk, and
    cut in this order. Among equal splits the first one wins.
    """
    n_codes = splits.goes_left.shape[1]
    key, order = np.empty(n_codes), np.empty(n_codes, dtype=np.int64)
    for k in range(len(nodes.slot)):
        splits.gain[k], splits.feature[k] = 0.0, -1
        total = _side(nodes.totals[k, 0], nodes.totals[k, 1], rule)
        low, high = nodes.bounds[k, 0], nodes.bounds[k, 1]
        parent = _gain(total, rule.l2, _value(total, rule.l2, low, high))
        row = nodes.slot[k]
        for j in range(len(features.n_bins)):
            if len(nodes.allowed) and not nodes.allowed[k, j]:
                continue
            start, stop = features.first_bin[j], features.first_bin[j] + features.n_bins[j] + 1
            neg, pos = negative[row, start:stop], positive[row, start:stop]
            if features.is_category[j]:
                n_present = _sort_categories(neg, pos, rule, key, order)
                own = order[:n_present]
                _search_category(neg, pos, own, k, j, nodes, rule, parent, splits)
            else:
                _search_number(neg, pos, k, j, features.sign[j], nodes, rule, parent, splits)


@kernel
def _sort_categories(neg: Ints, pos: Ints, rule: BoostRule, key: Floats, order: Ints) -> int:
    """Sort the codes that occur by their value, the largest first; returns their number.

    Values are shrunk by ``category_smooth``, so that rare categories stay in the middle. The sort
    is by insertion: most features have few categories.
    """
    n_present = 0
    for c in range(len(neg)):
        if neg[c] == 0 and pos[c] == 0:
            continue
        value = _value(_side(neg[c], pos[c], rule), rule.category_smooth, -np.inf, np.inf)
        i = n_present
        while i > 0 and key[i - 1] < value:
            key[i], order[i] = key[i - 1], order[i - 1]
            i -= 1
        key[i], order[i] = value, c
        n_present += 1
    return n_present


@kernel
def _search_category(
    neg: Ints,
    pos: Ints,
    order: Ints,
    k: int,
    j: int,
    nodes: BoostNodes,
    rule: BoostRule,
    parent: float,
    splits: BoostSplits,
) -> None:
    """Cut the sorted categories of feature j at node k after each of them."""
    total_neg, total_pos, bounds = nodes.totals[k, 0], nodes.totals[k, 1], nodes.bounds[k]
    is_free = bounds[0] == -np.inf and bounds[1] == np.inf
    part_neg, part_pos = np.int64(0), np.int64(0)
    best, cut = splits.gain[k] + _LEAST_GAIN, -1
    best_neg, best_pos = np.int64(0), np.int64(0)
    for i in range(len(order) - 1):
        part_neg += neg[order[i]]
        part_pos += pos[order[i]]
        left = _side(part_neg, part_pos, rule)
        right = _side(total_neg - part_neg, total_pos - part_pos, rule)
        if not (_is_enough(left, rule) and _is_enough(right, rule)):
            continue
        gain = _split_gain(left, right, rule.category_l2, is_free, bounds) - parent
        if gain > best:
            best, cut, best_neg, best_pos = gain, i, part_neg, part_pos
    if cut < 0:
        return
    _write_split(best_neg, best_pos, rule.category_l2, k, nodes, rule, splits)
    splits.gain[k], splits.feature[k], splits.cut[k] = best, j, 0
    # Categories that do not occur in the node go the way of the larger curvature.
    left = _side(best_neg, best_pos, rule)
    right = _side(total_neg - best_neg, total_pos - best_pos, rule)
    splits.goes_left[k, :] = np.uint8(left.curvature >= right.curvature)
    for i in range(len(order)):
        splits.goes_left[k, order[i]] = np.uint8(i <= cut)
    splits.missing[k] = splits.goes_left[k, 0]


@kernel
def _search_number(
    neg: Ints,
    pos: Ints,
    k: int,
    j: int,
    sign: int,
    nodes: BoostNodes,
    rule: BoostRule,
    parent: float,
    splits: BoostSplits,
) -> None:
    """Cut the codes of feature j at node k after each of them, missing values on either side."""
    bounds = nodes.bounds[k]
    is_free = sign == 0 and bounds[0] == -np.inf and bounds[1] == np.inf
    total_neg, total_pos = nodes.totals[k, 0], nodes.totals[k, 1]
    missing_neg, missing_pos = neg[0], pos[0]
    # Not their sum, which may not fit into an int64.
    n_sides = 1 if missing_neg == 0 and missing_pos == 0 else 2
    best, cut, missing = splits.gain[k] + _LEAST_GAIN, -1, 0
    part_neg, part_pos = np.int64(0), np.int64(0)
    best_neg, best_pos = np.int64(0), np.int64(0)
    last = len(neg) - 1 if n_sides == 1 else len(neg)  # all values against the missing ones
    for c in range(1, last):
        if neg[c] == 0 and pos[c] == 0:  # the same split as the one before
            continue
        part_neg += neg[c]
        part_pos += pos[c]
        for m in range(n_sides):
            left_neg, left_pos = part_neg + m * missing_neg, part_pos + m * missing_pos
            left = _side(left_neg, left_pos, rule)
            right = _side(total_neg - left_neg, total_pos - left_pos, rule)
            if not (_is_enough(left, rule) and _is_enough(right, rule)):
                continue
            gain = _split_gain(left, right, rule.l2, is_free, bounds) - parent
            if gain > best and (sign == 0 or _is_monotone(left, right, sign, rule, bounds)):
                best, cut, missing = gain, c, m
                best_neg, best_pos = left_neg, left_pos
    if cut < 0:
        return
    _write_split(best_neg, best_pos, rule.l2, k, nodes, rule, splits)
    splits.gain[k], splits.feature[k], splits.cut[k], splits.missing[k] = best, j, cut, missing
    if n_sides == 1:  # missing values of new rows go the way of the larger curvature
        left = _side(best_neg, best_pos, rule)
        right = _side(total_neg - best_neg, total_pos - best_pos, rule)
        splits.missing[k] = np.int64(left.curvature >= right.curvature)
    for c in range(splits.goes_left.shape[1]):
        splits.goes_left[k, c] = np.uint8(c <= cut)
    splits.goes_left[k, 0] = np.uint8(splits.missing[k])


@kernel
def _is_monotone(left: _Side, right: _Side, sign: int, rule: BoostRule, bounds: Floats) -> bool:
    """Whether the value of the right side is larger (sign 1) or smaller (-1), or equal."""
    value_left = _value(left, rule.l2, bounds[0], bounds[1])
    value_right = _value(right, rule.l2, bounds[0], bounds[1])
    return sign * (value_right - value_left) >= 0.0


@kernel
def _write_split(
    left_neg: np.int64,
    left_pos: np.int64,
    l2: float,
    k: int,
    nodes: BoostNodes,
    rule: BoostRule,
    splits: BoostSplits,
) -> None:
    """Write the sums and the values of both sides of a split of node k."""
    low, high = nodes.bounds[k, 0], nodes.bounds[k, 1]
    splits.left[k, 0], splits.left[k, 1] = left_neg, left_pos
    right_neg, right_pos = nodes.totals[k, 0] - left_neg, nodes.totals[k, 1] - left_pos
    splits.value[k, 0] = _value(_side(left_neg, left_pos, rule), l2, low, high)
    splits.value[k, 1] = _value(_side(right_neg, right_pos, rule), l2, low, high)


class GrowingTree(NamedTuple):
    """The nodes of a tree while it grows, in arrays of the largest size; see `TreeNodes`."""

    feature: Ints
    cut: Ints
    missing: Ints
    start: Ints
    left: Ints
    right: Ints
    value: Floats
    gain: Floats
    table: Ints
    size: Ints  # number of nodes, and number of entries of the table


class BoostLevel(NamedTuple):
    """The nodes of a level, in arrays of the largest size."""

    node: Ints  # their numbers in the tree
    slot: Ints  # of their histograms
    totals: Ints  # (node, class): packed sums of the negatives and of the positives
    bounds: Floats  # (node, 2): between which their values must be
    open_groups: Bools  # (node, group): groups of features that contain all features tested above


def growing_tree(max_depth: int, n_codes: int, has_categories: bool) -> GrowingTree:
    """Arrays for the largest tree of a depth."""
    n_nodes = 2 ** (max_depth + 1) - 1
    feature, cut, missing, start, left, right = np.empty((6, n_nodes), dtype=np.int64)
    value, gain = np.empty((2, n_nodes))
    table = np.empty(n_nodes // 2 * n_codes if has_categories else 1, dtype=np.int64)
    size = np.zeros(2, dtype=np.int64)
    return GrowingTree(feature, cut, missing, start, left, right, value, gain, table, size)


def boost_level(max_depth: int, n_groups: int = 0) -> BoostLevel:
    """Arrays for the largest level of a depth."""
    size = 2**max_depth
    return BoostLevel(
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros((size, 2), dtype=np.int64),
        np.zeros((size, 2)),
        np.ones((size, n_groups), dtype=np.bool_),
    )


@kernel
def _add_leaf(tree: GrowingTree, value: float) -> int:
    node = tree.size[0]
    tree.feature[node], tree.cut[node], tree.missing[node] = -1, 0, 0
    tree.start[node], tree.left[node], tree.right[node] = -1, -1, -1
    tree.value[node], tree.gain[node] = value, 0.0
    tree.size[0] += 1
    return node


@kernel
def plant(tree: GrowingTree, level: BoostLevel, totals: Ints, rule: BoostRule) -> None:
    """Begin a tree with its root, the only node of the first level."""
    tree.size[:] = 0
    level.node[0] = _add_leaf(tree, leaf_value(totals[0], totals[1], rule, -np.inf, np.inf))
    level.slot[0] = 0
    level.totals[0] = totals
    level.bounds[0, 0], level.bounds[0, 1] = -np.inf, np.inf
    level.open_groups[0] = True


@kernel
def allow_features(
    level: BoostLevel, n_nodes: int, groups: Bools, n_drawn: int, seed: np.uint64
) -> Bools:
    """Which features may split each node; no rows if all of them may.

    ``groups`` (group, feature) are the features that may be tested on one path; without groups all
    may. Of these, ``n_drawn`` are drawn for each node; 0 is all of them.
    """
    n_groups, n_features = groups.shape
    if n_groups == 0 and n_drawn == 0:
        return np.ones((0, n_features), dtype=np.bool_)
    allowed = np.full((n_nodes, n_features), n_groups == 0)
    for k in range(n_nodes):
        for g in range(n_groups):
            if level.open_groups[k, g]:
                for j in range(n_features):
                    allowed[k, j] |= groups[g, j]
    if n_drawn > 0:
        draw_features(seed, n_drawn, allowed)
    return allowed


@kernel
def split_level(
    splits: BoostSplits,
    n_nodes: int,
    features: BoostFeatures,
    groups: Bools,
    tree: GrowingTree,
    level: BoostLevel,
    split: Ints,
    children: BoostLevel,
) -> int:
    """Add the children of the split nodes to the tree; returns the number of split nodes.

    ``split`` receives the positions of the split nodes in the level. Where the score must be
    monotone, the mean of the two values bounds both sides from then on.
    """
    count = 0
    for k in range(n_nodes):
        j = splits.feature[k]
        if j < 0:
            continue
        node = level.node[k]
        tree.feature[node], tree.cut[node] = j, splits.cut[k]
        tree.missing[node], tree.gain[node] = splits.missing[k], splits.gain[k]
        if features.is_category[j]:
            tree.start[node] = tree.size[1]
            for c in range(features.n_bins[j] + 1):
                tree.table[tree.size[1] + c] = splits.goes_left[k, c]
            tree.size[1] += features.n_bins[j] + 1
        middle = (splits.value[k, 0] + splits.value[k, 1]) / 2.0
        for side in range(2):
            child = 2 * count + side
            leaf = _add_leaf(tree, splits.value[k, side])
            children.node[child] = leaf
            children.bounds[child] = level.bounds[k]
            for g in range(len(groups)):
                children.open_groups[child, g] = level.open_groups[k, g] and groups[g, j]
            # The right side has the larger values of the feature.
            if features.sign[j] != 0:
                end = 1 if (features.sign[j] > 0) == (side == 0) else 0
                children.bounds[child, end] = middle
            for label in range(2):
                left = splits.left[k, label]
                children.totals[child, label] = left if side == 0 else level.totals[k, label] - left
        tree.left[node], tree.right[node] = children.node[2 * count], children.node[2 * count + 1]
        split[count] = k
        count += 1
    return count


class CountPlan(NamedTuple):
    """Which lists of a level are counted, and into which slots of the histograms.

    Of two siblings the one with fewer rows is counted into a free slot. The other one takes over
    the slot of the parent, from which the count of its sibling is subtracted.
    """

    lists: Ints
    slot: Ints
    whole: Ints


@kernel
def plan_counts(
    split: Ints, n_split: int, sizes: Ints, level: BoostLevel, children: BoostLevel, plan: CountPlan
) -> None:
    """Assign slots to the children of the split nodes; ``sizes`` are their numbers of rows."""
    is_used = np.zeros(len(level.slot), dtype=np.bool_)
    for i in range(n_split):
        is_used[level.slot[split[i]]] = True
    free = 0
    for i in range(n_split):
        while is_used[free]:
            free += 1
        parent = level.slot[split[i]]
        smaller = 2 * i if sizes[2 * i] <= sizes[2 * i + 1] else 2 * i + 1
        children.slot[smaller], children.slot[4 * i + 1 - smaller] = free, parent
        plan.lists[i], plan.slot[i], plan.whole[i] = smaller, free, parent
        free += 1


class RowLists(NamedTuple):
    """Lists of rows of one class: list k is ``order[begin[k]:end[k]]``; the others are buffers."""

    order: RowIndices
    spare: RowIndices
    buffer: RowIndices
    begin: Ints
    end: Ints


@kernel
def send_children(
    codes: npt.NDArray[Any],
    lists: RowLists,
    splits: BoostSplits,
    split: Ints,
    n_split: int,
) -> RowLists:
    """Replace the lists of a level by those of the children of its split nodes."""
    begin, end = lists.begin[split[:n_split]], lists.end[split[:n_split]]
    middle = np.empty(n_split, dtype=np.int64)
    send_packed(
        codes,
        lists.order,
        begin,
        end,
        splits.feature[split[:n_split]],
        splits.goes_left[split[:n_split]],
        lists.spare,
        lists.buffer,
        middle,
    )
    for i in range(n_split):
        lists.begin[2 * i], lists.end[2 * i] = begin[i], middle[i]
        lists.begin[2 * i + 1], lists.end[2 * i + 1] = middle[i], end[i]
    return RowLists(lists.spare, lists.order, lists.buffer, lists.begin, lists.end)


@kernel
def grow_alone(
    tile: npt.NDArray[Any],
    codes: npt.NDArray[Any],
    packed: Ints,
    negative: RowLists,
    positive: RowLists,
    totals: Ints,
    features: BoostFeatures,
    groups: Bools,
    rule: BoostRule,
    max_depth: int,
    n_drawn: int,
    seed: np.uint64,
    histogram: Ints,
    splits: BoostSplits,
    level: BoostLevel,
    children: BoostLevel,
    tree: GrowingTree,
) -> None:
    """Grow a tree in one thread, from the rows of one partition with all features in one tile.

    It calls the same kernels in the same order as a fit with threads, without the cost of Python
    between them, which would be most of the time for a small table.
    """
    plant(tree, level, totals, rule)
    size = len(level.slot)
    plan = CountPlan(
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
    )
    split = np.empty(size, dtype=np.int64)
    n_nodes, n_counted = 1, 1
    for depth in range(max_depth):
        lists, slot = plan.lists[:n_counted], plan.slot[:n_counted]
        for label in range(2):
            for k in range(n_counted):
                histogram[label, slot[k]] = 0
        count_packed(
            tile, features.first_bin, negative.order, packed, negative.begin, negative.end,
            lists, slot, histogram[0],
        )  # fmt: skip
        count_packed(
            tile, features.first_bin, positive.order, packed, positive.begin, positive.end,
            lists, slot, histogram[1],
        )  # fmt: skip
        if depth > 0:
            subtract_packed(plan.whole[:n_counted], slot, histogram[0])
            subtract_packed(plan.whole[:n_counted], slot, histogram[1])
        allowed = allow_features(level, n_nodes, groups, n_drawn, mix(seed, np.uint64(depth)))
        nodes = BoostNodes(
            level.slot[:n_nodes], level.totals[:n_nodes], level.bounds[:n_nodes], allowed
        )
        find_boost_splits(histogram[0], histogram[1], nodes, features, rule, splits)
        n_split = split_level(splits, n_nodes, features, groups, tree, level, split, children)
        if n_split == 0 or depth + 1 == max_depth:
            break
        negative = send_children(codes, negative, splits, split, n_split)
        positive = send_children(codes, positive, splits, split, n_split)
        sizes = negative.end - negative.begin + positive.end - positive.begin
        plan_counts(split, n_split, sizes, level, children, plan)
        level, children = children, level
        n_nodes, n_counted = 2 * n_split, n_split


@kernel
def add_tree(
    tile: npt.NDArray[Any],
    start: int,
    stop: int,
    nodes: TreeNodes,
    value: Floats,
    weight: npt.NDArray[np.uint32],
    scores: Floats,
    cover: Ints,
) -> None:
    """Add the value of its leaf to the score of each of the rows start..stop of a tile.

    ``cover`` receives the weight of the rows in each leaf.
    """
    for i in range(start, stop):
        k = np.uint64(0)
        while nodes.feature[k] >= 0:
            code = np.int64(tile[i, np.uint64(nodes.feature[k])])
            if nodes.start[k] >= 0:
                goes_left = nodes.table[nodes.start[k] + code]
            elif code == 0:
                goes_left = nodes.missing[k]
            else:
                goes_left = np.int64(code <= nodes.cut[k])
            k = np.uint64(nodes.left[k] if goes_left == 1 else nodes.right[k])
        scores[i] += value[k]
        cover[k] += np.int64(weight[i])


def no_boost_splits(n_nodes: int, n_codes: int) -> BoostSplits:
    """Splits of nodes for which none was found yet."""
    feature, cut, missing = np.zeros((3, n_nodes), dtype=np.int64)
    feature[:] = -1
    left = np.zeros((n_nodes, 2), dtype=np.int64)
    goes_left = np.zeros((n_nodes, n_codes), dtype=np.uint8)
    return BoostSplits(
        np.zeros(n_nodes), feature, cut, missing, left, np.zeros((n_nodes, 2)), goes_left
    )
