"""Slopes of rows on the line of scores, for boosted trees: cubic interpolation on a uniform grid.

The smooth learner interpolates by polynomials of degree 7 (``kernels/smooth.py``) because its
solver needs many digits. The slopes of boosted trees are rounded to whole numbers of some 12 bits;
cubic polynomials on four nodes are exact enough and take half of the time.
"""

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints, RowIndices
from auctor.kernels.jit import inner_kernel, kernel

# Nodes of a row: one before its cell, two at the ends of the cell, one after it.
NODES_OF_A_ROW = 4
HALF = 32  # bits of the curvature in a packed number
_BLOCK = 128  # rows that are worked on together


@inner_kernel
def _node_weights(t: float) -> tuple[float, float, float, float]:
    """Lagrange's weights of the nodes -1, 0, 1 and 2 at the position t, between 0 and 1."""
    a, b, c = t + 1.0, t - 1.0, t - 2.0
    return -t * b * c / 6.0, a * b * c / 2.0, -a * t * c / 2.0, a * t * b / 6.0


@kernel
def deposit_cubic(
    scores: Floats,
    weight: npt.NDArray[np.uint32],
    start: int,
    stop: int,
    low: float,
    per_unit: float,
    scale: float,
    grid: Ints,
) -> None:
    """Spread the weights of rows start..stop, times ``scale``, over the grid as whole numbers.

    Node k of the grid is at low + (k - 1) / per_unit. The 4 parts of a row add up to
    weight * scale exactly.
    """
    whole = np.int64(scale)
    for i in range(start, stop):
        u = (scores[i] - low) * per_unit
        cell = np.uint64(u)
        n0, _, n2, n3 = _node_weights(u - np.float64(cell))
        w = np.int64(weight[i])
        a0 = np.int64(np.rint(n0 * scale))
        a2 = np.int64(np.rint(n2 * scale))
        a3 = np.int64(np.rint(n3 * scale))
        grid[cell] += w * a0
        grid[cell + np.uint64(1)] += w * (whole - a0 - a2 - a3)
        grid[cell + np.uint64(2)] += w * a2
        grid[cell + np.uint64(3)] += w * a3


@kernel
def gather_cubic(
    scores: Floats,
    start: int,
    stop: int,
    low: float,
    per_unit: float,
    nodes: Floats,
    out: Floats,
) -> None:
    """Interpolate two functions, given at the nodes (node, 2), at the scores of rows start..stop.

    Both functions are at least 0, and so are the results (row, 2).
    """
    for i in range(start, stop):
        u = (scores[i] - low) * per_unit
        cell = np.uint64(u)
        n0, n1, n2, n3 = _node_weights(u - np.float64(cell))
        for f in range(2):
            value = (
                n0 * nodes[cell, f]
                + n1 * nodes[cell + np.uint64(1), f]
                + n2 * nodes[cell + np.uint64(2), f]
                + n3 * nodes[cell + np.uint64(3), f]
            )
            out[i, f] = max(value, 0.0)


@kernel
def pack_slopes(
    scores: Floats,
    weight: npt.NDArray[np.uint32],
    order: RowIndices,
    n_drawn: int,
    low: float,
    per_unit: float,
    nodes: Floats,
    slope_scale: float,
    curvature_scale: float,
    is_whole: bool,
    packed: Ints,
    amount: Ints,
) -> np.int64:
    """Slope and curvature of some rows, times weight and scale, as one whole number each.

    They are those of the first ``n_drawn`` rows of ``order``, and are written to ``packed`` by row
    and to ``amount`` by place in the order; returns their sum. ``nodes`` (node, 2) has slope and
    curvature at the nodes of the grid. If ``is_whole``, they are rounded before they are multiplied
    by the weight, so that a row of weight 2 counts exactly as two rows. For large weights, whose
    sum leaves few bits to a row of weight 1, they are rounded after it.
    """
    total = np.int64(0)
    place = np.empty(_BLOCK)
    cell, part = np.empty(_BLOCK, dtype=np.int64), np.empty((4, _BLOCK))
    for first in range(0, n_drawn, _BLOCK):
        count = min(_BLOCK, n_drawn - first)
        for i in range(count):
            place[i] = scores[order[first + i]]
        # Arithmetic alone in a loop, which the compiler does for several rows at a time.
        for i in range(count):
            u = (place[i] - low) * per_unit
            cell[i] = np.int64(u)
            n0, n1, n2, n3 = _node_weights(u - np.float64(cell[i]))
            part[0, i], part[1, i], part[2, i], part[3, i] = n0, n1, n2, n3
        for i in range(count):
            n0, n1, n2, n3 = part[0, i], part[1, i], part[2, i], part[3, i]
            c0 = np.uint64(cell[i])
            c1, c2, c3 = c0 + np.uint64(1), c0 + np.uint64(2), c0 + np.uint64(3)
            slope = n0 * nodes[c0, 0] + n1 * nodes[c1, 0] + n2 * nodes[c2, 0] + n3 * nodes[c3, 0]
            bend = n0 * nodes[c0, 1] + n1 * nodes[c1, 1] + n2 * nodes[c2, 1] + n3 * nodes[c3, 1]
            row = order[first + i]
            upper = _whole(max(slope, 0.0), weight[row], slope_scale, is_whole)
            lower = _whole(max(bend, 0.0), weight[row], curvature_scale, is_whole)
            packed[row] = amount[first + i] = (upper << HALF) + lower
            total += (upper << HALF) + lower
    return total


@inner_kernel
def _whole(value: float, weight: np.uint32, scale: float, is_whole: bool) -> np.int64:
    """Value times weight times scale as a whole number."""
    if is_whole:
        return np.int64(weight) * np.int64(np.rint(value * scale))
    return np.int64(np.rint(np.float64(weight) * value * scale))
