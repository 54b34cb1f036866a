"""The smoothed AUC of Komori (2010), section 2.2, and its gradient, without forming a pair.

    A(F) = mean over all pairs of Phi(F(x1) - F(x0))

A score is a sum of tables: each reads one line of codes. The weight of each class is spread over
a uniform grid on the line of scores, a convolution with Phi or phi gives the sums over the other
class at every node, and they are read off at the rows' scores. What is spread and what is counted
are whole numbers, so that neither the order of the rows nor their partitions or threads show.

The relative error against the double sum is below 1e-8, most often near 1e-12;
``tests/learners/test_smooth_sums.py`` compares them.
"""

from dataclasses import dataclass
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import fftconvolve
from scipy.special import ndtr

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.linear import convolve as convolve_plain
from auctor.kernels.smooth import add_scores, count_slopes, deposit, deposit_rest, gather
from auctor.learners.common.blocks import Block, class_blocks
from auctor.learners.smooth.partial_auc import partial_sums

# Nodes to a unit of score: with polynomials of degree 7 the error is about 1e-13.
PER_UNIT = 16
# Beyond this distance phi is 0 and Phi is 0 or 1, to 1e-18.
REACH = 9
NODES_OF_A_ROW = 8
# Sums of whole numbers stay below this; what the weights leave of it is the precision of a row.
_LARGEST_SUM = 60
# With fewer bits than this to a row, what was rounded away is summed as well.
_FEWEST_BITS = 36
# Up to so many nodes a plain convolution is as fast as one by Fourier.
_PLAIN = 2**14
# Scores so far apart have nothing left to gain, and their grid would not fit into memory.
LARGEST_RANGE = 2.0**16

_Z = np.arange(-REACH * PER_UNIT, REACH * PER_UNIT + 1) / PER_UNIT
_DENSITY = np.array([exp(-z * z / 2) for z in _Z.tolist()]) / np.sqrt(2 * np.pi)
_DISTRIBUTION = ndtr(_Z)


@dataclass(frozen=True)
class Sums:
    """The smoothed AUC, and what one unit more in each entry of each table adds to it.

    ``mass`` is what the gradient would be if negatives did not count against positives: how many
    pairs an entry still has a say in. ``squares`` are the mean squared slopes of the rows of each
    class: what the gradient owes to chance.
    """

    value: float
    gradient: tuple[Floats, ...]
    mass: tuple[Floats, ...]
    squares: tuple[float, float]


class SmoothedAUC:
    """The smoothed AUC as a function of tables, over the rows of ``data``.

    ``lines`` are codes beside those of the data, one array (lines, rows) for each partition:
    what their tables add to a score, they add beside the features'. With ``fpr_range`` it is the
    smoothed partial AUC over that range (``smooth_partial``). ``offset`` is a score to start from,
    by the row's place in the table.
    """

    def __init__(
        self,
        data: RankingData,
        workers: Workers,
        *,
        lines: list[npt.NDArray[Any]] | None = None,
        fpr_range: tuple[float, float] | None = None,
        offset: Floats | None = None,
    ) -> None:
        self._data, self._workers = data, workers
        self._codes = [[part.dense_codes for part in data.partitions]]
        if lines is not None:
            self._codes.append(lines)
        self._blocks = class_blocks(data, workers.count)
        self._offsets = None if offset is None else [offset[part.rows] for part in data.partitions]
        self._fpr_range = fpr_range
        # A second layer of sums holds what the first rounds away, where that may matter.
        self._n_layers = 2 if any(scales(total)[1] for total in data.class_weights) else 1
        self.scores = [np.zeros(part.n_rows) for part in data.partitions]
        self.slopes = [np.zeros(part.n_rows) for part in data.partitions]
        self.n_evaluations = 0

    def evaluate(self, tables: tuple[Floats, ...]) -> Sums | None:
        """Value and gradient at the tables; None where the scores are too far apart."""
        self.n_evaluations += 1
        ends = self._workers.map(lambda blocks: self._score(blocks, tables), self._blocks)
        low, high = np.min(ends, axis=0)[0], np.max(ends, axis=0)[1]  # NaN if any is
        if not 0.0 <= high - low < LARGEST_RANGE:
            return None
        grids, totals = self._spread(low, high), self._data.class_weights
        if self._fpr_range is None:
            (values, value), length = _at_nodes(*grids), 1.0
        else:
            values, value = partial_sums(*grids, PER_UNIT, self._fpr_range)
            length = self._fpr_range[1] - self._fpr_range[0]
        parts = self._workers.map(
            lambda blocks: self._count(blocks, tables, low, values), self._blocks
        )
        sums = [_total([part[i] for part in parts]) for i in range(len(tables))]
        halves = [(_share(s[0], totals[0]), _share(s[1], totals[1])) for s in sums]
        return Sums(
            value / length,
            tuple((positive - negative) / length for negative, positive in halves),
            tuple((positive + negative) / length for negative, positive in halves),
            (
                _mean_square(grids[0], values[0] / length),
                _mean_square(grids[1], values[1] / length),
            ),
        )

    def _score(self, blocks: list[Block], tables: tuple[Floats, ...]) -> tuple[float, float]:
        """Scores of a worker's rows; the least and the largest."""
        low, high = np.inf, -np.inf
        for k, _, start, stop in blocks:
            first = 0.0 if self._offsets is None else self._offsets[k][start:stop]
            self.scores[k][start:stop] = first
            for codes, table in zip(self._codes, tables, strict=True):
                ends = add_scores(codes[k], table, start, stop, self.scores[k])
            low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        return float(low), float(high)

    def _spread(self, low: float, high: float) -> tuple[Floats, Floats]:
        """Share of the negatives' and of the positives' weight at each node of the grid."""
        n_nodes = int((high - low) * PER_UNIT) + NODES_OF_A_ROW
        totals = self._data.class_weights

        def spread(blocks: list[Block]) -> Ints:
            grid = np.zeros((2, self._n_layers, n_nodes), dtype=np.int64)
            for k, label, start, stop in blocks:
                scale, finer = scales(totals[label])
                weight = self._data.partitions[k].weight
                rows = self.scores[k], weight, start, stop, low, float(PER_UNIT)
                deposit(*rows, scale, grid[label, 0])
                if finer:
                    deposit_rest(*rows, scale, finer, grid[label, 1])
            return grid

        grid = _total(self._workers.map(spread, self._blocks))
        return _share(grid[0], totals[0]), _share(grid[1], totals[1])

    def _count(
        self,
        blocks: list[Block],
        tables: tuple[Floats, ...],
        low: float,
        values: tuple[Floats, Floats],
    ) -> list[Ints]:
        """Slopes of a worker's rows, summed by class, line and code, for each set of tables."""
        out = [np.zeros((2, self._n_layers, *table.shape), dtype=np.int64) for table in tables]
        for k, label, start, stop in blocks:
            scores, slopes = self.scores[k], self.slopes[k]
            gather(scores, start, stop, low, float(PER_UNIT), values[label], slopes)
            scale, finer = scales(self._data.class_weights[label])
            for codes, sums in zip(self._codes, out, strict=True):
                rows = codes[k], self._data.partitions[k].weight, slopes, scale
                count_slopes(*rows, 0.0, start, stop, sums[label, 0])
                if finer:
                    count_slopes(*rows, finer, start, stop, sums[label, 1])
        return out


def _at_nodes(negative: Floats, positive: Floats) -> tuple[tuple[Floats, Floats], float]:
    """At each node phi summed over the other class, for rows of each class; and the value."""
    size = len(negative)
    convolve = fftconvolve if size > _PLAIN else convolve_plain
    middle = slice(REACH * PER_UNIT, REACH * PER_UNIT + size)
    slope_neg = convolve(positive, _DENSITY)[middle]
    slope_pos = convolve(negative, _DENSITY)[middle]
    below = convolve(negative, _DISTRIBUTION)[middle]
    # Negatives further below than the convolution reaches count in full.
    far = np.concatenate([np.zeros(REACH * PER_UNIT + 1), np.cumsum(negative)])[:size]
    return (slope_neg, slope_pos), float(np.einsum("i,i->", positive, below + far))


def _total(parts: list[Ints]) -> Ints:
    """The sum of the workers' counts; a single one is not copied."""
    return parts[0] if len(parts) == 1 else np.asarray(np.sum(parts, axis=0))


def _mean_square(share: Floats, slopes: Floats) -> float:
    """The mean over rows of a squared slope; both are known at the nodes."""
    return float(np.einsum("i,i,i->", share, slopes, slopes))


def scales(total: int) -> tuple[float, float]:
    """Powers of two: what a weight is multiplied by, and what its rounding is; 0 if needless.

    Weights that add up to ``total``, times the first, fit into an int64.
    """
    bits = int(total).bit_length()
    left = _LARGEST_SUM - bits
    return 2.0**left, 2.0**left if left < _FEWEST_BITS else 0.0


def _share(sums: Any, total: int) -> Floats:
    """Two layers of whole numbers, the second of what the first rounded, as shares of the total."""
    scale, finer = scales(total)
    exact = sums[0] / (scale * total)
    return np.asarray(exact + sums[1] / (finer * scale * total)) if finer else np.asarray(exact)
