"""Slope and curvature of every row in a loss over pairs, without forming a pair.

The losses are means over all pairs of a function of the difference z of two scores (positive minus
negative): Phi(z) for the smoothed AUC of Komori (2010), and log sigma(z) for the pairwise logistic
loss. The slope of a row is the mean of the derivative over all rows of the other class, a
convolution on the line of scores as in ``auctor.learners.smooth.smoothed_auc``. Beside them stands
the log loss of single rows, for comparison.

The curvature of the logistic loss is minus its second derivative. Phi is not concave: its second
derivative changes sign, and phi takes the place of the curvature. A leaf of pairs in which Phi
grows at the same rate everywhere then moves by one unit of score.
"""

from math import exp
from typing import NamedTuple

import numpy as np
from scipy.signal import fftconvolve

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.boost_slopes import NODES_OF_A_ROW, deposit_cubic, gather_cubic
from auctor.kernels.linear import convolve as convolve_plain
from auctor.kernels.linear import dot, exp_each
from auctor.learners.common.blocks import Block
from auctor.learners.common.calibration import score_ends
from auctor.learners.smooth.partial_auc import partial_sums
from auctor.learners.smooth.smoothed_auc import scales
from auctor.learners.tree_boost.row_blocks import boost_blocks

# Nodes of the grid of scores per unit of score: the relative error of cubic interpolation is about
# 1e-6, far below the rounding of slopes to whole numbers.
_PER_UNIT = {"auc": 16, "logistic": 8, "log": 8}
# Beyond this difference of two scores the slope is constant, to 1e-15.
_REACH = {"auc": 9, "logistic": 36, "log": 0}
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


class Line(NamedTuple):
    """Slope and curvature as functions of the score, for rows of each class.

    Attributes
    ----------
    low : float
        The score of the first cell of the grid.
    nodes : tuple of ndarray of shape (n_nodes, 2)
        Slope and curvature at the nodes, for negatives and for positives.
    sums : ndarray of shape (2, 2)
        Sums of slope and curvature over the rows of each class, by their weights.
    """

    low: float
    nodes: tuple[Floats, Floats]
    sums: Floats


class PairSlopes:
    """Computes slopes and curvatures from scores, which are given for each partition."""

    def __init__(
        self,
        data: RankingData,
        workers: Workers,
        loss: str,
        fpr_range: tuple[float, float] | None = None,
    ) -> None:
        self._data, self._workers = data, workers
        self._curves, self._fpr_range, self._loss = _curves(loss), fpr_range, loss
        self.per_unit = _PER_UNIT[loss]
        self._blocks = boost_blocks(data, workers)
        self._scales = [scales(total)[0] for total in data.class_weights]

    def at(self, scores: list[Floats]) -> Line:
        """Slope and curvature as functions of the score."""
        low, high = score_ends(self._data, scores)
        fractions = self._spread(scores, low, high)
        if self._loss == "log":
            nodes = self._log_loss(low, len(fractions[0]))
        else:
            nodes = self._at_nodes(*fractions)
        # The sum over rows of an interpolated function is the sum over the nodes of the function
        # times the weight that the rows have spread there.
        sums = [
            [total * dot(fraction, column) for column in np.ascontiguousarray(own.T)]
            for total, fraction, own in zip(self._data.class_weights, fractions, nodes, strict=True)
        ]
        return Line(low, nodes, np.array(sums))

    def rows(self, scores: list[Floats]) -> list[Floats]:
        """Slope and curvature (row, 2) of every row, for each partition."""
        line = self.at(scores)
        out = [np.empty((len(part), 2)) for part in scores]
        for blocks in self._blocks:
            for k, label, start, stop in blocks:
                grid = line.low, float(self.per_unit)
                gather_cubic(scores[k], start, stop, *grid, line.nodes[label], out[k])
        return out

    def _spread(self, scores: list[Floats], low: float, high: float) -> tuple[Floats, Floats]:
        """Fraction of the negatives' and of the positives' weight at each node of the grid."""
        n_nodes = int((high - low) * self.per_unit) + NODES_OF_A_ROW

        def spread(blocks: list[Block]) -> Ints:
            grid = np.zeros((2, n_nodes), dtype=np.int64)
            for k, label, start, stop in blocks:
                weight = self._data.partitions[k].weight
                rows = scores[k], weight, start, stop, low, float(self.per_unit)
                deposit_cubic(*rows, self._scales[label], grid[label])
            return grid

        own = np.sum(self._workers.map(spread, self._blocks), axis=0)
        grid = self._data.group.sum(own)
        negative, positive = (
            grid[label] / (self._scales[label] * self._data.class_weights[label])
            for label in (0, 1)
        )
        return negative, positive

    def _at_nodes(self, negative: Floats, positive: Floats) -> tuple[Floats, Floats]:
        """Slope and curvature (node, 2) at the nodes, for negatives and for positives."""
        curves = self._curves
        if self._fpr_range is not None:
            rows = negative, positive, self.per_unit, self._fpr_range
            (of_neg, of_pos), _ = partial_sums(*rows, has_area=False)
            length = self._fpr_range[1] - self._fpr_range[0]
            return _twice(of_neg / length), _twice(of_pos / length)
        # A negative at x meets positives at x + z, and a positive at x negatives at x - z.
        of_neg = self._convolve(positive, curves.slope[::-1]) + self._far(positive)
        of_pos = self._convolve(negative, curves.slope) + self._far(negative[::-1])[::-1]
        if curves.curvature is curves.slope:
            return _twice(of_neg), _twice(of_pos)
        bend_neg, bend_pos = (self._convolve(c, curves.curvature) for c in (positive, negative))
        return np.column_stack([of_neg, bend_neg]), np.column_stack([of_pos, bend_pos])

    def _log_loss(self, low: float, n_nodes: int) -> tuple[Floats, Floats]:
        """Slope and curvature of the log loss of single rows, without any pair.

        A score of 0 is the fraction of positives among all rows.
        """
        negative, positive = self._data.class_weights
        scores = low + (np.arange(n_nodes) - 1) / self.per_unit
        p = 1.0 / (1.0 + negative / positive * exp_each(-scores))
        bend = p * (1.0 - p)
        return np.column_stack([p, bend]), np.column_stack([1.0 - p, bend])

    def _far(self, fraction: Floats) -> Floats:
        """The slope by rows of the other class that are below each node by more than the reach."""
        before = np.zeros(min(self._curves.reach + 1, len(fraction)))
        return self._curves.far * np.concatenate([before, np.cumsum(fraction)])[: len(fraction)]

    def _convolve(self, fraction: Floats, curve: Floats) -> Floats:
        size, reach = len(fraction), self._curves.reach
        if size < reach:  # only the middle of the curve is needed
            curve, reach = curve[reach - size : reach + size + 1], size
        convolve = fftconvolve if size > _PLAIN else convolve_plain
        return np.asarray(convolve(fraction, np.ascontiguousarray(curve))[reach : reach + size])


def _twice(values: Floats) -> Floats:
    """The same function as slope and as curvature."""
    return np.column_stack([values, values])
