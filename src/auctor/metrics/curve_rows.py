"""Rows without weights and groups, of which only the ROC curve is known."""

import math
from typing import Any

import numpy as np

from auctor._typing import Floats
from auctor.metrics.curve import OperatingPoint, RocCurve
from auctor.metrics.curve_blocks import Axis, count_from, segments
from auctor.metrics.rates import UNKNOWN, Range, clopper_pearson


class RankedByCurve:
    """Rows of a curve in decreasing order of their scores, without weights and groups.

    ``along`` counts these rows at each threshold: those of a class, or all of them. It is what
    ``quantiles.Ranked`` is for such rows, without an array of their scores.
    """

    def __init__(self, curve: RocCurve, along: Axis) -> None:
        self.scores = ScoresOfCurve(curve.thresholds, along)
        self.n_rows = float(len(self.scores))
        self.has_ties = any(bool((np.diff(along[part]) > 1).any()) for part in segments(len(along)))
        ends = self.scores[0], self.scores[len(self.scores) - 1]
        self.is_smooth = not self.has_ties and all(map(math.isfinite, ends))

    def at_most(self, rank: float) -> int:
        """Number of rows with at most this rank."""
        return max(min(math.floor(rank), len(self.scores)), 0)

    def at_least(self, rank: float) -> int:
        """Number of rows needed to reach this rank; one more than there are if none does."""
        return max(min(math.ceil(rank) - 1, len(self.scores)), 0) + 1

    def between(self, rank: float) -> float:
        """The score at a fractional rank, interpolated linearly between two rows."""
        first = max(min(math.floor(rank), len(self.scores) - 1), 1)
        ranks = [first, min(first + 1, len(self.scores))]
        return float(np.interp(rank, ranks, [self.scores[rank - 1] for rank in ranks]))


class ScoresOfCurve:
    """The scores of the rows of a curve by rank, the largest first."""

    def __init__(self, thresholds: Floats, along: Axis) -> None:
        self._thresholds, self._along = thresholds, along

    def __len__(self) -> int:
        return int(self._along[len(self._along) - 1])

    def __getitem__(self, index: int) -> float:
        return float(self._thresholds[self._along.count_below(index + 1)])


class RowsOfCurve:
    """Rows without weights and groups, of which only the curve is known."""

    counted = None

    def __init__(self, curve: RocCurve) -> None:
        self._curve = curve

    def ranked(self, name: str, rate: float, tail: float) -> RankedByCurve:
        """The rows whose rate the criterion restricts: a class, or all rows for a budget."""
        curve = self._curve
        counts = {"tpr": (curve.true_positives,), "fpr": (curve.false_positives,)}
        both = (curve.true_positives, curve.false_positives)
        return RankedByCurve(curve, Axis(counts.get(name, both)))

    def next_above(self, threshold: float) -> float:
        """The smallest score above a threshold; infinity if there is none."""
        # The first threshold, infinity, is no score.
        index = count_from(self._curve.thresholds, float(np.nextafter(threshold, math.inf))) - 1
        return math.inf if index < 1 else float(self._curve.thresholds[index])

    def rates(self, point: OperatingPoint, level: float) -> list[Range]:
        """Intervals of tpr, fpr and precision at a point."""
        curve = self._curve
        trials = [(point.tpr, float(curve.n_pos)), (point.fpr, float(curve.n_neg))]
        ends = [clopper_pearson(rate * whole, whole, level) for rate, whole in trials]
        if point.flagged == 0:
            return [*ends, UNKNOWN]
        whole = point.flagged
        return [*ends, clopper_pearson(point.precision * whole, whole, level)]

    def describe(self, method: str) -> str:
        """The name of a method."""
        return method

    def too_few(self, ranked: Any) -> str:
        """The words for the number of rows where there are too few."""
        return f"there are {len(ranked.scores)}"
