"""The row weights of boosting: a distribution over the rows of each class.

``RowWeights`` are those of RankBoost and AUCBoost. ``CappedWeights`` are those of SoftRankBoost, in
which no row may hold more than a given part of the weight of its class.
"""

from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Partition, RankingData, Workers
from auctor.kernels.stumps import change_factors, cut_at_cap, reweight_and_count, weigh_around_cap
from auctor.learners.boosting.sparse_weights import SparseCounter
from auctor.learners.common.blocks import Block, class_blocks
from auctor.learners.common.rounding import ROUNDING

# The weight of a class adds up to about 2^60 in fixed point, so that no sum over rows overflows an
# int64 as long as a change multiplies the total by less than 4.
SCALE = 2.0**60

# Newton's method for the projection ends when c grows by no more than this factor.
_STILL = 1.0 + ROUNDING
# Rows below the cap may be lighter than those at the cap by many orders of magnitude. If their
# factors could be this much larger without an overflow, they are summed again with more bits.
_COARSE = 2.0**10


# Rows whose factors are changed at a time when a round is repeated: their changes fit into a cache.
_REPEATED = 2**15


class Reweighting(NamedTuple):
    """What a round did to the weights beside its change: enough to repeat it without counting."""

    sums: tuple[float, float]  # of each class (negative, positive) before it was divided by them
    divisors: tuple[float, float]  # of the changes, with the rounding error of the weights
    scales: tuple[float, float]  # c of the projection; 0 if no row reached the cap


class RowWeights:
    """Boosting weights: the weights of the rows times a factor that changes in each round.

    A change depends on the code of one feature. It is applied in the next pass over the rows,
    which also counts them, so that a round costs a single pass.
    """

    def __init__(self, data: RankingData, workers: Workers) -> None:
        self._data, self._workers = data, workers
        self._blocks = class_blocks(data, workers.count)
        self.factors = [_equal_factors(part, data) for part in data.partitions]
        self._feature = 0
        self._change = np.ones((2, data.n_codes))
        self._histogram: Any = None
        self._sparse = SparseCounter(data, workers) if data.is_sparse else None
        self.last = Reweighting((1.0, 1.0), (1.0, 1.0), (0.0, 0.0))  # of the last round

    def histogram(self) -> Any:
        """Weight per class (negative, positive), feature and code.

        An int64 array, or a ``RaggedHistogram`` if the codes are sparse.
        """
        if self._histogram is None and self._sparse is not None:
            self._histogram = self._sparse.count(self.factors, self._feature, self._change, SCALE)
        elif self._histogram is None:
            results = self._workers.map(self._count, self._blocks)
            own = results[0] if len(results) == 1 else np.sum(results, axis=0)
            self._histogram = self._data.group.sum(own)
        return self._histogram

    def fractions(self, feature: int) -> Floats:
        """Fraction of the weight of each class in each code of a feature: (class, code)."""
        counts: Ints = self.histogram()[:, feature]
        return counts / counts.sum(axis=1, keepdims=True)

    def multiply(self, feature: int, change: Floats) -> tuple[float, float]:
        """Multiply every row's weight by ``change[class, code of the feature]``.

        Returns the sum of each class (negative, positive); then the weights of each class are
        divided by it.
        """
        sums = (self.fractions(feature) * change).sum(axis=1)
        totals = self.histogram()[:, feature].sum(axis=1)
        divisors = sums * (totals / SCALE)
        self._set_change(feature, change, divisors)
        self.last = Reweighting(
            (float(sums[0]), float(sums[1])), (float(divisors[0]), float(divisors[1])), (0.0, 0.0)
        )
        return self.last.sums

    def repeat(self, feature: int, change: Floats, known: Reweighting) -> None:
        """Multiply as in a round that is known: only the codes of one feature are read."""
        self._apply_change()
        self._set_change(feature, change, np.array(known.divisors))
        self.last = known

    def _set_change(self, feature: int, change: Floats, divisors: Floats) -> None:
        self._change, self._feature = change / divisors[:, None], feature
        self._histogram = None

    def _apply_change(self) -> None:
        """Multiply the factors by the change of the last round, as the next pass would do."""
        if self._histogram is not None:  # a pass has done it
            return
        codes = [part.codes[self._feature] for part in self._data.partitions]

        def apply(blocks: list[Block]) -> None:
            for k, label, begin, end in blocks:
                for start in range(begin, end, _REPEATED):
                    rows = slice(start, min(start + _REPEATED, end))
                    self.factors[k][rows] *= self._change[label][codes[k][rows]]

        self._workers.map(apply, self._blocks)

    def _count(self, blocks: list[Block]) -> Ints:
        out = np.zeros((2, self._data.n_features, self._data.n_codes), dtype=np.int64)
        for k, label, start, stop in blocks:
            part = self._data.partitions[k]
            reweight_and_count(
                part.codes,
                part.weight,
                self.factors[k],
                self._feature,
                self._change[label],
                SCALE,
                start,
                stop,
                out[label],
            )
        return out


def _equal_factors(part: Partition, data: RankingData) -> Floats:
    """1 / weight of the class, for each row of a partition; times the row's weight it is D_1."""
    weight_neg, weight_pos = data.class_weights
    factors = part.new_rows(np.float64, 1.0 / weight_neg)
    factors[: part.n_pos] = 1.0 / weight_pos
    return factors


class _CapSums(NamedTuple):
    """Sums over the rows of a class above and below the cap."""

    capped: int  # weight of the rows above the cap
    mass: int  # boosting weight of the rows below the cap, times the scale
    largest: float  # largest factor of a row below the cap


class CappedWeights(RowWeights):
    """Boosting weights in which a row of weight w holds at most w / nu of its class.

    After each change both distributions are projected: of all distributions with d_i <= w_i / nu,
    the one with the smallest relative entropy to d is min(c d_i, w_i / nu) with the c >= 1 that
    makes the sum 1.
    """

    def __init__(self, data: RankingData, workers: Workers, nus: tuple[float, float]) -> None:
        """``nus`` are those of the negatives and the positives, in units of weight."""
        super().__init__(data, workers)
        self.nus = nus
        by_worker = class_blocks(data, workers.count)
        self._blocks_of = [
            [[block for block in blocks if block.label == label] for blocks in by_worker]
            for label in (0, 1)
        ]

    def multiply(self, feature: int, change: Floats) -> tuple[float, float]:
        """Multiply as RowWeights does, then project; returns the sums before the projection."""
        sums = super().multiply(feature, change)
        self._change_now(feature)
        negative, positive = (self._project(label) for label in (0, 1))
        self.last = self.last._replace(scales=(negative, positive))
        return sums

    def repeat(self, feature: int, change: Floats, known: Reweighting) -> None:
        """Multiply as in a round that is known, and cut at its caps."""
        self._set_change(feature, change, np.array(known.divisors))
        self._change_now(feature)
        for label, c in enumerate(known.scales):
            if c > 0.0:
                self._cut(label, c)
        self.last = known

    def _change_now(self, feature: int) -> None:
        """Apply the change at once: the projection needs its result."""
        # Sparse codes are expanded here: once for each partition, not for each block.
        codes = [part.codes[feature] for part in self._data.partitions]

        def apply_change(blocks: list[Block]) -> None:
            for k, label, start, stop in blocks:
                change_factors(codes[k], self.factors[k], self._change[label], start, stop)

        for label in (0, 1):
            self._workers.map(apply_change, self._blocks_of[label])
        # It has been applied: nothing is left for the next pass.
        self._change = np.ones_like(self._change)

    def _project(self, label: int) -> float:
        """Find c by Newton's method, and cut the factors at the cap; 0 if no row reaches it.

        sum_i min(c d_i, w_i / nu) is concave and piecewise linear in c. Each step increases c, and
        more rows reach the cap; when c no longer changes, the sum is 1.
        """
        nu, total = self.nus[label], self._data.class_weights[label]
        c, before, scale = 1.0, 0.0, SCALE
        while c > before * _STILL:
            sums = self._weigh(label, c, scale)
            if sums.capped == 0:
                return 0.0
            left = (nu - sums.capped) / nu
            if left <= 0.0 or sums.largest == 0.0:
                break  # there are no rows below the cap, or their weight is below rounding error
            finer = ldexp(1.0, 60 - frexp(sums.largest * total)[1])
            if finer > scale * _COARSE:
                scale = finer
                continue
            before, c = c, max(c, left * scale / sums.mass)
        self._cut(label, c)
        return c

    def _weigh(self, label: int, c: float, scale: float) -> _CapSums:
        cap = 1.0 / self.nus[label]

        def weigh(blocks: list[Block]) -> _CapSums:
            sums = [
                weigh_around_cap(
                    self._data.partitions[k].weight, self.factors[k], c, cap, scale, start, stop
                )
                for k, _, start, stop in blocks
            ]
            return _add_up([_CapSums(*each) for each in sums])

        own = _add_up(self._workers.map(weigh, self._blocks_of[label]))
        return _add_up(self._data.group.gather(own))

    def _cut(self, label: int, c: float) -> None:
        cap = 1.0 / self.nus[label]

        def cut(blocks: list[Block]) -> None:
            for k, _, start, stop in blocks:
                cut_at_cap(self.factors[k], c, cap, start, stop)

        self._workers.map(cut, self._blocks_of[label])


def _add_up(parts: list[_CapSums]) -> _CapSums:
    return _CapSums(
        sum(int(part.capped) for part in parts),
        sum(int(part.mass) for part in parts),
        max((float(part.largest) for part in parts), default=0.0),
    )
