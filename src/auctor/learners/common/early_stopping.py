"""Early stopping on the AUC of held-out rows."""

from typing import Protocol

import numpy as np

from auctor.data import RankingData
from auctor.kernels.scores import add_table
from auctor.metrics import auc
from auctor.weak.stump import Stump


class Patience(Protocol):
    """The settings that early stopping reads."""

    @property
    def n_iter_no_change(self) -> int: ...

    @property
    def tol(self) -> float: ...


class Validation:
    """Scores of the held-out rows, their AUC after each round, and the best round."""

    def __init__(self, data: RankingData, patience: Patience) -> None:
        self._data, self._patience = data, patience
        self._positive = np.concatenate([part.positive for part in data.partitions])
        self._weight = np.concatenate([part.weight for part in data.partitions])
        self._scores = [np.zeros(part.n_rows) for part in data.partitions]
        self.aucs: list[float] = []
        self.best_round = 0
        self._best = 0.5

    def stop_after(self, stump: Stump, alpha: float) -> bool:
        """Add a round; whether the last rounds brought less than ``tol``."""
        table = alpha * stump.above(self._data.n_codes)
        for part, scores in zip(self._data.partitions, self._scores, strict=True):
            add_table(part.codes[stump.feature], table, scores)
        self.aucs.append(self._auc())
        if self.aucs[-1] > self._best + self._patience.tol or self.best_round == 0:
            self._best, self.best_round = self.aucs[-1], len(self.aucs)
        return len(self.aucs) - self.best_round >= self._patience.n_iter_no_change

    def _auc(self) -> float:
        weight = None if (self._weight == 1).all() else self._weight
        return auc(self._positive, np.concatenate(self._scores), sample_weight=weight)
