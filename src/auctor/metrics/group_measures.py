"""Estimates of a group of rows, each with its limits at any confidence level.

A test of the difference between two groups needs the limits at many levels: its p-value is 1 minus
the level at which the interval of the difference reaches 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.metrics.area import auc_of_sorted
from auctor.metrics.delong import placements
from auctor.metrics.delong import variance as delong_variance
from auctor.metrics.effective import Counted, IndependentRows, independent_rows
from auctor.metrics.influence import (
    effective_sizes,
    group_sums,
    influences,
    known_from,
    variance,
)
from auctor.metrics.limits import auc_limits, degrees
from auctor.metrics.rates import UNKNOWN, Range, clopper_pearson
from auctor.metrics.sample import Sample, sort_classes


class Measure(Protocol):
    """An estimate with its confidence limits."""

    @property
    def value(self) -> float:
        """The estimate; NaN if there is none."""

    def limits(self, level: float) -> Range:
        """The confidence limits; NaN if there are too few rows."""


@dataclass(frozen=True, eq=False)
class Rate:
    """A fraction of rows, with Clopper-Pearson limits at the effective number of rows."""

    value: float
    size: IndependentRows

    def limits(self, level: float) -> Range:
        size = self.size.at((1 - level) / 2)
        return UNKNOWN if size == 0 else clopper_pearson(self.value * size, size, level)


NO_RATE = Rate(math.nan, IndependentRows(0.0))


def make_rate(rows: Counted, counted: Bools, values: Floats) -> Rate:
    """The fraction of ``counted`` rows, which are those with the largest ``values``."""
    if len(counted) == 0:
        return NO_RATE
    if rows.is_plain:
        return Rate(int(counted.sum()) / len(counted), IndependentRows(float(len(counted))))
    weight = rows.weights
    value = min(float(weight[counted].sum() / weight.sum()), 1.0)  # rounding can exceed 1
    return Rate(value, independent_rows(rows, values, value))


@dataclass(frozen=True, eq=False)
class Calibration:
    """Mean predicted probability minus the observed fraction of positives.

    The predictions are taken as given, so that the limits are those of the observed fraction.
    Labels of unequal probabilities vary less than a binomial count of the same mean (Hoeffding
    1956): the limits are conservative.
    """

    predicted: float
    observed: Rate

    @property
    def value(self) -> float:
        return self.predicted - self.observed.value

    def limits(self, level: float) -> Range:
        low, high = self.observed.limits(level)
        return Range(self.predicted - high, self.predicted - low)


class ClusterSums(NamedTuple):
    """The influence of each cluster of rows on the AUC of a group."""

    codes: Ints
    sums: Floats


@dataclass(frozen=True, eq=False)
class Area:
    """An AUC, or a mean of AUCs of several groups, with the limits of ``auc_ci``."""

    value: float
    variance: float
    n_pos: float  # effective rows of each class
    n_neg: float
    n_means: int = 1
    inflation: float = 1.0
    freedom: float | None = None  # with clusters
    pairs: float = 0.0  # weight of the pairs
    clusters: "ClusterSums | None" = None

    def limits(self, level: float) -> Range:
        if not self.has_limits:
            return UNKNOWN
        smaller = min(self.n_pos, self.n_neg)
        freedom = degrees(smaller, self.n_means) if self.freedom is None else self.freedom
        spread = self.variance * self.inflation
        ends = auc_limits(self.value, spread, smaller, smaller, level, self.inflation, freedom)
        return Range(*ends)

    @property
    def has_limits(self) -> bool:
        return not math.isnan(self.variance)


def make_area(sample: Sample, clusters: Ints | None, inflation: float) -> Area:
    """The AUC of a group; NaN without rows of both classes, no limits without two of each."""
    if min(sample.n_pos, sample.n_neg) == 0:
        return Area(math.nan, math.nan, 0.0, 0.0)
    value = auc_of_sorted(sort_classes(sample))
    weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
    pairs = float(weight[sample.positive].sum()) * float(weight[~sample.positive].sum())
    if min(sample.n_pos, sample.n_neg) < 2:
        return Area(value, math.nan, 1.0, 1.0, pairs=pairs)
    if clusters is None:
        n_pos, n_neg = effective_sizes(sample)
        # As `auc_ci` computes them, so that the limits agree to the last bit.
        if sample.weight is None:
            spread = delong_variance(placements(sort_classes(sample)))
        else:
            spread = variance(influences(sample), sample)
        return Area(value, spread, n_pos, n_neg, inflation=inflation, pairs=pairs)
    of_rows = influences(sample)
    # Codes from 0 without gaps: the sums below have a place for every code up to the largest.
    distinct, codes = np.unique(clusters, return_inverse=True)
    spread = variance(of_rows, sample, codes)
    n_rows, freedom = known_from(of_rows, sample, codes)
    sums = ClusterSums(distinct, group_sums(of_rows, sample.positive, codes))
    return Area(value, spread, n_rows, n_rows, 1, inflation, freedom, pairs, sums)


def mean_area(areas: Sequence[Area]) -> Area:
    """The AUC within several groups: the fraction of the pairs within a group that are in order.

    Pairs of rows of different groups do not count. They would make the AUC of the union larger
    than that of each group wherever groups have different fractions of positives.
    """
    known = [area for area in areas if area.has_limits]
    if len(known) <= 1:
        return known[0] if known else Area(math.nan, math.nan, 0.0, 0.0)
    columns = np.array([(a.value, a.variance, a.n_pos, a.n_neg, a.pairs) for a in known]).T
    fraction = columns[4] / columns[4].sum()
    own = float((fraction**2 * columns[1]).sum())
    shared = _shared_variance(known, fraction)
    independent = own / (own + shared) if shared > 0 else 1.0  # of the rows
    freedoms = [area.freedom for area in known if area.freedom is not None]
    return Area(
        value=float((fraction * columns[0]).sum()),
        variance=own + shared,
        n_pos=float(columns[2].sum()) * independent,
        n_neg=float(columns[3].sum()) * independent,
        n_means=len(known),
        inflation=known[0].inflation,
        freedom=sum(freedoms) * independent if freedoms else None,
        pairs=float(columns[4].sum()),
    )


def _shared_variance(areas: Sequence[Area], fraction: Floats) -> float:
    """What clusters with rows in several groups add to the variance of a mean of AUCs.

    The variance of a sum is that of its terms and twice their covariances, which are the products
    of the influences of a cluster on the AUCs of two groups. It is 0 if no cluster is in two
    groups, and a negative sum, which would narrow the limits, counts as 0.
    """
    known = [(f, area.clusters) for f, area in zip(fraction, areas, strict=True) if area.clusters]
    if not known:
        return 0.0
    codes = np.concatenate([of.codes for _, of in known])
    parts = np.concatenate([f * of.sums for f, of in known])
    total = np.bincount(codes, parts)
    return max(float(np.square(total).sum() - np.square(parts).sum()), 0.0)
