"""The stump: one feature, one cut, two values."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from auctor.data import Feature
from auctor.kernels.stump import best_cut


@dataclass(frozen=True)
class Stump:
    """h(x) = 1 for the rows above, 0 for the others.

    Above are, for a number, the codes greater than ``cut``; for a category, the code
    ``cut`` alone; and the missing values where ``missing_above``.
    """

    feature: int
    cut: int
    missing_above: bool
    is_category: bool

    def above(self, n_codes: int) -> npt.NDArray[np.bool_]:
        """Which codes lie above."""
        code = np.arange(n_codes)
        table = code == self.cut if self.is_category else code > self.cut
        if not self.is_category:
            table[0] = self.missing_above
        return table

    def describe(self, features: tuple[Feature, ...]) -> str:
        """The condition for h = 1 in words."""
        feature = features[self.feature]
        if self.is_category:
            value = feature.categories[self.cut - 1] if self.cut else "missing"
            return f"{feature.name} is {value}"
        if self.cut >= feature.n_bins:
            return f"{feature.name} is missing"
        missing = " or missing" if self.missing_above else ""
        return f"{feature.name} > {feature.cuts[self.cut - 1]:g}{missing}"


class StumpSearch:
    """Finds the best stump over the features of a table."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        self._is_category = np.array([feature.is_category for feature in features])

    def best(self, histogram: npt.NDArray[np.int64]) -> Stump | None:
        """The stump with the largest |r| on class histograms (class, feature, code)."""
        j, cut, missing_above, r = best_cut(
            histogram[0], histogram[1], self._n_bins, self._is_category
        )
        if j < 0 or r == 0.0:
            return None
        return Stump(int(j), int(cut), bool(missing_above), bool(self._is_category[j]))
