"""Boosted trees on a loss over pairs, slow and obvious: all pairs, all splits, no histograms."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit, log_expit, ndtr

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# A feature must gain more than the ones before it by this; less is a rounding error.
LEAST_GAIN = 1e-12
FREE = (-np.inf, np.inf)


def phi(z: Floats) -> Floats:
    """The standard normal density."""
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))


def pair_loss(scores: Floats, positive: Bools, weight: Floats, loss: str) -> float:
    """The mean of log sigma(z) or Phi(z) over all pairs, z the positive's minus the negative's."""
    z = scores[positive][:, None] - scores[~positive][None, :]
    pairs = np.outer(weight[positive], weight[~positive])
    return float((pairs * (log_expit(z) if loss == "logistic" else ndtr(z))).sum() / pairs.sum())


def pair_slopes(scores: Floats, positive: Bools, weight: Floats, loss: str) -> tuple[Floats, ...]:
    """Slope and curvature of each row: means over the rows of the other class."""
    slope, curvature = np.empty((2, len(scores)))
    for i in range(len(scores)):
        others = positive != positive[i]
        sign = 1.0 if positive[i] else -1.0
        z = sign * (scores[i] - scores[others])
        first = expit(-z) if loss == "logistic" else phi(z)
        second = expit(z) * expit(-z) if loss == "logistic" else phi(z)
        slope[i] = np.average(first, weights=weight[others])
        curvature[i] = np.average(second, weights=weight[others])
    return slope, curvature


@dataclass
class Rule:
    """What turns rows into gains."""

    l2: float = 1.0
    category_l2: float = 3.0
    category_smooth: float = 10.0
    min_curvature: float = 0.05


@dataclass
class Rows:
    """Rows of a node, in class-balanced rows.

    ``slope`` has the sign of the class. With u the factor of a class, ``slope`` and ``curvature``
    are u s and u c.
    """

    codes: Ints  # (rows, features); 0 is missing
    slope: Floats
    curvature: Floats

    def take(self, chosen: Bools) -> "Rows":
        return Rows(self.codes[chosen], self.slope[chosen], self.curvature[chosen])


def best_value(rows: Rows, l2: float, bounds: tuple[float, float] = FREE) -> float:
    """G / (H + l2) within bounds."""
    slope, curvature = rows.slope.sum(), rows.curvature.sum()
    value = slope / (curvature + l2) if curvature > 0 else 0.0
    return float(np.clip(value, *bounds))


def gain_of(rows: Rows, l2: float, bounds: tuple[float, float] = FREE) -> float:
    """The largest value, within bounds, of G v - (H + l2) v^2 / 2."""
    slope, curvature = rows.slope.sum(), rows.curvature.sum()
    value = best_value(rows, l2, bounds)
    return float(slope * value - (curvature + l2) * value**2 / 2)


@dataclass
class Split:
    """A split: which codes of a feature go left."""

    feature: int
    left: frozenset[int]
    gain: float
    values: tuple[float, float]
    l2: float = field(default=0.0, repr=False)


def left_sides(codes: Ints, is_category: bool, rows: Rows, rule: Rule) -> Iterator[frozenset[int]]:
    """The sets of codes that may go left, among those that occur, in the order of the search."""
    present = np.unique(codes).tolist()
    if is_category:
        key = {c: -best_value(rows.take(codes == c), rule.category_smooth) for c in present}
        ordered = sorted(present, key=lambda c: (key[c], c))
        for k in range(1, len(ordered)):
            yield frozenset(ordered[:k])
        return
    numbers = [c for c in present if c > 0]
    for k in range(1, len(numbers) + 1):
        yield frozenset(numbers[:k])
        if 0 in present:
            yield frozenset([0, *numbers[:k]])


def find_split(
    rows: Rows,
    is_category: Bools,
    signs: Ints,
    rule: Rule,
    bounds: tuple[float, float] = FREE,
    allowed: Any = None,
) -> Split | None:
    """The best split of a node over all features, cuts and sides of missing values."""
    parent = gain_of(rows, rule.l2, bounds)
    best: Split | None = None
    for j in range(rows.codes.shape[1]) if allowed is None else allowed:
        codes, of_feature = rows.codes[:, j], None
        l2 = rule.category_l2 if is_category[j] else rule.l2
        for left in left_sides(codes, bool(is_category[j]), rows, rule):
            goes = np.isin(codes, list(left))
            sides = rows.take(goes), rows.take(~goes)
            if not all(_is_enough(side, rule) for side in sides):
                continue
            values = best_value(sides[0], l2, bounds), best_value(sides[1], l2, bounds)
            is_ordered = not _separates_missing(left, codes)
            if is_ordered and signs[j] * (values[1] - values[0]) < 0:
                continue
            gain = sum(gain_of(side, l2, bounds) for side in sides) - parent
            if of_feature is None or gain > of_feature.gain + 1e-13 * abs(gain):
                of_feature = Split(j, left, gain, values, l2)
        least = LEAST_GAIN + (best.gain if best else 0.0)
        if of_feature is not None and of_feature.gain > least:
            best = of_feature
    return best


def _separates_missing(left: frozenset[int], codes: Ints) -> bool:
    """Whether only missing values go right: they have no place in the order of a feature."""
    return left == set(codes.tolist()) - {0}


def _is_enough(side: Rows, rule: Rule) -> bool:
    curvature = side.curvature.sum()
    return bool(curvature > 0 and curvature >= rule.min_curvature)


@dataclass
class Node:
    """A node of a tree; a leaf has no split."""

    value: float
    split: Split | None = None
    left: "Node | None" = None
    right: "Node | None" = None


def grow(
    rows: Rows,
    is_category: Bools,
    signs: Ints,
    rule: Rule,
    depth: int,
    value: float | None = None,
    bounds: tuple[float, float] = FREE,
) -> Node:
    """A tree by recursion; the mean of two values bounds both sides of a monotone split."""
    node = Node(best_value(rows, rule.l2) if value is None else value)
    split = find_split(rows, is_category, signs, rule, bounds) if depth else None
    if split is None:
        return node
    goes = np.isin(rows.codes[:, split.feature], list(split.left))
    (low, high), middle = bounds, sum(split.values) / 2
    of_left, of_right = bounds, bounds
    is_ordered = not _separates_missing(split.left, rows.codes[:, split.feature])
    if is_ordered and signs[split.feature] > 0:
        of_left, of_right = (low, middle), (middle, high)
    elif is_ordered and signs[split.feature] < 0:
        of_left, of_right = (middle, high), (low, middle)
    rest = is_category, signs, rule, depth - 1
    left = grow(rows.take(goes), *rest, split.values[0], of_left)
    right = grow(rows.take(~goes), *rest, split.values[1], of_right)
    return replace(node, split=split, left=left, right=right)


def leaf_values(node: Node, codes: Ints) -> Floats:
    """The value of the leaf of each row of ``codes`` (rows, features), of training rows only."""
    if node.split is None:
        return np.full(len(codes), node.value)
    assert node.left is not None and node.right is not None
    goes = np.isin(codes[:, node.split.feature], list(node.split.left))
    out = np.empty(len(codes))
    out[goes], out[~goes] = (
        leaf_values(node.left, codes[goes]),
        leaf_values(node.right, codes[~goes]),
    )
    return out
