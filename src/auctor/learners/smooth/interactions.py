"""Which pairs of features get a surface: a scan of all pairs at the additive maximum.

For every pair the slopes of the rows are summed over coarse cells of both features. From these sums
follows what a surface would gain beyond what the two features can do alone and beyond what noise
gains: the usefulness of the pair. Pairs with a monotone feature are never chosen, because a surface
could break the monotonicity.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.data import Feature, category_feature, number_feature
from auctor.kernels.linear import main_part
from auctor.kernels.smooth import count_pair
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.smoothed_auc import scales

# Maximum number of groups of neighbouring bins on an axis of a surface, and in the coarser scan.
_MOST_GROUPS, _SCAN_GROUPS = 16, 8
# Maximum number of features that are scanned for pairs (780 pairs): those whose F_k spread widest.
_MOST_SCANNED = 40
# The multiple of the penalty on the surface of a pair is at most 1 divided by this.
_LEAST_EXCESS = 0.05
# Curvature of the smoothed AUC in a cell, relative to the cell's fraction of the rows. A guess: the
# scan only compares gains with each other.
_CURVATURE = 0.2
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Axis:
    """The coarser bins of a feature on one axis of a surface."""

    feature: Feature
    groups: npt.NDArray[np.uint16]  # the group of each code of the feature; 0 for missing values
    fraction: Floats  # class-balanced fraction of the rows in each group


@dataclass(frozen=True, eq=False)
class Pair:
    """Two features, by index, and their axes.

    ``usefulness`` is the gain that the scan expects beyond that of noise, to second order;
    ``multiple`` is the pair's own multiple of the penalty on surfaces.
    """

    features: tuple[int, int]
    axes: tuple[Axis, Axis]
    usefulness: float = 0.0
    multiple: float = 1.0


def make_axis(feature: Feature, fraction: Floats, most: int) -> Axis:
    """Group the bins of a feature, given the fraction of the rows in each code.

    Numbers get at most ``most`` groups of neighbouring bins with about the same number of rows, or
    the bins themselves where these are few. The ``most - 1`` most frequent categories are kept;
    the others join the missing values.
    """
    n = feature.n_bins
    groups = np.zeros(len(fraction), dtype=np.uint16)
    if feature.is_category:
        heaviest = np.argsort(-fraction[1 : n + 1], kind="stable")[: most - 1]
        kept = np.sort(heaviest[fraction[1 + heaviest] > 0])
        groups[1 + kept] = np.arange(1, len(kept) + 1)
        coarse = category_feature(feature.name, tuple(feature.categories[i] for i in kept))
    else:
        inner = _group_bins(fraction[1 : n + 1], most)
        groups[1 : n + 1] = 1 + inner
        coarse = number_feature(feature.name, feature.cuts[np.flatnonzero(np.diff(inner))])
    held = np.bincount(groups, weights=fraction, minlength=coarse.n_bins + 1)
    return Axis(coarse, groups, held.astype(np.float64))


def _group_bins(fraction: Floats, most: int) -> Ints:
    """The group 0, 1, ... of each bin; empty bins join the group before them."""
    held = np.flatnonzero(fraction > 0)
    if len(held) == 0:
        return np.zeros(len(fraction), dtype=np.int64)
    group = np.arange(len(held))
    if len(held) > most:
        own = fraction[held] / fraction[held].sum()
        middle = np.cumsum(own) - own / 2
        group = np.unique(np.minimum((most * middle).astype(np.int64), most - 1), False, True)[1]
    index = np.searchsorted(held, np.arange(len(fraction)), side="right") - 1
    return np.asarray(group[np.maximum(index, 0)])


def find_pairs(problem: Problem, x: Floats, most: int) -> list[Pair]:
    """The most useful pairs at the tables ``x``, best first; ties keep their order.

    There are at most ``most`` pairs, and fewer if fewer gain more than noise does on average.
    """
    features, fraction = problem.data.features, problem.roughness.fraction
    tables = x.reshape(fraction.shape)
    candidates = _candidates(problem, tables)
    pairs = list(combinations(candidates, 2))
    if not pairs:
        return []
    axes = {j: make_axis(features[j], fraction[j], _SCAN_GROUPS) for j in candidates}
    gains, free, noise = _scan(problem, tables, axes, pairs)
    beyond = gains - noise * free
    # Gains of noise are chi-squared: only what exceeds their mean by two deviations counts.
    excess = beyond / (noise * free) - 2 * np.sqrt(2 / free)
    multiples = 1 / np.maximum(excess, _LEAST_EXCESS)
    fine = {j: make_axis(features[j], fraction[j], _MOST_GROUPS) for j in candidates}
    out = []
    for i in np.argsort(-beyond, kind="stable")[:most]:
        if beyond[i] > 0:
            a, b = pairs[i]
            out.append(Pair((a, b), (fine[a], fine[b]), float(beyond[i]), float(multiples[i])))
    return out


def _candidates(problem: Problem, tables: Floats) -> list[int]:
    """Features that vary and need not be monotone; if there are many, those that spread widest."""
    fraction = problem.roughness.fraction
    varies = (fraction > 0).sum(axis=1) > 1
    free = np.flatnonzero(varies & ~problem.signs.any(axis=1))
    widest = np.argsort(-spreads(fraction, tables)[free], kind="stable")[:_MOST_SCANNED]
    return [int(j) for j in np.sort(free[widest])]


def spreads(fraction: Floats, tables: Floats) -> Floats:
    """Class-balanced standard deviation of each table's entries."""
    mean = np.einsum("jc,jc->j", fraction, tables)
    return np.asarray(np.sqrt(np.einsum("jc,jc->j", fraction, (tables - mean[:, None]) ** 2)))


def _scan(
    problem: Problem, tables: Floats, axes: dict[int, Axis], pairs: list[tuple[int, int]]
) -> tuple[Floats, Floats, float]:
    """The gain of each pair's surface, its number of free cells, and the gain of noise per cell.

    Gains are twice the second-order gains, without what the two features gain alone.
    """
    data = problem.data
    sums = problem.sums.evaluate((tables,))
    assert sums is not None, "a fit ends where the smoothed AUC is defined"
    weights, totals = [part.weight for part in data.partitions], data.class_weights
    counts = data.effective_rows
    factors = [scales(total)[0] for total in totals]
    slopes, squares = [], np.zeros(2, dtype=np.int64)
    for slope, weight, part in zip(sums.slopes, weights, data.partitions, strict=True):
        slopes.append(_whole(slope, weight, part.n_pos, factors))
        square = _whole(slope**2, weight, part.n_pos, factors)
        positive, negative = part.class_slices
        squares += square[negative].sum(), square[positive].sum()
    position = {j: i for i, j in enumerate(axes)}
    groups = [
        np.array([axis.groups[part.codes[j]] for j, axis in axes.items()], dtype=np.uint8)
        for part in data.partitions
    ]

    def count(pair: tuple[int, int]) -> Ints:
        """(slopes or weights, class, groups of the first, groups of the second)."""
        out = np.zeros((2, 2, 1 + _SCAN_GROUPS, 1 + _SCAN_GROUPS), dtype=np.int64)
        a, b = position[pair[0]], position[pair[1]]
        for k, part in enumerate(data.partitions):
            rows = groups[k][a], groups[k][b], slopes[k], weights[k]
            count_pair(*rows, 0, part.n_pos, out[0, 1], out[1, 1])
            count_pair(*rows, part.n_pos, part.n_rows, out[0, 0], out[1, 0])
        return out

    squares = data.group.sum(squares)
    cells = data.group.sum(np.array(problem.workers.map(count, pairs)))
    slope_sums = [cells[:, 0, label] / (factors[label] * totals[label]) for label in (0, 1)]
    fraction = (cells[:, 1, 0] / totals[0] + cells[:, 1, 1] / totals[1]) / 2
    ridge = 2 * problem.auto.ridge / _SCAN_GROUPS**2
    # A cell's gradient has this variance times its fraction; noise divides it by the curvature.
    variance = [
        squares[label] / (factors[label] * totals[label] * counts[label]) for label in (0, 1)
    ]
    noise = (variance[0] + variance[1]) / _CURVATURE
    curvature = np.where(fraction > 0, _CURVATURE * fraction + ridge, 0.0)
    gains = usefulness(slope_sums[1] - slope_sums[0], curvature)
    return gains, _free_cells(fraction), float(noise) + _TINY**2


def _free_cells(fraction: Floats) -> Floats:
    """Degrees of freedom: cells with rows, minus the row and column means; at least 1."""
    means = (fraction.sum(axis=2) > 0).sum(axis=1) + (fraction.sum(axis=1) > 0).sum(axis=1)
    return np.maximum((fraction > 0).sum(axis=(1, 2)) - means + 1.0, 1.0)


def _whole(
    values: Floats, weight: npt.NDArray[np.uint32], n_pos: int, scales: Sequence[float]
) -> Ints:
    """weight * round(value * scale of the class), as in ``count_slopes``."""
    scale = np.where(np.arange(len(values)) < n_pos, scales[1], scales[0])
    return np.asarray(weight.astype(np.int64) * np.rint(values * scale).astype(np.int64))


def usefulness(gradient: Floats, curvature: Floats) -> Floats:
    """The sum over cells of gradient^2 / curvature: twice their gain, to second order.

    What the rows and the columns alone would gain is subtracted. Arrays are (pairs, rows, columns);
    cells of curvature 0 have no rows and do not count.
    """
    moved = np.divide(gradient, curvature, out=np.zeros_like(gradient), where=curvature > 0)
    rows, columns = main_parts(moved, curvature)
    left = moved - rows[:, :, None] - columns[:, None, :]
    return np.asarray(np.einsum("pab,pab,pab->p", curvature, left, left))


def main_parts(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The row and the column effects closest to tables (tables, rows, columns), by weight.

    The residuals have weighted row and column means of 0. Rows and columns of weight 0 get 0.
    """
    rows, columns = np.empty(values.shape[:2]), np.empty((len(values), values.shape[2]))
    for k in range(len(values)):
        main_part(values[k], weight[k], rows[k], columns[k])
    return rows, columns
