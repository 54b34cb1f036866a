"""Scores of an additive model on a sparse table, from the entries that are not 0.

The score of a row is that of a row of zeros, plus a correction for each entry of the row.
"""

from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.data import Feature, SparseTable

# Steps of fitted models are multiples of 2^-32, and the intercept is one of 2^-33. Sums of
# multiples of 2^-33 are exact in any order if they stay below 2^20.
_UNIT = 2.0**-33
_LARGEST = 2.0**20


class ZeroSteps(NamedTuple):
    """The steps that numeric features add where they are 0."""

    steps: dict[int, float]  # only of features whose steps are not all equal
    constant: float  # the sum over all numeric features


def zero_steps(
    features: tuple[Feature, ...], steps: tuple[Floats, ...], intercept: float
) -> ZeroSteps | None:
    """The steps at 0, or None if the last bits of scores would depend on the order of summation."""
    if not _is_exact(steps, intercept):
        return None
    numeric = [j for j, feature in enumerate(features) if not feature.is_category]
    at_zero = {j: _step_at_zero(features[j], steps[j]) for j in numeric}
    varying = {j: step for j, step in at_zero.items() if (steps[j] != step).any()}
    return ZeroSteps(varying, sum(at_zero.values()))


def _is_exact(steps: tuple[Floats, ...], intercept: float) -> bool:
    everything = np.concatenate([*steps, [intercept]])
    starts = np.cumsum([0, *(len(each) for each in steps)])
    with np.errstate(over="ignore"):
        largest = np.maximum.reduceat(np.abs(everything), starts).sum()
    # Half of it, because a correction subtracts the step at 0 before it adds the other one.
    if not largest < _LARGEST / 2:
        return False
    multiples = everything / _UNIT
    return bool((np.rint(multiples) == multiples).all())


def _step_at_zero(feature: Feature, steps: Floats) -> float:
    return float(steps[1 + np.searchsorted(feature.cuts, 0.0)] if len(feature.cuts) else steps[1])


def correct(
    table: SparseTable, column: int, feature: Feature, steps: Floats, at_zero: float, out: Floats
) -> None:
    """Replace the step at 0 by the step of the value, in the rows where the column has an entry."""
    rows, values = table.entries(column)
    codes = 1 + np.searchsorted(feature.cuts, values)
    codes[np.isnan(values)] = 0
    out[rows] += steps[codes] - at_zero  # += is right because a column lists each row once
