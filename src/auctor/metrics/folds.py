"""Out-of-fold scores: the rows fold by fold, and the mean of the AUCs within the folds.

Scores of two folds come from two models and do not compare, so that an AUC is taken within each
fold. The mean of the folds' AUCs varies more than that of as many independent tests. A row is
tested in its own fold and trains the models of all others, and what rows i and j do to each other
- i trains the model that ranks j, j the model that ranks i - is counted twice, by two folds. Write
the variance within folds as V1 + V2, where V1 is due to what any training set would make of a row,
and V2 to what this one does: the variance of the mean is V1 + 2 V2. At chance all of it is V2, and
the plain variance is half of what it should be; with a strong signal nearly all is V1.

``instability`` is V2 / (V1 + V2). It is measured by how differently the models of the folds rank
the same row (:func:`auctor.metrics.fold_instability`); where only the out-of-fold scores are known
it is taken to be 1, the worst case.
"""

from typing import Any, NamedTuple

import numpy as np

from auctor._checks import check_rate
from auctor._typing import Bools, Floats, Ints
from auctor.metrics.bootstrap import Resampling, rank, whole
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.influence import effective_sizes, influences, variance
from auctor.metrics.sample import Sample, read_codes


class Part(NamedTuple):
    """One fold, and how to resample it."""

    sample: Sample
    resampling: Resampling | None
    groups: Ints | None = None  # of its rows, numbered from 0


class FoldsAuc(NamedTuple):
    """The mean of the AUCs within folds, with its variance within folds and in all."""

    value: float
    within: float
    inflation: float  # what the variance is multiplied by for the training sets
    sizes: tuple[float, float]  # effective numbers of positives and of negatives
    method: str
    n_folds: int

    @property
    def variance(self) -> float:
        """The variance of the mean, that of the training sets included."""
        return self.within * self.inflation


def auc_within_folds(
    sample: Sample,
    folds: Any,
    groups: Any,
    resampling: Resampling | None,
    instability: float | None = None,
) -> FoldsAuc:
    """Mean of the AUCs of the folds, its variance within them, and the part of the training."""
    parts = cut_folds(sample, folds, resampling, groups)
    found = [_fold_auc(part) for part in parts]
    value = sum(area for area, _ in found) / len(found)
    within = sum(part for _, part in found) / len(found) ** 2
    inflation, sizes = 1.0 + check_instability(instability), effective_sizes_of(parts)
    return FoldsAuc(value, within, inflation, sizes, _name(parts[0]), len(parts))


def effective_sizes_of(parts: list[Part]) -> tuple[float, float]:
    """Effective numbers of positives and of negatives over all folds."""
    sizes = (effective_sizes(part.sample, part.groups) for part in parts)
    n_pos, n_neg = (sum(numbers) for numbers in zip(*sizes, strict=True))
    return n_pos, n_neg


def check_goes_with_folds(instability: Any, folds: Any) -> None:
    """Without folds there are no training sets to count."""
    if instability is not None and folds is None:
        raise ValueError(
            f"instability is {instability!r}, but folds was not given; give both or neither"
        )


def check_instability(instability: Any) -> float:
    """A share in [0, 1]; not known is the worst case."""
    return 1.0 if instability is None else check_rate(instability, "instability")


def _name(part: Part) -> str:
    if part.resampling is not None:
        return part.resampling.name
    return "DeLong" if part.groups is None else "DeLong by groups"


def cut_folds(
    sample: Sample, folds: Any, resampling: Resampling | None, groups: Any = None
) -> list[Part]:
    """The sample fold by fold; two rows of each class must be in every one."""
    names, codes = read_codes(folds, sample, "folds")
    if resampling is not None:
        groups = resampling.groups
    of_groups = None if groups is None else group_codes(groups, sample)
    return [
        _part(sample, codes == code, f"fold {name!r}", resampling, of_groups)
        for code, name in enumerate(names.tolist())
    ]


def _part(
    sample: Sample,
    rows: Bools,
    name: str,
    resampling: Resampling | None,
    groups: Ints | None,
) -> Part:
    part = take(sample, rows)
    check_two_of_each(part.n_pos, part.n_neg, name)
    own = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    if own is not None and own.max() < 1:
        raise ValueError(
            f"groups has only one group in {name}, which does not show how groups vary; "
            "use fewer folds"
        )
    redraw = None if resampling is None else resampling._replace(groups=own)
    return Part(part, redraw, own)


def group_codes(groups: Any, sample: Sample) -> Ints:
    """Groups as numbers; one group alone does not show how they vary."""
    distinct, codes = read_codes(groups, sample, "groups")
    if len(distinct) < 2:
        raise ValueError("groups has only one group; an interval needs two or more")
    return codes


def take(sample: Sample, rows: Bools) -> Sample:
    """Some rows of a sample, as a sample of its own."""
    return sample._replace(
        positive=sample.positive[rows],
        scores=tuple(score[rows] for score in sample.scores),
        weight=None if sample.weight is None else sample.weight[rows],
        kept=None,
    )


def _fold_auc(part: Part) -> tuple[float, float]:
    """The AUC of a fold and its variance, from placements or from resamples."""
    if part.resampling is None:
        found = influences(part.sample)
        return found.auc, variance(found, part.sample, part.groups)
    ranked = rank(part.sample)
    values = [ranked.auc(draw) for draw in part.resampling.draws(part.sample)]
    return ranked.auc(whole(part.sample)), float(np.var(values, ddof=1))


def pool_folds(sample: Sample, folds: Any) -> Sample:
    """All rows together, each score replaced by its rank within the fold, from 0 to 1.

    A rank is the share of the fold's weight that lies below the row, ties half: the top tenth of
    every fold together is the top tenth of all, whatever the scales of the models are.
    """
    names, codes = read_codes(folds, sample, "folds")
    scores = tuple(np.empty(len(sample.positive)) for _ in sample.scores)
    for code, name in enumerate(names.tolist()):
        rows = codes == code
        part = take(sample, rows)
        check_two_of_each(part.n_pos, part.n_neg, f"fold {name!r}")
        weight = np.ones(int(rows.sum())) if part.weight is None else part.weight
        for ranks, values in zip(scores, part.scores, strict=True):
            ranks[rows] = _mid_ranks(values, weight)
    return sample._replace(scores=scores)


def _mid_ranks(values: Floats, weight: Floats) -> Floats:
    _, places = np.unique(values, return_inverse=True)
    mass = np.bincount(places, weight)
    below = np.cumsum(mass) - mass / 2
    return np.asarray((below / mass.sum())[places])
