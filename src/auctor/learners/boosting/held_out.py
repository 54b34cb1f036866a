"""Held-out rows and how a sum of stumps ranks them."""

import numpy as np

from auctor.data import RankingData
from auctor.kernels.scores import add_table
from auctor.learners.common.finish import order_pairs
from auctor.weak.stump import Stump


class HeldOutRows:
    """Scores of the held-out rows while stumps are added to the model."""

    def __init__(self, data: RankingData) -> None:
        self._data = data
        self._scores = [np.zeros(part.n_rows) for part in data.partitions]

    def add(self, stump: Stump, alpha: float) -> None:
        """Add ``alpha`` times a stump to the scores."""
        table = alpha * stump.above(self._data.n_codes)
        for part, scores in zip(self._data.partitions, self._scores, strict=True):
            add_table(part.codes[stump.feature], table, scores)

    def auc(self) -> float:
        """The AUC of the scores."""
        wrong, tied, _ = order_pairs(self._data, self._scores)
        weight_neg, weight_pos = map(float, self._data.class_weights)
        doubled = 2.0 * weight_neg * weight_pos  # ties count one half
        return (doubled - 2.0 * wrong - tied) / doubled
