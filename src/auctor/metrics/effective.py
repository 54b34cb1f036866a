"""Effective number of independent rows of a sample with weights or groups."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from auctor._typing import Bools, Floats, Ints

# Minimum number of rows on each side of a threshold from which weights and groups are judged.
_MIN_ROWS = 10


class Counted(NamedTuple):
    """Rows with their scores, weights and groups."""

    positive: Bools
    scores: Floats
    weight: Floats | None
    codes: Ints | None  # the group of each row, as a whole number from 0

    @property
    def is_plain(self) -> bool:
        """Whether there are neither weights nor groups."""
        return self.weight is None and self.codes is None

    @property
    def weights(self) -> Floats:
        """The weight of each row; 1 without weights."""
        return np.ones(len(self.scores)) if self.weight is None else self.weight

    def take(self, chosen: Bools) -> "Counted":
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[chosen]
        codes = None if self.codes is None else self.codes[chosen]
        return Counted(self.positive[chosen], self.scores[chosen], weight, codes)


def effective_rows(rows: Counted, values: Floats, rate: float, tail: float) -> float:
    """Number of independent rows with which a rate has the same variance as with these rows.

    ``rate`` is the fraction of rows with the largest ``values``. Without weights and groups the
    result is the number of rows. With weights it follows from the variance of a weighted mean, to
    first order; if the weights do not depend on the values, it is Kish's effective number
    ``(sum w)^2 / sum w^2``. With groups it is divided by the design effect, which follows from the
    correlation within groups. Few groups give a poor estimate of that correlation, so the number is
    then multiplied by the squared ratio of the normal quantile at ``tail`` to the quantile of
    Student's t distribution, as in the interval of Korn and Graubard.

    Examples
    --------
    >>> rows = Counted(np.ones(4, bool), np.arange(4.0), np.full(4, 7.0), None)
    >>> effective_rows(rows, rows.scores, 0.25, 0.025)
    4.0
    """
    if len(values) == 0 or rows.is_plain:
        return float(len(values))
    top = _top(values, rate)
    weight = rows.weights / rows.weights.max()
    typical = (1 - rate) * _typical(weight, top) + rate * _typical(weight, ~top)
    by_weights = float(weight.sum()) / typical
    # The weights on one side of the threshold are estimated from few rows if they differ much.
    # Kish's number, from all rows, is more certain and often too small. In simulations the
    # geometric mean of the two covers.
    by_weights = float(np.sqrt(by_weights * min(by_weights, kish(weight))))
    if rows.codes is None:
        return by_weights
    sums = _group_sums(weight, rows.codes)
    correlation = within_correlation(top.astype(np.float64), rows.codes)
    n_groups = min(kish(sums), by_weights)
    by_groups = by_weights / ((1 - correlation) + correlation * by_weights / n_groups)
    return by_groups * student_factor(len(sums), tail)


def student_factor(n_groups: int, tail: float) -> float:
    """Factor of the effective number of rows that accounts for a small number of groups.

    Examples
    --------
    >>> round(student_factor(5, 0.025), 2), round(student_factor(100, 0.025), 2)
    (0.5, 0.98)
    """
    return 1.0 if n_groups < 2 else float(ndtri(tail) / stdtrit(n_groups - 1, tail)) ** 2


def kish(weight: Floats) -> float:
    """Kish's effective number of rows of these weights.

    Examples
    --------
    >>> kish(np.array([2.0, 2.0, 2.0])), kish(np.array([1.0, 1.0, 2.0]))
    (3.0, 2.6666666666666665)
    """
    scaled = weight / weight.max()  # squares neither overflow nor underflow
    return float(scaled.sum() ** 2 / np.square(scaled).sum())


def kish_of_groups(rows: Counted) -> tuple[float, int]:
    """Kish's effective number of groups, and the number of groups."""
    if rows.codes is None:
        return kish(rows.weights), len(rows.scores)
    sums = _group_sums(rows.weights, rows.codes)
    return kish(sums), len(sums)


def within_correlation(values: Floats, codes: Ints) -> float:
    """Intraclass correlation of rows of the same group, from 0 to 1, by analysis of variance.

    If the values do not vary, it is 1, the conservative choice.

    Examples
    --------
    >>> within_correlation(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    _, codes = np.unique(codes, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    n, n_groups = len(values), len(sizes)
    if n_groups == n:
        return 0.0  # every group is a single row
    means = np.bincount(codes, weights=values) / sizes
    inside = float(np.square(values - means[codes]).sum()) / (n - n_groups)
    total = float(np.square(values - values.mean()).sum())
    if n_groups == 1 or total == 0:
        return 1.0
    between = (total - inside * (n - n_groups)) / (n_groups - 1)
    usual = (n - float(np.square(sizes).sum()) / n) / (n_groups - 1)
    return float(np.clip((between - inside) / (between + (usual - 1) * inside), 0.0, 1.0))


def _top(values: Floats, rate: float) -> Bools:
    """Whether a row is in the top fraction ``rate``, with a minimum of rows on each side."""
    n = len(values)
    minimum = min(_MIN_ROWS, n // 2)
    size = int(np.clip(round(rate * n), max(minimum, 1), max(n - minimum, 1)))
    return np.asarray(values >= np.partition(values, n - size)[n - size])


def _typical(weight: Floats, part: Bools) -> float:
    """The weight-averaged weight of these rows; of all rows if there are none."""
    chosen = weight[part] if part.any() else weight
    return float(np.square(chosen).sum() / chosen.sum())


def _group_sums(weight: Floats, codes: Ints) -> Floats:
    sums = np.bincount(codes, weights=weight).astype(np.float64)
    return sums[sums > 0]
