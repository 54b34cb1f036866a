"""Two distributions over rows, one for each class, kept beside the rows."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData, Workers
from auctor.kernels.boosting import reweight_and_count
from auctor.learners.blocks import Block, class_blocks
from auctor.learners.sparse_rows import SparseCounter

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

    def shares(self, feature: int) -> npt.NDArray[np.float64]:
        """Share of each class that each code of a feature holds: (class, code)."""
        lines: npt.NDArray[np.int64] = self.histogram()[:, feature]
        return lines / lines.sum(axis=1, keepdims=True)

    def multiply(self, feature: int, change: npt.NDArray[np.float64]) -> tuple[float, float]:
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

    def _count(self, blocks: list[Block]) -> npt.NDArray[np.int64]:
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


def _equal_shares(n_pos: int, n_rows: int, data: RankingData) -> npt.NDArray[np.float64]:
    """1 / weight of the class for each row of a partition: times the row's weight, D_1."""
    weight_neg, weight_pos = data.class_weights
    shares = np.full(n_rows, 1.0 / weight_neg)
    shares[:n_pos] = 1.0 / weight_pos
    return shares
