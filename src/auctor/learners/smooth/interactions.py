"""Which pairs of features to give a surface: a scan at the additive maximum.

For every pair the slopes of the rows are summed over coarse cells of both features. What they would
gain beyond what the two features can do alone, and beyond what noise gains, is the pair's
usefulness. A pair with a monotone feature is never chosen: a surface could undo what F_k promises.
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

# Groups of neighbouring bins on an axis of a surface, and of the scan's coarser tables.
_MOST_GROUPS, _SCAN_GROUPS = 16, 8
# Features that are scanned for pairs: 780 pairs; of more, those whose F_k spread widest.
_MOST_SCANNED = 40
# A pair's own multiple of the penalty on surfaces is at most one over this.
_LEAST_EXCESS = 0.05
# Curvature of the smoothed AUC in a cell, over the cell's weight: a guess for the scan, where only
# ratios of gains count.
_CURVATURE = 0.2
_TINY = 1e-9


@dataclass(frozen=True, eq=False)
class Axis:
    """The coarser bins of a feature on one side of a surface."""

    feature: Feature
    groups: npt.NDArray[np.uint16]  # of each of the feature's codes; 0 is for missing values
    share: Floats  # weight of each group, both classes alike


@dataclass(frozen=True, eq=False)
class Pair:
    """Two features, by position, what the scan expects of their surface, and how firmly to hold it.

    ``usefulness`` is the gain beyond what noise would give, to second order; ``multiple`` that of
    the common penalty.
    """

    features: tuple[int, int]
    axes: tuple[Axis, Axis]
    usefulness: float = 0.0
    multiple: float = 1.0


def make_axis(feature: Feature, share: Floats, most: int) -> Axis:
    """At most ``most`` groups of neighbouring bins; of categories, the heaviest less one.

    ``share`` is the weight of each code. The groups of numbers weigh about the same, and are the
    bins themselves where these are few. Lighter categories go with the missing values.
    """
    n = feature.n_bins
    groups = np.zeros(len(share), dtype=np.uint16)
    if feature.is_category:
        heaviest = np.argsort(-share[1 : n + 1], kind="stable")[: most - 1]
        kept = np.sort(heaviest[share[1 + heaviest] > 0])
        groups[1 + kept] = np.arange(1, len(kept) + 1)
        coarse = category_feature(feature.name, tuple(feature.categories[i] for i in kept))
    else:
        inner = _neighbours(share[1 : n + 1], most)
        groups[1 : n + 1] = 1 + inner
        coarse = number_feature(feature.name, feature.cuts[np.flatnonzero(np.diff(inner))])
    held = np.bincount(groups, weights=share, minlength=coarse.n_bins + 1)
    return Axis(coarse, groups, held.astype(np.float64))


def _neighbours(share: Floats, most: int) -> Ints:
    """A group for each bin, 0, 1, ...; each holds weight, as bins without go with one before."""
    held = np.flatnonzero(share > 0)
    if len(held) == 0:
        return np.zeros(len(share), dtype=np.int64)
    group = np.arange(len(held))
    if len(held) > most:
        own = share[held] / share[held].sum()
        middle = np.cumsum(own) - own / 2
        group = np.unique(np.minimum((most * middle).astype(np.int64), most - 1), False, True)[1]
    place = np.searchsorted(held, np.arange(len(share)), side="right") - 1
    return np.asarray(group[np.maximum(place, 0)])


def find_pairs(problem: Problem, x: Floats, most: int) -> list[Pair]:
    """The most useful pairs at the tables ``x``, the best first; of equals the first.

    There may be fewer than ``most``: a pair must gain more than noise does on average.
    """
    features, share = problem.data.features, problem.roughness.share
    tables = x.reshape(share.shape)
    candidates = _candidates(problem, tables)
    pairs = list(combinations(candidates, 2))
    if not pairs:
        return []
    axes = {j: make_axis(features[j], share[j], _SCAN_GROUPS) for j in candidates}
    gains, free, noise = _scan(problem, tables, axes, pairs)
    beyond = gains - noise * free
    # Gains of noise spread as chi-squared does: only what is two deviations above its mean counts.
    excess = beyond / (noise * free) - 2 * np.sqrt(2 / free)
    multiples = 1 / np.maximum(excess, _LEAST_EXCESS)
    fine = {j: make_axis(features[j], share[j], _MOST_GROUPS) for j in candidates}
    out = []
    for i in np.argsort(-beyond, kind="stable")[:most]:
        if beyond[i] > 0:
            a, b = pairs[i]
            out.append(Pair((a, b), (fine[a], fine[b]), float(beyond[i]), float(multiples[i])))
    return out


def _candidates(problem: Problem, tables: Floats) -> list[int]:
    """Features that vary and need not be monotone; of many, those of the widest spread."""
    share = problem.roughness.share
    varies = (share > 0).sum(axis=1) > 1
    free = np.flatnonzero(varies & ~problem.signs.any(axis=1))
    widest = np.argsort(-spreads(share, tables)[free], kind="stable")[:_MOST_SCANNED]
    return [int(j) for j in np.sort(free[widest])]


def spreads(share: Floats, tables: Floats) -> Floats:
    """Standard deviation of each table's entries, both classes alike."""
    mean = np.einsum("jc,jc->j", share, tables)
    return np.asarray(np.sqrt(np.einsum("jc,jc->j", share, (tables - mean[:, None]) ** 2)))


def _scan(
    problem: Problem, tables: Floats, axes: dict[int, Axis], pairs: list[tuple[int, int]]
) -> tuple[Floats, Floats, float]:
    """What each pair's surface would gain, its number of free cells, and noise's gain by each.

    Gains are twice those to second order, and beyond what the two features gain alone.
    """
    data, sums = problem.data, problem.sums
    sums.evaluate((tables,))  # the slopes at these tables, not at those that were tried last
    weights, totals = [part.weight for part in data.partitions], data.class_weights
    counts = data.effective_rows
    factors = [scales(total)[0] for total in totals]
    slopes, squares = [], np.zeros(2, dtype=np.int64)
    for slope, weight, part in zip(sums.slopes, weights, data.partitions, strict=True):
        slopes.append(_whole(slope, weight, part.n_pos, factors))
        square = _whole(slope**2, weight, part.n_pos, factors)
        squares += square[part.n_pos :].sum(), square[: part.n_pos].sum()
    place = {j: i for i, j in enumerate(axes)}
    lines = [
        np.array([axis.groups[part.codes[j]] for j, axis in axes.items()], dtype=np.uint8)
        for part in data.partitions
    ]

    def count(pair: tuple[int, int]) -> Ints:
        """(slopes or weights, class, groups of the first, groups of the second)."""
        out = np.zeros((2, 2, 1 + _SCAN_GROUPS, 1 + _SCAN_GROUPS), dtype=np.int64)
        for k, part in enumerate(data.partitions):
            both = lines[k][place[pair[0]]], lines[k][place[pair[1]]], slopes[k], weights[k]
            count_pair(*both, 0, part.n_pos, out[0, 1], out[1, 1])
            count_pair(*both, part.n_pos, part.n_rows, out[0, 0], out[1, 0])
        return out

    found = np.array(problem.workers.map(count, pairs))
    push = [found[:, 0, label] / (factors[label] * totals[label]) for label in (0, 1)]
    share = (found[:, 1, 0] / totals[0] + found[:, 1, 1] / totals[1]) / 2
    ridge = 2 * problem.auto.ridge / _SCAN_GROUPS**2
    # The variance of a cell's push is its share times this; noise is that over its stiffness.
    variance = [
        squares[label] / (factors[label] * totals[label] * counts[label]) for label in (0, 1)
    ]
    noise = (variance[0] + variance[1]) / _CURVATURE
    stiffness = np.where(share > 0, _CURVATURE * share + ridge, 0.0)
    gains = usefulness(push[1] - push[0], stiffness)
    return gains, _free_cells(share), float(noise) + _TINY**2


def _free_cells(share: Floats) -> Floats:
    """Cells with rows, less those that row and column means decide; 1 or more."""
    lines = (share.sum(axis=2) > 0).sum(axis=1) + (share.sum(axis=1) > 0).sum(axis=1)
    return np.maximum((share > 0).sum(axis=(1, 2)) - lines + 1.0, 1.0)


def _whole(
    values: Floats, weight: npt.NDArray[np.uint32], n_pos: int, scales: Sequence[float]
) -> Ints:
    """weight * round(value * scale of the class), as ``count_slopes`` has it."""
    scale = np.where(np.arange(len(values)) < n_pos, scales[1], scales[0])
    return np.asarray(weight.astype(np.int64) * np.rint(values * scale).astype(np.int64))


def usefulness(push: Floats, stiffness: Floats) -> Floats:
    """The sum over cells of push^2 / stiffness: twice what they gain, to second order.

    What the rows and the columns alone would gain is taken off first. Arrays are (pairs, rows,
    columns); cells of no stiffness have no rows, and count for nothing.
    """
    moved = np.divide(push, stiffness, out=np.zeros_like(push), where=stiffness > 0)
    rows, columns = main_parts(moved, stiffness)
    left = moved - rows[:, :, None] - columns[:, None, :]
    return np.asarray(np.einsum("pab,pab,pab->p", stiffness, left, left))


def main_parts(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The row and the column parts nearest to tables (tables, rows, columns), by weight.

    What they leave has weighted row and column means of 0. Rows and columns of no weight get 0.
    """
    rows, columns = np.empty(values.shape[:2]), np.empty((len(values), values.shape[2]))
    for k in range(len(values)):
        main_part(values[k], weight[k], rows[k], columns[k])
    return rows, columns
