"""Estimates of two AUCs with their variances and the variance of their difference."""

import math
from itertools import islice
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.metrics.bootstrap import Resampling, make_draws, rank, whole
from auctor.metrics.folds import Part, effective_sizes_of
from auctor.metrics.influence import difference, effective_sizes, influences, variance
from auctor.metrics.sample import Sample


class AucPair(NamedTuple):
    """Two AUCs with their variances and that of their difference."""

    aucs: tuple[float, float]
    variances: tuple[float, float]
    variance: float  # of the difference
    sizes: tuple[tuple[float, float], tuple[float, float]]  # effective rows of each class, A and B
    method: str
    is_same_order: bool = False  # both scores put all rows in the same order
    inflation: float = 1.0  # factor of the variance for the training sets
    n_folds: int | None = None

    @property
    def difference(self) -> float:
        """AUC of A minus AUC of B."""
        return self.aucs[0] - self.aucs[1]

    @property
    def standard_error(self) -> float:
        """Standard error of the difference, including the variance from the training sets."""
        return math.sqrt(self.variance * self.inflation)

    @property
    def correlation(self) -> float:
        """Correlation of the two AUCs; 0, which is conservative, if one of them has no variance."""
        product = self.variances[0] * self.variances[1]
        if product == 0:
            return 0.0
        covariance = (sum(self.variances) - self.variance) / 2
        return max(-1.0, min(covariance / math.sqrt(product), 1.0))


def estimate_paired(part: Part) -> AucPair:
    """Estimate of two scores of the same rows."""
    sizes = effective_sizes(part.sample, part.groups)
    if part.resampling is None:
        a, b = influences(part.sample, 0), influences(part.sample, 1)
        aucs = a.auc, b.auc
        spreads = [variance(one, part.sample, part.groups) for one in (a, b, difference(a, b))]
        method = "paired" if part.groups is None else "paired by groups"
    else:
        aucs, spreads = _paired_bootstrap(part.sample, part.resampling)
        method = f"paired {part.resampling.name}"
    same = is_same_order(*part.sample.scores)
    return AucPair(aucs, (spreads[0], spreads[1]), spreads[2], (sizes, sizes), method, same)


def is_same_order(a: Floats, b: Floats) -> bool:
    """Whether two scores put the rows in the same order, ties included."""
    ranks = [np.unique(score, return_inverse=True)[1] for score in (a, b)]
    return bool(np.array_equal(ranks[0], ranks[1]))


def estimate_within_folds(parts: list[Part], instability: float) -> AucPair:
    """Mean of the estimates within the folds, and the factor of its variance for training."""
    estimates = [estimate_paired(part) for part in parts]
    n = len(estimates)
    aucs = _mean(estimates, "aucs")
    variances = tuple(total / n for total in _mean(estimates, "variances"))
    sizes = effective_sizes_of(parts)
    return AucPair(
        (aucs[0], aucs[1]),
        (variances[0], variances[1]),
        sum(one.variance for one in estimates) / n**2,
        (sizes, sizes),
        f"{estimates[0].method} within folds",
        all(one.is_same_order for one in estimates),
        1.0 + instability,
        n,
    )


def _mean(estimates: list[AucPair], name: str) -> list[float]:
    """Means over the estimates of a pair of values, for A and for B."""
    pairs = [getattr(one, name) for one in estimates]
    return [sum(pair[which] for pair in pairs) / len(pairs) for which in (0, 1)]


def _paired_bootstrap(
    sample: Sample, resampling: Resampling
) -> tuple[tuple[float, float], list[float]]:
    """AUCs, and bootstrap variances of both and of their difference on the same draws of rows."""
    a, b = rank(sample, 0), rank(sample, 1)
    drawn = np.array([(a.auc(draw), b.auc(draw)) for draw in resampling.draws(sample)])
    full = whole(sample)
    return (a.auc(full), b.auc(full)), _spreads(drawn)


def _spreads(drawn: Floats) -> list[float]:
    """Variances of the two columns and of their difference."""
    columns = (drawn[:, 0], drawn[:, 1], drawn[:, 0] - drawn[:, 1])
    return [float(column.var(ddof=1)) for column in columns]


def estimate_unpaired(a: Sample, b: Sample, resampling: Resampling | None) -> AucPair:
    """Estimate of two samples, whose AUCs are independent."""
    sizes = effective_sizes(a), effective_sizes(b)
    if resampling is not None:
        return _unpaired_bootstrap(a, b, sizes, resampling)
    of_a, of_b = influences(a), influences(b)
    spread = variance(of_a, a), variance(of_b, b)
    return AucPair((of_a.auc, of_b.auc), spread, sum(spread), sizes, "unpaired")


def _unpaired_bootstrap(
    a: Sample,
    b: Sample,
    sizes: tuple[tuple[float, float], tuple[float, float]],
    resampling: Resampling,
) -> AucPair:
    """Estimate with variances from resamples of each sample."""
    ranked = rank(a), rank(b)
    draws_a, name = make_draws(a, None, resampling.rng)
    draws_b, _ = make_draws(b, None, resampling.rng)
    draws = islice(zip(draws_a, draws_b, strict=True), resampling.n_resamples)
    drawn = np.array([(ranked[0].auc(one), ranked[1].auc(other)) for one, other in draws])
    spread_a, spread_b, _ = _spreads(drawn)
    aucs = ranked[0].auc(whole(a)), ranked[1].auc(whole(b))
    variances = spread_a, spread_b
    return AucPair(aucs, variances, spread_a + spread_b, sizes, f"unpaired {name}")
