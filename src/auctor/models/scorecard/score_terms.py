"""The terms of a model's score in a neutral form, from which a scorecard is made."""

from dataclasses import dataclass

from auctor._typing import Floats
from auctor.data import Feature


@dataclass(frozen=True, eq=False)
class StepTerm:
    """A term with a value for each bin of a feature, or for each pair of bins of two features.

    Bin 0 of each axis is for missing values and unknown categories.
    """

    name: str
    axes: tuple[Feature, ...]
    values: Floats


@dataclass(frozen=True)
class LineTerm:
    """A term of ``weight`` times a number, or ``missing`` where the number is missing."""

    name: str
    weight: float
    missing: float


ScoreTerm = StepTerm | LineTerm
