"""Blocks of neighbouring rows of one class for threads, and class histograms counted by them."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.kernels.smooth import count_slopes

# With fewer cells of the table per thread, starting it costs more time than it saves.
CELLS_PER_WORKER = 200_000


class Block(NamedTuple):
    """Rows start..stop of one partition, all of one class (0 negative, 1 positive)."""

    partition: int
    label: int
    start: int
    stop: int


def class_blocks(data: RankingData, n_workers: int) -> list[list[Block]]:
    """All rows in blocks, one list for each worker; each worker gets an equal part of each class.

    There may be fewer lists than workers, where the table is small.
    """
    useful = max(1, data.n_own_rows * data.n_features // CELLS_PER_WORKER)
    n_workers = min(n_workers, useful)
    blocks: list[list[Block]] = [[] for _ in range(n_workers)]
    for k, label, first, last in _class_runs(data):
        edges = [first + (last - first) * i // n_workers for i in range(n_workers + 1)]
        for own, (start, stop) in zip(blocks, pairwise(edges), strict=True):
            if stop > start:
                own.append(Block(k, label, start, stop))
    return blocks


def _class_runs(data: RankingData) -> Iterator[Block]:
    for k, part in enumerate(data.partitions):
        yield Block(k, 1, 0, part.n_pos)
        yield Block(k, 0, part.n_pos, part.n_rows)


def class_histogram(data: RankingData, workers: Workers | None = None) -> Ints:
    """Weight of the training rows per class (negative, positive), feature and code.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> class_histogram(prepare([[1.0], [2.0], [2.0]], [0, 1, 1])).tolist()
    [[[0, 1, 0]], [[0, 0, 2]]]
    """
    workers = workers or Workers(1)
    once = [part.new_rows(np.float64, 1.0) for part in data.partitions]

    def count(blocks: list[Block]) -> Ints:
        out = np.zeros((2, data.n_features, data.n_codes), dtype=np.int64)
        for k, label, start, stop in blocks:
            part = data.partitions[k]
            count_slopes(part.codes, part.weight, once[k], 1.0, 0.0, start, stop, out[label])
        return out

    own = np.asarray(sum(workers.map(count, class_blocks(data, workers.count))))
    return data.group.sum(own)
