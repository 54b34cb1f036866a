"""DeLong's variance of an AUC, from placements, in O(n log n).

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
    """Placements in the order of the rows, as a comparison of two scores needs them."""
    order_pos, order_neg = np.argsort(pos), np.argsort(neg)
    ordered = roc.double_placements(pos[order_pos], neg[order_neg])
    by_row = Placements(np.empty(len(pos), dtype=np.int64), np.empty(len(neg), dtype=np.int64))
    by_row.pos[order_pos], by_row.neg[order_neg] = ordered
    return by_row


def variance(placed: Placements) -> float:
    """DeLong's variance of one AUC: the sum of the variances of the mean placements."""
    n_pos, n_neg = len(placed.pos), len(placed.neg)
    part_pos = float(np.var(placed.pos, ddof=1)) / n_pos / (2 * n_neg) ** 2
    part_neg = float(np.var(placed.neg, ddof=1)) / n_neg / (2 * n_pos) ** 2
    return part_pos + part_neg


def check_two_of_each(n_pos: int, n_neg: int, where: str = "y_true") -> None:
    """Require two rows of each class, without which no variance can be estimated."""
    if min(n_pos, n_neg) < 2:
        raise ValueError(
            f"{where} has {count(n_pos, 'positive')} and {count(n_neg, 'negative')}; "
            "an interval or a test needs at least 2 of each"
        )
