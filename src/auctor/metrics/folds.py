"""Out-of-fold scores: the rows fold by fold, and the mean of the AUCs within the folds."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.metrics.bootstrap import Resampling, rank, whole
from auctor.metrics.delong import check_two_of_each, placements, variance
from auctor.metrics.sample import Sample, read_codes, sort_classes


class FoldsAuc(NamedTuple):
    """The mean of the AUCs within folds, and its variance."""

    value: float
    variance: float
    method: str
    n_folds: int


def auc_within_folds(sample: Sample, folds: Any, resampling: Resampling | None) -> FoldsAuc:
    """Mean of the AUCs of the folds; its variance is that of a mean of independent values."""
    parts = cut_folds(sample, folds, resampling)
    if resampling is None:
        placed = [placements(sort_classes(part.sample)) for part in parts]
        found = [(one.auc(), variance(one)) for one in placed]
        method = "DeLong"
    else:
        found = [_resampled_variance(part) for part in parts]
        method = resampling.name
    value = sum(area for area, _ in found) / len(found)
    spread = sum(part for _, part in found) / len(found) ** 2
    return FoldsAuc(value, spread, f"{method} within folds", len(parts))


class Part(NamedTuple):
    """One fold, and how to resample it."""

    sample: Sample
    resampling: Resampling | None


def cut_folds(sample: Sample, folds: Any, resampling: Resampling | None) -> list[Part]:
    """The sample fold by fold; two rows of each class must be in every one."""
    names, codes = read_codes(folds, sample, "folds")
    groups = None
    if resampling is not None and resampling.groups is not None:
        groups = read_codes(resampling.groups, sample, "groups")[1]
    parts = []
    for code, name in enumerate(names.tolist()):
        rows = codes == code
        part = _take(sample, rows)
        check_two_of_each(part.n_pos, part.n_neg, f"fold {name!r}")
        own = None if groups is None else groups[rows]
        redraw = None if resampling is None else resampling._replace(groups=own)
        parts.append(Part(part, redraw))
    return parts


def _take(sample: Sample, rows: npt.NDArray[np.bool_]) -> Sample:
    """Some rows of a sample, as a sample of its own."""
    return sample._replace(
        positive=sample.positive[rows],
        scores=tuple(score[rows] for score in sample.scores),
        weight=None if sample.weight is None else sample.weight[rows],
        kept=None,
    )


def _resampled_variance(part: Part) -> tuple[float, float]:
    """The AUC of a fold and its variance over resamples."""
    assert part.resampling is not None
    ranked = rank(part.sample)
    values = [ranked.auc(draw) for draw in part.resampling.draws(part.sample)]
    return ranked.auc(whole(part.sample)), float(np.var(values, ddof=1))
