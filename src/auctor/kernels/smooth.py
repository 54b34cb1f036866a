"""Kernels of SmoothAUCBoost (Komori 2010): the smoothed AUC, its derivatives, and its penalty.

The smoothed AUC is a sum over all pairs of a smooth function of the difference of two scores. It is
computed without forming the pairs: ``deposit`` spreads the weight of each row over the 8 nodes of a
uniform grid next to its score, with the weights of Lagrange interpolation; a convolution with the
smooth function then gives the sum over all rows at every node; and ``gather`` interpolates it at
any score with the same 8 weights. The last kernels count rows by pairs of features.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel

# Interpolation uses the nodes -3 .. 4 around a score in [0, 1), with a polynomial of degree 7.
_BEFORE = 3
# Number of rows that are scored together, so that their scores stay in the first-level cache.
_BLOCK = 2048


@inner_kernel
def _node_weights(t: float) -> tuple[float, float, float, float, float, float, float, float]:
    """The Lagrange weights of the nodes -3 .. 4 for a point t in [0, 1)."""
    a, b, c, d = t + 3.0, t + 2.0, t + 1.0, t
    e, f, g, h = t - 1.0, t - 2.0, t - 3.0, t - 4.0
    ab, cd, ef, gh = a * b, c * d, e * f, g * h
    abcd, efgh = ab * cd, ef * gh
    return (
        b * cd * efgh / -5040.0,
        a * cd * efgh / 720.0,
        ab * d * efgh / -240.0,
        ab * c * efgh / 144.0,
        abcd * f * gh / -144.0,
        abcd * e * gh / 240.0,
        abcd * ef * h / -720.0,
        abcd * ef * g / 5040.0,
    )


@kernel
def add_scores(
    codes: npt.NDArray[Any],
    tables: Floats,
    start: int,
    stop: int,
    scores: Floats,
) -> tuple[float, float]:
    """Add the table entries of all features to rows start..stop; returns the range of scores.

    The smallest and the largest score are NaN if any score is not finite.
    """
    low, high, bad = np.inf, -np.inf, 0.0
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        for j in range(codes.shape[0]):
            column, table = codes[j, first:last], tables[j]
            out = scores[first:last]
            for i in range(len(column)):
                out[i] += table[column[i]]
        for i in range(first, last):
            low = min(low, scores[i])
            high = max(high, scores[i])
            bad = bad if np.isfinite(scores[i]) else np.nan
    return low + bad, high + bad


@kernel
def deposit(
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

    Node k of the grid is at low + (k - 3) / per_unit. The 8 parts of a row are whole numbers that
    add up to weight * scale exactly.
    """
    whole = np.int64(scale)
    for i in range(start, stop):
        u = (scores[i] - low) * per_unit
        cell = np.uint64(u)
        n0, n1, n2, _, n4, n5, n6, n7 = _node_weights(u - np.float64(cell))
        w = np.int64(weight[i])
        a0, a1 = np.int64(np.rint(n0 * scale)), np.int64(np.rint(n1 * scale))
        a2, a4 = np.int64(np.rint(n2 * scale)), np.int64(np.rint(n4 * scale))
        a5, a6 = np.int64(np.rint(n5 * scale)), np.int64(np.rint(n6 * scale))
        a7 = np.int64(np.rint(n7 * scale))
        grid[cell] += w * a0
        grid[cell + np.uint64(1)] += w * a1
        grid[cell + np.uint64(2)] += w * a2
        grid[cell + np.uint64(3)] += w * (whole - a0 - a1 - a2 - a4 - a5 - a6 - a7)
        grid[cell + np.uint64(4)] += w * a4
        grid[cell + np.uint64(5)] += w * a5
        grid[cell + np.uint64(6)] += w * a6
        grid[cell + np.uint64(7)] += w * a7


@kernel
def deposit_rest(
    scores: Floats,
    weight: npt.NDArray[np.uint32],
    start: int,
    stop: int,
    low: float,
    per_unit: float,
    scale: float,
    finer: float,
    grid: Ints,
) -> None:
    """Deposit the rounding errors of ``deposit``, times ``finer``, for a second grid.

    This is for weights so large that ``scale`` has few bits.
    """
    for i in range(start, stop):
        u = (scores[i] - low) * per_unit
        cell = np.uint64(u)
        parts = _node_weights(u - np.float64(cell))
        w, coarse = np.int64(weight[i]), 0.0
        rest = 0.0
        for k in range(8):
            if k != _BEFORE:
                exact = parts[k] * scale
                whole = np.rint(exact)
                rest = exact - whole
                coarse += whole
                grid[cell + np.uint64(k)] += w * np.int64(np.rint(rest * finer))
        rest = parts[_BEFORE] * scale - (scale - coarse)
        grid[cell + np.uint64(_BEFORE)] += w * np.int64(np.rint(rest * finer))


@kernel
def gather(
    scores: Floats,
    start: int,
    stop: int,
    low: float,
    per_unit: float,
    values: Floats,
    out: Floats,
) -> None:
    """Interpolate a function, given at the nodes of the grid, at the scores of rows start..stop."""
    for i in range(start, stop):
        u = (scores[i] - low) * per_unit
        cell = np.uint64(u)
        n0, n1, n2, n3, n4, n5, n6, n7 = _node_weights(u - np.float64(cell))
        out[i] = (
            n0 * values[cell]
            + n1 * values[cell + np.uint64(1)]
            + n2 * values[cell + np.uint64(2)]
            + n3 * values[cell + np.uint64(3)]
            + n4 * values[cell + np.uint64(4)]
            + n5 * values[cell + np.uint64(5)]
            + n6 * values[cell + np.uint64(6)]
            + n7 * values[cell + np.uint64(7)]
        )


@kernel
def count_slopes(
    codes: npt.NDArray[Any],
    weight: npt.NDArray[np.uint32],
    slopes: Floats,
    scale: float,
    finer: float,
    start: int,
    stop: int,
    histogram: Ints,
) -> None:
    """Sum weight * round(slope * scale) over rows start..stop by feature and code.

    If ``finer`` is above 0, the rounding errors times ``finer`` are summed instead.
    """
    quantised = np.empty(_BLOCK, dtype=np.int64)
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        for i in range(last - first):
            exact = slopes[first + i] * scale
            value = np.rint(exact)
            if finer > 0.0:
                value = np.rint((exact - value) * finer)
            quantised[i] = np.int64(weight[first + i]) * np.int64(value)
        for j in range(codes.shape[0]):
            column, bins = codes[j, first:last], histogram[j]
            for i in range(len(column)):
                bins[column[i]] += quantised[i]


@kernel
def deposit_sides(
    column: npt.NDArray[Any],
    is_inside: Bools,
    scores: Floats,
    weight: npt.NDArray[np.uint32],
    start: int,
    stop: int,
    low: float,
    per_unit: float,
    scale: float,
    grids: Ints,
) -> None:
    """``deposit`` each row on one of two grids, (outside, inside), depending on its code."""
    outside, inside = grids[0], grids[1]
    for i in range(start, stop):
        if is_inside[column[i]]:
            deposit(scores, weight, i, i + 1, low, per_unit, scale, inside)
        else:
            deposit(scores, weight, i, i + 1, low, per_unit, scale, outside)


@kernel
def derivatives_along(
    gaining: Floats,
    losing: Floats,
    per_unit: float,
    alpha: float,
) -> tuple[float, float]:
    """Derivatives by alpha of the smoothed AUC of F + alpha f (Komori 2010, section 3.2).

    ``gaining`` and ``losing`` are histograms of the pairs whose difference of scores increases and
    decreases with alpha, by their difference under F. They have ``per_unit`` entries to a unit of
    score; the middle entry is for a difference of 0. Returns the first and second derivative.
    """
    slope, curvature = 0.0, 0.0
    middle = len(gaining) // 2
    for i in range(len(gaining)):
        z = (i - middle) / per_unit
        up, down = z + alpha, z - alpha
        gained = gaining[i] * np.exp(-up * up / 2)
        lost = losing[i] * np.exp(-down * down / 2)
        slope += gained - lost
        curvature -= gained * up + lost * down
    unit = 1 / np.sqrt(2 * np.pi)
    return slope * unit, curvature * unit


@kernel
def add_pulls(
    factors: Floats,
    weight: Floats,
    f: Floats,
    out: Floats,
) -> None:
    """Add the gradient of the penalty weight_i (a_0 f_i + a_1 f_i+1 + ...)^2 over each row of f."""
    width = factors.shape[0]
    count = f.shape[1] - width + 1
    pull = np.empty(max(count, 0))
    for j in range(f.shape[0]):
        for i in range(count):
            difference = 0.0
            for a in range(width):
                difference += factors[a, j, i] * f[j, i + a]
            pull[i] = 2 * weight[j, i] * difference
        for a in range(width):
            for i in range(count):
                out[j, i + a] += factors[a, j, i] * pull[i]


@kernel
def pair_cells(
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    groups_first: npt.NDArray[np.uint16],
    groups_second: npt.NDArray[np.uint16],
    side: int,
    out: npt.NDArray[np.uint16],
) -> None:
    """Compute the cell group_first * side + group_second of each row from its codes."""
    for i in range(len(first)):
        out[i] = groups_first[first[i]] * side + groups_second[second[i]]


@kernel
def count_pair(
    first: npt.NDArray[np.uint8],
    second: npt.NDArray[np.uint8],
    slopes: Ints,
    weight: npt.NDArray[np.uint32],
    start: int,
    stop: int,
    slope_sums: Ints,
    weight_sums: Ints,
) -> None:
    """Sum the whole slopes and the weights of rows start..stop by the cells of two features."""
    for i in range(start, stop):
        a, b = first[i], second[i]
        slope_sums[a, b] += slopes[i]
        weight_sums[a, b] += np.int64(weight[i])
