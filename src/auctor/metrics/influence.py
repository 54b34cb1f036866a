"""What each row contributes to an AUC: variances with weights and groups, and across models.

A row's influence is the share of the pairs that it wins, less the AUC, times its share of the
weight of its class. Their sum of squares is DeLong's variance; sums over groups give that of
Obuchowski (1997), and weights enter as they are. The product of the influences of one row under
two models is what the two AUCs share.
"""

from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.metrics.delong import placements_by_row
from auctor.metrics.effective import kish
from auctor.metrics.limits import degrees
from auctor.metrics.sample import Sample, split


class Influences(NamedTuple):
    """The AUC of a sample and the influence of each of its rows, positives and negatives apart."""

    auc: float
    pos: Floats
    neg: Floats


def influences(sample: Sample, which: int = 0) -> Influences:
    """Influences in the order of the rows of each class."""
    pos, neg = split(sample.scores[which], sample.positive)
    if sample.weight is None:
        placed = placements_by_row(pos, neg)
        sizes, auc = (len(pos), len(neg)), placed.auc()  # exact: of whole numbers
        return Influences(
            auc,
            (placed.pos / (2 * sizes[1]) - auc) / sizes[0],
            (placed.neg / (2 * sizes[0]) - auc) / sizes[1],
        )
    weight_pos, weight_neg = split(sample.weight, sample.positive)
    won_pos = share_below(pos, neg, weight_neg)
    won_neg = 1.0 - share_below(neg, pos, weight_pos)
    share_pos, share_neg = weight_pos / weight_pos.sum(), weight_neg / weight_neg.sum()
    auc = min(float((share_pos * won_pos).sum()), 1.0)  # sums of fractions are rounded
    return Influences(auc, share_pos * (won_pos - auc), share_neg * (won_neg - auc))


def share_below(values: Floats, others: Floats, weight: Floats) -> Floats:
    """Of the weight of the others, what lies below each value; ties count one half."""
    order = np.argsort(others)
    total = np.concatenate(([0.0], np.cumsum(weight[order])))
    ordered = others[order]
    below = total[np.searchsorted(ordered, values, side="left")]
    at_most = total[np.searchsorted(ordered, values, side="right")]
    return np.asarray((below + at_most) / (2.0 * total[-1]))


def difference(a: Influences, b: Influences) -> Influences:
    """Influences on the difference of two AUCs of the same rows."""
    return Influences(a.auc - b.auc, a.pos - b.pos, a.neg - b.neg)


def variance(found: Influences, sample: Sample, codes: Ints | None = None) -> float:
    """DeLong's variance; with weights at Kish's number of rows, with groups over their sums."""
    if codes is not None:
        return _variance_of_groups(found, sample.positive, codes)
    total = 0.0
    for values, size in zip((found.pos, found.neg), effective_sizes(sample), strict=True):
        total += float((values**2).sum()) * size / max(size - 1, 1e-9)
    return total


def _variance_of_groups(found: Influences, positive: Bools, codes: Ints) -> float:
    """Obuchowski's variance: each class over its groups, and what groups of both classes share."""
    size = int(codes.max()) + 1
    pos: Floats = np.bincount(codes[positive], found.pos, size).astype(np.float64)
    neg: Floats = np.bincount(codes[~positive], found.neg, size).astype(np.float64)
    n_pos, n_neg, n_all = (
        len(np.unique(codes[rows])) for rows in (positive, ~positive, slice(None))
    )
    own = _unbiased(pos * pos, n_pos) + _unbiased(neg * neg, n_neg)
    return max(own + 2 * _unbiased(pos * neg, n_all), 0.0)


def _unbiased(products: Floats, n_groups: int) -> float:
    return float(products.sum()) * n_groups / max(n_groups - 1, 1e-9)


def product(a: Influences, b: Influences, sample: Sample, codes: Ints | None) -> float:
    """The sum over rows, or over groups, of the products of two influences."""
    if codes is None:
        return float((a.pos * b.pos).sum() + (a.neg * b.neg).sum())
    sums = (group_sums(one, sample.positive, codes) for one in (a, b))
    return float(np.multiply(*sums).sum())


def group_sums(found: Influences, positive: Bools, codes: Ints) -> Floats:
    """The influence of each group."""
    size = int(codes.max()) + 1
    sums = np.bincount(codes[positive], found.pos, size)
    return np.asarray(sums + np.bincount(codes[~positive], found.neg, size))


def effective_sizes(sample: Sample, codes: Ints | None = None) -> tuple[float, float]:
    """Kish's number of rows of each class, (sum w)^2 / sum w^2; no more than there are groups."""
    sizes = []
    for rows in (sample.positive, ~sample.positive):
        weight = np.ones(len(rows)) if sample.weight is None else sample.weight
        size = kish(weight[rows])
        sizes.append(size if codes is None else min(size, float(len(np.unique(codes[rows])))))
    return sizes[0], sizes[1]


def known_from(found: Influences, sample: Sample, codes: Ints | None) -> tuple[float, float]:
    """How many independent rows of the smaller class stand behind a variance, and its freedom.

    Returns (rows, degrees of freedom). Rows in groups are worth at least as many independent rows
    as there are groups, and about as many as the rows divided by the design effect. Few groups
    tell little about the design effect, so the geometric mean of the two numbers is taken; by
    simulation it covers where either alone is too wide or too narrow.
    """
    n_rows = min(effective_sizes(sample))
    if codes is None:
        return n_rows, degrees(n_rows)
    n_groups = min(effective_sizes(sample, codes))
    alone = variance(found, sample)
    together = variance(found, sample, codes)
    seen = n_rows * min(alone / together, 1.0) if alone > 0 and together > 0 else n_groups
    return float(np.sqrt(n_groups * max(seen, n_groups))), degrees(n_groups)
