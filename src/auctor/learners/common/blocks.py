"""Blocks of neighbouring rows of one class, distributed over threads."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from auctor.data import RankingData

# With fewer cells of the table per thread, starting it costs more time than it saves.
_CELLS_PER_WORKER = 200_000


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
    useful = max(1, data.n_rows * data.n_features // _CELLS_PER_WORKER)
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
