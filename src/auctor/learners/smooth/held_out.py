"""Held-out rows and how tables of SmoothAUCBoost rank them."""

from collections.abc import Sequence

from auctor._typing import Floats
from auctor.data import RankingData
from auctor.learners.common.finish import score_rows
from auctor.learners.common.held_out_auc import held_out_auc
from auctor.learners.smooth.interactions import Pair
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.smooth.surfaces import add_cells, row_cells


class HeldOut:
    """Rows that a fit does not see; ``pairs`` are the pairs of features of its surfaces."""

    def __init__(
        self, data: RankingData, settings: SmoothSettings, pairs: Sequence[Pair] = ()
    ) -> None:
        self._data, self._settings = data, settings
        self._cells = row_cells(data, pairs) if pairs else None

    def auc(self, x: Floats) -> float:
        """The AUC of the tables in ``x``; with ``fpr_range`` the mean TPR over that range."""
        return self.auc_of(self.scores(x))

    def auc_of(self, scores: list[Floats]) -> float:
        """The same for scores."""
        return held_out_auc(self._data, scores, self._settings.fpr_range)

    def scores(self, x: Floats) -> list[Floats]:
        """The scores of the rows of each partition."""
        size = self._data.n_features * self._data.n_codes
        tables = list(x[:size].reshape(self._data.n_features, -1))
        scores = [score_rows(part, tables) for part in self._data.partitions]
        for score, cells in zip(scores, self._cells or [], strict=self._cells is not None):
            score += add_cells(cells, x[size:])
        if self._settings.offset is not None:
            for score, part in zip(scores, self._data.partitions, strict=True):
                score += self._settings.offset[part.rows]
        return scores
