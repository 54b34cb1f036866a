"""The stump: one feature, its codes in two groups, two values."""

from dataclasses import dataclass

import numpy as np

from auctor._typing import Bools, Ints
from auctor.data import Feature
from auctor.kernels.stumps import LEAST_GAIN, best_stump


@dataclass(frozen=True)
class Stump:
    """h(x) = 1 for the rows above, 0 for the others.

    Above are, for a number, the codes greater than ``cut``, and code 0 (missing) where
    ``missing_above``; for a category, the codes in ``categories``, which may hold 0.
    """

    feature: int
    cut: int
    missing_above: bool
    categories: tuple[int, ...] | None = None

    def above(self, n_codes: int) -> Bools:
        """Which codes lie above."""
        if self.categories is not None:
            table = np.zeros(n_codes, dtype=np.bool_)
            table[list(self.categories)] = True
            return table
        table = np.arange(n_codes) > self.cut
        table[0] = self.missing_above
        return table

    def describe(self, features: tuple[Feature, ...]) -> str:
        """The condition for h = 1 in words."""
        feature = features[self.feature]
        if self.categories is not None:
            known = ("missing", *map(str, feature.categories))
            return f"{feature.name} is {' or '.join(known[code] for code in self.categories)}"
        if self.cut >= feature.n_bins:
            return f"{feature.name} is missing"
        missing = " or missing" if self.missing_above else ""
        return f"{feature.name} > {feature.cuts[self.cut - 1]:g}{missing}"


class StumpSearch:
    """Finds the best stump over the features of a table."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        self._is_category = np.array([feature.is_category for feature in features])

    def best(self, histogram: Ints) -> Stump | None:
        """The stump with the largest |r| on class histograms (class, feature, code)."""
        total_neg, total_pos = histogram[:, 0].sum(axis=1).tolist()
        j, cut, missing_above, _ = best_stump(
            histogram[0], histogram[1], total_neg, total_pos, self._n_bins, self._is_category
        )
        if j < 0:
            return None
        categories = _categories_above(histogram[:, j]) if self._is_category[j] else None
        return Stump(int(j), int(cut), bool(missing_above), categories)


def _categories_above(lines: Ints) -> tuple[int, ...]:
    """Codes with a larger share of the positives than of the negatives."""
    negative, positive = lines / lines.sum(axis=1, keepdims=True)
    return tuple(np.flatnonzero(positive - negative > LEAST_GAIN).tolist())
