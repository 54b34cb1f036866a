"""Merging neighbouring bins so that the points of the rows change as little as possible."""

import numpy as np

from auctor._typing import Floats, Ints

# The search is quadratic in the number of bins; more than these are first merged in pairs, triples
# and so on, which loses little among so many.
_MOST_BINS = 2_000
# No bin weighs less than this fraction of an average one, so that empty bins, too, are merged with
# bins of similar points.
LEAST_WEIGHT = 1e-3


def best_segments(values: Floats, weight: Floats, n_segments: int) -> Ints:
    """The segment of each bin, from 0 on, that lose least: the exact optimum.

    The loss is the sum of weight * (value - mean of its segment)^2 over all cells, where each
    column of a segment has a mean of its own. Dynamic programming finds the minimum over all
    divisions of the bins into at most ``n_segments`` runs of neighbours.

    Parameters
    ----------
    values, weight : ndarray of shape (n_bins, n_columns)
    n_segments : int

    Examples
    --------
    >>> best_segments(np.array([[0.0], [1.0], [9.0], [9.5]]), np.ones((4, 1)), 2).tolist()
    [0, 0, 1, 1]
    """
    n = len(values)
    if n <= n_segments:
        return np.arange(n)
    if n > _MOST_BINS:
        coarse = np.arange(n) * _MOST_BINS // n
        return best_segments(*_merged(values, weight, coarse), n_segments)[coarse]
    sums = _PrefixSums(values, weight)
    # loss[j] is that of the first j bins in the segments so far; from_[k][j] where the last begins.
    loss, starts = sums.losses(np.zeros(n, dtype=np.int64), np.arange(1, n + 1)), []
    loss = np.concatenate([[0.0], loss])
    for _ in range(n_segments - 1):
        loss, start = _one_segment_more(loss, sums)
        starts.append(start)
    segment, stop = np.zeros(n, dtype=np.int64), n
    for k, start in zip(range(n_segments - 1, 0, -1), reversed(starts), strict=True):
        first = int(start[stop])
        segment[first:stop] = k
        stop = first
    return np.unique(segment, return_inverse=True)[1]


def _one_segment_more(loss: Floats, sums: "_PrefixSums") -> tuple[Floats, Ints]:
    """The least loss of the first j bins with one segment more, and where that begins."""
    n = len(loss) - 1
    least, start = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    for j in range(1, n + 1):
        firsts = np.arange(j)
        candidates = loss[:j] + sums.losses(firsts, np.full(j, j))
        start[j] = candidates.argmin()
        least[j] = candidates[start[j]]
    return least, start


class _PrefixSums:
    """Sums over runs of bins, in constant time for each."""

    def __init__(self, values: Floats, weight: Floats) -> None:
        weight = np.maximum(weight, LEAST_WEIGHT * (weight.mean() or 1.0))
        # Around the mean of its column, so that the squares do not cancel.
        centred = values - (values * weight).sum(axis=0) / weight.sum(axis=0)
        moments = np.stack([weight, weight * centred, weight * centred**2])
        self._sums = np.concatenate([np.zeros((3, 1, values.shape[1])), moments.cumsum(1)], axis=1)

    def losses(self, starts: Ints, stops: Ints) -> Floats:
        """The loss of each run of bins from ``starts`` to before ``stops``."""
        weight, first, second = self._sums[:, stops] - self._sums[:, starts]
        return np.asarray(np.maximum(second - first**2 / weight, 0.0).sum(axis=1))


def _merged(values: Floats, weight: Floats, segment: Ints) -> tuple[Floats, Floats]:
    """The weighted means and the weights of segments of bins."""
    least = np.maximum(weight, LEAST_WEIGHT * (weight.mean() or 1.0))
    starts = np.flatnonzero(np.diff(segment, prepend=-1))
    total = np.add.reduceat(least, starts)
    return np.add.reduceat(values * least, starts) / total, np.add.reduceat(weight, starts)


def best_groups(values: Floats, weight: Floats, n_groups: int) -> Ints:
    """The group of each category, from 0 on: those with similar points share one.

    In the order of their points the groups of least loss are runs of neighbours, so that the
    same search is exact.

    Examples
    --------
    >>> best_groups(np.array([[9.0], [0.0], [1.0], [9.5]]), np.ones((4, 1)), 2).tolist()
    [1, 0, 0, 1]
    """
    # Categories of one axis of a pair have a point for each bin of the other: by their mean.
    total = weight.sum(axis=1)
    mean = (values * weight).sum(axis=1) / np.where(total > 0, total, 1.0)
    plain = values.mean(axis=1)
    order = np.argsort(np.where(total > 0, mean, plain), kind="stable")
    group = np.empty(len(values), dtype=np.int64)
    group[order] = best_segments(values[order], weight[order], n_groups)
    return group
