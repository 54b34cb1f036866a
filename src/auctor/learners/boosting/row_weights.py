"""Two distributions over rows, one for each class, in which no row may weigh too much."""

from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.stumps import change_factors, cut_at_cap, reweight_and_count, weigh_around_cap
from auctor.learners.boosting.sparse_weights import SparseCounter
from auctor.learners.common.blocks import Block, class_blocks

# The weight of a class adds up to about 2^60 in fixed point: no sum of rows that lie in
# one code can leave an int64, as long as a change multiplies the whole by less than 4.
SCALE = 2.0**60


class RowWeights:
    """Boosting weights: start as the rows' weights, change by the code of one feature a round.

    A change is applied on the next pass over the rows, the one that counts them, so that a
    round costs a single pass.
    """

    def __init__(self, data: RankingData, workers: Workers) -> None:
        self._data, self._workers = data, workers
        self._blocks = class_blocks(data, workers.count)
        self._factors = [_equal_shares(part.n_pos, part.n_rows, data) for part in data.partitions]
        self._feature = 0
        self._change = np.ones((2, data.n_codes))
        self._histogram: Any = None
        self._sparse = SparseCounter(data, workers) if data.is_sparse else None

    def histogram(self) -> Any:
        """Weight per class (negative, positive), feature and code.

        An int64 array; where the codes are sparse a ``RaggedHistogram``, which has as many
        codes to a feature as that needs.
        """
        if self._histogram is None and self._sparse is not None:
            self._histogram = self._sparse.count(self._factors, self._feature, self._change, SCALE)
        elif self._histogram is None:
            results = self._workers.map(self._count, self._blocks)
            self._histogram = results[0] if len(results) == 1 else np.sum(results, axis=0)
        return self._histogram

    def shares(self, feature: int) -> Floats:
        """Share of each class that each code of a feature holds: (class, code)."""
        lines: Ints = self.histogram()[:, feature]
        return lines / lines.sum(axis=1, keepdims=True)

    def multiply(self, feature: int, change: Floats) -> tuple[float, float]:
        """Multiply every row's weight by ``change[class, code of the feature]``.

        Returns the sum of each class (negative, positive) after it, which is then brought
        back to 1.
        """
        sums = (self.shares(feature) * change).sum(axis=1)
        totals = self.histogram()[:, feature].sum(axis=1)
        self._change = change / (sums * (totals / SCALE))[:, None]
        self._feature = feature
        self._histogram = None
        return float(sums[0]), float(sums[1])

    def _count(self, blocks: list[Block]) -> Ints:
        out = np.zeros((2, self._data.n_features, self._data.n_codes), dtype=np.int64)
        for k, label, start, stop in blocks:
            part = self._data.partitions[k]
            reweight_and_count(
                part.codes,
                part.weight,
                self._factors[k],
                self._feature,
                self._change[label],
                SCALE,
                start,
                stop,
                out[label],
            )
        return out


def _equal_shares(n_pos: int, n_rows: int, data: RankingData) -> Floats:
    """1 / weight of the class for each row of a partition: times the row's weight, D_1."""
    weight_neg, weight_pos = data.class_weights
    shares = np.full(n_rows, 1.0 / weight_neg)
    shares[:n_pos] = 1.0 / weight_pos
    return shares


# Newton's method ends when c grows by no more than this, which is rounding.
_STILL = 1.0 + 2.0**-40
# The rows below the cap may be light by many orders: where this factor would still fit into
# the whole numbers, they are weighed again with more bits.
_COARSE = 2.0**10


class _Around(NamedTuple):
    """The rows of a class on both sides of the cap."""

    capped: int  # weight of the rows above
    mass: int  # of the rows below, times the scale
    largest: float  # factor of a row below


class CappedWeights(RowWeights):
    """Boosting weights of which no row of weight w holds more than w / nu of its class.

    After each change both distributions are projected onto the capped ones: of all d with
    d_i <= w_i / nu the one of least relative entropy to d, which is min(c d_i, w_i / nu) with
    the c >= 1 that brings the sum back to 1.
    """

    def __init__(self, data: RankingData, workers: Workers, nus: tuple[float, float]) -> None:
        """``nus`` of the negatives and the positives, in units of weight, up to the class's."""
        super().__init__(data, workers)
        self._nus = nus
        shares = class_blocks(data, workers.count)
        self._blocks_of = [
            [[block for block in share if block.label == label] for share in shares]
            for label in (0, 1)
        ]

    def multiply(self, feature: int, change: Floats) -> tuple[float, float]:
        """Multiply as RowWeights does, then project; returns the sums before the projection."""
        sums = super().multiply(feature, change)
        # Out of sparse codes a line has to be made: once, not for each block.
        lines = [part.codes[feature] for part in self._data.partitions]

        def apply_change(blocks: list[Block]) -> None:
            for k, label, start, stop in blocks:
                change_factors(lines[k], self._factors[k], self._change[label], start, stop)

        for label in (0, 1):
            self._workers.map(apply_change, self._blocks_of[label])
            self._project(label)
        self._change = np.ones_like(self._change)  # nothing is left for the next pass
        return sums

    def _project(self, label: int) -> None:
        """Find c by Newton's method, and cut the factors at the cap.

        sum_i min(c d_i, w_i / nu) is concave in c and made of straight pieces: c grows with
        each step, more rows reach the cap, and the step that no longer moves c has found the
        piece on which the sum is 1.
        """
        nu, total = self._nus[label], self._data.class_weights[label]
        c, before, scale = 1.0, 0.0, SCALE
        while c > before * _STILL:
            around = self._weigh(label, c, scale)
            if around.capped == 0:
                return
            left = (nu - around.capped) / nu
            if left <= 0.0 or around.largest == 0.0:
                break  # the rows below hold less than rounding shows, or there are none
            finer = ldexp(1.0, 60 - frexp(around.largest * total)[1])
            if finer > scale * _COARSE:
                scale = finer
                continue
            before, c = c, max(c, left * scale / around.mass)
        self._cut(label, c)

    def _weigh(self, label: int, c: float, scale: float) -> _Around:
        cap = 1.0 / self._nus[label]

        def weigh(blocks: list[Block]) -> _Around:
            found = [
                weigh_around_cap(
                    self._data.partitions[k].weight, self._factors[k], c, cap, scale, start, stop
                )
                for k, _, start, stop in blocks
            ]
            return _together([_Around(*each) for each in found])

        return _together(self._workers.map(weigh, self._blocks_of[label]))

    def _cut(self, label: int, c: float) -> None:
        cap = 1.0 / self._nus[label]

        def cut(blocks: list[Block]) -> None:
            for k, _, start, stop in blocks:
                cut_at_cap(self._factors[k], c, cap, start, stop)

        self._workers.map(cut, self._blocks_of[label])


def _together(parts: list[_Around]) -> _Around:
    return _Around(
        sum(int(part.capped) for part in parts),
        sum(int(part.mass) for part in parts),
        max((float(part.largest) for part in parts), default=0.0),
    )
