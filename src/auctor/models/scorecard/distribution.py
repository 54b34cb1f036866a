"""How rows are distributed over the bins of features: from rows, or from a training record."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.kernels.binning import find_cuts
from auctor.models.features import code_columns
from auctor.models.training_record import ColumnSummary, TrainingRecord

N_BINS = 20  # of a number that a linear model multiplies
_NO_WEIGHTS = np.empty(0, dtype=np.int64)


class NumberBins(NamedTuple):
    """A number in intervals: the cuts, and the smallest, middle and largest value of each."""

    cuts: Floats
    low: Floats
    centre: Floats
    high: Floats


class Distribution(Protocol):
    """What the making of a card needs to know of the rows."""

    def weights(self, axes: tuple[Feature, ...]) -> Floats:
        """The weight of the rows in each bin, or in each pair of bins; missing values first."""

    def number_bins(self, name: str, most: int) -> NumberBins | None:
        """At most ``most`` intervals of about equal weight; None if the values are not known."""


@dataclass(frozen=True, eq=False)
class RowsDistribution:
    """The distribution of given rows."""

    table: Table
    columns: dict[str, int]  # name of a feature -> its column in the table
    weight: Floats

    def codes(self, axes: tuple[Feature, ...]) -> list[Ints]:
        """The bins of the rows on each axis."""
        columns = np.array([self.columns[axis.name] for axis in axes])
        return [code.astype(np.int64) for code in code_columns(axes, self.table, columns)]

    def weights(self, axes: tuple[Feature, ...]) -> Floats:
        shape = tuple(axis.n_bins + 1 for axis in axes)
        cell = np.ravel_multi_index(self.codes(axes), shape)
        out: Floats = np.zeros(int(np.prod(shape)))
        np.add.at(out, cell, self.weight)
        return out.reshape(shape)

    def values(self, name: str) -> Floats:
        """The sorted values of a number in the rows of positive weight, without missing ones."""
        values = self.table.numbers(self.columns[name])[self.weight > 0]
        return np.sort(values[~np.isnan(values)])

    def number_bins(self, name: str, most: int) -> NumberBins | None:
        ordered = self.values(name)
        if not len(ordered):
            return None
        cuts = find_cuts(ordered, _NO_WEIGHTS, most)
        stops = np.append(np.searchsorted(ordered, cuts, side="right"), len(ordered))
        starts = np.insert(stops[:-1], 0, 0)
        centre = ordered[(starts + stops - 1) // 2]  # the median of the bin
        return NumberBins(cuts, ordered[starts], centre, ordered[stops - 1])


@dataclass(frozen=True, eq=False)
class RecordDistribution:
    """The distribution of the training rows, as far as the model's training record tells.

    Numbers are spread evenly between the cuts of the record, and the two features of a pair are
    taken as independent. That is good enough to weigh bins, and no more.
    """

    columns: dict[str, ColumnSummary]

    @classmethod
    def of(cls, record: TrainingRecord) -> "RecordDistribution":
        return cls({column.name: column for column in record.columns})

    def weights(self, axes: tuple[Feature, ...]) -> Floats:
        out = np.ones(())
        for axis in axes:
            own = _summary_weights(self.columns[axis.name], axis)
            out = np.multiply.outer(out, own / max(own.sum(), 1.0))
        return out

    def number_bins(self, name: str, most: int) -> NumberBins | None:
        summary = self.columns[name]
        if summary.low is None or summary.high is None:
            return None
        ends = np.array([summary.low, *summary.cuts, summary.high])
        # Halves first: the sum of two large numbers could overflow.
        return NumberBins(summary.cuts, ends[:-1], ends[:-1] / 2 + ends[1:] / 2, ends[1:])


def _summary_weights(summary: ColumnSummary, axis: Feature) -> Floats:
    counts = summary.counts.sum(axis=0).astype(np.float64)
    if axis.is_category:
        return _category_weights(summary, axis, counts)
    if summary.low is None or summary.high is None:
        return np.append(counts[:1], np.zeros(axis.n_bins))
    ends = np.array([summary.low, *summary.cuts, summary.high])
    below = np.append(0.0, np.cumsum(counts[1:]))
    at_cuts = np.interp(axis.cuts, ends, below) if len(axis.cuts) else np.empty(0)
    return np.append(counts[:1], np.diff(np.array([0.0, *at_cuts, below[-1]])))


def _category_weights(summary: ColumnSummary, axis: Feature, counts: Floats) -> Floats:
    known = dict(zip(summary.categories, counts[1:-1].tolist(), strict=True))
    rare = [category for category in axis.categories if category not in known]
    each = counts[-1] / max(len(rare), 1)  # the record counts rare categories together
    return np.array([counts[0], *(known.get(category, each) for category in axis.categories)])


class EqualDistribution:
    """Every bin counts the same: nothing is known of the rows."""

    def weights(self, axes: tuple[Feature, ...]) -> Floats:
        return np.ones(tuple(axis.n_bins + 1 for axis in axes))

    def number_bins(self, name: str, most: int) -> NumberBins | None:
        return None
