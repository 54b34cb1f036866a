"""KS and precision at k as sums over rows, to compare two scores of the same rows.

Both metrics are sums over the rows that a score selects: for KS a row above the threshold adds
w / W_pos if it is positive and subtracts w / W_neg if it is negative; for precision a positive row
in the top k adds w / k. The difference between two scores is then a sum over the rows that only one
of them selects, and its variance follows from these rows.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData

TITLES = {"ks": "KS", "precision_at_k": "precision at k"}


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Labels and weights of some rows, in the order of the table for any partitions."""

    index: Ints  # of each row in the table
    positive: Bools
    weight: Floats

    @property
    def class_weight(self) -> Floats:
        """For each row the total weight of its class."""
        totals = [self.weight[~self.positive].sum(), self.weight[self.positive].sum()]
        return np.where(self.positive, totals[1], totals[0])


def labelled_rows(data: RankingData) -> LabelledRows:
    """The rows of all partitions; weights are whole numbers, so their sums are exact."""
    index = np.concatenate([part.rows for part in data.partitions])
    positive = np.concatenate([part.positive for part in data.partitions])
    weight = np.concatenate([part.weight for part in data.partitions]).astype(np.float64)
    order = np.argsort(index, kind="stable")
    return LabelledRows(index[order], positive[order], weight[order])


@dataclass(frozen=True)
class PairedMetric:
    """KS, or precision in the top ``fraction`` of the rows (by weight)."""

    metric: str
    fraction: float = 0.0

    def selected(self, rows: LabelledRows, scores: Floats) -> Floats:
        """How much of each row is selected: 1 or 0, and a fraction for ties at the end of the top.

        Examples
        --------
        >>> rows = LabelledRows(np.arange(4), np.array([False, True, False, True]), np.ones(4))
        >>> PairedMetric("ks").selected(rows, np.array([0.1, 0.4, 0.3, 0.8]))
        array([0., 1., 0., 1.])
        """
        if self.metric == "ks":
            return _above_ks_point(rows, scores)
        return members_of_top(rows, scores, self.fraction)

    def value(self, rows: LabelledRows, selected: Floats) -> float:
        """The metric of the selected rows.

        Examples
        --------
        >>> rows = LabelledRows(np.arange(4), np.array([False, True, False, True]), np.ones(4))
        >>> PairedMetric("ks").value(rows, np.array([0.0, 1.0, 0.0, 1.0]))
        1.0
        """
        return float((self.amounts(rows) * selected).sum())

    def amounts(self, rows: LabelledRows) -> Floats:
        """The contribution of each row to the metric if it is selected."""
        if self.metric == "ks":
            return np.where(rows.positive, 1.0, -1.0) * rows.weight / rows.class_weight
        return rows.positive * rows.weight / (self.fraction * rows.weight.sum())

    def changes(self, rows: LabelledRows, moved: Floats) -> Floats:
        """The contribution of each row to the difference between two selections.

        The top always holds k rows: a row that enters it replaces another. So precision compares
        each row with the average of the exchanged rows; otherwise two scores that exchange
        positives for positives would seem to differ at random.
        """
        exchanged = rows.weight * np.abs(moved)
        if self.metric == "ks" or not exchanged.any():
            return self.amounts(rows) * moved
        usual = float(exchanged[rows.positive].sum() / exchanged.sum())
        return (rows.positive - usual) * rows.weight / (self.fraction * rows.weight.sum()) * moved


def _above_ks_point(rows: LabelledRows, scores: Floats) -> Floats:
    """The rows above the threshold with the largest TPR - FPR; none if that is never above 0."""
    order = np.argsort(-scores, kind="stable")
    positive, weight, ordered = rows.positive[order], rows.weight[order], scores[order]
    last_of_tie = np.append(ordered[1:] != ordered[:-1], True)
    tpr = np.cumsum(weight * positive)[last_of_tie]
    fpr = np.cumsum(weight * ~positive)[last_of_tie]
    distance = tpr / tpr[-1] - fpr / fpr[-1]
    best = int(np.argmax(distance))
    if distance[best] <= 0.0:
        return np.zeros(len(scores))
    return (scores >= ordered[last_of_tie][best]).astype(np.float64)


def members_of_top(rows: LabelledRows, scores: Floats, fraction: float) -> Floats:
    """How much of each row is in the top fraction of the weight: 1 or 0, or between for ties.

    Rows tied at the end of the top have the same membership, the expectation over their order, as
    in ``precision_at_k``.
    """
    order = np.argsort(-scores, kind="stable")
    reached = np.cumsum(rows.weight[order])
    top = fraction * reached[-1]
    cut = scores[order][min(int(np.searchsorted(reached, top)), len(scores) - 1)]
    above, tied = scores > cut, scores == cut
    left = (top - rows.weight[above].sum()) / rows.weight[tied].sum()
    return above + min(1.0, left) * tied


class Gain(NamedTuple):
    """The mean gain of one score over another within folds.

    ``error`` is its standard error and ``row`` the largest contribution of a single row.
    """

    value: float
    error: float
    row: float = 0.0

    def sure(self, n_errors: float) -> float:
        """The gain minus the contribution of one row and minus ``n_errors`` standard errors."""
        return self.value - self.row - n_errors * self.error


def paired_gain(
    metric: PairedMetric, folds: list[LabelledRows], new: list[Floats], old: list[Floats]
) -> Gain:
    """The mean gain over the folds of the new selections compared with the old ones.

    The standard error is the larger of two estimates: from the spread between the folds, which
    includes the variation of the training rows but has few folds, and from the rows within the
    folds. The latter counts two additional rows, because a small top may exchange so few rows that
    the gain would look certain: three of three in favour have probability 1/8 by chance.
    """
    moved = [a - b for a, b in zip(new, old, strict=True)]
    changes = [metric.changes(*fold) for fold in zip(folds, moved, strict=True)]
    gains = np.array([change.sum() for change in changes])
    row = max(float(np.abs(metric.amounts(r) * m).max()) for r, m in zip(folds, moved, strict=True))
    within = sum(float((change * change).sum()) for change in changes) + 2.0 * row * row
    between = float(np.var(gains, ddof=1)) * len(gains) if len(gains) > 1 else 0.0
    n_folds = len(folds)
    error = float(np.sqrt(max(within, between))) / n_folds
    return Gain(float(gains.mean()), error, row / n_folds)
