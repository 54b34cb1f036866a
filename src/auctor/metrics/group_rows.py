"""Rows divided into groups: the estimates of each group, and of the other groups together."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Indices, Ints
from auctor.metrics.effective import Counted, kish
from auctor.metrics.group_measures import (
    Area,
    Calibration,
    Measure,
    Rate,
    make_area,
    make_rate,
    mean_area,
)
from auctor.metrics.group_rest import CancelledError, RestRates
from auctor.metrics.group_table import (
    MEASURES,
    OTHERS,
    GroupEstimate,
    GroupRow,
    GroupTable,
    GroupTest,
)
from auctor.metrics.group_tests import compare_measures, holm
from auctor.metrics.group_values import GroupValues
from auctor.metrics.sample import Sample
from auctor.metrics.thresholds import count_rows, is_flagged

TESTED = ("auc", "calibration", "tpr", "fpr")


class Sizes(NamedTuple):
    """Effective numbers of positive rows, of negative rows, and of all rows."""

    pos: float
    neg: float
    rows: float

    def of(self, measure: str) -> float:
        """The number of rows that a measure is estimated from; for the AUC, of the smaller class.

        Examples
        --------
        >>> [Sizes(40.0, 3.0, 43.0).of(measure) for measure in ("auc", "tpr", "fpr", "flagged")]
        [3.0, 40.0, 3.0, 43.0]
        """
        sizes = {"auc": min(self.pos, self.neg), "tpr": self.pos, "fpr": self.neg}
        return sizes.get(measure, self.rows)


class GroupPart:
    """Some of the rows, with their estimates."""

    def __init__(self, sample: Sample, clusters: Ints | None, threshold: float) -> None:
        self.sample, self.clusters = sample, clusters
        self.flagged = is_flagged(sample.scores[0], threshold)
        self.rows = count_rows(sample, None)._replace(codes=clusters)

    @cached_property
    def sizes(self) -> Sizes:
        """Effective numbers of rows: at most the number of clusters."""
        positive = self.sample.positive
        return Sizes(*map(self._size, (positive, ~positive, np.ones_like(positive))))

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
        results: dict[str, Measure] = {
            "flagged": make_rate(self.rows, self.flagged, scores[0]),
            "tpr": self._class_rate(positive),
            "fpr": self._class_rate(~positive),
        }
        if len(scores) > 1:
            observed = make_rate(self.rows, positive, positive.astype(np.float64))
            results["calibration"] = Calibration(_mean(self.rows, scores[1]), observed)
        return results

    def _class_rate(self, of: Bools) -> Rate:
        return make_rate(self.rows.take(of), self.flagged[of], self.rows.scores[of])


def _mean(rows: Counted, values: Floats) -> float:
    return float((rows.weights * values).sum() / rows.weights.sum())


class Pair(NamedTuple):
    """Two estimates to be compared, with the position of the first group and both names."""

    position: int
    name: str
    other: str
    a: Measure
    b: Measure


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
            replace(_row(name, part, of, level), too_small=_too_small(part, of, min_rows))
            for name, part, of in zip(self.values.names, self.parts, self.measures, strict=True)
        ]
        return GroupTable(
            overall=overall,
            groups=tuple(groups),
            tests=_corrected(self._tests(groups, compare, min_rows, level)),
            threshold=self.threshold,
            level=level,
            min_rows=min_rows,
            compare=compare,
            n_distinct=self.values.binned,
        )

    def _tests(
        self, groups: list[GroupRow], compare: str, min_rows: float, level: float
    ) -> list[GroupTest]:
        """The tests of all measures, in the order of the groups; not yet corrected."""
        tests: list[tuple[int, GroupTest]] = []
        for measure in TESTED:
            if measure not in self.measures[0]:
                continue
            large = [k for k, group in enumerate(groups) if measure not in group.too_small]
            # Two groups against each other are one comparison, not two.
            by_pairs = compare == "pairs" or len(large) == 2
            pairs = self._pairs(large, measure)
            tests += _compared(
                pairs if by_pairs else self._rest(large, measure, min_rows), measure, level
            )
        return [test for _, test in sorted(tests, key=lambda one: one[0])]  # stable

    def _pairs(self, large: list[int], measure: str) -> Iterator[Pair]:
        """Every two groups."""
        names = self.values.names
        for a, b in combinations(large, 2):
            yield Pair(a, names[a], names[b], self.measures[a][measure], self.measures[b][measure])

    def _rest(self, large: list[int], measure: str, min_rows: float) -> Iterator[Pair]:
        """Each group with the others together."""
        for k in large:
            sizes, rates = self._others[k]
            if sizes.of(measure) < min_rows:
                continue
            others = self._area_of_others(k) if measure == "auc" else rates[measure]
            yield Pair(k, self.values.names[k], OTHERS, self.measures[k][measure], others)

    def _area_of_others(self, k: int) -> Area:
        areas = (of["auc"] for j, of in enumerate(self.measures) if j != k)
        return mean_area([area for area in areas if isinstance(area, Area)])

    @cached_property
    def _others(self) -> list[tuple[Sizes, dict[str, Measure]]]:
        """Effective rows and estimates of all rows but those of each group."""
        return [self._without(k) for k in range(len(self.values.names))]

    def _without(self, k: int) -> tuple[Sizes, dict[str, Measure]]:
        rates = self._rest_rates
        try:
            tpr, fpr, observed = (rates[name].without(k) for name in ("tpr", "fpr", "observed"))
        except CancelledError:  # look at the rows: seldom, for a group with nearly all the weight
            part = self.take(self.values.codes != k)
            return part.sizes, part.rates
        results: dict[str, Measure] = {"tpr": tpr.rate, "fpr": fpr.rate}
        if len(self.sample.scores) > 1:
            results["calibration"] = Calibration(self._predicted_without(k), observed.rate)
        return Sizes(tpr.n_rows, fpr.n_rows, observed.n_rows), results

    @cached_property
    def _rest_rates(self) -> dict[str, RestRates]:
        """The rates of the rows of all groups but one."""
        whole, codes = self.whole, self.values.codes
        positive = self.sample.positive
        classes = {"tpr": positive, "fpr": ~positive}
        results = {
            name: RestRates(
                whole.rows.take(of), whole.flagged[of], whole.rows.scores[of], codes[of]
            )
            for name, of in classes.items()
        }
        labels = positive.astype(np.float64)
        return results | {"observed": RestRates(whole.rows, positive, labels, codes)}

    def _predicted_without(self, k: int) -> float:
        """The mean predicted probability of all rows but those of group k."""
        predicted, weight = self._predicted
        others = weight.sum() - weight[k]
        return float((predicted.sum() - predicted[k]) / others) if others > 0 else math.nan

    @cached_property
    def _predicted(self) -> tuple[Floats, Floats]:
        """Sums over the rows of each group: of weighted probabilities, and of weights."""
        codes, weight = self.values.codes, self.whole.rows.weights
        weight = weight / weight.max()
        predicted = np.bincount(codes, weight * self.sample.scores[1]).astype(np.float64)
        return predicted, np.bincount(codes, weight).astype(np.float64)


def _too_small(part: GroupPart, measures: dict[str, Measure], min_rows: float) -> tuple[str, ...]:
    """The measures for which a group has too few rows."""
    return tuple(name for name in MEASURES if name in measures and part.sizes.of(name) < min_rows)


def _row(name: str, part: GroupPart, measures: dict[str, Measure], level: float) -> GroupRow:
    """The estimates of a group with their intervals."""
    estimates = {key: GroupEstimate(of.value, *of.limits(level)) for key, of in measures.items()}
    return GroupRow(
        name=name,
        n_rows=len(part.sample.positive),
        n_pos=part.sample.n_pos,
        n_neg=part.sample.n_neg,
        effective_pos=part.sizes.pos,
        effective_neg=part.sizes.neg,
        effective_rows=part.sizes.rows,
        auc=estimates["auc"],
        calibration=estimates.get("calibration"),
        flagged=estimates["flagged"],
        tpr=estimates["tpr"],
        fpr=estimates["fpr"],
        too_small=(),
    )


def _compared(pairs: Iterator[Pair], measure: str, level: float) -> Iterator[tuple[int, GroupTest]]:
    """The tests of one measure with the position of their group, not yet corrected."""
    for position, name, other, a, b in pairs:
        if not (_has_limits(a) and _has_limits(b)):
            continue  # no other group has two rows of each class
        result = compare_measures(a, b, level)
        values, p = (a.value, b.value, result.value, result.low, result.high), result.p_value
        yield position, GroupTest(name, other, measure, *values, p, p)


def _has_limits(measure: Measure) -> bool:
    return not math.isnan(measure.limits(0.5).low)


def _corrected(tests: list[GroupTest]) -> tuple[GroupTest, ...]:
    """The tests with Holm's adjusted p-values."""
    adjusted = holm([test.p_value for test in tests])
    return tuple(
        replace(test, p_adjusted=float(p)) for test, p in zip(tests, adjusted, strict=True)
    )
