"""Shapley values of a tree by their definition: every subset of the features, one after another."""

from itertools import combinations
from math import factorial
from typing import Any

import numpy as np

from auctor._typing import Floats
from auctor.kernels.trees import TreeNodes


def goes_left(nodes: TreeNodes, k: int, code: int) -> bool:
    """Whether node k sends a code to the left."""
    if nodes.start[k] >= 0:
        return bool(nodes.table[nodes.start[k] + code])
    if code == 0:
        return bool(nodes.missing[k])
    return bool((code > nodes.cut[k]) == (nodes.above[k] == 1))


def expected_value(
    nodes: TreeNodes, cover: Floats, value: Floats, k: int, row: Any, known: frozenset[int]
) -> float:
    """The expected value at node k of a row of which only some features are known."""
    j = int(nodes.feature[k])
    if j < 0:
        return float(value[k])
    sides = [int(nodes.left[k]), int(nodes.right[k])]
    below = [expected_value(nodes, cover, value, side, row, known) for side in sides]
    if j in known:
        return below[0] if goes_left(nodes, k, int(row[j])) else below[1]
    left, right = cover[sides[0]], cover[sides[1]]
    if left + right == 0:
        return (below[0] + below[1]) / 2.0
    return float((left * below[0] + right * below[1]) / (left + right))


def shapley_values(
    nodes: TreeNodes, cover: Floats, value: Floats, root: int, row: Any
) -> tuple[Floats, float]:
    """The Shapley value of each feature for one row (its codes), and the expected value."""

    def worth(known: tuple[int, ...]) -> float:
        return expected_value(nodes, cover, value, root, row, frozenset(known))

    p = len(row)
    out = np.zeros(p)
    for j in range(p):
        others = [i for i in range(p) if i != j]
        for size in range(p):
            weight = factorial(size) * factorial(p - size - 1) / factorial(p)
            for known in combinations(others, size):
                out[j] += weight * (worth((*known, j)) - worth(known))
    return out, worth(())
