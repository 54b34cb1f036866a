"""Growing trees: rows in lists by node, class histograms of the nodes, the best split of each."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import kernel
from auctor.kernels.stumps import LEAST_GAIN


class TreeNodes(NamedTuple):
    """The nodes of a tree; node 0 is the root, and children stand behind their parents.

    At a node of a number the codes above ``cut`` go left where ``above`` is 1, the others
    where it is 0; missing values (code 0) go left where ``missing`` is 1. A node of a category
    looks its side up in ``table``, from ``start`` on (-1 for numbers), 1 for left. Feature -1
    marks a leaf. Two nodes may share a child: a union of boxes is a cell of the tree, too.
    """

    feature: Ints
    cut: Ints
    above: Ints
    missing: Ints
    start: Ints
    table: Ints
    left: Ints
    right: Ints


@kernel
def find_leaves(codes: npt.NDArray[Any], nodes: TreeNodes, leaf: Ints) -> None:
    """The leaf that each row (features, rows) comes to."""
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


@kernel
def forest_values(
    tile: npt.NDArray[Any],
    nodes: npt.NDArray[np.int32],
    table: Ints,
    roots: Ints,
    value: Floats,
    place: Ints,
    active: Ints,
    out: Floats,
) -> None:
    """The value of the leaf that each row (rows, features) comes to in each tree (trees, rows).

    A line of ``nodes`` is (feature, cut, child above the cut, child up to it, child of missing
    values, start in ``table``, left child, right child): half a line of the cache, whole. All
    rows take a step before any takes the next: the steps do not wait for one another, and there
    is no branch to mispredict. ``place`` and ``active`` are room for a number per row.
    """
    for t in range(out.shape[0]):
        n_active = np.int64(len(place) if nodes[roots[t], 0] >= 0 else 0)
        for i in range(len(place)):
            place[i] = roots[t]
            active[i] = i
        while n_active > 0:
            n_left = np.uint64(0)
            for a in range(n_active):
                row = np.uint64(active[a])
                k = np.uint64(place[row])
                code = np.int64(tile[row, np.uint64(nodes[k, 0])])
                if nodes[k, 5] >= 0:
                    child = np.uint64(7 - table[np.uint64(nodes[k, 5] + code)])
                else:
                    child = np.uint64(2 + np.int64(code <= nodes[k, 1]) + np.int64(code == 0))
                following = nodes[k, child]
                place[row] = following
                active[n_left] = row
                n_left += np.uint64(nodes[np.uint64(following), 0] >= 0)
            n_active = np.int64(n_left)
        for i in range(len(place)):
            out[t, i] = value[np.uint64(place[i])]


# Rows touched at a time: they fit into the first-level cache beside a node's histograms.
_TOUCHED = 64


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
    """Sort the list of each node into rows that go left and rows that go right.

    The list of node k is ``order[begin[k]:end[k]]``; its left ones then stand before
    ``middle[k]``. Feature -1 keeps a list as it is. Every row is written to both ends of what
    is still free, and the next one overwrites the wrong one: no branch to mispredict.
    """
    for k in range(len(begin)):
        left, right = np.uint64(begin[k]), np.uint64(max(end[k] - 1, 0))
        if feature[k] < 0:
            for i in range(begin[k], end[k]):
                new_order[i] = order[i]
                new_amount[i] = amount[i]
            middle[k] = end[k]
            continue
        line, side = codes[feature[k]], goes_left[k]
        for i in range(np.uint64(begin[k]), np.uint64(end[k])):
            row, weight = order[i], amount[i]
            goes = np.uint64(side[line[row]])
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
    """Copy each list to its target."""
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
) -> np.int64:
    """Add the weights of each list, times its sign, to line ``slot`` by feature and code.

    ``histogram`` is (slots, features * n_codes), of one class. The rows of a block are touched
    before they are counted: short steps that do not wait for one another, so that many rows are
    on their way from memory at a time. What was touched is returned, lest it be left out.
    """
    width = tile.shape[1]
    n_codes = np.uint64(histogram.shape[1] // width)
    touched = np.int64(0)
    for k in range(len(slot)):
        line = histogram[slot[k]]
        for first in range(begin[k], end[k], _TOUCHED):
            last = min(first + _TOUCHED, end[k])
            for i in range(first, last):
                touched += np.int64(tile[order[i], 0]) + np.int64(tile[order[i], width - 1])
            i = first
            while i + 1 < last:  # two rows share a step
                weight_a, codes_a = sign[k] * np.int64(amount[i]), tile[order[i]]
                weight_b, codes_b = sign[k] * np.int64(amount[i + 1]), tile[order[i + 1]]
                start = np.uint64(0)
                for j in range(width):
                    line[start + np.uint64(codes_a[j])] += weight_a
                    line[start + np.uint64(codes_b[j])] += weight_b
                    start += n_codes
                i += 2
            if i < last:
                weight_a, codes_a = sign[k] * np.int64(amount[i]), tile[order[i]]
                start = np.uint64(0)
                for j in range(width):
                    line[start + np.uint64(codes_a[j])] += weight_a
                    start += n_codes
    return touched


@kernel
def subtract_slots(
    target: Ints,
    whole: Ints,
    part: Ints,
    histogram: npt.NDArray[Any],
) -> None:
    """Set lines to whole - part."""
    for k in range(len(target)):
        line, of_whole, of_part = histogram[target[k]], histogram[whole[k]], histogram[part[k]]
        for i in range(len(line)):
            line[i] = of_whole[i] - of_part[i]


@kernel
def best_splits(
    negative: npt.NDArray[Any],
    positive: npt.NDArray[Any],
    slot: Ints,
    totals: Ints,
    scale: Floats,
    n_bins: Ints,
    category: Ints,
    order: Ints,
    allowed: Bools,
    least: float,
    units: Floats,
    by_gini: bool,
    value: Floats,
    found: Ints,
    goes_left: npt.NDArray[np.uint8],
) -> None:
    """The best split of each node over the features of a tile; left is the upper side.

    A line of ``found`` is (feature, cut, left above the cut, missing left, weight of the
    negatives and of the positives that go left); feature -1 where nothing is gained. A number
    is cut at every code, with missing values (code 0) on both sides and by themselves. The
    codes of a category, which is number ``category[j]`` of those in the tile (-1 for numbers),
    are cut in their ``order`` (category, node, code) by the share of positives, the largest
    first, which holds the best set for Ent and for Gini. Of equal splits the one with the larger
    upper side wins (Remark 9), then the first. Both sides hold ``least`` rows or more, where a unit
    of weight of a class counts ``units`` rows. Codes that do not occur go with the missing
    values, and these, where they do not occur, with the heavier side.
    """
    width, n_codes = len(n_bins), goes_left.shape[1]
    for k in range(len(slot)):
        best, size, feature = 0.0, np.int64(0), -1
        # With a, b the part's and A, B the node's scaled weight of positives and negatives, the
        # cross product a B - b A is Ent of section 4.1 where the scales make A = B = 1. The
        # Gini decrease is its square over (A + B)(a + b)(A + B - a - b).
        total_neg, total_pos = totals[k, 0], totals[k, 1]
        total = total_neg + total_pos
        total_rows = total_neg * units[0] + total_pos * units[1]
        scale_neg, scale_pos = scale[k, 0], scale[k, 1]
        both = total_pos * scale_pos + total_neg * scale_neg
        times_pos, times_neg = scale_pos * total_neg * scale_neg, scale_neg * total_pos * scale_pos
        for j in range(width):
            if len(allowed) > 0 and not allowed[k, j]:
                continue
            line, start = np.uint64(slot[k]), np.uint64(j * n_codes)
            missing_neg, missing_pos = (
                np.int64(negative[line, start]),
                np.int64(positive[line, start]),
            )
            is_set, number = category[j] >= 0, max(category[j], 0)
            n_sides = 1 if is_set or missing_neg + missing_pos == 0 else 2
            part_neg, part_pos = np.int64(0), np.int64(0)
            cut, is_upper, part_missing = 0, True, 0
            left_neg, left_pos = np.int64(0), np.int64(0)
            for c in range(0 if is_set else 1, n_bins[j] + 1):
                at = start + np.uint64(order[number, k, c] if is_set else c)
                neg, pos = np.int64(negative[line, at]), np.int64(positive[line, at])
                if neg + pos == 0:  # the same split as the one before
                    continue
                part_neg += neg
                part_pos += pos
                for m in range(n_sides):
                    neg, pos = part_neg + m * missing_neg, part_pos + m * missing_pos
                    cross = pos * times_pos - neg * times_neg
                    worth = abs(cross)
                    if by_gini:
                        share = pos * scale_pos + neg * scale_neg
                        worth = cross * cross / (both * share * max(both - share, LEAST_GAIN))
                    if worth < best - LEAST_GAIN or worth <= LEAST_GAIN:
                        continue
                    upper = cross > 0.0
                    held = neg + pos if upper else total - neg - pos
                    rows = neg * units[0] + pos * units[1]
                    if rows < least or total_rows - rows < least:
                        continue
                    if worth > best + LEAST_GAIN or held > size:
                        best, size, feature = worth, held, j
                        cut, is_upper, part_missing = c, upper, m
                        left_neg = neg if upper else total_neg - neg
                        left_pos = pos if upper else total_pos - pos
            if feature != j:
                continue
            # The part is what lies up to the cut, and it is the left side where it is the upper.
            missing_left = left_neg + left_pos >= total - left_neg - left_pos
            if is_set:
                for c in range(n_bins[j] + 1):
                    if order[number, k, c] == 0 and missing_neg + missing_pos > 0:
                        missing_left = c <= cut
                for c in range(n_codes):
                    code = order[number, k, c]
                    at = start + np.uint64(code)
                    occurs = negative[line, at] > 0 or positive[line, at] > 0
                    goes_left[k, code] = c <= cut if occurs else missing_left
            else:
                if missing_neg + missing_pos > 0:
                    missing_left = (part_missing == 1) == is_upper
                for code in range(n_codes):
                    goes_left[k, code] = (code <= cut) == is_upper
                goes_left[k, 0] = missing_left
            value[k] = best
            found[k, 0] = j
            found[k, 1] = cut
            found[k, 2] = not is_upper
            found[k, 3] = missing_left
            found[k, 4] = left_neg
            found[k, 5] = left_pos
