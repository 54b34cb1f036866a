"""Class histograms of every node of a layer, for every feature."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.kernels.program import count_nodes, route, route_and_count
from auctor.learners.martirank.program import Gates, Node, split_range

# Histograms of all nodes are held for all features if they fit into this, else for as many
# features at a time as do.
_HISTOGRAM_BYTES = 2**26

Places = list[npt.NDArray[np.uint16]]  # the node of each row, by partition


class NodeCounts:
    """Counts the rows of a layer's nodes, and sends them on to those of the next.

    Rows move to the next number or stay, so that of one layer to the next only those that move
    are counted: at node i, what was there, less what went on to i + 1, plus what came from
    i - 1. In whole numbers this is exact. Where the histograms are too many to be kept, every
    layer is counted from the start.
    """

    def __init__(self, data: RankingData, n_layers: int, workers: Workers) -> None:
        self._data, self._n_layers, self._workers = data, n_layers, workers
        shape = (2, data.n_features, n_layers + 1, data.n_codes)
        fits = 8 * float(np.prod(shape)) <= _HISTOGRAM_BYTES
        self._kept = np.zeros(shape, dtype=np.int64) if fits else None
        # Half the bytes are half the cache: int32 wherever all weights together fit.
        self._dtype = np.int32 if sum(data.class_weights) < 2**31 else np.int64

    def blocks(self, t: int, places: Places) -> Iterator[tuple[int, Ints]]:
        """Features from one on with their weights (class, feature, node, code) in layer t.

        There may be more nodes than the t of the layer.
        """
        if self._kept is None:
            for first, last in self._chunks(t):
                yield first, self._count(t, places, first, last)
            return
        if t == 1:
            self._kept[:, :, :1] = self._count(1, places, 0, self._data.n_features)[:, :, :1]
        yield 0, self._kept

    def send_on(
        self, nodes: list[Node], gates: Gates, coins: tuple[int, int], places: Places
    ) -> None:
        """Send every row from its node of the layer to one of the next."""
        if self._kept is None or len(nodes) == self._n_layers:  # nothing to count
            self._over_rows(gates, coins, places, None)
            return
        t, n_codes = len(nodes), self._data.n_codes
        shape = (self._workers.count, 2, self._data.n_features, (t + 1) * n_codes)
        counts = np.zeros(shape, dtype=self._dtype)
        self._over_rows(gates, coins, places, counts)
        came = counts.sum(axis=0, dtype=np.int64)
        came = came.reshape(2, self._data.n_features, t + 1, n_codes)
        self._kept[:, :, [node.index for node in nodes if node.feature < 0]] = 0
        self._kept[:, :, : t + 1] += came
        self._kept[:, :, :t] -= came[:, :, 1:]

    def _over_rows(
        self,
        gates: Gates,
        coins: tuple[int, int],
        places: Places,
        counts: npt.NDArray[Any] | None,
    ) -> None:
        """Route the rows, each thread its share of every class of every partition.

        ``counts`` (thread, class, feature, ...) takes up the rows that went right.
        """

        def send(thread: int) -> None:
            for part, place in zip(self._data.partitions, places, strict=True):
                for label, first, last in ((1, 0, part.n_pos), (0, part.n_pos, part.n_rows)):
                    shares = np.linspace(first, last, self._workers.count + 1).astype(np.int64)
                    rows = int(shares[thread]), int(shares[thread + 1])
                    if counts is None:
                        route(part.codes, part.rows, rows, *gates, coins, place)
                    else:
                        own = counts[thread, label]
                        route_and_count(
                            part.codes, part.rows, part.weight, rows, *gates, coins, place, own
                        )

        self._workers.map(send, range(self._workers.count))

    def _count(self, t: int, places: Places, first: int, last: int) -> Ints:
        """Weights (class, feature, node, code); the last node is for rows that are out."""
        n_codes = self._data.n_codes
        counts = np.zeros((2, last - first, (t + 1) * n_codes), dtype=self._dtype)

        def count(k: int, label: int, rows: tuple[int, int], features: tuple[int, int]) -> None:
            part = self._data.partitions[k]
            own = counts[label, features[0] - first : features[1] - first]
            count_nodes(part.codes, places[k], part.weight, rows, features, t, own)

        self._over_features(first, last, count)
        return counts.astype(np.int64).reshape(2, last - first, t + 1, n_codes)

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
