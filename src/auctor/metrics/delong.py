"""DeLong's variance and covariance of AUCs, from placements, in O(n log n).

The placement of a positive row is the fraction of the negatives with a lower score, that of a
negative row the fraction of the positives with a higher score; a tie counts one half. The AUC is
the mean of either kind of placements, and its variance is the sum of the variances of the two
means (DeLong, DeLong and Clarke-Pearson 1988; computed from sorted scores as in Sun and Xu 2014).
"""

from typing import NamedTuple

import numpy as np

from auctor._text import count
from auctor._typing import Floats, Ints
from auctor.kernels import roc
from auctor.metrics.sample import SortedClasses


class Placements(NamedTuple):
    """For each row, twice the number of its pairs in the right order; a tie counts one half."""

    pos: Ints
    neg: Ints

    def auc(self) -> float:
        """The AUC; the only rounding is that of one division."""
        return int(self.pos.sum()) / (2 * len(self.pos) * len(self.neg))


def placements(classes: SortedClasses) -> Placements:
    """Placements in the order of the sorted scores, which is enough for one variance."""
    return Placements(*roc.double_placements(classes.pos, classes.neg))


def placements_by_row(pos: Floats, neg: Floats) -> Placements:
    """Placements in the order of the rows, as the covariance of two scores needs them."""
    order_pos, order_neg = np.argsort(pos), np.argsort(neg)
    ordered = roc.double_placements(pos[order_pos], neg[order_neg])
    by_row = Placements(np.empty(len(pos), dtype=np.int64), np.empty(len(neg), dtype=np.int64))
    by_row.pos[order_pos], by_row.neg[order_neg] = ordered
    return by_row


def variance(placed: Placements) -> float:
    """DeLong's variance of one AUC."""
    return _variance_of_mean(placed.pos, placed.neg)


def variance_of_difference(a: Placements, b: Placements) -> float:
    """DeLong's variance of the difference of the AUCs of two scores of the same rows.

    It is computed from the differences of the placements, so that it is exactly zero for two
    scores with the same order of rows.
    """
    return _variance_of_mean(a.pos - b.pos, a.neg - b.neg)


def covariance(a: Placements, b: Placements) -> float:
    """DeLong's covariance of the AUCs of two scores of the same rows."""
    sides = []
    for one, other in ((a.pos, b.pos), (a.neg, b.neg)):
        product = (one - one.mean()) @ (other - other.mean())
        sides.append(float(product) / (len(one) - 1) / len(one))
    return sides[0] / (2 * len(a.neg)) ** 2 + sides[1] / (2 * len(a.pos)) ** 2


def check_two_of_each(n_pos: int, n_neg: int, where: str = "y_true") -> None:
    """Require two rows of each class, without which no variance can be estimated."""
    if min(n_pos, n_neg) < 2:
        raise ValueError(
            f"{where} has {count(n_pos, 'positive')} and {count(n_neg, 'negative')}; "
            "an interval or a test needs at least 2 of each"
        )


def _variance_of_mean(pos: Ints, neg: Ints) -> float:
    """Sum of the variances of the mean placements of both classes; the counts are doubled."""
    n_pos, n_neg = len(pos), len(neg)
    part_pos = float(np.var(pos, ddof=1)) / n_pos / (2 * n_neg) ** 2
    part_neg = float(np.var(neg, ddof=1)) / n_neg / (2 * n_pos) ** 2
    return part_pos + part_neg
