"""What is known of one column after binning."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from auctor._typing import Floats

Category = str | int | float | bool


@dataclass(frozen=True, eq=False)
class Feature:
    """Name, kind and bins of one column.

    Code 0 is for missing values and categories never seen. Codes 1, 2, ... are the
    intervals between ``cuts`` (a value on a cut belongs below it) or the ``categories``
    in order.

    ``centres`` holds a typical value of each interval: the lower weighted median of the
    training values in it, 0 where none is known. It is empty for categories, and for
    features whose training values are not at hand, as in models.
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
        """Number of bins, the one for missing values not counted."""
        return len(self.categories) if self.kind == "category" else len(self.cuts) + 1

    @property
    def is_category(self) -> bool:
        return self.kind == "category"


def number_feature(name: str, cuts: Floats, centres: Floats | None = None) -> Feature:
    """A numeric feature with bins between ``cuts``, and the ``centres`` of these if known."""
    return Feature(name, "number", cuts, centres=np.empty(0) if centres is None else centres)


def category_feature(name: str, categories: tuple[Category, ...]) -> Feature:
    """A categorical feature with one bin per category."""
    return Feature(name, "category", np.empty(0), categories)
