"""Class histograms of all nodes of a layer, for all features."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.kernels.program import count_nodes, route, route_and_count
from auctor.learners.martirank.program import Gates, Node, split_range

# If the histograms of all nodes and features fit into this, they are kept; else they are computed
# for as many features at a time as fit.
HISTOGRAM_BYTES = 2**26

Positions = list[npt.NDArray[np.uint16]]  # the node of each row, by partition


class NodeCounts:
    """Counts the rows at the nodes of a layer, and sends them on to the next layer.

    From one layer to the next a row stays at its index or moves to the next one. Only the rows that
    move are counted: the new count of node i is the old one, minus the rows that went to i + 1,
    plus those that came from i - 1, which is exact in whole numbers. If the histograms are too
    large to be kept, every layer is counted anew.
    """

    def __init__(self, data: RankingData, n_layers: int, workers: Workers) -> None:
        self._data, self._n_layers, self._workers = data, n_layers, workers
        shape = (2, data.n_features, n_layers + 1, data.n_codes)
        fits = 8 * float(np.prod(shape)) <= HISTOGRAM_BYTES
        self._kept = np.zeros(shape, dtype=np.int64) if fits else None
        # int32 if the sum of all weights fits: it needs half of the cache.
        self._is_counted = False  # whether the histograms are those of the present layer
        self._dtype = np.int32 if sum(data.class_weights) < 2**31 else np.int64

    def blocks(self, t: int, positions: Positions) -> Iterator[tuple[int, Ints]]:
        """Yield (first feature, weights (class, feature, node, code)) of layer t, in blocks.

        There may be more nodes than the t of the layer.
        """
        if self._kept is None:
            for first, last in self._chunks(t):
                yield first, self._count(t, positions, first, last)
            return
        if not self._is_counted:  # in the first layer, and after layers of an earlier run
            self._kept[:, :, :t] = self._count(t, positions, 0, self._data.n_features)[:, :, :t]
            self._is_counted = True
        yield 0, self._kept

    def send_on(
        self, nodes: list[Node], gates: Gates, coins: tuple[int, int], positions: Positions
    ) -> None:
        """Send each row from its node to a node of the next layer."""
        # Nothing is counted after the last layer, and between layers of an earlier run.
        if self._kept is None or not self._is_counted or len(nodes) == self._n_layers:
            self._over_rows(gates, coins, positions, None)
            return
        t, n_codes = len(nodes), self._data.n_codes
        shape = (self._workers.count, 2, self._data.n_features, (t + 1) * n_codes)
        counts = np.zeros(shape, dtype=self._dtype)
        self._over_rows(gates, coins, positions, counts)
        moved = self._data.group.sum(counts.sum(axis=0, dtype=np.int64))
        moved = moved.reshape(2, self._data.n_features, t + 1, n_codes)
        self._kept[:, :, [node.index for node in nodes if node.feature < 0]] = 0
        self._kept[:, :, : t + 1] += moved
        self._kept[:, :, :t] -= moved[:, :, 1:]

    def _over_rows(
        self,
        gates: Gates,
        coins: tuple[int, int],
        positions: Positions,
        counts: npt.NDArray[Any] | None,
    ) -> None:
        """Route the rows; each thread takes a part of each class of each partition.

        The rows that go right are added to ``counts`` (thread, class, feature, ...).
        """

        def send(thread: int) -> None:
            for part, position in zip(self._data.partitions, positions, strict=True):
                for label, first, last in ((1, 0, part.n_pos), (0, part.n_pos, part.n_rows)):
                    edges = np.linspace(first, last, self._workers.count + 1).astype(np.int64)
                    rows = int(edges[thread]), int(edges[thread + 1])
                    if counts is None:
                        route(part.codes, part.rows, rows, *gates, coins, position)
                    else:
                        own = counts[thread, label]
                        route_and_count(
                            part.codes, part.rows, part.weight, rows, *gates, coins, position, own
                        )

        self._workers.map(send, range(self._workers.count))

    def _count(self, t: int, positions: Positions, first: int, last: int) -> Ints:
        """Weights (class, feature, node, code); the last node is for rows that have ended."""
        n_codes = self._data.n_codes
        counts = np.zeros((2, last - first, (t + 1) * n_codes), dtype=self._dtype)

        def count(k: int, label: int, rows: tuple[int, int], features: tuple[int, int]) -> None:
            part = self._data.partitions[k]
            own = counts[label, features[0] - first : features[1] - first]
            count_nodes(part.codes, positions[k], part.weight, rows, features, t, own)

        self._over_features(first, last, count)
        whole = self._data.group.sum(counts.astype(np.int64))
        return whole.reshape(2, last - first, t + 1, n_codes)

    def _over_features(
        self,
        first: int,
        last: int,
        count: Callable[[int, int, tuple[int, int], tuple[int, int]], None],
    ) -> None:
        """Call ``count`` for each partition and class; each thread takes a part of the features."""

        def count_features(features: tuple[int, int]) -> None:
            for k, part in enumerate(self._data.partitions):
                count(k, 1, (0, part.n_pos), features)
                count(k, 0, (part.n_pos, part.n_rows), features)

        self._workers.map(count_features, split_range(first, last, self._workers.count))

    def _chunks(self, t: int) -> list[tuple[int, int]]:
        size = max(1, HISTOGRAM_BYTES // (16 * (t + 1) * self._data.n_codes))
        n = self._data.n_features
        return [(first, min(first + size, n)) for first in range(0, n, size)]
