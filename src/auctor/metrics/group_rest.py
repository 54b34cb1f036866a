"""Rates of the rows of all groups but one, for each group, from sums over rows sorted once.

Looking at the other rows of every group anew takes the number of rows times the number of groups.
Here the other groups are the whole less the group, so that a group takes the time of its own rows.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Indices, Ints
from auctor.metrics.effective import (
    Counted,
    IndependentRows,
    WeightSums,
    correlation_of_squares,
    rows_by_groups,
    rows_by_weights,
    top_size,
)
from auctor.metrics.group_measures import NO_RATE, Rate

# A difference below this fraction of its first term has lost too many digits.
_LEAST_LEFT = 1e-6


class CancelledError(ArithmeticError):
    """A group has nearly all the weight: the sums of the others cannot be had by subtraction."""


class Rest(NamedTuple):
    """The rate of the rows of all groups but one, and their effective number."""

    rate: Rate
    n_rows: float


class RestRates:
    """The fraction of ``counted`` rows, those with the largest ``values``, outside each group."""

    def __init__(self, rows: Counted, counted: Bools, values: Floats, groups: Ints) -> None:
        order = np.argsort(-values, kind="stable")
        self._falling = -values[order]  # sorted: the largest value first
        self._n_counted = int(counted.sum())
        weight = rows.weights[order]
        self._weight = weight / weight.max() if len(weight) else weight
        powers = self._weight, np.square(self._weight)
        self._down_to = tuple(_cumulated(power) for power in powers)
        # From the other end: the difference to the whole would lose the digits of small weights.
        self._from = tuple(_cumulated(power[::-1])[::-1] for power in powers)
        self._positions = _by_group(groups[order])
        self._clusters = None
        if rows.codes is not None and len(order):
            self._clusters = SortedClusters(rows.codes[order], self._weight)

    def without(self, group: int) -> Rest:
        """The other groups together; raises CancelledError if subtraction is too inexact."""
        own = self._positions.get(group, np.empty(0, dtype=np.intp))
        n_rows = len(self._falling) - len(own)
        if n_rows == 0:
            return Rest(NO_RATE, 0.0)
        whole = self._sums(own, len(self._falling))
        value = min(self._sums(own, self._n_counted).weight / whole.weight, 1.0)
        end = self._end_of_top(own, top_size(n_rows, value))
        top = self._sums(own, end)
        by_weights = rows_by_weights(value, top, self._sums(own, end, upper=False))
        effective, size = whole.weight**2 / whole.square, IndependentRows(by_weights)
        if self._clusters is not None:
            size, n_clusters = self._clusters.without(own, end, by_weights)
            effective = min(effective, float(n_clusters))
        return Rest(Rate(value, size), effective)

    def _end_of_top(self, own: Indices, size: int) -> int:
        """The number of sorted rows down to the ``size``-th of the others, with its ties."""
        others_before = own - np.arange(len(own))
        at = size - 1 + int(np.searchsorted(others_before, size))
        return int(np.searchsorted(self._falling, self._falling[at], side="right"))

    def _sums(self, own: Indices, end: int, upper: bool = True) -> WeightSums:
        """Sums over the first ``end`` of the sorted rows, or the remaining ones, but for these."""
        inside = own[: np.searchsorted(own, end)] if upper else own[np.searchsorted(own, end) :]
        n_left = (end if upper else len(self._falling) - end) - len(inside)
        weight = self._weight[inside]
        parts = float(weight.sum()), float(np.square(weight).sum())
        wholes = self._down_to if upper else self._from
        pairs = zip(wholes, parts, strict=True)
        return WeightSums(*(_less(float(whole[end]), part, n_left) for whole, part in pairs))


def _less(whole: float, part: float, n_left: int) -> float:
    """The difference of two sums of positive numbers, of which ``n_left`` remain."""
    if n_left == 0:
        return 0.0
    if part > 0 and whole - part < _LEAST_LEFT * whole:
        raise CancelledError
    return whole - part


class SortedClusters:
    """Clusters of sorted rows, and the squares that the correlation within clusters is made of."""

    def __init__(self, clusters: Ints, weight: Floats) -> None:
        _, self._codes = np.unique(clusters, return_inverse=True)
        self._weight = weight
        self._sizes = np.bincount(self._codes)
        self._sums = np.bincount(self._codes, weight)
        order = np.argsort(self._codes, kind="stable")
        self._starts = np.cumsum(self._sizes) - self._sizes
        # Rows by cluster and position: the rows of a cluster before a position are found in them.
        self._keys = self._codes[order] * len(order) + order
        earlier = np.empty(len(order), dtype=np.int64)
        earlier[order] = np.arange(len(order)) - self._starts[self._codes[order]]
        # Sum over the clusters of t^2 / size, where t of the rows are before a position.
        self._between = _cumulated((2 * earlier + 1) / self._sizes[self._codes])

    @cached_property
    def _squares(self) -> tuple[float, float]:
        sizes = self._sizes.astype(np.float64)
        return float(np.square(sizes).sum()), float(np.square(self._sums).sum())

    def without(self, own: Indices, end: int, by_weights: float) -> tuple[IndependentRows, int]:
        """Effective number of the other rows, of which the first are the top; their clusters."""
        codes, index, n_own = np.unique(self._codes[own], return_inverse=True, return_counts=True)
        left = self._sizes[codes] - n_own
        n_rows, n_clusters = len(self._codes) - len(own), len(self._sizes) - int((left == 0).sum())
        before = np.searchsorted(own, end)
        n_top = end - int(before)
        t = np.searchsorted(self._keys, codes * len(self._codes) + end) - self._starts[codes]
        t_left = t - np.bincount(index[:before], minlength=len(codes))
        between = self._between[end] - (t**2 / self._sizes[codes]).sum()
        between += (t_left**2 / np.maximum(left, 1)).sum()
        squared = self._squares[0] - np.square(self._sizes[codes]).sum() + np.square(left).sum()
        total = n_top - n_top**2 / n_rows if n_top < n_rows else 0.0
        inside = max(n_top - float(between), 0.0)
        correlation = correlation_of_squares(n_rows, n_clusters, float(squared), inside, total)
        sums = np.bincount(index, self._weight[own], len(codes)).astype(np.float64)
        kish = self._kish(codes, sums, left)
        return rows_by_groups(by_weights, correlation, kish, n_clusters), n_clusters

    def _kish(self, codes: Ints, own: Floats, left: Ints) -> float:
        """Kish's effective number of clusters, by the weights of the other rows."""
        sums = np.where(left > 0, self._sums[codes] - own, 0.0)
        n_left = len(self._sizes) - int((left == 0).sum())
        total = _less(float(self._sums.sum()), float(own.sum()), n_left)
        lost = float(np.square(self._sums[codes]).sum() - np.square(sums).sum())
        return total**2 / _less(self._squares[1], lost, n_left)


def _cumulated(values: Floats) -> Floats:
    return np.concatenate(([0.0], np.cumsum(values)))


def _by_group(groups: Ints) -> dict[int, Indices]:
    """The rows of each group, in their order."""
    order = np.argsort(groups, kind="stable")
    names, starts = np.unique(groups[order], return_index=True)
    return dict(zip(names.tolist(), np.split(order, starts[1:]), strict=True))
