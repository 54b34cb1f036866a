"""The average of each term of an additive model over the training rows."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Indices
from auctor.data import Feature, RankingData
from auctor.models import Reference, Surface, on_grid
from auctor.models.reference import weighted_mean


def average_terms(
    data: RankingData, tables: Sequence[Floats], surfaces: Sequence[Surface] = ()
) -> Reference:
    """The average of each feature's table, then of each surface, over the rows of the data.

    Rows count by their weights, which are whole numbers: the result has the same bits for any order
    of the rows, any partitions, and weights times a constant. Averages are rounded to the grid of
    the steps, so that contributions minus their averages add up exactly.
    """
    averages = [_average_table(data, j, table) for j, table in enumerate(tables)]
    averages += [_average_cell(data, surface) for surface in surfaces]
    return Reference(on_grid(np.array(averages)))


def _average_table(data: RankingData, j: int, table: Floats) -> float:
    if not table.any():  # most features of a wide table
        return 0.0
    counts = [_count(part.codes[j], part.weight, len(table)) for part in data.partitions]
    return weighted_mean(table, _fraction(counts))


def _average_cell(data: RankingData, surface: Surface) -> float:
    (a, b), axes = surface.features, surface.axes
    first, second = codes_in(data.features[a], axes[0]), codes_in(data.features[b], axes[1])
    width, size = surface.values.shape[1], surface.values.size
    counts = [
        _count(first[part.codes[a]] * width + second[part.codes[b]], part.weight, size)
        for part in data.partitions
    ]
    return weighted_mean(surface.values.ravel(), _fraction(counts))


def _count(codes: npt.NDArray[np.integer], weight: npt.NDArray[np.uint32], size: int) -> Floats:
    """The weight of each code: sums of whole numbers below 2^53, which are exact in floats."""
    return np.bincount(codes, weights=weight, minlength=size).astype(np.float64)


def _fraction(counts: list[Floats]) -> Floats:
    """The counts of all partitions, divided by their total."""
    total = np.sum(counts, axis=0)
    return np.asarray(total / total.sum())


def codes_in(feature: Feature, coarser: Feature) -> Indices:
    """For each code of ``feature`` the code of ``coarser``, whose cuts are a subset of its cuts.

    This does not hold for a model with an init, which has other cuts.
    """
    if feature.is_category:
        known = {category: code for code, category in enumerate(coarser.categories, start=1)}
        return np.array([0, *(known.get(category, 0) for category in feature.categories)])
    ends = np.append(feature.cuts, np.inf)
    return np.concatenate([[0], 1 + np.searchsorted(coarser.cuts, ends)])
