"""Held-out scores of several members on a common scale, and the metric that they are judged by."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Indices, Ints
from auctor.metrics import auc, ks, partial_auc, precision_at_k

_SMALLEST_SPREAD = 1e-200  # below it scores count as equal: they cannot be divided by it


class Scale(NamedTuple):
    """What brings the scores of one fitted model to the common scale: (score - middle) / spread."""

    middle: float
    spread: float

    def apply(self, scores: Floats) -> Floats:
        """Scores on the common scale."""
        return np.asarray((scores - self.middle) / self.spread)


def find_scale(scores: Floats, weight: Floats) -> Scale:
    """The median, and half of the distance between the quantiles 0.16 and 0.84.

    For a normal distribution the latter is the standard deviation. Unlike sums of squares,
    quantiles depend neither on the order of the rows nor on a few extreme scores.

    Examples
    --------
    >>> find_scale(np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.ones(5))
    Scale(middle=2.0, spread=2.0)
    """
    order = np.argsort(scores, kind="stable")
    values, mass = scores[order], np.cumsum(weight[order])
    at = np.searchsorted(mass, np.array([0.16, 0.5, 0.84]) * mass[-1])
    low, middle, high = values[np.minimum(at, len(values) - 1)].tolist()
    spread = (high - low) / 2.0 or float(values[-1] - values[0])
    return Scale(middle, spread if spread > _SMALLEST_SPREAD else 1.0)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out rows, fold after fold: a row is there once for each fold that holds it out."""

    scores: Floats  # (rows, members), on the common scale
    positive: Bools
    weight: Floats
    fold: Ints  # numbered from 0
    row: Indices  # position in the table
    sizes: tuple[float, float]  # effective numbers of negatives and of positives in the table

    @property
    def n_members(self) -> int:
        return int(self.scores.shape[1])

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @property
    def is_partition(self) -> bool:
        """Whether no row is held out by two folds."""
        return len(np.unique(self.row)) == len(self.row)

    def take(self, rows: Bools) -> "HeldOut":
        """Some of the rows."""
        return replace(
            self,
            scores=self.scores[rows],
            positive=self.positive[rows],
            weight=self.weight[rows],
            fold=self.fold[rows],
            row=self.row[rows],
        )


@dataclass(frozen=True)
class Target:
    """The metric that held-out scores are judged by.

    ``k`` is a fraction of the rows; ``fpr_range`` is used by the partial AUC.
    """

    metric: str
    k: float = 0.1
    fpr_range: tuple[float, float] | None = None

    def value(self, rows: HeldOut, scores: Floats) -> float:
        """AUC and partial AUC: the mean over folds. KS and precision: of ranks within folds.

        A KS of few rows is too large, and a top of few rows coarse, so that these two are computed
        from all folds together, as in ``auctor.metrics``.
        """
        if self.metric in ("ks", "precision_at_k"):
            return self._of(rows.positive, _fold_ranks(rows, scores), rows.weight)
        return float(np.mean(self.by_fold(rows, scores)))

    def by_fold(self, rows: HeldOut, scores: Floats) -> Floats:
        """The metric within each fold."""
        values = []
        for fold in np.unique(rows.fold).tolist():
            own = rows.fold == fold
            values.append(self._of(rows.positive[own], scores[own], rows.weight[own]))
        return np.array(values)

    def _of(self, positive: Bools, scores: Floats, weight: Floats) -> float:
        if self.metric == "ks":
            return ks(positive, scores, sample_weight=weight)
        if self.metric == "precision_at_k":
            return precision_at_k(positive, scores, k=self.k, sample_weight=weight)
        if self.fpr_range is not None:
            return partial_auc(
                positive, scores, fpr_range=self.fpr_range, scaled=True, sample_weight=weight
            )
        return auc(positive, scores, sample_weight=weight)

    def n_decisive(self, sizes: tuple[float, float]) -> float:
        """The number of rows that the metric depends on, which says how noisy it is."""
        n_neg, n_pos = sizes
        if self.metric == "precision_at_k":
            return max(min(n_neg, n_pos, self.k * (n_neg + n_pos)), 1.0)
        if self.fpr_range is not None:
            n_neg *= self.fpr_range[1] - self.fpr_range[0]
        return max(min(n_neg, n_pos), 1.0)


def _fold_ranks(rows: HeldOut, scores: Floats) -> Floats:
    """The rank of each score within its fold, from 0 to 1; ties count one half."""
    ranks = np.empty(len(scores))
    for fold in np.unique(rows.fold).tolist():
        own = rows.fold == fold
        _, codes = np.unique(scores[own], return_inverse=True)
        mass = np.bincount(codes, rows.weight[own])
        ranks[own] = ((np.cumsum(mass) - mass / 2) / mass.sum())[codes]
    return ranks


def weighted_sum(scores: Floats, weights: Floats) -> Floats:
    """The sum of the columns times their weights, in one order on every processor."""
    total = np.zeros(len(scores))
    for column, weight in zip(scores.T, weights.tolist(), strict=True):
        if weight:
            total += weight * column
    return total
