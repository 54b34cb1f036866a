"""Out-of-fold scores: AUCs within folds, ranks within folds, and the variance that training adds.

Scores of two folds come from two models and are not comparable, so the AUC is computed within each
fold. The mean of the folds' AUCs has a larger variance than the mean of as many independent test
sets. Each row is tested in its own fold and is a training row of all other folds. The effect that
rows i and j have on each other (i trains the model that ranks j, and j trains the model that ranks
i) therefore enters twice, through two folds. Write the variance within folds as V1 + V2, where V1
comes from the rows' average contribution over all training sets, and V2 from the particular
training set: the variance of the mean is V1 + 2 V2. For a score without any signal all of the
variance is V2, and the variance within folds is half of what it should be; with a strong signal
nearly all of it is V1.

``instability`` is V2 / (V1 + V2). It is measured by how differently the models of the folds rank
the same rows (:func:`auctor.metrics.fold_instability`). If only the out-of-fold scores are known,
it is assumed to be 1, the worst case.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._checks import check_rate
from auctor._text import count
from auctor._typing import Bools, Floats, Ints
from auctor.metrics.bootstrap import Resampling, rank, whole
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.influence import (
    Influences,
    difference,
    effective_sizes,
    influences,
    product,
    variance,
)
from auctor.metrics.sample import Sample, group_codes, read_codes, read_sample


class Part(NamedTuple):
    """The rows of one fold (or all rows), and how to resample them."""

    sample: Sample
    resampling: Resampling | None
    groups: Ints | None = None  # the group of each row, numbered from 0


class PooledRows(NamedTuple):
    """All rows of an interval or a test: folds replaced by ranks, groups by whole numbers."""

    sample: Sample
    groups: Ints | None
    n_folds: int | None
    inflation: float  # factor of the variance for the training sets; 1 without folds


class FoldsAuc(NamedTuple):
    """The mean of the AUCs within folds, with its variance."""

    value: float
    within: float  # variance within folds
    inflation: float  # factor of the variance for the training sets
    sizes: tuple[float, float]  # effective numbers of positives and of negatives
    method: str
    n_folds: int

    @property
    def variance(self) -> float:
        """Variance of the mean, including that of the training sets."""
        return self.within * self.inflation


def pool_rows(sample: Sample, *, folds: Any, instability: float | None, groups: Any) -> PooledRows:
    """Read ``folds``, ``instability`` and ``groups`` of an interval or a test."""
    check_goes_with_folds(instability, folds)
    codes = None if groups is None else group_codes(groups, sample)
    n_folds, inflation = None, 1.0
    if folds is not None:
        n_folds = len(read_codes(folds, sample, "folds")[0])
        inflation += check_instability(instability)
        sample = pool_folds(sample, folds)
    # From here on the groups are those of the remaining rows, without the rows of weight 0.
    return PooledRows(sample._replace(kept=None), codes, n_folds, inflation)


def describe_folds(method: str, n_folds: int | None, inflation: float) -> str:
    """The name of a method, followed by the folds and the factor of the variance, if any.

    Examples
    --------
    >>> describe_folds("stratified bootstrap", 5, 1.25)
    'stratified bootstrap within 5 folds, variance multiplied by 1.25 for overlapping training sets'
    """
    if n_folds is None:
        return method
    return f"{method} within {count(n_folds, 'fold')}{describe_inflation(inflation)}"


def describe_inflation(inflation: float) -> str:
    """How the variance accounts for the overlap of the training sets, after a comma.

    Nothing where it is as it would be without an overlap, as for folds in the order of time.

    Examples
    --------
    >>> describe_inflation(1.25), describe_inflation(1.0)
    (', variance multiplied by 1.25 for overlapping training sets', '')
    """
    factor = f"{inflation:.2f}"
    if factor == "1.00":
        return ""
    return f", variance multiplied by {factor} for overlapping training sets"


def auc_within_folds(
    sample: Sample,
    folds: Any,
    groups: Any,
    resampling: Resampling | None,
    instability: float | None = None,
) -> FoldsAuc:
    """Mean of the AUCs within the folds, with its variance and effective numbers of rows."""
    parts = cut_folds(sample, folds, resampling, groups)
    estimates = [_fold_auc(part) for part in parts]
    value = sum(area for area, _ in estimates) / len(parts)
    within = sum(variance for _, variance in estimates) / len(parts) ** 2
    inflation, sizes = 1.0 + check_instability(instability), effective_sizes_of(parts)
    return FoldsAuc(value, within, inflation, sizes, _name(parts[0]), len(parts))


def effective_sizes_of(parts: list[Part]) -> tuple[float, float]:
    """Effective numbers of positive and of negative rows, summed over the folds."""
    sizes = (effective_sizes(part.sample, part.groups) for part in parts)
    n_pos, n_neg = (sum(numbers) for numbers in zip(*sizes, strict=True))
    return n_pos, n_neg


def check_goes_with_folds(instability: Any, folds: Any) -> None:
    """Refuse ``instability`` without ``folds``: there are then no training sets."""
    if instability is not None and folds is None:
        raise ValueError(
            f"instability is {instability!r}, but folds was not given; give both or neither"
        )


def check_instability(instability: Any) -> float:
    """Return a number from 0 to 1; None stands for 1, the worst case."""
    return 1.0 if instability is None else check_rate(instability, "instability")


def _name(part: Part) -> str:
    if part.resampling is not None:
        return part.resampling.name
    return "DeLong" if part.groups is None else "DeLong by groups"


def cut_folds(
    sample: Sample, folds: Any, resampling: Resampling | None, groups: Any = None
) -> list[Part]:
    """Split the sample into its folds, each with at least two rows of each class."""
    names, codes = read_codes(folds, sample, "folds")
    if resampling is not None:
        groups = resampling.groups
    row_groups = None if groups is None else group_codes(groups, sample)
    return [
        _part(sample, codes == code, f"fold {name!r}", resampling, row_groups)
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
            f"groups has only one group in {name}, and the variation between groups cannot be "
            "estimated; give at least two groups per fold, or fewer folds"
        )
    redraw = None if resampling is None else resampling._replace(groups=own)
    return Part(part, redraw, own)


def take(sample: Sample, rows: Bools) -> Sample:
    """The sample of some of the rows."""
    return sample._replace(
        positive=sample.positive[rows],
        scores=tuple(score[rows] for score in sample.scores),
        weight=None if sample.weight is None else sample.weight[rows],
        kept=None,
    )


def _fold_auc(part: Part) -> tuple[float, float]:
    """The AUC of a fold and its variance, from the influences of its rows or from resamples."""
    if part.resampling is None:
        of_rows = influences(part.sample)
        return of_rows.auc, variance(of_rows, part.sample, part.groups)
    ranked = rank(part.sample)
    values = [ranked.auc(draw) for draw in part.resampling.draws(part.sample)]
    return ranked.auc(whole(part.sample)), float(np.var(values, ddof=1))


def pool_folds(sample: Sample, folds: Any) -> Sample:
    """Replace each score by its rank within its fold, from 0 to 1.

    The rank is the fraction of the fold's weight with a lower score; ties count one half. The top
    tenths of all folds together are then the top tenth of all rows, whatever the scales of the
    models.
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
    _, codes = np.unique(values, return_inverse=True)
    mass = np.bincount(codes, weight)
    below = np.cumsum(mass) - mass / 2
    return np.asarray((below / mass.sum())[codes])


def fold_instability(
    y_true: npt.ArrayLike,
    scores: npt.ArrayLike,
    folds: npt.ArrayLike,
    *,
    scores_b: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Fraction of the variance of a cross-validated AUC that comes from the training sets.

    The influence of each row on the AUC of its fold is computed with the model that was fitted
    without the fold and with the models of the other folds. The result is
    ``(n_folds - 1) * (1 - r)``, cut to [0, 1], where r is the correlation of the two influences
    over all rows: the training sets of two folds share all but a fraction ``1 / (n_folds - 1)`` of
    their rows, hence the factor. The other models were fitted with the row itself, which makes
    them differ a little more. For learners that fit their training rows closely, the result
    therefore tends to be too large.

    Parameters
    ----------
    y_true, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    scores : array-like of shape (n_rows, n_folds)
        The score of every row by the model of every fold, with columns in the sorted order of the
        values of ``folds``. Rows with a missing value (NaN) are ignored, so that the scores of a
        sample of rows are enough.
    folds : array-like of shape (n_rows,)
        The fold of each row.
    scores_b : array-like of shape (n_rows, n_folds), optional
        The scores of a second learner. The result is then that for the difference of the two AUCs.
    groups : array-like of shape (n_rows,), optional
        The group of each row, if rows of one group depend on each other.

    Returns
    -------
    float
        A number between 0 (all models rank the rows in the same way) and 1 (the models have
        nothing in common), for the parameter ``instability`` of :func:`auctor.metrics.auc_ci`,
        :func:`auctor.metrics.compare_auc` and the other intervals and comparisons.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor.metrics import fold_instability
    >>> y, folds = [0, 1, 0, 1, 0, 1, 0, 1], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> s = [1, 2, 4, 3, 2, 5, 1, 3]
    >>> fold_instability(y, np.column_stack([s, s]), folds)
    0.0
    >>> round(fold_instability(y, np.column_stack([s, [1, 3, 5, 3, 4, 5, 1, 3]]), folds), 3)
    0.184
    """
    tables = [_read_scores(table, name) for name, table in _by_name(scores, scores_b).items()]
    n_folds = tables[0].shape[1]
    known = np.isfinite(np.column_stack(tables)).all(axis=1)
    columns = {f"column {j}": table[known, k] for j, (table, k) in enumerate(_pairs(tables))}
    weight = None if sample_weight is None else np.asarray(sample_weight)[known]
    sample = read_sample(
        np.asarray(y_true)[known], columns, sample_weight=weight, pos_label=pos_label
    )
    own_folds = np.asarray(folds)[known]
    own_groups = None if groups is None else np.asarray(groups)[known]
    _check_columns(n_folds, own_folds, sample)
    return _fraction(cut_folds(sample, own_folds, None, own_groups), n_folds, len(tables) == 2)


def _by_name(scores: Any, scores_b: Any) -> dict[str, Any]:
    return {"scores": scores} | ({} if scores_b is None else {"scores_b": scores_b})


def _pairs(tables: list[Floats]) -> list[tuple[Floats, int]]:
    """All columns of all tables, table by table."""
    return [(table, k) for table in tables for k in range(table.shape[1])]


def _read_scores(scores: Any, name: str) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < 2:
        raise ValueError(
            f"{name} has shape {table.shape}; give an array of shape (n_rows, n_folds) with at "
            "least two folds"
        )
    return table


def _check_columns(n_folds: int, folds: Any, sample: Sample) -> None:
    n_given = len(read_codes(folds, sample, "folds")[0])
    if n_given != n_folds:
        raise ValueError(
            f"scores has {n_folds} columns for {n_given} folds; give one column per fold"
        )


def _fraction(parts: list[Part], n_folds: int, is_difference: bool) -> float:
    """(n_folds - 1) (1 - r), r the correlation of the influences under own and other models."""
    shared = own = others = 0.0
    for k, part in enumerate(parts):
        models = [_influences(part.sample, c, n_folds, is_difference) for c in range(n_folds)]
        for c in range(n_folds):
            if c == k:
                continue
            shared += product(models[k], models[c], part.sample, part.groups)
            own += product(models[k], models[k], part.sample, part.groups)
            others += product(models[c], models[c], part.sample, part.groups)
    if own == 0.0 and others == 0.0:
        return 0.0 if is_difference else 1.0
    correlation = shared / math.sqrt(own * others) if own * others > 0 else 0.0
    # Rounded, so that equal models, whose correlation is 1 up to rounding, give exactly 0.
    return float(np.clip(round((n_folds - 1) * (1 - correlation), 12), 0.0, 1.0))


def _influences(sample: Sample, column: int, n_folds: int, is_difference: bool) -> Influences:
    """Influences under the model of one fold; for two learners, those on the difference."""
    of_a = influences(sample, column)
    if not is_difference:
        return of_a
    return difference(of_a, influences(sample, n_folds + column))
