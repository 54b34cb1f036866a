"""Feature: the name, kind and bins of a column."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from auctor._typing import Floats

Category = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Feature:
    """Name, kind and bins of one column.

    Code 0 is for missing values and for categories that did not occur in training. Codes 1, 2, ...
    are for the intervals between ``cuts`` or for the ``categories``, in order.

    Attributes
    ----------
    name : str
    kind : {"number", "category"}
    cuts : ndarray
        Increasing numbers between the bins; a value equal to a cut is in the bin below it.
    categories : tuple
        The categories; empty for numbers.
    centres : ndarray
        The lower weighted median of the training values in each bin, 0 for a bin without values.
        It is empty for categories, and in models, which do not store it.
    """

    name: str
    kind: Literal["number", "category"]
    cuts: Floats
    categories: tuple[Category, ...] = ()
    centres: Floats = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        self.cuts.flags.writeable = False
        self.centres.flags.writeable = False

    @property
    def n_bins(self) -> int:
        """Number of bins, not counting the one for missing values."""
        return len(self.categories) if self.kind == "category" else len(self.cuts) + 1

    @property
    def is_category(self) -> bool:
        return self.kind == "category"


def number_feature(name: str, cuts: Floats, centres: Floats | None = None) -> Feature:
    """A numeric feature with bins between ``cuts``, and with their ``centres`` if known."""
    return Feature(name, "number", cuts, centres=np.empty(0) if centres is None else centres)


def category_feature(name: str, categories: tuple[Category, ...]) -> Feature:
    """A categorical feature with one bin for each category."""
    return Feature(name, "category", np.empty(0), categories)
