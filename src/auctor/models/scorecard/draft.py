"""Draft: a term on its way from a model to a scorecard, with exact and final points."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature, category_feature, number_feature
from auctor.models.scorecard.axis import Axis
from auctor.models.scorecard.merge_bins import best_groups, best_segments
from auctor.models.scorecard.rounding import round_together


@dataclass(frozen=True, eq=False)
class Draft:
    """A term with a value for each bin of its features, and the bins that the card will have.

    Attributes
    ----------
    name : str
    axes : tuple of Feature
        The features with the bins of the model.
    exact : ndarray
        The exact points of each bin of the model; a middle value where they vary within the bin.
    lowest, highest : ndarray
        The exact points at the ends of each bin; equal to ``exact`` except for a linear model.
    weight : ndarray
        The weight of the rows in each bin of the model.
    groups : tuple of ndarray
        For each axis the bin of the card that each bin of the model goes to; 0 goes to 0.
    points : ndarray
        The points of each bin of the card.
    """

    name: str
    axes: tuple[Feature, ...]
    exact: Floats
    lowest: Floats
    highest: Floats
    weight: Floats
    groups: tuple[Ints, ...]
    points: Floats

    @classmethod
    def start(
        cls,
        name: str,
        axes: tuple[Feature, ...],
        exact: Floats,
        weight: Floats,
        ends: tuple[Floats, Floats] | None = None,
    ) -> "Draft":
        """A draft whose bins are those of the model."""
        groups = tuple(np.arange(size) for size in exact.shape)
        lowest, highest = (exact, exact) if ends is None else ends
        return cls(name, axes, exact, lowest, highest, weight, groups, exact)

    @property
    def on_model_bins(self) -> Floats:
        """The points of the card for each bin of the model."""
        return np.asarray(self.points[np.ix_(*self.groups)])

    @property
    def card_weight(self) -> Floats:
        """The weight of the rows in each bin of the card."""
        return self._summed(self.weight, self.groups)

    def shifted(self, constant: float) -> "Draft":
        """The draft with a constant added to all points, exact and final."""
        arrays = ("exact", "lowest", "highest", "points")
        changes: dict[str, Any] = {name: getattr(self, name) + constant for name in arrays}
        return replace(self, **changes)

    def merged(self, max_bins: int) -> "Draft":
        """The draft with at most ``max_bins`` bins on each axis, besides the one for missing."""
        draft = self
        for k, feature in enumerate(self.axes):
            values = np.moveaxis(draft.points, k, 0)[1:]
            weight = np.moveaxis(draft.card_weight, k, 0)[1:]
            n = len(values)
            search = best_groups if feature.is_category else best_segments
            merged = search(values.reshape(n, -1), weight.reshape(n, -1), max_bins)
            draft = draft._regrouped(k, np.append(0, merged + 1))
        return draft

    def rounded(self, digits: int) -> tuple["Draft", float]:
        """The draft with points of so many decimals, and the average error."""
        unit = 10.0**digits
        points, error = round_together(self.points * unit, self.card_weight)
        return replace(self, points=points / unit), error / unit

    def without_copies(self) -> "Draft":
        """The draft with bins of equal points merged: neighbours of numbers, any categories."""
        draft = self
        for k, feature in enumerate(self.axes):
            rows = np.moveaxis(draft.points, k, 0)[1:].reshape(draft.points.shape[k] - 1, -1)
            if not len(rows):
                continue
            if feature.is_category:
                group = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
            else:
                group = np.append(0, np.cumsum((rows[1:] != rows[:-1]).any(axis=1)))
            draft = draft._regrouped(k, np.append(0, group + 1))
        return draft

    def _regrouped(self, k: int, bin_of: Ints) -> "Draft":
        """The draft with bins of axis k put together; their points are the weighted average."""
        groups = tuple(bin_of[own] if j == k else own for j, own in enumerate(self.groups))
        # Where no row is, all bins count the same.
        least = 1e-9 * (self.weight.mean() or 1.0)
        weight = np.maximum(self.weight, least)
        total = self._summed(weight, groups)
        fine = self.on_model_bins
        mean = self._summed(fine * weight, groups) / total
        # Bins of equal points keep them, to the last bit.
        same = self._extreme(fine, groups, np.minimum, np.inf)
        is_same = same == self._extreme(fine, groups, np.maximum, -np.inf)
        return replace(self, groups=groups, points=np.where(is_same, same, mean))

    @staticmethod
    def _summed(values: Floats, groups: tuple[Ints, ...]) -> Floats:
        out = np.zeros(tuple(int(own.max()) + 1 for own in groups))
        np.add.at(out, np.ix_(*groups), values)
        return out

    @staticmethod
    def _extreme(values: Floats, groups: tuple[Ints, ...], ufunc: np.ufunc, start: float) -> Floats:
        out = np.full(tuple(int(own.max()) + 1 for own in groups), start)
        ufunc.at(out, np.ix_(*groups), values)
        return out

    def errors(self, points: Floats) -> tuple[float, float]:
        """The smallest and largest difference of ``points``, of the model's bins, to the exact."""
        return float((points - self.highest).min()), float((points - self.lowest).max())

    def card_axes(self) -> tuple[Axis, ...]:
        """The bins of the card."""
        return tuple(map(_card_axis, self.axes, self.groups))


def _card_axis(feature: Feature, group: Ints) -> Axis:
    bins = group[1:]
    if not feature.is_category:
        return Axis(number_feature(feature.name, feature.cuts[bins[1:] != bins[:-1]]))
    order = np.argsort(bins, kind="stable")  # a file lists categories by their group
    categories = tuple(feature.categories[i] for i in order.tolist())
    return Axis(category_feature(feature.name, categories), tuple(bins[order].tolist()))
