"""Influence of each row on an AUC: variances with weights and groups, and across models.

The influence of a row is the fraction of its pairs that are in the right order, minus the AUC,
times the row's fraction of the weight of its class. The sum of the squared influences is DeLong's
variance (up to the factor n / (n - 1) of each class); with sums over the groups it is that of
Obuchowski (1997). Weights enter as they are. The products of the influences of the same rows under
two models add up to the covariance of the two AUCs.
"""

from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.metrics.delong import placements_by_row
from auctor.metrics.effective import kish
from auctor.metrics.limits import degrees
from auctor.metrics.sample import Sample, split


class Influences(NamedTuple):
    """The AUC of a sample and the influences of its positive and of its negative rows."""

    auc: float
    pos: Floats
    neg: Floats


def influences(sample: Sample, which: int = 0) -> Influences:
    """Influences of the rows on the AUC of one of the scores, in the order of the rows."""
    pos, neg = split(sample.scores[which], sample.positive)
    if sample.weight is None:
        placed = placements_by_row(pos, neg)
        sizes, auc = (len(pos), len(neg)), placed.auc()  # exact, from whole numbers
        return Influences(
            auc,
            (placed.pos / (2 * sizes[1]) - auc) / sizes[0],
            (placed.neg / (2 * sizes[0]) - auc) / sizes[1],
        )
    weight_pos, weight_neg = split(sample.weight, sample.positive)
    won_pos = fraction_below(pos, neg, weight_neg)
    won_neg = 1.0 - fraction_below(neg, pos, weight_pos)
    part_pos, part_neg = weight_pos / weight_pos.sum(), weight_neg / weight_neg.sum()
    auc = min(float((part_pos * won_pos).sum()), 1.0)  # rounding can exceed 1
    return Influences(auc, part_pos * (won_pos - auc), part_neg * (won_neg - auc))


def fraction_below(values: Floats, others: Floats, weight: Floats) -> Floats:
    """Fraction of the weight of ``others`` below each value; ties count one half."""
    order = np.argsort(others)
    total = np.concatenate(([0.0], np.cumsum(weight[order])))
    ordered = others[order]
    below = total[np.searchsorted(ordered, values, side="left")]
    at_most = total[np.searchsorted(ordered, values, side="right")]
    return np.asarray((below + at_most) / (2.0 * total[-1]))


def difference(a: Influences, b: Influences) -> Influences:
    """Influences on the difference of two AUCs of the same rows."""
    return Influences(a.auc - b.auc, a.pos - b.pos, a.neg - b.neg)


def variance(of_rows: Influences, sample: Sample, codes: Ints | None = None) -> float:
    """DeLong's variance, with Kish's number of rows if there are weights; Obuchowski's by groups.

    ``codes`` has the group of each row.
    """
    if codes is not None:
        return _variance_of_groups(of_rows, sample.positive, codes)
    total = 0.0
    for values, size in zip((of_rows.pos, of_rows.neg), effective_sizes(sample), strict=True):
        total += float((values**2).sum()) * size / max(size - 1, 1e-9)
    return total


def _variance_of_groups(of_rows: Influences, positive: Bools, codes: Ints) -> float:
    """Obuchowski's variance: of each class over its groups, plus their covariance over groups."""
    size = int(codes.max()) + 1
    pos: Floats = np.bincount(codes[positive], of_rows.pos, size).astype(np.float64)
    neg: Floats = np.bincount(codes[~positive], of_rows.neg, size).astype(np.float64)
    n_pos, n_neg, n_all = (
        len(np.unique(codes[rows])) for rows in (positive, ~positive, slice(None))
    )
    own = _unbiased(pos * pos, n_pos) + _unbiased(neg * neg, n_neg)
    return max(own + 2 * _unbiased(pos * neg, n_all), 0.0)


def _unbiased(products: Floats, n_groups: int) -> float:
    return float(products.sum()) * n_groups / max(n_groups - 1, 1e-9)


def product(a: Influences, b: Influences, sample: Sample, codes: Ints | None) -> float:
    """Sum over rows (or groups) of the products of two influences."""
    if codes is None:
        return float((a.pos * b.pos).sum() + (a.neg * b.neg).sum())
    sums = (group_sums(one, sample.positive, codes) for one in (a, b))
    return float(np.multiply(*sums).sum())


def group_sums(of_rows: Influences, positive: Bools, codes: Ints) -> Floats:
    """Influence of each group: the sum over its rows."""
    size = int(codes.max()) + 1
    sums = np.bincount(codes[positive], of_rows.pos, size)
    return np.asarray(sums + np.bincount(codes[~positive], of_rows.neg, size))


def effective_sizes(sample: Sample, codes: Ints | None = None) -> tuple[float, float]:
    """Kish's effective number of rows of each class, but at most its number of groups."""
    sizes = []
    for rows in (sample.positive, ~sample.positive):
        weight = np.ones(len(rows)) if sample.weight is None else sample.weight
        size = kish(weight[rows])
        sizes.append(size if codes is None else min(size, float(len(np.unique(codes[rows])))))
    return sizes[0], sizes[1]


def known_from(of_rows: Influences, sample: Sample, codes: Ints | None) -> tuple[float, float]:
    """Effective number of independent rows of the smaller class, and degrees of freedom.

    Rows in groups count as at least as many independent rows as there are groups, and as about
    the number of rows divided by the design effect. Few groups give a poor estimate of the design
    effect, so the geometric mean of the two numbers is taken; in simulations it covers where
    either number alone gives intervals that are too wide or too narrow.
    """
    n_rows = min(effective_sizes(sample))
    if codes is None:
        return n_rows, degrees(n_rows)
    n_groups = min(effective_sizes(sample, codes))
    of_independent = variance(of_rows, sample)
    of_groups = variance(of_rows, sample, codes)
    by_design_effect = n_groups
    if of_independent > 0 and of_groups > 0:
        by_design_effect = n_rows * min(of_independent / of_groups, 1.0)
    return float(np.sqrt(n_groups * max(by_design_effect, n_groups))), degrees(n_groups)
