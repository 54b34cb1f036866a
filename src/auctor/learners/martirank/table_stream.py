"""A table as a stream of draws."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.data import Partition, RankingData, Table
from auctor.learners.martirank.oracle import Stopped, positives_first


class TableStream:
    """Rows of a table, drawn with replacement in proportion to their weights.

    The rows are first sorted by their codes. The draws therefore depend neither on the order of the
    rows nor on whether a row has weight 2 or is there twice.
    """

    origin = "draws from the training rows"
    is_fresh = False

    def __init__(self, data: RankingData, rng: np.random.Generator) -> None:
        self.n_draws = 0
        self.skipped = np.zeros(2, dtype=np.int64)
        self.table: Table | None = None
        self._data, self._rng = data, rng
        sides = [_sorted_class(data, label) for label in (1, 0)]
        self._codes = np.concatenate([codes for codes, _ in sides], axis=1)
        self._n_pos = sides[0][0].shape[1]
        self._cumulative = np.cumsum(np.concatenate([weight for _, weight in sides]))

    def start(self, n_rows: int, limit: int) -> RankingData:
        first = self.draw(max(2, n_rows))
        while not 0 < first.n_pos < first.n_rows:  # the table has both classes, but one is rare
            label = int(first.n_pos > 0)
            self.skipped[label] += first.n_rows
            if self.n_draws >= limit:
                fraction = self._weight_of(1 - label) / int(self._cumulative[-1])
                raise Stopped(
                    f"draws from the table gave only one class ({self._data.classes[label]}), "
                    f"because the other one has {fraction:.2g} of the weight",
                    "give its rows more weight, or use MartiRank, which does not draw rows",
                )
            first = self.draw(max(2, min(n_rows, limit - self.n_draws)))
        return RankingData(self._data.features, (first,), self._data.classes, (1.0, 1.0))

    def _weight_of(self, label: int) -> int:
        positive = int(self._cumulative[self._n_pos - 1])
        return positive if label else int(self._cumulative[-1]) - positive

    def draw(self, n_rows: int) -> Partition:
        tickets = self._rng.integers(self._cumulative[-1], size=n_rows)
        rows = np.searchsorted(self._cumulative, tickets, side="right")
        numbers = np.arange(self.n_draws, self.n_draws + n_rows)
        self.n_draws += n_rows
        return positives_first(self._codes[:, rows], rows < self._n_pos, numbers)


def _sorted_class(data: RankingData, label: int) -> tuple[npt.NDArray[Any], Ints]:
    """Codes and weights of one class, sorted by the codes."""
    pairs = [(part, part.class_slices[1 - label]) for part in data.partitions]
    codes = np.concatenate([part.codes[:, rows] for part, rows in pairs], axis=1)
    weight = np.concatenate([part.weight[rows] for part, rows in pairs]).astype(np.int64)
    order = np.lexsort(codes[::-1])
    return codes[:, order], weight[order]
