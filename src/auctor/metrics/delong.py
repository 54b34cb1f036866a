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
    ones = np.ones(1, dtype=np.int64)
    pos, neg = (PlacementSums(len(values)).add(ones, values) for values in (placed.pos, placed.neg))
    return variance_of_sums(pos, neg)


class PlacementSums:
    """Sums of doubled placements and of their squares, in whole numbers of any size.

    The variance then has no rounding error but that of one division, so that it depends neither on
    the order of the rows nor on how they are divided into blocks.
    """

    def __init__(self, n_rows: int) -> None:
        self.n_rows, self.total, self._square = n_rows, 0, 0

    def add(self, counts: Ints, placed: Ints) -> "PlacementSums":
        """Add placements, each of which ``counts`` rows have."""
        self.total += int((counts * placed).sum())
        # Squares of placements do not fit into 64 bits: products of parts of 16 bits do, and so do
        # the sums of the lower and of the upper halves of these products.
        parts = [(placed >> (16 * k)) & 0xFFFF for k in range(3)]
        for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
            product = counts * (parts[i] * parts[j])
            low, high = int((product & 0xFFFFFFFF).sum()), int((product >> 32).sum())
            times = 1 if i == j else 2
            self._square += times * (low + (high << 32)) << (16 * (i + j))
        return self

    def variance(self, n_other: int) -> float:
        """The variance of the mean placement, as a fraction of the rows of the other class."""
        n = self.n_rows
        deviation = n * self._square - self.total**2  # n times the sum of squared deviations
        return deviation / (n**2 * (n - 1) * (2 * n_other) ** 2)


def variance_of_sums(pos: PlacementSums, neg: PlacementSums) -> float:
    """DeLong's variance from the sums of both classes."""
    return pos.variance(neg.n_rows) + neg.variance(pos.n_rows)


def check_two_of_each(n_pos: int, n_neg: int, where: str = "y_true") -> None:
    """Require two rows of each class, without which no variance can be estimated."""
    if min(n_pos, n_neg) < 2:
        raise ValueError(
            f"{where} has {count(n_pos, 'positive')} and {count(n_neg, 'negative')}; "
            "an interval or a test needs at least 2 of each"
        )
