"""Held-out rows and how a sum of stumps ranks them."""

import numpy as np

from auctor.data import RankingData
from auctor.kernels.scores import add_table
from auctor.metrics import auc
from auctor.weak.stump import Stump


class HeldOutRows:
    """Scores of the held-out rows while stumps are added to the model."""

    def __init__(self, data: RankingData) -> None:
        self._data = data
        self._positive = np.concatenate([part.positive for part in data.partitions])
        weight = np.concatenate([part.weight for part in data.partitions])
        self._weight = None if (weight == 1).all() else weight
        self._scores = [np.zeros(part.n_rows) for part in data.partitions]

    def add(self, stump: Stump, alpha: float) -> None:
        """Add ``alpha`` times a stump to the scores."""
        table = alpha * stump.above(self._data.n_codes)
        for part, scores in zip(self._data.partitions, self._scores, strict=True):
            add_table(part.codes[stump.feature], table, scores)

    def auc(self) -> float:
        """The AUC of the scores."""
        return auc(self._positive, np.concatenate(self._scores), sample_weight=self._weight)
