"""Rows divided into groups: the estimates of each group, and of the other groups together."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from auctor._typing import Bools, Floats, Indices, Ints
from auctor.metrics.effective import Counted, kish
from auctor.metrics.group_measures import (
    Area,
    Calibration,
    Measure,
    Rate,
    calibration_without,
    make_area,
    make_rate,
    mean_area,
    rate_without,
)
from auctor.metrics.group_table import OTHERS, GroupEstimate, GroupRow, GroupTable, GroupTest
from auctor.metrics.group_tests import compare_measures, holm
from auctor.metrics.group_values import GroupValues
from auctor.metrics.sample import Sample
from auctor.metrics.thresholds import count_rows, is_flagged

TESTED = ("auc", "calibration", "tpr", "fpr")


class GroupPart:
    """Some of the rows, with their estimates."""

    def __init__(self, sample: Sample, clusters: Ints | None, threshold: float) -> None:
        self.sample, self.clusters = sample, clusters
        self.flagged = is_flagged(sample.scores[0], threshold)
        self.rows = count_rows(sample, None)._replace(codes=clusters)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Effective numbers of positive and of negative rows: at most the clusters of each."""
        positive = self.sample.positive
        return self._size(positive), self._size(~positive)

    def _size(self, of: Bools) -> float:
        rows = self.rows.take(of)
        if len(rows.scores) == 0:
            return 0.0
        size = kish(rows.weights)
        return size if rows.codes is None else min(size, float(len(np.unique(rows.codes))))

    def area(self, inflation: float) -> Area:
        """The AUC of these rows."""
        return make_area(self.sample, self.clusters, inflation)

    @cached_property
    def rates(self) -> dict[str, Measure]:
        """The estimates at the threshold, and the calibration if there are probabilities."""
        positive, scores = self.sample.positive, self.sample.scores
        found: dict[str, Measure] = {
            "flagged": make_rate(self.rows, self.flagged, scores[0]),
            "tpr": self._class_rate(positive),
            "fpr": self._class_rate(~positive),
        }
        if len(scores) > 1:
            observed = make_rate(self.rows, positive, positive.astype(np.float64))
            found["calibration"] = Calibration(_mean(self.rows, scores[1]), observed)
        return found

    def _class_rate(self, of: Bools) -> Rate:
        return make_rate(self.rows.take(of), self.flagged[of], self.rows.scores[of])


def _mean(rows: Counted, values: Floats) -> float:
    return float((rows.weights * values).sum() / rows.weights.sum())


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Validated rows with their groups; ``sample`` may have probabilities as its second score."""

    sample: Sample
    values: GroupValues
    clusters: Ints | None
    threshold: float
    inflation: float = 1.0

    def take(self, rows: Indices | Bools) -> GroupPart:
        """Some of the rows."""
        sample = self.sample
        part = Sample(
            sample.positive[rows],
            tuple(score[rows] for score in sample.scores),
            None if sample.weight is None else sample.weight[rows],
            sample.pos_label,
            None,
        )
        return GroupPart(
            part, None if self.clusters is None else self.clusters[rows], self.threshold
        )

    @cached_property
    def whole(self) -> GroupPart:
        """All rows."""
        return self.take(np.ones(len(self.sample.positive), dtype=bool))

    @cached_property
    def parts(self) -> list[GroupPart]:
        """The rows of each group."""
        order = np.argsort(self.values.codes, kind="stable")
        sizes = np.bincount(self.values.codes, minlength=len(self.values.names))
        return [self.take(rows) for rows in np.split(order, np.cumsum(sizes)[:-1])]

    @cached_property
    def measures(self) -> list[dict[str, Measure]]:
        """The estimates of each group."""
        areas = [part.area(self.inflation) for part in self.parts]
        return [{"auc": area, **part.rates} for area, part in zip(areas, self.parts, strict=True)]

    def table(self, compare: str, min_rows: float, level: float) -> GroupTable:
        """Estimate every group and test the differences."""
        whole = self.whole
        overall = _row("all rows", whole, {"auc": whole.area(self.inflation), **whole.rates}, level)
        groups = [
            replace(_row(name, part, of, level), is_small=min(part.sizes) < min_rows)
            for name, part, of in zip(self.values.names, self.parts, self.measures, strict=True)
        ]
        large = [k for k, group in enumerate(groups) if not group.is_small]
        # Two groups against each other are one comparison, not two.
        by_pairs = compare == "pairs" or len(large) == 2
        tests = self._pairs(large, level) if by_pairs else self._rest(large, min_rows, level)
        return GroupTable(
            overall=overall,
            groups=tuple(groups),
            tests=_corrected(tests),
            threshold=self.threshold,
            level=level,
            min_rows=min_rows,
            n_distinct=self.values.binned,
        )

    def _pairs(self, large: list[int], level: float) -> Iterator[GroupTest]:
        """Tests of every two groups."""
        for a, b in combinations(large, 2):
            of = self.measures[a], self.measures[b]
            yield from _tests(self.values.names[a], self.values.names[b], *of, level)

    def _rest(self, large: list[int], min_rows: float, level: float) -> Iterator[GroupTest]:
        """Tests of each group against the others together."""
        areas = [of["auc"] for of in self.measures]
        for k in large:
            sizes, rates = self._others(k)
            if min(sizes) < min_rows:
                continue
            within = mean_area([a for j, a in enumerate(areas) if j != k and isinstance(a, Area)])
            rest: dict[str, Measure] = {"auc": within, **rates}
            yield from _tests(self.values.names[k], OTHERS, self.measures[k], rest, level)

    def _others(self, k: int) -> tuple[tuple[float, float], dict[str, Measure]]:
        """Effective rows of each class, and estimates, of all rows but those of group k."""
        if not self.whole.rows.is_plain:
            part = self.take(self.values.codes != k)
            return part.sizes, part.rates
        own, rates = self.measures[k], dict[str, Measure]()  # counts: no look at the rows
        for name, whole in self.whole.rates.items():
            of = own[name]
            if isinstance(whole, Rate) and isinstance(of, Rate):
                rates[name] = rate_without(whole, of)
            elif isinstance(whole, Calibration) and isinstance(of, Calibration):
                rates[name] = calibration_without(whole, of)
        n_pos, n_neg = (a - b for a, b in zip(self.whole.sizes, self.parts[k].sizes, strict=True))
        return (n_pos, n_neg), rates


def _row(name: str, part: GroupPart, measures: dict[str, Measure], level: float) -> GroupRow:
    """The estimates of a group with their intervals."""
    estimates = {key: GroupEstimate(of.value, *of.limits(level)) for key, of in measures.items()}
    effective_pos, effective_neg = part.sizes
    return GroupRow(
        name=name,
        n_rows=len(part.sample.positive),
        n_pos=part.sample.n_pos,
        n_neg=part.sample.n_neg,
        effective_pos=effective_pos,
        effective_neg=effective_neg,
        auc=estimates["auc"],
        calibration=estimates.get("calibration"),
        flagged=estimates["flagged"],
        tpr=estimates["tpr"],
        fpr=estimates["fpr"],
        is_small=False,
    )


def _tests(
    name: str, other: str, a: dict[str, Measure], b: dict[str, Measure], level: float
) -> Iterator[GroupTest]:
    """The tests of all measures between two groups, not yet corrected."""
    for measure in TESTED:
        if measure not in a or not all(_has_limits(of[measure]) for of in (a, b)):
            continue  # no other group has two rows of each class
        result = compare_measures(a[measure], b[measure], level)
        values = a[measure].value, b[measure].value
        ends = result.low, result.high
        yield GroupTest(
            name, other, measure, *values, result.value, *ends, result.p_value, result.p_value
        )


def _has_limits(measure: Measure) -> bool:
    return not math.isnan(measure.limits(0.5).low)


def _corrected(tests: Iterator[GroupTest]) -> tuple[GroupTest, ...]:
    """The tests with Holm's adjusted p-values."""
    found = list(tests)
    adjusted = holm([test.p_value for test in found])
    return tuple(
        replace(test, p_adjusted=float(p)) for test, p in zip(found, adjusted, strict=True)
    )
