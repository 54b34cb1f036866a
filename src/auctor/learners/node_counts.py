"""Class histograms of every node of a layer, for every feature."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData, Workers
from auctor.kernels.program import count_arrivals, count_nodes
from auctor.learners.program import Node, split_range

# Histograms of all nodes are held for all features if they fit into this, else for as many
# features at a time as do.
_HISTOGRAM_BYTES = 2**26

Places = list[npt.NDArray[np.uint16]]  # the node of each row, by partition


class NodeCounts:
    """Counts the rows of a layer's nodes.

    Rows move to the next number or stay, so that of one layer to the next only those that move
    are counted: at node i, what was there, less what went on to i + 1, plus what came from
    i - 1. In whole numbers this is exact. Where the histograms are too many to be kept, every
    layer is counted from the start.
    """

    def __init__(self, data: RankingData, n_layers: int, workers: Workers) -> None:
        self._data, self._workers = data, workers
        shape = (2, data.n_features, n_layers + 1, data.n_codes)
        fits = 8 * float(np.prod(shape)) <= _HISTOGRAM_BYTES
        self._kept = np.zeros(shape, dtype=np.int64) if fits else None
        # Half the bytes are half the cache: int32 wherever all weights together fit.
        self._dtype = np.int32 if sum(data.class_weights) < 2**31 else np.int64

    def features(self, t: int, places: Places) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
        """Each feature with its weights (class, node, code) in layer t."""
        if self._kept is None:
            for first, last in self._chunks(t):
                counts = self._count(t, places, first, last)
                yield from ((j, counts[:, j - first, :t]) for j in range(first, last))
            return
        if t == 1:
            self._kept[:, :, :1] = self._count(1, places, 0, self._data.n_features)[:, :, :1]
        yield from ((j, self._kept[:, j, :t]) for j in range(self._data.n_features))

    def advance(self, t: int, nodes: list[Node], before: Places, places: Places) -> None:
        """Rows of layer t have been sent on from their nodes ``before`` to ``places``."""
        if self._kept is None:
            return
        self._kept[:, :, [node.index for node in nodes if node.feature < 0]] = 0
        came = self._count_arrivals(t, before, places)
        self._kept[:, :, : t + 1] += came
        self._kept[:, :, :t] -= came[:, :, 1:]

    def _count(self, t: int, places: Places, first: int, last: int) -> npt.NDArray[np.int64]:
        """Weights (class, feature, node, code); the last node is for rows that are out."""
        n_codes = self._data.n_codes
        counts = np.zeros((2, last - first, (t + 1) * n_codes), dtype=self._dtype)

        def count(k: int, label: int, rows: tuple[int, int], features: tuple[int, int]) -> None:
            part = self._data.partitions[k]
            own = counts[label, features[0] - first : features[1] - first]
            count_nodes(part.codes, places[k], part.weight, rows, features, t, own)

        self._over_features(first, last, count)
        return counts.astype(np.int64).reshape(2, last - first, t + 1, n_codes)

    def _count_arrivals(self, t: int, before: Places, places: Places) -> npt.NDArray[np.int64]:
        """Weights (class, feature, new node, code) of the rows that went right."""
        n_features, n_codes = self._data.n_features, self._data.n_codes
        counts = np.zeros((2, n_features, (t + 1) * n_codes), dtype=self._dtype)

        def count(k: int, label: int, rows: tuple[int, int], features: tuple[int, int]) -> None:
            part = self._data.partitions[k]
            nodes = before[k], places[k]
            own = counts[label, features[0] : features[1]]
            count_arrivals(part.codes, *nodes, part.weight, rows, features, n_codes, own)

        self._over_features(0, n_features, count)
        return counts.astype(np.int64).reshape(2, n_features, t + 1, n_codes)

    def _over_features(
        self,
        first: int,
        last: int,
        count: Callable[[int, int, tuple[int, int], tuple[int, int]], None],
    ) -> None:
        """Call ``count`` for every partition and class, the features shared among threads."""

        def share(features: tuple[int, int]) -> None:
            for k, part in enumerate(self._data.partitions):
                count(k, 1, (0, part.n_pos), features)
                count(k, 0, (part.n_pos, part.n_rows), features)

        self._workers.map(share, split_range(first, last, self._workers.count))

    def _chunks(self, t: int) -> list[tuple[int, int]]:
        size = max(1, _HISTOGRAM_BYTES // (16 * (t + 1) * self._data.n_codes))
        n = self._data.n_features
        return [(first, min(first + size, n)) for first in range(0, n, size)]
