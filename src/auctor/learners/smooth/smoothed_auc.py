"""The smoothed AUC of Komori (2010), section 2.2, and its gradient, without forming a pair.

    A(F) = mean over all pairs of Phi(F(x1) - F(x0))

A score is a sum of table entries, one for each feature and surface, looked up by the codes of the
row. The weight of each class is spread over a uniform grid of scores. A convolution with Phi or phi
gives the sums over the other class at every node of the grid, and interpolation gives them at the
scores of the rows. Weights on the grid and sums over rows are whole numbers, so that the result
does not depend on the order of the rows, the partitions or the number of threads.

The relative error against the double sum is below 1e-8, most often near 1e-12;
``tests/learners/test_smoothed_auc.py`` compares them.
"""

from math import exp
from typing import NamedTuple

import numpy as np
from scipy.signal import fftconvolve
from scipy.special import ndtr

from auctor._typing import DenseCodes, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.linear import convolve as convolve_plain
from auctor.kernels.smooth import add_scores, count_slopes, deposit, deposit_rest, gather
from auctor.learners.common.blocks import Block, class_blocks
from auctor.learners.smooth.partial_auc import partial_sums

# Nodes per unit of score: with polynomials of degree 7 the error is about 1e-13.
PER_UNIT = 16
# Beyond this distance phi is 0 and Phi is 0 or 1, to 1e-18.
REACH = 9
NODES_OF_A_ROW = 8
# Bits of the largest sum of whole numbers; a row has those that the total weight leaves.
_LARGEST_SUM = 60
# If a row has fewer bits than this, a second sum holds what the first rounds away.
_FEWEST_BITS = 36
# Up to this number of nodes a plain convolution is as fast as one by Fourier transform.
_PLAIN = 2**14
# With scores further apart there is nothing left to gain, and the grid would not fit into memory.
LARGEST_RANGE = 2.0**16

_Z = np.arange(-REACH * PER_UNIT, REACH * PER_UNIT + 1) / PER_UNIT
_DENSITY = np.array([exp(-z * z / 2) for z in _Z.tolist()]) / np.sqrt(2 * np.pi)
_DISTRIBUTION = ndtr(_Z)


class Sums(NamedTuple):
    """The smoothed AUC at some tables, and its gradient.

    Attributes
    ----------
    value : float
        The smoothed AUC, or partial AUC.
    gradient : tuple of ndarray
        The derivative by each entry, for each set of tables.
    mass : tuple of ndarray
        The sum of phi over the pairs that depend on each entry: the gradient, if negatives added to
        positives instead of being subtracted.
    squares : tuple of float
        The mean squared slope of the rows of each class, from which the variance of the gradient
        follows.
    scores, slopes : tuple of ndarray
        The score of each row and the derivative of the smoothed AUC by it (up to the sign of the
        class, the row's weight, and the length of ``fpr_range``), for each partition.
    """

    value: float
    gradient: tuple[Floats, ...]
    mass: tuple[Floats, ...]
    squares: tuple[float, float]
    scores: tuple[Floats, ...]
    slopes: tuple[Floats, ...]


class SmoothedAUC:
    """The smoothed AUC of the rows of ``data`` as a function of tables.

    Parameters
    ----------
    data : RankingData
        The rows.
    workers : Workers
        The threads.
    cells : list of ndarray, optional
        Codes (surfaces, rows) of each partition, for a second set of tables beside the features'.
    fpr_range : (float, float), optional
        A range of false positive rates, for the smoothed partial AUC (see ``partial_auc``).
    offset : ndarray, optional
        A score that the tables are added to, by the index of the row in the table.
    offsets : list of ndarray, optional
        The same, given for each partition.
    """

    def __init__(
        self,
        data: RankingData,
        workers: Workers,
        *,
        cells: list[DenseCodes] | None = None,
        fpr_range: tuple[float, float] | None = None,
        offset: Floats | None = None,
        offsets: list[Floats] | None = None,
    ) -> None:
        self._data, self._workers = data, workers
        self._codes: list[list[DenseCodes]] = [[part.dense_codes for part in data.partitions]]
        if cells is not None:
            self._codes.append(cells)
        self._blocks = class_blocks(data, workers.count)
        if offset is not None:
            offsets = [offset[part.rows] for part in data.partitions]
        self._offsets = offsets
        self._fpr_range = fpr_range
        # A second layer of sums holds what the first rounds away, if that may matter.
        self._n_layers = 2 if any(scales(total)[1] for total in data.class_weights) else 1
        self.n_evaluations = 0

    def evaluate(self, tables: tuple[Floats, ...]) -> Sums | None:
        """Value and gradient at the tables; None where the scores are too far apart."""
        self.n_evaluations += 1
        self._data.group.begin_round(self.n_evaluations)
        scores, slopes = self._empty_rows(), self._empty_rows()
        ends = self._workers.map(lambda blocks: self._score(blocks, tables, scores), self._blocks)
        # NaN if any is.
        low, high = self._data.group.ends(np.min(ends, axis=0)[0], np.max(ends, axis=0)[1])
        if not 0.0 <= high - low < LARGEST_RANGE:
            return None
        grids, totals = self._spread(scores, low, high), self._data.class_weights
        if self._fpr_range is None:
            (values, value), length = _at_nodes(*grids), 1.0
        else:
            values, value = partial_sums(*grids, PER_UNIT, self._fpr_range)
            length = self._fpr_range[1] - self._fpr_range[0]
        parts = self._workers.map(
            lambda blocks: self._count(blocks, tables, low, values, scores, slopes), self._blocks
        )
        add_up = self._data.group.sum
        sums = [add_up(_total([part[i] for part in parts])) for i in range(len(tables))]
        halves = [(_fraction(s[0], totals[0]), _fraction(s[1], totals[1])) for s in sums]
        squares = [_mean_square(grids[label], values[label] / length) for label in (0, 1)]
        return Sums(
            value / length,
            tuple((positive - negative) / length for negative, positive in halves),
            tuple((positive + negative) / length for negative, positive in halves),
            (squares[0], squares[1]),
            scores,
            slopes,
        )

    def _empty_rows(self) -> tuple[Floats, ...]:
        """A number for each row of each partition, not yet set."""
        return tuple(part.new_rows(np.float64) for part in self._data.partitions)

    def _score(
        self, blocks: list[Block], tables: tuple[Floats, ...], scores: tuple[Floats, ...]
    ) -> tuple[float, float]:
        """Fill in the scores of a worker's rows; returns the smallest and the largest."""
        low, high = np.inf, -np.inf
        for k, _, start, stop in blocks:
            first = 0.0 if self._offsets is None else self._offsets[k][start:stop]
            scores[k][start:stop] = first
            for codes, table in zip(self._codes, tables, strict=True):
                ends = add_scores(codes[k], table, start, stop, scores[k])
            low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        return float(low), float(high)

    def _spread(self, scores: tuple[Floats, ...], low: float, high: float) -> tuple[Floats, Floats]:
        """Fraction of the negatives' and of the positives' weight at each node of the grid."""
        n_nodes = int((high - low) * PER_UNIT) + NODES_OF_A_ROW
        totals = self._data.class_weights

        def spread(blocks: list[Block]) -> Ints:
            grid = np.zeros((2, self._n_layers, n_nodes), dtype=np.int64)
            for k, label, start, stop in blocks:
                scale, finer = scales(totals[label])
                weight = self._data.partitions[k].weight
                rows = scores[k], weight, start, stop, low, float(PER_UNIT)
                deposit(*rows, scale, grid[label, 0])
                if finer:
                    deposit_rest(*rows, scale, finer, grid[label, 1])
            return grid

        grid = self._data.group.sum(_total(self._workers.map(spread, self._blocks)))
        return _fraction(grid[0], totals[0]), _fraction(grid[1], totals[1])

    def _count(
        self,
        blocks: list[Block],
        tables: tuple[Floats, ...],
        low: float,
        values: tuple[Floats, Floats],
        scores: tuple[Floats, ...],
        slopes: tuple[Floats, ...],
    ) -> list[Ints]:
        """Fill in the slopes of a worker's rows; returns their sums for each set of tables.

        Sums are by class, layer, table and code.
        """
        out = [np.zeros((2, self._n_layers, *table.shape), dtype=np.int64) for table in tables]
        for k, label, start, stop in blocks:
            gather(scores[k], start, stop, low, float(PER_UNIT), values[label], slopes[k])
            scale, finer = scales(self._data.class_weights[label])
            for codes, sums in zip(self._codes, out, strict=True):
                rows = codes[k], self._data.partitions[k].weight, slopes[k], scale
                count_slopes(*rows, 0.0, start, stop, sums[label, 0])
                if finer:
                    count_slopes(*rows, finer, start, stop, sums[label, 1])
        return out


def smoothed_auc(data: RankingData, scores: list[Floats]) -> float | None:
    """The smoothed AUC of scores, given for each partition; None if they are too far apart.

    It is the value at tables of zeros, with the scores as the offset.
    """
    table = np.zeros((data.n_features, data.n_codes))
    sums = SmoothedAUC(data, Workers(1), offsets=scores).evaluate((table,))
    return None if sums is None else sums.value


def _at_nodes(negative: Floats, positive: Floats) -> tuple[tuple[Floats, Floats], float]:
    """At each node the sum of phi over the other class, for rows of each class; and the value."""
    size = len(negative)
    convolve = fftconvolve if size > _PLAIN else convolve_plain
    middle = slice(REACH * PER_UNIT, REACH * PER_UNIT + size)
    slope_neg = convolve(positive, _DENSITY)[middle]
    slope_pos = convolve(negative, _DENSITY)[middle]
    below = convolve(negative, _DISTRIBUTION)[middle]
    # Negatives below the reach of the convolution count in full.
    far = np.concatenate([np.zeros(REACH * PER_UNIT + 1), np.cumsum(negative)])[:size]
    return (slope_neg, slope_pos), float(np.einsum("i,i->", positive, below + far))


def _total(parts: list[Ints]) -> Ints:
    """The sum of the workers' counts; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.asarray(np.sum(parts, axis=0))


def _mean_square(fraction: Floats, slopes: Floats) -> float:
    """The mean over rows of the squared slope, from fractions and slopes at the nodes."""
    return float(np.einsum("i,i,i->", fraction, slopes, slopes))


def scales(total: int) -> tuple[float, float]:
    """Two powers of two: the scale of a weight and that of its rounding error (0 if not needed).

    Weights that add up to ``total``, times the first, fit into an int64.
    """
    bits = int(total).bit_length()
    left = _LARGEST_SUM - bits
    return 2.0**left, 2.0**left if left < _FEWEST_BITS else 0.0


def _fraction(sums: Ints, total: int) -> Floats:
    """Sums of whole numbers, with those of their rounding in a second layer, divided by the total.

    ``sums`` has the layers as its first axis.
    """
    scale, finer = scales(total)
    exact = sums[0] / (scale * total)
    return np.asarray(exact + sums[1] / (finer * scale * total)) if finer else np.asarray(exact)
