"""Slope and curvature of every row in a loss over pairs, without forming a pair.

The losses are means over all pairs of a function of the difference z of two scores (positive minus
negative): Phi(z) for the smoothed AUC of Komori (2010), and log sigma(z) for the pairwise logistic
loss. The slope of a row is the mean of the derivative over all rows of the other class, a
convolution on the line of scores; see ``auctor.learners.smooth.smoothed_auc``.
"""

from math import exp
from typing import NamedTuple

import numpy as np
from scipy.signal import fftconvolve

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.linear import convolve as convolve_plain
from auctor.kernels.smooth import deposit, gather
from auctor.learners.common.blocks import Block, class_blocks
from auctor.learners.smooth.partial_auc import partial_sums
from auctor.learners.smooth.smoothed_auc import NODES_OF_A_ROW, PER_UNIT, scales, sums_at_nodes

# Nodes of the grid of scores per unit of score: the relative error of interpolation by polynomials
# of degree 7 stays below 1e-6, far below the rounding of slopes to whole numbers.
_PER_UNIT = {"auc": 8, "logistic": 4}
# Beyond this difference of two scores the slope is constant, to 1e-15.
_REACH = {"auc": 9, "logistic": 36}
# Up to this number of nodes a plain convolution is as fast as one by Fourier transform.
_PLAIN = 2**14


class Curves(NamedTuple):
    """The derivative of a loss by the difference z of a pair, at multiples of 1 / per_unit."""

    slope: Floats  # of the loss that is maximised
    curvature: Floats
    reach: int  # steps from 0 beyond which the slope is 0, and on the other side ``far``
    far: float


def _curves(loss: str) -> Curves:
    reach = _REACH[loss]
    steps = reach * _PER_UNIT[loss]
    z = (np.arange(-steps, steps + 1) / _PER_UNIT[loss]).tolist()
    if loss == "auc":
        density = np.array([exp(-x * x / 2) for x in z]) / np.sqrt(2 * np.pi)
        return Curves(density, density, steps, 0.0)
    slope = np.array([1 / (1 + exp(x)) for x in z])
    return Curves(slope, slope * slope[::-1], steps, 1.0)


def _ends(scores: list[Floats]) -> tuple[float, float]:
    """The smallest and the largest score."""
    return (
        min(float(part.min()) for part in scores if len(part)),
        max(float(part.max()) for part in scores if len(part)),
    )


class RowSlopes(NamedTuple):
    """Slope and curvature of each row, for each partition; both are at least 0."""

    slope: list[Floats]
    curvature: list[Floats]


class PairSlopes:
    """Computes slopes and curvatures from scores."""

    def __init__(
        self,
        data: RankingData,
        workers: Workers,
        loss: str,
        fpr_range: tuple[float, float] | None = None,
    ) -> None:
        self._data, self._workers = data, workers
        self._curves, self._per_unit, self._fpr_range = _curves(loss), _PER_UNIT[loss], fpr_range
        self._blocks = class_blocks(data, workers.count)
        self._scales = [scales(total)[0] for total in data.class_weights]

    def smoothed_auc(self, scores: list[Floats]) -> float:
        """The mean of Phi(z) over all pairs."""
        return sums_at_nodes(*self._spread(scores, *_ends(scores), PER_UNIT))[1]

    def at(self, scores: list[Floats]) -> RowSlopes:
        """Slope and curvature of every row at these scores, which are given for each partition."""
        low, high = _ends(scores)
        negative, positive = self._spread(scores, low, high, self._per_unit)
        tables = self._at_nodes(negative, positive)
        slope = [np.empty(len(s)) for s in scores]
        curvature = [np.empty(len(s)) for s in scores]

        def fill(blocks: list[Block]) -> None:
            for k, label, start, stop in blocks:
                rows = scores[k], start, stop, low, float(self._per_unit)
                gather(*rows, tables[label][0], slope[k])
                gather(*rows, tables[label][1], curvature[k])
                np.maximum(slope[k][start:stop], 0.0, out=slope[k][start:stop])
                np.maximum(curvature[k][start:stop], 0.0, out=curvature[k][start:stop])

        self._workers.map(fill, self._blocks)
        return RowSlopes(slope, curvature)

    def _spread(
        self, scores: list[Floats], low: float, high: float, per_unit: int
    ) -> tuple[Floats, Floats]:
        """Fraction of the negatives' and of the positives' weight at each node of the grid."""
        n_nodes = int((high - low) * per_unit) + NODES_OF_A_ROW

        def spread(blocks: list[Block]) -> Ints:
            grid = np.zeros((2, n_nodes), dtype=np.int64)
            for k, label, start, stop in blocks:
                weight = self._data.partitions[k].weight
                rows = scores[k], weight, start, stop, low, float(per_unit)
                deposit(*rows, self._scales[label], grid[label])
            return grid

        grid = np.sum(self._workers.map(spread, self._blocks), axis=0)
        totals = self._data.class_weights
        return tuple(grid[c] / (self._scales[c] * totals[c]) for c in (0, 1))

    def _at_nodes(
        self, negative: Floats, positive: Floats
    ) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """(slope, curvature) at the nodes, for negatives and for positives."""
        if self._fpr_range is not None:
            (of_neg, of_pos), _ = partial_sums(negative, positive, self._per_unit, self._fpr_range)
            length = self._fpr_range[1] - self._fpr_range[0]
            return (of_neg / length, of_neg / length), (of_pos / length, of_pos / length)
        curves = self._curves
        # A negative at x meets positives at x + z, and a positive at x negatives at x - z.
        slopes = (
            self._convolve(positive, curves.slope[::-1]) + self._far(positive),
            self._convolve(negative, curves.slope) + self._far(negative[::-1])[::-1],
        )
        if curves.curvature is curves.slope:
            return (slopes[0], slopes[0]), (slopes[1], slopes[1])
        bends = (self._convolve(each, curves.curvature) for each in (positive, negative))
        of_neg, of_pos = bends
        return (slopes[0], of_neg), (slopes[1], of_pos)

    def _far(self, fraction: Floats) -> Floats:
        """The slope by rows of the other class that are below each node by more than the reach."""
        before = np.zeros(min(self._curves.reach + 1, len(fraction)))
        return self._curves.far * np.concatenate([before, np.cumsum(fraction)])[: len(fraction)]

    def _convolve(self, fraction: Floats, curve: Floats) -> Floats:
        size, reach = len(fraction), self._curves.reach
        if size < reach:  # only the middle of the curve is needed
            curve, reach = curve[reach - size : reach + size + 1], size
        convolve = fftconvolve if size > _PLAIN else convolve_plain
        return convolve(fraction, np.ascontiguousarray(curve))[reach : reach + size]
