"""Trees: the leaves of rows, and growing a tree level by level.

To grow a level, the rows of each node are in a list. ``send_lists`` and ``copy_lists`` move rows
to the lists of the children, ``count_lists`` and ``subtract_slots`` make the class histograms of
the nodes, and ``best_splits`` finds the best split of each node.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.arrays import read_only
from auctor.kernels.jit import inner_kernel, kernel
from auctor.kernels.prefetch import fetch_row
from auctor.kernels.stumps import LEAST_GAIN


class TreeNodes(NamedTuple):
    """The nodes of a tree; node 0 is the root, and children come after their parents.

    A node that tests a number sends codes above ``cut`` left if ``above`` is 1, and codes up to
    ``cut`` left if it is 0; missing values (code 0) go left if ``missing`` is 1. A node that tests
    a category has an entry for each code in ``table``, from ``start`` on, which is 1 for left;
    ``start`` is -1 for numbers. Feature -1 marks a leaf. Two nodes may have the same child, so
    that a leaf can be a union of boxes.
    """

    feature: Ints
    cut: Ints
    above: Ints
    missing: Ints
    start: Ints
    table: Ints
    left: Ints
    right: Ints


def leaves_of(codes: npt.NDArray[Any], nodes: TreeNodes) -> Ints:
    """The leaf of each row of ``codes`` (features, rows)."""
    leaf = np.empty(codes.shape[1], dtype=np.int64)
    _find_leaves(read_only(codes), TreeNodes(*map(read_only, nodes)), leaf)
    return leaf


@kernel
def _find_leaves(codes: npt.NDArray[Any], nodes: TreeNodes, leaf: Ints) -> None:
    for row in range(len(leaf)):
        k = np.int64(0)
        while nodes.feature[k] >= 0:
            code = np.int64(codes[nodes.feature[k], row])
            if nodes.start[k] >= 0:
                goes_left = nodes.table[nodes.start[k] + code]
            elif code == 0:
                goes_left = nodes.missing[k]
            else:
                goes_left = np.int64((code > nodes.cut[k]) == (nodes.above[k] == 1))
            k = nodes.left[k] if goes_left == 1 else nodes.right[k]
        leaf[row] = k


# Rows are asked for this number of rows before they are counted.
_AHEAD = 32


@kernel
def send_lists(
    codes: npt.NDArray[Any],
    order: npt.NDArray[np.uint32],
    amount: npt.NDArray[np.uint32],
    begin: Ints,
    end: Ints,
    feature: Ints,
    goes_left: npt.NDArray[np.uint8],
    new_order: npt.NDArray[np.uint32],
    new_amount: npt.NDArray[np.uint32],
    middle: Ints,
) -> None:
    """Partition the list of rows of each node into rows that go left and rows that go right.

    The list of node k is ``order[begin[k]:end[k]]``, with weights ``amount``. In the new list, rows
    before ``middle[k]`` go left. Feature -1 keeps a list as it is. Every row is written to
    the next free entry of the left part and to that of the right part; the next row overwrites the
    wrong copy, so that there is no branch to mispredict.
    """
    for k in range(len(begin)):
        left, right = np.uint64(begin[k]), np.uint64(max(end[k] - 1, 0))
        if feature[k] < 0:
            for i in range(begin[k], end[k]):
                new_order[i] = order[i]
                new_amount[i] = amount[i]
            middle[k] = end[k]
            continue
        column, side = codes[feature[k]], goes_left[k]
        for i in range(np.uint64(begin[k]), np.uint64(end[k])):
            row, weight = order[i], amount[i]
            goes = np.uint64(side[column[row]])
            new_order[left] = row
            new_amount[left] = weight
            new_order[right] = row
            new_amount[right] = weight
            left += goes
            right -= np.uint64(1) - goes
        middle[k] = left


@kernel
def copy_lists(
    order: npt.NDArray[np.uint32],
    amount: npt.NDArray[np.uint32],
    begin: Ints,
    end: Ints,
    target: Ints,
    new_order: npt.NDArray[np.uint32],
    new_amount: npt.NDArray[np.uint32],
) -> None:
    """Copy the list of rows of each node to its target position."""
    for k in range(len(begin)):
        shift = target[k] - begin[k]
        for i in range(begin[k], end[k]):
            new_order[i + shift] = order[i]
            new_amount[i + shift] = amount[i]


@kernel
def count_lists(
    tile: npt.NDArray[Any],
    order: npt.NDArray[np.uint32],
    amount: npt.NDArray[np.uint32],
    begin: Ints,
    end: Ints,
    slot: Ints,
    sign: Ints,
    histogram: npt.NDArray[Any],
) -> None:
    """Add the weights of the rows of each list, times its sign, to the histogram in its slot.

    ``histogram`` is (slots, features * n_codes), of one class.
    """
    width = tile.shape[1]
    n_codes = np.uint64(histogram.shape[1] // width)
    for k in range(len(slot)):
        bins, i, last = histogram[slot[k]], begin[k], end[k]
        while i + 1 < last:  # two rows share a step
            if i + _AHEAD + 1 < last:
                fetch_row(tile, order[i + _AHEAD])
                fetch_row(tile, order[i + _AHEAD + 1])
            weight_a, codes_a = sign[k] * np.int64(amount[i]), tile[order[i]]
            weight_b, codes_b = sign[k] * np.int64(amount[i + 1]), tile[order[i + 1]]
            start = np.uint64(0)
            for j in range(width):
                bins[start + np.uint64(codes_a[j])] += weight_a
                bins[start + np.uint64(codes_b[j])] += weight_b
                start += n_codes
            i += 2
        if i < last:
            weight_a, codes_a = sign[k] * np.int64(amount[i]), tile[order[i]]
            start = np.uint64(0)
            for j in range(width):
                bins[start + np.uint64(codes_a[j])] += weight_a
                start += n_codes


@kernel
def subtract_slots(
    target: Ints,
    whole: Ints,
    part: Ints,
    histogram: npt.NDArray[Any],
) -> None:
    """Set the histogram of each target slot to that of ``whole`` minus that of ``part``."""
    for k in range(len(target)):
        bins, of_whole, of_part = histogram[target[k]], histogram[whole[k]], histogram[part[k]]
        for i in range(len(bins)):
            bins[i] = of_whole[i] - of_part[i]


class Histograms(NamedTuple):
    """The class histograms of nodes over the features of a tile."""

    negative: npt.NDArray[Any]  # (slot, features * n_codes)
    positive: npt.NDArray[Any]
    slot: Ints  # of each node


class SplitNodes(NamedTuple):
    """The nodes to be split."""

    totals: Ints  # (node, class): weight of the negatives and of the positives
    scale: Floats  # (node, class): factor of these weights in the criterion
    allowed: Bools  # (node, feature); without rows if every feature is allowed


class SplitFeatures(NamedTuple):
    """The features of a tile."""

    n_bins: Ints
    category: Ints  # the number of the feature among the categorical ones; -1 for numbers
    order: Ints  # (category, node, code): codes by their fraction of positives, largest first


class SplitRule(NamedTuple):
    """What makes one split better than another, and which splits are allowed."""

    min_rows: float  # that each side must have
    units: Floats  # number of rows that a unit of weight of each class counts for
    by_gini: bool  # maximise the decrease of the Gini index instead of Ent


class Splits(NamedTuple):
    """The best split of each node. The left side is the upper one, with more positives.

    ``cut``, ``above`` and ``missing`` are as in `TreeNodes`.
    """

    gain: Floats  # value of the criterion
    feature: Ints  # -1 if no split gains anything
    cut: Ints
    above: Ints
    missing: Ints
    left: Ints  # (node, class): weight of the negatives and of the positives that go left
    goes_left: npt.NDArray[np.uint8]  # (node, code)


def no_splits(n_nodes: int, n_codes: int) -> Splits:
    """Splits of nodes for which none was found yet."""
    cut, above, missing = np.zeros((3, n_nodes), dtype=np.int64)
    return Splits(
        np.zeros(n_nodes),
        np.full(n_nodes, -1),
        cut,
        above,
        missing,
        np.zeros((n_nodes, 2), dtype=np.int64),
        np.zeros((n_nodes, n_codes), dtype=np.uint8),
    )


class _Node(NamedTuple):
    """The constants of one node in the criterion."""

    total_neg: int
    total_pos: int
    n_rows: float
    scale_neg: float
    scale_pos: float
    factor_neg: float
    factor_pos: float


class _Best(NamedTuple):
    """The best split of a node so far; feature -1 before the first one.

    The part is the set of codes up to ``cut``, with the missing values if ``has_missing`` is 1.
    """

    gain: float
    size: np.int64  # weight of the upper side
    feature: int
    cut: int
    is_upper: bool | np.bool_  # whether the part is the upper side
    has_missing: int
    left_neg: np.int64
    left_pos: np.int64


@kernel
def best_splits(
    counts: Histograms,
    nodes: SplitNodes,
    features: SplitFeatures,
    rule: SplitRule,
    splits: Splits,
) -> None:
    """The best split of each node (Clemencon & Vayatis 2009, section 4.1), written to ``splits``.

    A number is cut after every code, with missing values (code 0) on either side or alone. The
    codes of a category are cut in their ``order``, which contains the best set of codes for Ent
    and for Gini. Among equal splits the one with the larger upper side wins (Remark 9), then the
    first one. Entries of nodes that gain nothing are left as they are.
    """
    for k in range(len(counts.slot)):
        total_neg, total_pos = nodes.totals[k, 0], nodes.totals[k, 1]
        scale_neg, scale_pos = nodes.scale[k, 0], nodes.scale[k, 1]
        n_rows = total_neg * rule.units[0] + total_pos * rule.units[1]
        factor_neg, factor_pos = (
            scale_neg * total_pos * scale_pos,
            scale_pos * total_neg * scale_neg,
        )
        node = _Node(total_neg, total_pos, n_rows, scale_neg, scale_pos, factor_neg, factor_pos)
        best = _Best(0.0, np.int64(0), -1, 0, True, 0, np.int64(0), np.int64(0))
        for j in range(len(features.n_bins)):
            if len(nodes.allowed) == 0 or nodes.allowed[k, j]:
                best = _search_feature(counts, k, j, node, features, rule, best)
        if best.feature >= 0:
            _write_split(counts, k, best, node, features, splits)


@inner_kernel
def _search_feature(
    counts: Histograms,
    k: int,
    j: int,
    node: _Node,
    features: SplitFeatures,
    rule: SplitRule,
    best: _Best,
) -> _Best:
    """The better one of ``best`` and the best split of node k by feature j.

    With a, b the scaled weights of the positives and negatives of the part and A, B those of the
    node, the cross product a B - b A is Ent of section 4.1 if the scales make A = B = 1. The
    decrease of the Gini index is its square over (A + B)(a + b)(A + B - a - b).
    """
    n_codes = counts.negative.shape[1] // len(features.n_bins)
    row, start = np.uint64(counts.slot[k]), np.uint64(j * n_codes)
    missing_neg = np.int64(counts.negative[row, start])
    missing_pos = np.int64(counts.positive[row, start])
    is_category, number = features.category[j] >= 0, max(features.category[j], 0)
    n_sides = 1 if is_category or missing_neg + missing_pos == 0 else 2
    both = node.total_pos * node.scale_pos + node.total_neg * node.scale_neg
    total = node.total_neg + node.total_pos
    # Plain variables and one tuple at the end, which is faster than a new tuple at each gain.
    best_gain, best_size = best.gain, best.size
    cut, has_missing = -1, 0
    part_is_upper: bool | np.bool_ = True
    left_neg, left_pos = np.int64(0), np.int64(0)
    part_neg, part_pos = np.int64(0), np.int64(0)
    for c in range(0 if is_category else 1, features.n_bins[j] + 1):
        at = start + np.uint64(features.order[number, k, c] if is_category else c)
        neg, pos = np.int64(counts.negative[row, at]), np.int64(counts.positive[row, at])
        if neg + pos == 0:  # the same split as the one before
            continue
        part_neg += neg
        part_pos += pos
        for m in range(n_sides):  # without and with the missing values
            neg, pos = part_neg + m * missing_neg, part_pos + m * missing_pos
            cross = pos * node.factor_pos - neg * node.factor_neg
            gain = abs(cross)
            if rule.by_gini:
                part = pos * node.scale_pos + neg * node.scale_neg
                gain = cross * cross / (both * part * max(both - part, LEAST_GAIN))
            if gain < best_gain - LEAST_GAIN or gain <= LEAST_GAIN:
                continue
            is_upper = cross > 0.0
            size = neg + pos if is_upper else total - neg - pos
            n_rows = neg * rule.units[0] + pos * rule.units[1]
            if n_rows < rule.min_rows or node.n_rows - n_rows < rule.min_rows:
                continue
            if gain > best_gain + LEAST_GAIN or size > best_size:
                best_gain, best_size = gain, size
                cut, part_is_upper, has_missing = c, is_upper, m
                left_neg = neg if is_upper else node.total_neg - neg
                left_pos = pos if is_upper else node.total_pos - pos
    if cut < 0:
        return best
    return _Best(best_gain, best_size, j, cut, part_is_upper, has_missing, left_neg, left_pos)


@inner_kernel
def _write_split(
    counts: Histograms, k: int, best: _Best, node: _Node, features: SplitFeatures, splits: Splits
) -> None:
    """Write the best split of node k to ``splits``.

    Codes that do not occur at the node go with the missing values; these, if they do not occur,
    go with the heavier side.
    """
    n_codes = splits.goes_left.shape[1]
    row, start = np.uint64(counts.slot[k]), np.uint64(best.feature * n_codes)
    left = best.left_neg + best.left_pos
    missing_left: bool | np.bool_ = left >= node.total_neg + node.total_pos - left
    has_missing = counts.negative[row, start] > 0 or counts.positive[row, start] > 0
    number = features.category[best.feature]
    if number >= 0:
        for c in range(features.n_bins[best.feature] + 1):
            if features.order[number, k, c] == 0 and has_missing:
                missing_left = c <= best.cut
        for c in range(n_codes):
            code = features.order[number, k, c]
            at = start + np.uint64(code)
            occurs = counts.negative[row, at] > 0 or counts.positive[row, at] > 0
            splits.goes_left[k, code] = c <= best.cut if occurs else missing_left
    else:
        if has_missing:
            missing_left = (best.has_missing == 1) == best.is_upper
        for code in range(n_codes):
            splits.goes_left[k, code] = (code <= best.cut) == best.is_upper
        splits.goes_left[k, 0] = missing_left
    splits.gain[k] = best.gain
    splits.feature[k] = best.feature
    splits.cut[k] = best.cut
    splits.above[k] = not best.is_upper
    splits.missing[k] = missing_left
    splits.left[k, 0] = best.left_neg
    splits.left[k, 1] = best.left_pos
