"""Axis: the bins of one feature on a scorecard, intervals or groups of categories."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from auctor._typing import Ints
from auctor.data import Category, Feature, Table, category_feature, number_feature
from auctor.models.features import code_columns
from auctor.models.fields import Fields
from auctor.models.scorecard.labels import MISSING, OTHER, group_text, interval_texts


@dataclass(frozen=True, eq=False)
class Axis:
    """The bins of a feature; bin 0 is for missing values and unknown categories.

    Attributes
    ----------
    feature : Feature
        A number with the cuts between its intervals, or the categories.
    groups : tuple of int
        The bin of each category, from 1 on; empty for numbers, whose bins are the intervals.
    """

    feature: Feature
    groups: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return self.feature.name

    @property
    def n_bins(self) -> int:
        """Number of bins, not counting the one for missing values."""
        return max(self.groups, default=0) if self.feature.is_category else self.feature.n_bins

    def members(self, group: int) -> tuple[Category, ...]:
        """The categories of a group."""
        pairs = zip(self.feature.categories, self.groups, strict=True)
        return tuple(category for category, own in pairs if own == group)

    def texts(self, most: int = 0) -> list[str]:
        """The bins as text, that of missing values first.

        ``most`` is the largest number of categories of a group that are listed; 0 lists all.
        """
        if not self.feature.is_category:
            return [MISSING, *interval_texts(self.feature.cuts)]
        groups = range(1, self.n_bins + 1)
        return [OTHER, *(group_text(self.members(group), most) for group in groups)]

    def codes(self, table: Table, column: int) -> Ints:
        """The bin of each row; the feature is column ``column`` of the table."""
        codes = code_columns((self.feature,), table, np.array([column]))[0].astype(np.int64)
        return self._bin_of_code[codes] if self.feature.is_category else codes

    @cached_property
    def _bin_of_code(self) -> Ints:
        return np.array([0, *self.groups], dtype=np.int64)

    def body(self) -> dict[str, Any]:
        """The axis as plain JSON values."""
        if not self.feature.is_category:
            return {"feature": self.name, "cuts": self.feature.cuts.tolist()}
        groups = [list(self.members(group)) for group in range(1, self.n_bins + 1)]
        return {"feature": self.name, "groups": groups}


def read_axis(fields: Fields) -> Axis:
    """Read an axis of a scorecard file."""
    name = fields.text("feature")
    if fields.has("cuts"):
        axis = Axis(number_feature(name, fields.increasing("cuts")))
    else:
        groups = fields.items("groups")
        if not all(isinstance(group, list) and group for group in groups):
            raise fields.fail("groups", "lists of one or more categories")
        # All categories of all groups together, so that one cannot occur in two groups.
        whole = Fields({"groups": [item for group in groups for item in group]}, fields.path)
        categories = whole.scalars("groups")
        numbers = tuple(k for k, group in enumerate(groups, start=1) for _ in group)
        axis = Axis(category_feature(name, categories), numbers)
    fields.end()
    return axis
