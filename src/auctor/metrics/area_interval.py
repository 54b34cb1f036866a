"""Confidence interval of a partial AUC.

Over a range of false positive rates the partial AUC is an AUC in which only some negatives count:
those whose scores lie between the thresholds at the two ends of the range. Its variance follows
from the contribution of each row, as DeLong's does (He and Escobar 2008). A positive row
contributes the part of the range whose thresholds lie below its score; a negative row contributes
the true positive rate at its score, clipped to the rates at the ends of the range. A range of true
positive rates is the same problem with the classes exchanged.
"""

from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._checks import check_choice, check_level, check_one, check_region, check_whole
from auctor._typing import Floats, Ints
from auctor.metrics.bootstrap import Resampling, make_generator
from auctor.metrics.curve import RocCurve, axis_of, curve_of_sample
from auctor.metrics.curve_blocks import block_sum, interpolate
from auctor.metrics.curve_estimates import area_variance
from auctor.metrics.curve_intervals import MetricInterval, Setting, read_rows
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.folds import Part, PooledRows, describe_folds, pool_rows
from auctor.metrics.influence import (
    Influences,
    effective_sizes,
    fraction_below,
    known_from,
    variance,
)
from auctor.metrics.limits import auc_limits, degrees
from auctor.metrics.sample import Sample, split

METHODS = ("wilson", "bootstrap")
# Effective number of rows of the class whose rate is restricted, per row inside the range: the
# rows outside it help to locate its ends. Chosen by simulation, as the narrowest interval that
# covers.
_ROWS_PER_ROW = 1.5
_MIN_ROWS, _MIN_DEGREES = 0.75, 2.0


def partial_auc_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    scaled: bool = False,
    level: float = 0.95,
    method: Literal["wilson", "bootstrap"] = "wilson",
    n_resamples: int = 300,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = 0,
) -> MetricInterval:
    """Confidence interval of a partial AUC.

    The interval has Wilson's limits at the effective number of pairs, as in
    :func:`auctor.metrics.auc_ci`. Only the rows inside the range count for this number, so that
    an area over few rows has a wide interval even if all of them are in the right order.

    The rows (or the groups) are assumed to be independent, and the score not to have been fitted
    to them. docs/coverage.md has the measured coverage.

    Parameters
    ----------
    y_true, y_score, fpr_range, tpr_range, scaled, sample_weight, pos_label
        As in :func:`auctor.metrics.partial_auc`. Each class needs at least two rows.
    level : float, default=0.95
        Confidence level.
    method : {"wilson", "bootstrap"}, default="wilson"
        How the variance is estimated: from the contribution of each row to the area ("wilson"),
        or from resamples ("bootstrap"). The limits are Wilson's in both cases.
    n_resamples : int, default=300
        Number of bootstrap resamples.
    groups, folds, instability
        As in :func:`auctor.metrics.ks_ci`.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the bootstrap. Results are reproducible by default; None gives new random numbers
        in every call.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> from auctor.metrics import partial_auc_ci
    >>> y, s = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [1, 2, 3, 5, 7, 4, 6, 8, 9, 10]
    >>> partial_auc_ci(y, s, fpr_range=(0, 0.4), scaled=True)
    scaled partial AUC 0.812 over fpr 0 to 0.4 (95% CI 0.474 to 0.990,
    variance of the row contributions, Wilson's limits, 5 positives, 5 negatives)
    """
    name, ends = check_one(fpr_range=fpr_range, tpr_range=tpr_range)
    region = Region(name.removesuffix("_range"), *check_region(ends, name), scaled)
    level = check_level(level)
    check_choice(method, METHODS)
    n_resamples = check_whole(n_resamples, "n_resamples", minimum=2)
    sample = read_rows(y_true, y_score, sample_weight, pos_label)
    rows = pool_rows(sample, folds=folds, instability=instability, groups=groups)
    resampling = Resampling(rows.groups, n_resamples, make_generator(random_state))
    return _measure(region, rows, level, resampling if method == "bootstrap" else None)


class Region(NamedTuple):
    """A range of one of the rates; areas are kept as fractions of its width."""

    name: str
    low: float
    high: float
    scaled: bool

    @property
    def width(self) -> float:
        return self.high - self.low

    def fraction(self, curve: RocCurve) -> float:
        """The area as a fraction of the largest possible one."""
        ends = (self.low, self.high)
        fpr_range, tpr_range = (ends, None) if self.name == "fpr" else (None, ends)
        return curve.partial_auc(fpr_range=fpr_range, tpr_range=tpr_range) / self.width

    def area(self, fraction: float) -> float:
        """The area, or McClish's scaled area, of a fraction of the largest possible area."""
        if not self.scaled:
            return fraction * self.width
        low, high = (self.low, self.high) if self.name == "fpr" else (1 - self.high, 1 - self.low)
        chance = (low + high) / 2
        return (1 + (fraction - chance) / (1 - chance)) / 2


class AreaEstimate(NamedTuple):
    """An area as a fraction, its variance, and the effective rows and degrees of freedom."""

    fraction: float
    variance: float
    n_rows: float
    freedom: float


def _measure(
    region: Region, rows: PooledRows, level: float, resampling: Resampling | None
) -> MetricInterval:
    """Estimate an area and its interval."""
    sample = rows.sample
    method = describe_folds(_method(rows.groups, resampling), rows.n_folds, rows.inflation)
    setting = Setting((sample.n_pos, sample.n_neg), level, method, rows.n_folds, rows.inflation)
    return _interval(region, _estimate(rows, region, resampling), setting)


def _interval(region: Region, estimate: AreaEstimate, rows: Setting) -> MetricInterval:
    n_rows, level = estimate.n_rows, rows.level
    ends = auc_limits(
        estimate.fraction,
        estimate.variance,
        n_rows,
        n_rows,
        level,
        rows.inflation,
        estimate.freedom,
    )
    low, high = (region.area(end) for end in ends)
    return MetricInterval(
        "scaled partial AUC" if region.scaled else "partial AUC",
        f"over {region.name} {region.low:g} to {region.high:g}",
        region.area(estimate.fraction),
        low,
        high,
        level,
        f"{rows.method}, Wilson's limits",
        (region.area(1.0) - region.area(0.0)) * float(np.sqrt(estimate.variance)),
        *rows.sizes,
        rows.n_folds,
    )


def _method(groups: Ints | None, resampling: Resampling | None) -> str:
    """How the variance was estimated."""
    if resampling is not None:
        return resampling.name
    return f"variance of the {'row' if groups is None else 'group'} contributions"


def _estimate(rows: PooledRows, region: Region, resampling: Resampling | None) -> AreaEstimate:
    sample, groups = rows.sample, rows.groups
    if sample.weight is None and groups is None and resampling is None:
        return _estimate_of_curve(curve_of_sample(sample), region, rows.inflation)
    of_rows = area_influences(sample, region.name, (region.low, region.high))
    if resampling is None:
        spread = variance(of_rows, sample, groups)
    else:
        spread = area_variance(Part(sample, resampling), region.fraction)
    fraction = region.fraction(curve_of_sample(sample))
    n_restricted = effective_sizes(sample, groups)[1 if region.name == "fpr" else 0]
    known = known_from(of_rows, sample, groups)
    return _limited(fraction, rows.inflation * spread, known, region.width * n_restricted)


def _limited(
    fraction: float, spread: float, known: tuple[float, float], n_inside: float
) -> AreaEstimate:
    """The estimate with effective rows and degrees of freedom by the rows inside the range."""
    n_rows, freedom = known
    inside = max(_ROWS_PER_ROW * n_inside, _MIN_ROWS)
    freedom = min(freedom, max(degrees(inside), _MIN_DEGREES))
    return AreaEstimate(fraction, spread, min(n_rows, inside), freedom)


def area_interval(curve: RocCurve, region: Region, level: float = 0.95) -> MetricInterval:
    """The interval of a partial AUC of rows without weights and groups, by their curve."""
    check_two_of_each(curve.n_pos, curve.n_neg)
    sizes = curve.n_pos, curve.n_neg
    return _interval(
        region, _estimate_of_curve(curve, region, 1.0), Setting(sizes, level, _method(None, None))
    )


def _estimate_of_curve(curve: RocCurve, region: Region, inflation: float) -> AreaEstimate:
    sizes = float(curve.n_pos), float(curve.n_neg)
    n_rows = min(sizes)
    spread = inflation * _plain_variance(curve, region)
    n_inside = region.width * sizes[1 if region.name == "fpr" else 0]
    return _limited(region.fraction(curve), spread, (n_rows, degrees(n_rows)), n_inside)


def _plain_variance(curve: RocCurve, region: Region) -> float:
    """The variance of the contributions of the rows, as in ``area_influences``, by steps."""
    return _class_variance(curve, region, "pos") + _class_variance(curve, region, "neg")


def _class_variance(curve: RocCurve, region: Region, which: str) -> float:
    n = curve.n_pos if which == "pos" else curve.n_neg
    n_points = len(curve.thresholds)
    steps = partial(_contributions, curve, region.name, (region.low, region.high), which)
    mean = block_sum(n_points, lambda part: np.multiply(*steps(part))) / n
    return block_sum(n_points, lambda part: _squares(*steps(part), mean, n)) * n / max(n - 1, 1e-9)


def _squares(counts: Floats, values: Floats, mean: float, n: int) -> Floats:
    return np.asarray(counts * ((values - mean) / n) ** 2)


def _contributions(
    curve: RocCurve, name: str, ends: tuple[float, float], which: str, part: slice
) -> tuple[Floats, Floats]:
    """The rows of a class in each step, and what each adds to the area.

    Over a range of true positive rates the classes and the direction of the scores are exchanged.
    """
    own, other = curve.true_positives, curve.false_positives
    low, high = ends
    if name == "tpr":
        own, other = other, own
        low, high = 1 - high, 1 - low
    is_own = (which == "pos") == (name == "fpr")
    counts = np.diff((own if is_own else other)[part])
    theirs, total = (other, float(other[-1])) if is_own else (own, float(own[-1]))
    # The fraction of the other class above a row of this step; a tie counts one half.
    above = (theirs[part][1:] + theirs[part][:-1]) / (2.0 * total)
    if name == "tpr":
        above = 1.0 - above
    if is_own:
        return counts, (high - np.clip(above, low, high)) / (high - low)
    least, most = _heights(curve, name, low, high)
    return counts, np.clip(above, least, most) / (high - low)


def _heights(curve: RocCurve, name: str, low: float, high: float) -> tuple[float, float]:
    """The other rate at the ends of the range."""
    fpr, tpr = axis_of(curve, "fpr"), axis_of(curve, "tpr")
    if name == "fpr":
        return interpolate(low, fpr, tpr), interpolate(high, fpr, tpr)
    # With classes exchanged and scores reversed, the axes are 1 - tpr and 1 - fpr.
    low, high = (interpolate(1 - end, tpr, fpr, first=True) for end in (low, high))
    return 1 - low, 1 - high


def area_influences(sample: Sample, name: str, ends: tuple[float, float]) -> Influences:
    """Contribution of each row to the area, as a fraction of the width of the range."""
    if name == "tpr":  # the same with the classes exchanged and the scores reversed
        reversed_sample = sample._replace(
            positive=~sample.positive, scores=tuple(-score for score in sample.scores)
        )
        of_rows = area_influences(reversed_sample, "fpr", (1 - ends[1], 1 - ends[0]))
        return Influences(of_rows.auc, of_rows.neg, of_rows.pos)
    low, high = ends
    pos, neg = split(sample.scores[0], sample.positive)
    weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
    weight_pos, weight_neg = split(weight, sample.positive)
    fpr_at_pos = 1.0 - fraction_below(pos, neg, weight_neg)
    tpr_at_neg = 1.0 - fraction_below(neg, pos, weight_pos)
    curve = curve_of_sample(sample)
    least, most = np.interp([low, high], curve.fpr, curve.tpr)
    added_pos = (high - np.clip(fpr_at_pos, low, high)) / (high - low)
    added_neg = np.clip(tpr_at_neg, least, most) / (high - low)
    return Influences(
        float(_mean(added_pos, weight_pos)),
        _centred(added_pos, weight_pos),
        _centred(added_neg, weight_neg),
    )


def _mean(values: Floats, weight: Floats) -> float:
    return float((values * weight).sum() / weight.sum())


def _centred(values: Floats, weight: Floats) -> Floats:
    """Values minus their weighted mean, times each row's fraction of the weight."""
    return np.asarray((values - _mean(values, weight)) * (weight / weight.sum()))
