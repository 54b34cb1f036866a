"""by_group: the quality of a score in groups of rows, with intervals and tests."""

from typing import Any, Literal

import numpy.typing as npt

from auctor._checks import check_choice, check_level, check_number, check_positive, check_whole
from auctor._typing import Ints
from auctor.metrics.calibration import check_probability
from auctor.metrics.folds import check_instability
from auctor.metrics.group_rows import GroupedRows
from auctor.metrics.group_table import GroupTable
from auctor.metrics.group_values import read_group_values
from auctor.metrics.sample import Sample, read_codes, read_sample


def by_group(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    threshold: float,
    probability: npt.ArrayLike | None = None,
    compare: Literal["rest", "pairs"] = "rest",
    min_rows: float = 10,
    n_bins: int = 5,
    level: float = 0.95,
    clusters: npt.ArrayLike | None = None,
    instability: float = 0.0,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> GroupTable:
    """The quality of a score in each group of rows, with intervals and tests between groups.

    For each group: AUC, calibration in the large, and at the threshold the flagged fraction, the
    true and the false positive rate. Each has a confidence interval, and all but the flagged
    fraction, which differs wherever the fraction of positives does, are tested for differences.
    docs/subgroups.md has the measured coverage of the intervals and the error rate of the tests.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`. A group may have rows of one class only.
    groups : array-like of shape (n_rows,)
        The group of each row: texts, truth values, numbers or dates. Missing values are a group of
        their own. More than 20 distinct numbers or dates are cut into ``n_bins`` bins.
    threshold : float
        Rows with a score at or above it are flagged.
    probability : array-like of shape (n_rows,), optional
        Predicted probability of the positive class, for the calibration.
    compare : {"rest", "pairs"}, default="rest"
        "rest": each group is tested against all other groups together. "pairs": every two groups
        are tested. All tests of a table are corrected together by Holm's method, so that the
        probability of any false claim is at most ``1 - level``.
    min_rows : float, default=10
        A group with fewer positive rows is too small for a test of the true positive rate, with
        fewer negative rows for one of the false positive rate, with either for one of the AUC, and
        with fewer rows for one of the calibration. Its numbers are given all the same. With
        weights, the effective number of rows counts.
    n_bins : int, default=5
        Number of bins with about equally many rows, for many distinct numbers or dates.
    level : float, default=0.95
        Confidence level of each interval. Intervals are not corrected for their number.
    clusters : array-like of shape (n_rows,), optional
        The cluster of each row, if rows of one cluster (the visits of a patient, the loans of a
        customer) depend on each other; other functions call them ``groups``. A test takes its two
        sides as independent of each other, which is conservative where rows of one cluster, which
        resemble each other, are on both.
    instability : float in [0, 1], default=0.0
        For out-of-fold scores, the fraction of the variance of the AUC that comes from the training
        sets; the variances of AUCs are multiplied by ``1 + instability``.

    Returns
    -------
    GroupTable

    Notes
    -----
    AUCs have the interval of :func:`auctor.metrics.auc_ci`. The AUC of the other groups together is
    the fraction of pairs within a group that are in the right order: pairs of rows of different
    groups do not count. Rates have exact (Clopper-Pearson) intervals. The calibration is the mean
    predicted probability minus the observed fraction of positives; its interval is that of the
    fraction, with the predictions of these rows as given. The interval of a difference follows
    from those of its two terms (MOVER), and its p-value is 1 minus the level at which it reaches 0.

    Examples
    --------
    >>> from auctor.metrics import by_group
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> region = np.repeat(["north", "south", "east"], [500, 300, 12])
    >>> y = rng.random(812) < 0.3
    >>> s = rng.normal(size=812) + y * np.where(region == "south", 0.5, 2.0)
    >>> table = by_group(y, s, region, threshold=1.0)
    >>> [(group.name, round(group.auc.value, 2)) for group in table.groups]
    [('north', 0.92), ('south', 0.6), ('east', 0.85)]
    >>> table.differing[0].group, table.differing[0].measure, [g.name for g in table.small]
    ('north', 'auc', ['east'])
    """
    level, threshold = check_level(level), check_number(threshold, "threshold")
    check_choice(compare, ("rest", "pairs"), "compare")
    n_bins = check_whole(n_bins, "n_bins", minimum=2)
    scores = {"y_score": y_score}
    if probability is not None:
        scores["probability"] = probability
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    if probability is not None:
        check_probability(sample.scores[1])
    values = read_group_values(groups, n_bins)
    _check_length(len(values.codes), sample)
    rows = GroupedRows(
        sample,
        values.keep(sample.kept),
        clusters=None if clusters is None else _read_clusters(clusters, sample),
        threshold=threshold,
        inflation=1.0 + check_instability(instability),
    )
    return rows.table(compare, check_positive(min_rows, "min_rows"), level)


def _read_clusters(clusters: Any, sample: Sample) -> Ints:
    distinct, codes = read_codes(clusters, sample, "clusters")
    if len(distinct) < 2:
        raise ValueError("clusters has only one cluster; give two or more, or leave it out")
    return codes


def _check_length(n_groups: int, sample: Sample) -> None:
    n_rows = len(sample.positive) if sample.kept is None else len(sample.kept)
    if n_groups != n_rows:
        raise ValueError(f"groups has {n_groups} values for {n_rows} rows; give one per row")
