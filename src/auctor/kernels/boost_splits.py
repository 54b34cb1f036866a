"""The best splits of the nodes of a boosted tree, from histograms of packed slopes."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.boost_slopes import HALF
from auctor.kernels.jit import inner_kernel, kernel

_LOWER = 2**HALF - 1
# A gain below this is a rounding error.
_LEAST_GAIN = 1e-12
# A cut that is not this near to the best one so far is not looked at in detail.
_NEARLY = 1.0 - 1e-14
# A rounding error is also a side that has no more than this part of the curvature of its node.
_LEAST_PART = 1e-12


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
    class, its slope is G = u+ s+ - u- s- and its curvature H = u+ c+ + u- c-. The best value is
    G / (H + l2), and the gain half of its product with G.
    """

    slope: Floats  # u per packed unit of the slope, (negative, positive)
    curvature: Floats  # u per packed unit of the curvature
    l2: float
    category_l2: float  # in place of l2 in tests of categories
    category_smooth: float  # in place of l2 where categories are sorted
    min_curvature: float  # H of each side, at least


class BoostSplits(NamedTuple):
    """The best split of each node: codes up to ``cut``, or the set ``goes_left``, go left.

    A test of a category has cut 0.
    """

    gain: Floats  # of both sides together
    parent: Floats  # gain of the node without a split
    feature: Ints  # -1 if no split gains anything
    cut: Ints
    missing: Ints  # whether missing values go left
    left: Ints  # (node, class): packed sums of the left side
    value: Floats  # (node, side)
    goes_left: npt.NDArray[np.uint8]  # (node, code), for categories


class _Side(NamedTuple):
    slope: float  # G
    curvature: float  # H


@inner_kernel
def _side(neg: np.int64, pos: np.int64, rule: BoostRule) -> _Side:
    """G and H of packed sums."""
    slope_neg, slope_pos = np.float64(neg >> HALF), np.float64(pos >> HALF)
    curve_neg, curve_pos = np.float64(neg & _LOWER), np.float64(pos & _LOWER)
    return _Side(
        rule.slope[1] * slope_pos - rule.slope[0] * slope_neg,
        rule.curvature[1] * curve_pos + rule.curvature[0] * curve_neg,
    )


@inner_kernel
def _is_enough(side: _Side, total: _Side, rule: BoostRule) -> bool:
    """Whether H of a side is large enough, and more than a rounding error."""
    return side.curvature > _LEAST_PART * total.curvature and side.curvature >= rule.min_curvature


@inner_kernel
def _value(side: _Side, l2: float, low: float, high: float) -> float:
    """The best value of a side within bounds."""
    value = side.slope / (side.curvature + l2) if side.curvature > 0.0 else 0.0
    return min(max(value, low), high)


@inner_kernel
def _gain(side: _Side, l2: float, value: float) -> float:
    """What a value gains, by the quadratic model with curvature H + l2."""
    return side.slope * value - 0.5 * (side.curvature + l2) * value * value


@inner_kernel
def _split_gain(left: _Side, right: _Side, l2: float, bounds: Floats) -> float:
    """What the best values of two sides within bounds gain together."""
    value_left = _value(left, l2, bounds[0], bounds[1])
    value_right = _value(right, l2, bounds[0], bounds[1])
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
        total = _side(nodes.totals[k, 0], nodes.totals[k, 1], rule)
        low, high = nodes.bounds[k, 0], nodes.bounds[k, 1]
        parent = _gain(total, rule.l2, _value(total, rule.l2, low, high))
        splits.parent[k], splits.gain[k], splits.feature[k] = parent, parent + _LEAST_GAIN, -1
        row = nodes.slot[k]
        for j in range(len(features.n_bins)):
            if len(nodes.allowed) and not nodes.allowed[k, j]:
                continue
            start, stop = features.first_bin[j], features.first_bin[j] + features.n_bins[j] + 1
            neg, pos = negative[row, start:stop], positive[row, start:stop]
            if features.is_category[j]:
                n_present = _sort_categories(neg, pos, rule, key, order)
                own = order[:n_present]
                _search_category(neg, pos, own, k, j, nodes, rule, splits)
            else:
                _search_number(neg, pos, k, j, features.sign[j], nodes, rule, splits)


@inner_kernel
def _sort_categories(neg: Ints, pos: Ints, rule: BoostRule, key: Floats, order: Ints) -> int:
    """Sort the codes that occur by their value, the largest first; returns their number.

    Values are shrunk by ``category_smooth``, so that rare categories stay in the middle. The sort
    is by insertion: most features have few categories.
    """
    n_present = 0
    for c in range(len(neg)):
        if (neg[c] | pos[c]) == 0:
            continue
        value = _value(_side(neg[c], pos[c], rule), rule.category_smooth, -np.inf, np.inf)
        i = n_present
        while i > 0 and key[i - 1] < value:
            key[i], order[i] = key[i - 1], order[i - 1]
            i -= 1
        key[i], order[i] = value, c
        n_present += 1
    return n_present


@inner_kernel
def _search_category(
    neg: Ints,
    pos: Ints,
    order: Ints,
    k: int,
    j: int,
    nodes: BoostNodes,
    rule: BoostRule,
    splits: BoostSplits,
) -> None:
    """Cut the sorted categories of feature j at node k after each of them."""
    total_neg, total_pos, bounds = nodes.totals[k, 0], nodes.totals[k, 1], nodes.bounds[k]
    total = _side(total_neg, total_pos, rule)
    part_neg, part_pos = np.int64(0), np.int64(0)
    best, cut = splits.gain[k], -1
    best_neg, best_pos = np.int64(0), np.int64(0)
    for i in range(len(order) - 1):
        part_neg += neg[order[i]]
        part_pos += pos[order[i]]
        left = _side(part_neg, part_pos, rule)
        right = _side(total_neg - part_neg, total_pos - part_pos, rule)
        if not (_is_enough(left, total, rule) and _is_enough(right, total, rule)):
            continue
        gain = _split_gain(left, right, rule.category_l2, bounds)
        if gain > best:
            best, cut, best_neg, best_pos = gain, i, part_neg, part_pos
    if cut < 0:
        return
    _write_split(best_neg, best_pos, rule.category_l2, k, nodes, rule, splits)
    splits.gain[k], splits.feature[k], splits.cut[k] = best, j, 0
    # Categories that do not occur in the node go the way of the larger curvature.
    left = _side(best_neg, best_pos, rule)
    right = _side(total_neg - best_neg, total_pos - best_pos, rule)
    absent = np.uint8(left.curvature >= right.curvature)
    for c in range(splits.goes_left.shape[1]):
        splits.goes_left[k, c] = absent
    for i in range(len(order)):
        splits.goes_left[k, order[i]] = np.uint8(i <= cut)
    splits.missing[k] = splits.goes_left[k, 0]


@inner_kernel
def _search_number(
    neg: Ints,
    pos: Ints,
    k: int,
    j: int,
    sign: int,
    nodes: BoostNodes,
    rule: BoostRule,
    splits: BoostSplits,
) -> None:
    """Cut the codes of feature j at node k after each of them, missing values on either side."""
    bounds = nodes.bounds[k]
    total = _side(nodes.totals[k, 0], nodes.totals[k, 1], rule)
    best = splits.gain[k]
    if sign == 0 and bounds[0] == -np.inf and bounds[1] == np.inf:
        best, cut, missing = _best_free_cut(neg, pos, total, rule, best)
    else:
        best, cut, missing = _best_bounded_cut(neg, pos, total, sign, bounds, rule, best)
    if cut < 0:
        return
    if sign != 0 and cut == _last_present(neg, pos):
        # Missing values against all others, in any order: a value that no row of the node has must
        # not go with the missing ones.
        cut = len(neg) - 1
    left_neg, left_pos = np.int64(0), np.int64(0)
    for c in range(1 - missing, cut + 1):
        left_neg += neg[c]
        left_pos += pos[c]
    _write_split(left_neg, left_pos, rule.l2, k, nodes, rule, splits)
    splits.gain[k], splits.feature[k], splits.cut[k] = best, j, cut
    splits.missing[k] = missing
    if (neg[0] | pos[0]) == 0:  # missing values of new rows go the way of the larger curvature
        left = _side(left_neg, left_pos, rule)
        splits.missing[k] = np.int64(2.0 * left.curvature >= total.curvature)


@inner_kernel
def _last_present(neg: Ints, pos: Ints) -> int:
    """The largest code that occurs in the node."""
    c = len(neg) - 1
    while c > 0 and (neg[c] | pos[c]) == 0:
        c -= 1
    return c


@inner_kernel
def _best_free_cut(
    neg: Ints, pos: Ints, total: _Side, rule: BoostRule, best: float
) -> tuple[float, int, int]:
    """The best cut without bounds: (gain of both sides, code, 1 if missing values go left).

    The code is -1 if no cut gains more than ``best``. This loop takes most of the time of a split
    search. The two fractions of the gain are added over one denominator, since a division takes
    longer than all the rest; whether both sides are large enough is asked only of a better cut.
    Gains are compared exactly, so that the first of equal splits wins in any order of the tiles.
    """
    l2, least = rule.l2, rule.min_curvature
    cut, side = -1, 0
    missing = _side(neg[0], pos[0], rule)
    has_missing = (neg[0] | pos[0]) != 0
    last = len(neg) if has_missing else len(neg) - 1  # all values against the missing ones
    # Whole numbers below 2^53: sums of them are exact.
    slope_neg, slope_pos, curve_neg, curve_pos = 0.0, 0.0, 0.0, 0.0
    best_twice = 2.0 * best
    for c in range(1, last):
        if (neg[c] | pos[c]) == 0:  # the same split as the one before
            continue
        slope_neg += np.float64(neg[c] >> HALF)
        slope_pos += np.float64(pos[c] >> HALF)
        curve_neg += np.float64(neg[c] & _LOWER)
        curve_pos += np.float64(pos[c] & _LOWER)
        slope = rule.slope[1] * slope_pos - rule.slope[0] * slope_neg
        curve = rule.curvature[1] * curve_pos + rule.curvature[0] * curve_neg
        for m in range(1 + has_missing):
            if m == 1:
                slope += missing.slope
                curve += missing.curvature
            slope_right, curve_right = total.slope - slope, total.curvature - curve
            stiff, stiff_right = curve + l2, curve_right + l2
            above = slope * slope * stiff_right + slope_right * slope_right * stiff
            below = stiff * stiff_right
            if (
                above > _NEARLY * best_twice * below
                and below > 0.0
                and _LEAST_PART * total.curvature < curve
                and _LEAST_PART * total.curvature < curve_right
                and curve >= least
                and curve_right >= least
            ):
                gain = 0.5 * (above / below)
                if gain > best:
                    best, best_twice, cut, side = gain, 2.0 * gain, c, m
    return best, cut, side


@inner_kernel
def _best_bounded_cut(
    neg: Ints,
    pos: Ints,
    total: _Side,
    sign: int,
    bounds: Floats,
    rule: BoostRule,
    best: float,
) -> tuple[float, int, int]:
    """``_best_free_cut`` where values have bounds, or are monotone in the feature.

    Missing values have no place in the order of a monotone feature: where they are alone on their
    side, either side may have the larger value.
    """
    cut, side = -1, 0
    top = _last_present(neg, pos)
    has_missing = (neg[0] | pos[0]) != 0
    last = len(neg) if has_missing else len(neg) - 1
    part_neg, part_pos = np.int64(0), np.int64(0)
    for c in range(1, last):
        if (neg[c] | pos[c]) == 0:
            continue
        part_neg += neg[c]
        part_pos += pos[c]
        for m in range(1 + has_missing):
            left = _side(part_neg + m * neg[0], part_pos + m * pos[0], rule)
            right = _Side(
                total.slope - left.slope,
                total.curvature - left.curvature,
            )
            if not (_is_enough(left, total, rule) and _is_enough(right, total, rule)):
                continue
            gain = _split_gain(left, right, rule.l2, bounds)
            is_free = sign == 0 or c == top
            if gain > best and (is_free or _is_monotone(left, right, sign, rule, bounds)):
                best, cut, side = gain, c, m
    return best, cut, side


@inner_kernel
def _is_monotone(left: _Side, right: _Side, sign: int, rule: BoostRule, bounds: Floats) -> bool:
    """Whether the value of the right side is larger (sign 1) or smaller (-1), or equal."""
    value_left = _value(left, rule.l2, bounds[0], bounds[1])
    value_right = _value(right, rule.l2, bounds[0], bounds[1])
    return sign * (value_right - value_left) >= 0.0


@inner_kernel
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


@inner_kernel
def split_sides(splits: BoostSplits, k: int, side: npt.NDArray[np.uint8]) -> None:
    """Write for each code whether its rows go left at node k."""
    for c in range(len(side)):
        side[c] = np.uint8(c <= splits.cut[k])
    side[0] = np.uint8(splits.missing[k])
    if splits.cut[k] == 0:  # a category
        for c in range(splits.goes_left.shape[1]):
            side[c] = splits.goes_left[k, c]


def no_boost_splits(n_nodes: int, n_codes: int) -> BoostSplits:
    """Splits of nodes for which none was found yet; ``n_codes`` is the largest of a category."""
    gain, parent = np.zeros((2, n_nodes))
    feature, cut, missing = np.zeros((3, n_nodes), dtype=np.int64)
    feature[:] = -1
    left = np.zeros((n_nodes, 2), dtype=np.int64)
    goes_left = np.zeros((n_nodes, n_codes), dtype=np.uint8)
    value = np.zeros((n_nodes, 2))
    return BoostSplits(gain, parent, feature, cut, missing, left, value, goes_left)
