"""Histograms of row weights over sparse codes, and the search for the best stump in them."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.sparse import best_ragged_stump, count_sparse, reweight
from auctor.weak.stump import Stump, StumpSearch, categories_above

# With fewer stored entries a further thread costs more than it saves.
ENTRIES_PER_WORKER = 200_000
_ONE_FEATURE = 8  # fixed cost of a feature, in stored entries


@dataclass(frozen=True, eq=False)
class RaggedHistogram:
    """Weight per class, feature and code, where each feature has its own number of codes."""

    counts: Ints  # (class, cell)
    first: Ints  # the cell of each feature's code 0, and the end
    n_codes: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Shape of the equivalent array (class, feature, code)."""
        return 2, len(self.first) - 1, self.n_codes

    def __getitem__(self, index: tuple[slice, int]) -> Ints:
        """``histogram[:, j]``: the weights of a feature, padded with zeros to ``n_codes``.

        The length is the same for all features, as in an array, so that sums of floats over it
        have the same order and the same last bit.
        """
        classes, feature = index
        low, high = self.first[feature], self.first[feature + 1]
        padded = np.zeros((2, self.n_codes), dtype=np.int64)
        padded[:, : high - low] = self.counts[:, low:high]
        return padded[classes]


class SparseCounter:
    """Counts rows by their stored entries: the cost of a round is proportional to their number."""

    def __init__(self, data: RankingData, workers: Workers) -> None:
        self._data, self._workers = data, workers
        self._quantised = [np.empty(part.n_rows, dtype=np.int64) for part in data.partitions]
        self._totals = np.zeros((len(data.partitions), 2), dtype=np.int64)
        self._runs = feature_runs(data, workers.count)

    def count(
        self,
        factors: list[Floats],
        feature: int,
        change: Floats,
        scale: float,
    ) -> RaggedHistogram:
        """Multiply each row's factor by ``change[class, code of the feature]``, then count.

        The factors are changed in place. Each thread counts some of the features and writes to
        their histograms alone.
        """
        for k, part in enumerate(self._data.partitions):
            codes_of_rows = part.codes[feature]
            for label, start, stop in ((1, 0, part.n_pos), (0, part.n_pos, part.n_rows)):
                self._totals[k, label] = reweight(
                    codes_of_rows,
                    part.weight,
                    factors[k],
                    change[label],
                    scale,
                    start,
                    stop,
                    self._quantised[k],
                )
        codes = self._data.partitions[0].sparse_codes
        counts = np.zeros((2, codes.n_cells), dtype=np.int64)
        self._workers.map(lambda run: self._count_run(*run, counts), self._runs)
        return RaggedHistogram(counts, codes.first, self._data.n_codes)

    def _count_run(self, begin: int, end: int, counts: Ints) -> None:
        for k, part in enumerate(self._data.partitions):
            codes = part.sparse_codes
            count_sparse(
                codes.first,
                codes.default,
                codes.starts,
                codes.middles,
                codes.rows,
                self._quantised[k],
                self._totals[k, 0],
                self._totals[k, 1],
                begin,
                end,
                counts[0],
                counts[1],
            )


def feature_runs(data: RankingData, n_workers: int) -> list[tuple[int, int]]:
    """Ranges of features (begin, end) of about equal cost, one for each worker."""
    codes = [part.sparse_codes for part in data.partitions]
    # Total cost of the features before each one.
    before = sum(each.starts[each.first] for each in codes)
    before = before + _ONE_FEATURE * np.arange(data.n_features + 1)
    n_runs = max(1, min(n_workers, int(before[-1]) // ENTRIES_PER_WORKER))
    inner = np.searchsorted(before, before[-1] * np.arange(1, n_runs) / n_runs)
    edges = [0, *inner.tolist(), data.n_features]
    return [(begin, end) for begin, end in pairwise(edges) if end > begin]


class RaggedStumpSearch(StumpSearch):
    """Finds the best stump over features that have different numbers of codes."""

    def __init__(self, data: RankingData) -> None:
        super().__init__(data.features)
        self._default = data.partitions[0].sparse_codes.default

    def best(self, histogram: RaggedHistogram) -> Stump | None:  # type: ignore[override]
        """The stump with the largest |r|, the same as that of the search over an array."""
        total_neg, total_pos = histogram[:, 0].sum(axis=1).tolist()
        j, cut, missing_above, _ = best_ragged_stump(
            histogram.counts[0],
            histogram.counts[1],
            histogram.first,
            self._default,
            total_neg,
            total_pos,
            self._is_category,
        )
        if j < 0:
            return None
        categories = categories_above(histogram[:, j]) if self._is_category[j] else None
        return Stump(int(j), int(cut), bool(missing_above), categories)


def stump_search(data: RankingData) -> StumpSearch:
    """The search that fits the histograms of ``RowWeights`` for the data."""
    return RaggedStumpSearch(data) if data.is_sparse else StumpSearch(data.features)
