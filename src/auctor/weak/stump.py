"""Decision stumps: the codes of one feature in two groups, with one value for each group."""

from dataclasses import dataclass

import numpy as np

from auctor._typing import Bools, Ints
from auctor.data import Feature
from auctor.kernels.stumps import LEAST_GAIN, best_stump


@dataclass(frozen=True)
class Stump:
    """h(x) = 1 for rows above the cut, 0 for the others.

    For a numeric feature, the codes greater than ``cut`` are above, and code 0 (missing) is above
    if ``missing_above`` is set. For a categorical feature, the codes in ``categories`` are above;
    these may include 0.
    """

    feature: int
    cut: int
    missing_above: bool
    categories: tuple[int, ...] | None = None

    def above(self, n_codes: int) -> Bools:
        """Whether each code is above the cut."""
        if self.categories is not None:
            table = np.zeros(n_codes, dtype=np.bool_)
            table[list(self.categories)] = True
            return table
        table = np.arange(n_codes) > self.cut
        table[0] = self.missing_above
        return table


class StumpSearch:
    """Finds the best stump over the features of a table."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        self._is_category = np.array([feature.is_category for feature in features])

    def best(self, histogram: Ints) -> Stump | None:
        """The stump with the largest |r|, from class histograms (class, feature, code).

        r is the fraction of the positives above the cut minus that of the negatives. Returns None
        if no stump has |r| above rounding error. ``Stump.feature`` counts the features that the
        search was made with.
        """
        total_neg, total_pos = histogram[:, 0].sum(axis=1).tolist()
        j, cut, missing_above, _ = best_stump(
            histogram[0], histogram[1], total_neg, total_pos, self._n_bins, self._is_category
        )
        if j < 0:
            return None
        categories = categories_above(histogram[:, j]) if self._is_category[j] else None
        return Stump(int(j), int(cut), bool(missing_above), categories)


def categories_above(counts: Ints) -> tuple[int, ...]:
    """Codes that hold a larger fraction of the positives than of the negatives.

    ``counts`` has the weight of each class in each code: (class, code).
    """
    negative, positive = counts / counts.sum(axis=1, keepdims=True)
    return tuple(np.flatnonzero(positive - negative > LEAST_GAIN).tolist())
