"""Exact metrics of scores that are spread over a Dask cluster.

Each worker sorts the scores of its partitions. The line of scores is divided into ranges, and each
worker gets one of them, with the weight of each class at each distinct score (``sorted_line``).
Counts are whole numbers, so that results depend neither on the partitions nor on the workers.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import dask
import numpy as np
from distributed import Client, default_client

from auctor._checks import check_level
from auctor._typing import Floats, Ints
from auctor.dask.parts import Part, check_length, delayed_blocks
from auctor.dask.run import run_on_cluster
from auctor.data.cluster.sorted_line import Line, count_values, share_lines
from auctor.data.group import Group
from auctor.data.labelled import LabelledRows, read_rows
from auctor.data.labels import join_labels, read_scores, read_vector
from auctor.metrics.curve import RocCurve
from auctor.metrics.delong import check_two_of_each
from auctor.metrics.intervals import AucInterval, wilson_interval

__all__ = ["auc", "auc_ci", "ks", "roc_curve"]

_RESTARTS, _TIMEOUT = 3, 600.0


class _Range(NamedTuple):
    """One worker's range of the line of scores, and what is known of the other ranges."""

    line: Line  # weights of the negatives and of the positives, and the squares of both
    before: Ints  # the same sums over the lower ranges
    totals: Ints  # and over all of them
    n_rows: tuple[int, int]  # of the negatives and of the positives
    sizes: tuple[float, float]  # effective, of both
    pos_label: Any

    @property
    def below(self) -> Ints:
        """The weight (negatives, positives) below each score."""
        own = self.line.counts[:2]
        return np.asarray(self.before[:2, None] + np.cumsum(own, axis=1) - own)


def auc(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    client: Client | None = None,
) -> float:
    """Area under the ROC curve of all rows, which is not the mean over the partitions.

    Parameters
    ----------
    y_true, y_score : dask series, dask array, or list of delayed vectors
        Labels of two values, and scores, in the same partitions.
    sample_weight : dask series, dask array, or list of delayed vectors, optional
        Weights of the rows. They are made whole numbers as in a fit: multiples of a common unit
        are exact, and others are rounded to 24 bits of the largest weight.
    pos_label : label, optional
        The label of the positive class.
    client : distributed.Client, optional
        The client of the cluster; by default the one that was made last.

    Returns
    -------
    float
        Without weights, or with whole ones, the same as :func:`auctor.metrics.auc`.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from auctor.dask.metrics import auc, auc_ci, ks, roc_curve
    >>> y, s = da.from_array([0, 0, 1, 1], chunks=2), da.from_array([0.1, 0.4, 0.4, 0.8], chunks=2)
    >>> with Client(processes=False, dashboard_address="127.0.0.1:0") as client:
    ...     auc(y, s, client=client), ks(y, s, client=client)
    ...     print(auc_ci(y, s, client=client))
    ...     roc_curve(y, s, client=client).fpr.tolist()
    (0.875, 0.5)
    AUC 0.875 (95% CI 0... to 1.000, DeLong's variance, Wilson's limits, 2 positives, 2 negatives)
    [0.0, 0.0, 0.5, 1.0]
    """
    doubled, total = _measure(_count_wins, y_true, y_score, sample_weight, pos_label, client)[0]
    return float(doubled / (2 * total))


def ks(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    client: Client | None = None,
) -> float:
    """Kolmogorov-Smirnov distance of the two classes over all rows: the largest ``tpr - fpr``.

    Parameters, exactness and an example are those of :func:`auc`.

    Returns
    -------
    float
    """
    ranges = _measure(_best_gap, y_true, y_score, sample_weight, pos_label, client)
    # Among equal gaps the highest threshold, as in `RocCurve.youden`.
    _, flagged_neg, flagged_pos, total_neg, total_pos = max(ranges, key=lambda found: found[0])
    return float(flagged_pos / total_pos - flagged_neg / total_neg)


def roc_curve(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    client: Client | None = None,
) -> RocCurve:
    """ROC curve of all rows. Its points, one for each distinct score, are sent to the client.

    Parameters, exactness and an example are those of :func:`auc`.

    Returns
    -------
    RocCurve
    """
    ranges = _measure(_keep, y_true, y_score, sample_weight, pos_label, client)
    values = np.concatenate([own.line.values for own in ranges])[::-1]
    counts = np.concatenate([own.line.counts[:2] for own in ranges], axis=1)[:, ::-1]
    flagged = np.concatenate([np.zeros((2, 1)), np.cumsum(counts, axis=1)], axis=1)
    n_neg, n_pos = ranges[0].n_rows
    thresholds = np.concatenate([[np.inf], values])
    return RocCurve(thresholds, flagged[1], flagged[0], n_pos, n_neg, ranges[0].pos_label)


def auc_ci(
    y_true: Any,
    y_score: Any,
    *,
    level: float = 0.95,
    sample_weight: Any = None,
    pos_label: Any = None,
    client: Client | None = None,
) -> AucInterval:
    """Confidence interval of the AUC of all rows: Wilson's limits with DeLong's variance.

    Parameters, exactness and an example are those of :func:`auc`; the interval is that of
    :func:`auctor.metrics.auc_ci` up to rounding errors.

    Parameters
    ----------
    level : float, default=0.95
        Confidence level.

    Returns
    -------
    AucInterval
    """
    level = check_level(level)
    work = _estimate_variance
    value, variance, known = _measure(work, y_true, y_score, sample_weight, pos_label, client)[0]
    n_neg, n_pos = known.n_rows
    check_two_of_each(n_pos, n_neg)
    return wilson_interval(value, variance, min(known.sizes), level, (n_pos, n_neg))


def _measure(
    work: Callable[[Group, _Range], Any],
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    pos_label: Any,
    client: Client | None,
) -> list[Any]:
    """What the work finds in each range of scores, the lowest first."""
    columns = {"y_score": y_score, "y_true": y_true}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    parts = [dask.delayed(Part, pure=True)(*own) for own in delayed_blocks(columns)]
    client = default_client() if client is None else client
    on_ranges = partial(_on_range, work, pos_label)
    members = run_on_cluster(client, on_ranges, parts, _RESTARTS, _TIMEOUT)
    return [member.result for member in members]


def _on_range(
    work: Callable[[Group, _Range], Any],
    pos_label: Any,
    group: Group,
    parts: list[tuple[int, Part]],
) -> Any:
    scores, rows = _read(group, parts, pos_label)
    weight = rows.weight.astype(np.int64)
    counts = np.array([weight * ~rows.positive, weight * rows.positive])
    # Squares are below 2^60 in total: weights have up to 24 bits, and their sum up to 36 or 40.
    line = count_values(scores, np.concatenate([counts, counts * weight]))
    line = share_lines(group, [line])[0]
    everyone = np.array(group.gather(line.counts.sum(axis=1)))
    n_rows = group.sum(np.array([int((~rows.positive).sum()), int(rows.positive.sum())]))
    totals = everyone.sum(axis=0)
    known = _Range(
        line,
        everyone[: group.rank].sum(axis=0),
        totals,
        (int(n_rows[0]), int(n_rows[1])),
        (int(totals[0]) ** 2 / int(totals[2]), int(totals[1]) ** 2 / int(totals[3])),
        rows.classes[1:].tolist()[0],
    )
    return work(group, known)


def _read(
    group: Group, parts: list[tuple[int, Part]], pos_label: Any
) -> tuple[Floats, LabelledRows]:
    """The scores, labels and weights of a member's rows of positive weight."""
    labels, scores, weights = [], [np.empty(0)], [np.empty(0)]
    is_weighted = group.any(any(part.weight is not None for _, part in parts))
    for number, part in parts:
        y = read_vector(part.y, "y_true")
        scores.append(read_scores(part.X, len(y)))
        labels.append(y)
        if is_weighted:
            weights.append(read_vector(part.weight, "sample_weight"))
            check_length(number, "sample_weight", len(weights[-1]), len(y))
    y = join_labels(labels, "y_true")
    weight = np.concatenate(weights) if is_weighted else None
    rows = read_rows(y, weight, pos_label, len(y), group=group, name="y_true")
    return rows.pick(np.concatenate(scores)), rows


def _keep(group: Group, own: _Range) -> _Range:
    return own


def _count_wins(group: Group, own: _Range) -> tuple[int, int]:
    """Twice the weight of pairs in the right order, where a tie counts one half; of all pairs."""
    neg, pos = own.line.counts[:2]
    doubled = 2 * own.below[0] + neg
    # Sums of products may exceed 64 bits, unlike those of the two halves.
    high, low = int((pos * (doubled >> 20)).sum()), int((pos * (doubled & 0xFFFFF)).sum())
    total = int(own.totals[0]) * int(own.totals[1])
    return group.total((high << 20) + low), total


def _best_gap(group: Group, own: _Range) -> tuple[int, int, int, int, int]:
    """The largest gap in a range, as a whole number, and the weights flagged there and in all."""
    total_neg, total_pos = map(int, own.totals[:2])
    found = (0, 0, 0, total_neg, total_pos)  # the threshold above all scores
    flagged_neg, flagged_pos = own.totals[:2, None] - own.below
    if len(flagged_neg) == 0:
        return found
    # As floats first: only scores near the largest gap are compared as whole numbers.
    gaps = flagged_pos / total_pos - flagged_neg / total_neg
    near = np.flatnonzero(gaps >= gaps.max() - 1e-12)
    exact = [
        (int(flagged_pos[i]) * total_neg - int(flagged_neg[i]) * total_pos, i)
        for i in near.tolist()
    ]
    gap, at = max(exact)
    best = (gap, int(flagged_neg[at]), int(flagged_pos[at]), total_neg, total_pos)
    return best if gap > 0 else found


def _estimate_variance(group: Group, own: _Range) -> tuple[float, float, _Range]:
    """The AUC, DeLong's variance of it, and what is known of the rows."""
    doubled, total = _count_wins(group, own)
    value = doubled / (2 * total)
    neg, pos, square_neg, square_pos = own.line.counts
    below_neg, below_pos = own.below
    won_pos = (2 * below_neg + neg) / (2 * int(own.totals[0]))
    won_neg = 1.0 - (2 * below_pos + pos) / (2 * int(own.totals[1]))
    sums = [
        _sum_in_order(group, square_neg / float(own.totals[0]) ** 2 * (won_neg - value) ** 2),
        _sum_in_order(group, square_pos / float(own.totals[1]) ** 2 * (won_pos - value) ** 2),
    ]
    pairs = zip(sums, own.sizes, strict=True)
    variance = sum(part * size / max(size - 1, 1e-9) for part, size in pairs)
    return value, variance, own._replace(line=Line(np.empty(0), np.empty((4, 0), dtype=np.int64)))


def _sum_in_order(group: Group, terms: Floats) -> float:
    """The sum in the order of the scores, so that it does not depend on the ranges."""
    total = 0.0
    for rank in range(group.size):
        if rank == group.rank:
            total = float(np.cumsum(np.concatenate([[total], terms]))[-1])
        total = group.gather(total)[rank]
    return total
