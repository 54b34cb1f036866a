"""Blocks of rows for the threads of boosted trees, and the codes of whole rows."""

from auctor._typing import DenseCodes
from auctor.data import RankingData, Workers
from auctor.learners.common.blocks import Block, class_blocks

# With fewer cells for each thread, a single thread grows a tree in less time.
CELLS_PER_WORKER = 2_000_000


def boost_blocks(data: RankingData, workers: Workers) -> list[list[Block]]:
    """All rows in blocks, one list for each thread that saves time."""
    useful = data.n_own_rows * data.n_features // CELLS_PER_WORKER
    return class_blocks(data, min(workers.count, max(1, useful)))


def boost_workers(data: RankingData, workers: Workers) -> Workers:
    """The threads, or a single one where more would not save time."""
    return workers if len(boost_blocks(data, workers)) > 1 else Workers(1)


def row_codes(
    data: RankingData, workers: Workers, features: slice = slice(None)
) -> list[DenseCodes]:
    """The codes of each partition (rows, features): the codes of a row are side by side.

    Those of a table in files are in a file, as the codes are that they are copied from.
    """
    codes = [part.dense_codes[features] for part in data.partitions]
    out: list[DenseCodes] = [
        part.empty(own.shape[::-1], own.dtype)
        for part, own in zip(data.partitions, codes, strict=True)
    ]

    def copy(block: Block) -> None:
        k, _, start, stop = block
        out[k][start:stop] = codes[k][:, start:stop].T

    workers.map(copy, [block for own in boost_blocks(data, workers) for block in own])
    return out
