"""The weight of each class in each bin of each feature."""

import numpy as np

from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.kernels.smooth import count_slopes
from auctor.learners.common.blocks import Block, class_blocks


def class_histogram(data: RankingData, workers: Workers | None = None) -> Ints:
    """Weight of the training rows per class (negative, positive), feature and code.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> class_histogram(prepare([[1.0], [2.0], [2.0]], [0, 1, 1])).tolist()
    [[[0, 1, 0]], [[0, 0, 2]]]
    """
    workers = workers or Workers(1)

    def count(blocks: list[Block]) -> Ints:
        out = np.zeros((2, data.n_features, data.n_codes), dtype=np.int64)
        for k, label, start, stop in blocks:
            part = data.partitions[k]
            once = np.ones(part.n_rows)
            count_slopes(part.codes, part.weight, once, 1.0, 0.0, start, stop, out[label])
        return out

    return np.asarray(sum(workers.map(count, class_blocks(data, workers.count))))
