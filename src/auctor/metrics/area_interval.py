"""Confidence interval of an area under a part of the ROC curve.

Over a region of the false positive rate the area is an AUC in which only some negatives count:
those whose scores lie between the thresholds at the two ends of the region. Its variance follows
from what each row adds to it, as DeLong's does (He and Escobar 2008): a positive adds the part of
the region that lies below it, a negative the true positive rate at its score, held at that of the
region's ends where it lies outside. A region of the true positive rate is the same with the
classes exchanged.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._checks import check_level, check_method, check_one, check_region, check_resamples
from auctor._typing import Floats, Ints
from auctor.metrics.bootstrap import Resampling, make_generator
from auctor.metrics.curve import RocCurve, curve_of_sample
from auctor.metrics.curve_estimates import estimate_area
from auctor.metrics.curve_intervals import MetricInterval, describe_method, read_rows
from auctor.metrics.folds import (
    Part,
    check_goes_with_folds,
    check_instability,
    group_codes,
    pool_folds,
)
from auctor.metrics.influence import Influences, effective_sizes, known_from, share_below, variance
from auctor.metrics.limits import auc_limits, degrees
from auctor.metrics.sample import Sample, read_codes, split

METHODS = ("wilson", "bootstrap")
# Of the class whose rate is cut, a row of the region counts as so many: the rows beside the region
# say where its ends are. By simulation, as the least width that covers.
_ROWS_A_ROW = 1.5
_FEWEST_ROWS, _FEWEST_DEGREES = 0.75, 2.0


def partial_auc_ci(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    scaled: bool = False,
    level: float = 0.95,
    method: Literal["wilson", "bootstrap"] = "wilson",
    n_resamples: int = 300,
    groups: npt.ArrayLike | None = None,
    folds: npt.ArrayLike | None = None,
    instability: float | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
    random_state: Any = None,
) -> MetricInterval:
    """Confidence interval of an area under a part of the ROC curve.

    Wilson's limits at the effective number of pairs, as in :func:`auctor.metrics.auc_ci`; only the
    rows of the region count for it, so that an area over few rows is known to be uncertain even
    where all of them are in order. Rows, or groups, are assumed to be independent draws, and the
    score not to be fitted to them. Measured coverage: docs/coverage.md.

    Parameters
    ----------
    y_true, y_score, fpr, tpr, scaled, sample_weight, pos_label
        As in :func:`auctor.metrics.partial_auc`. Each class needs two rows.
    level : float, default=0.95
        Confidence level.
    method : {"wilson", "bootstrap"}, default="wilson"
        How the variance is found: from what each row adds to the area, or from resamples.
    n_resamples : int, default=300
        Number of bootstrap resamples.
    groups, folds, instability
        As in :func:`auctor.metrics.ks_ci`.
    random_state : int, Generator, RandomState or None
        Seed of the bootstrap.

    Returns
    -------
    MetricInterval

    Examples
    --------
    >>> y, s = [0, 0, 0, 0, 0, 1, 1, 1, 1, 1], [1, 2, 3, 5, 7, 4, 6, 8, 9, 10]
    >>> found = partial_auc_ci(y, s, fpr=(0, 0.4), scaled=True)
    >>> round(found.value, 4), found.low < found.value < found.high
    (0.8125, True)
    """
    name, ends = check_one(fpr=fpr, tpr=tpr)
    region = _Region(name, *check_region(ends, name), scaled)
    level = check_level(level)
    check_method(method, METHODS)
    check_goes_with_folds(instability, folds)
    resampling = Resampling(groups, check_resamples(n_resamples), make_generator(random_state))
    sample = read_rows(y_true, y_score, sample_weight, pos_label)
    codes = None if groups is None else group_codes(groups, sample)
    n_folds, inflation = None, 1.0
    if folds is not None:
        n_folds = len(read_codes(folds, sample, "folds")[0])
        inflation += check_instability(instability)
        sample = pool_folds(sample, folds)
    sample = sample._replace(kept=None)  # the groups were read, without the rows of weight 0
    redraw = resampling if method == "bootstrap" else None
    found = _estimate(sample, region, codes, redraw)
    found = found._replace(variance=inflation * found.variance)
    ends = auc_limits(
        found.share, found.variance, found.n_rows, found.n_rows, level, inflation, found.freedom
    )
    low, high = (region.area(end) for end in ends)
    return MetricInterval(
        "scaled partial AUC" if scaled else "partial AUC",
        f"over {name} {region.low:g} to {region.high:g}",
        region.area(found.share),
        low,
        high,
        level,
        describe_method(_name(codes, redraw), n_folds, inflation) + ", Wilson's limits",
        (region.area(1.0) - region.area(0.0)) * float(np.sqrt(found.variance)),
        sample.n_pos,
        sample.n_neg,
        n_folds,
    )


class _Region(NamedTuple):
    """Which rate is cut and where; areas as shares of the region's width, and back."""

    name: str
    low: float
    high: float
    scaled: bool

    @property
    def width(self) -> float:
        return self.high - self.low

    def share(self, curve: RocCurve) -> float:
        """The area as a share of the largest that there can be."""
        ends = (self.low, self.high)
        fpr, tpr = (ends, None) if self.name == "fpr" else (None, ends)
        return curve.partial_auc(fpr=fpr, tpr=tpr) / self.width

    def area(self, share: float) -> float:
        """The area, or McClish's scaled one, of a share."""
        if not self.scaled:
            return share * self.width
        low, high = (self.low, self.high) if self.name == "fpr" else (1 - self.high, 1 - self.low)
        chance = (low + high) / 2
        return (1 + (share - chance) / (1 - chance)) / 2


def _name(codes: Ints | None, resampling: Resampling | None) -> str:
    """How the variance was found."""
    if resampling is not None:
        return resampling.name
    return f"variance of the {'rows' if codes is None else 'groups'}"


class _Estimate(NamedTuple):
    """An area as a share, its variance, and the rows and degrees of freedom behind it."""

    share: float
    variance: float
    n_rows: float
    freedom: float


def _estimate(
    sample: Sample, region: _Region, codes: Ints | None, resampling: Resampling | None
) -> _Estimate:
    curve = curve_of_sample(sample)
    found = area_influences(sample, region.name, (region.low, region.high))
    if resampling is None:
        spread = variance(found, sample, codes)
    else:
        redraw = resampling._replace(groups=codes)
        spread = estimate_area(Part(sample, redraw), region.share).variance
    n_rows, freedom = known_from(found, sample, codes)
    of_class = effective_sizes(sample, codes)[1 if region.name == "fpr" else 0]
    inside = max(_ROWS_A_ROW * region.width * of_class, _FEWEST_ROWS)
    freedom = min(freedom, max(degrees(inside), _FEWEST_DEGREES))
    return _Estimate(region.share(curve), spread, min(n_rows, inside), freedom)


def area_influences(sample: Sample, name: str, ends: tuple[float, float]) -> Influences:
    """What each row adds to the area, as a share of the region's width."""
    if name == "tpr":  # the same with the classes exchanged and the order turned round
        turned = sample._replace(
            positive=~sample.positive, scores=tuple(-score for score in sample.scores)
        )
        found = area_influences(turned, "fpr", (1 - ends[1], 1 - ends[0]))
        return Influences(found.auc, found.neg, found.pos)
    low, high = ends
    pos, neg = split(sample.scores[0], sample.positive)
    weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
    weight_pos, weight_neg = split(weight, sample.positive)
    fpr_at_pos = 1.0 - share_below(pos, neg, weight_neg)
    tpr_at_neg = 1.0 - share_below(neg, pos, weight_pos)
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
    """Values less their mean, times the row's share of the weight."""
    return np.asarray((values - _mean(values, weight)) * (weight / weight.sum()))
