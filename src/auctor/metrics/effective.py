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
    return independent_rows(rows, values, rate).at(tail)


class IndependentRows(NamedTuple):
    """An effective number of rows, and the number of groups that it was estimated from."""

    n_rows: float
    n_groups: int | None = None  # None without groups

    def at(self, tail: float) -> float:
        """The number for a limit whose error probability is ``tail``."""
        factor = 1.0 if self.n_groups is None else student_factor(self.n_groups, tail)
        return self.n_rows * factor


class WeightSums(NamedTuple):
    """The sum of the weights of some rows, and of their squares."""

    weight: float
    square: float

    @property
    def typical(self) -> float:
        """The weight-averaged weight."""
        return self.square / self.weight


def independent_rows(rows: Counted, values: Floats, rate: float) -> IndependentRows:
    """The number of :func:`effective_rows` at any ``tail``."""
    if len(values) == 0 or rows.is_plain:
        return IndependentRows(float(len(values)))
    top = _top(values, rate)
    weight = rows.weights / rows.weights.max()  # squares neither overflow nor underflow
    by_weights = rows_by_weights(rate, _sums(weight[top]), _sums(weight[~top]))
    if rows.codes is None:
        return IndependentRows(by_weights)
    sums = _group_sums(weight, rows.codes)
    correlation = within_correlation(top.astype(np.float64), rows.codes)
    return rows_by_groups(by_weights, correlation, kish(sums), len(sums))


def rows_by_weights(rate: float, top: WeightSums, rest: WeightSums) -> float:
    """The effective number of rows of a rate, from the weights on each side of its threshold."""
    whole = WeightSums(top.weight + rest.weight, top.square + rest.square)
    above, below = (one if one.weight > 0 else whole for one in (top, rest))
    by_weights = whole.weight / ((1 - rate) * above.typical + rate * below.typical)
    # The weights on one side of the threshold are estimated from few rows if they differ much.
    # Kish's number, from all rows, is more certain and often too small. In simulations the
    # geometric mean of the two covers.
    return float(np.sqrt(by_weights * min(by_weights, whole.weight**2 / whole.square)))


def rows_by_groups(
    by_weights: float, correlation: float, groups_by_weights: float, n_groups: int
) -> IndependentRows:
    """The effective number of rows, divided by the design effect of their groups."""
    effective = min(groups_by_weights, by_weights)
    design_effect = (1 - correlation) + correlation * by_weights / effective
    return IndependentRows(by_weights / design_effect, n_groups)


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
    means = np.bincount(codes, weights=values) / sizes
    inside = float(np.square(values - means[codes]).sum())
    total = float(np.square(values - values.mean()).sum())
    return correlation_of_squares(
        len(values), len(sizes), float(np.square(sizes).sum()), inside, total
    )


def correlation_of_squares(
    n_rows: int, n_groups: int, squared_sizes: float, inside: float, total: float
) -> float:
    """The intraclass correlation from sums of squares: of group sizes, within groups, in all."""
    if n_groups == n_rows:
        return 0.0  # every group is a single row
    if n_groups == 1 or total == 0:
        return 1.0
    between = (total - inside) / (n_groups - 1)
    inside /= n_rows - n_groups
    usual = (n_rows - squared_sizes / n_rows) / (n_groups - 1)
    return float(np.clip((between - inside) / (between + (usual - 1) * inside), 0.0, 1.0))


def top_size(n_rows: int, rate: float) -> int:
    """The number of rows in the top fraction ``rate``, with a minimum of rows on each side."""
    minimum = min(_MIN_ROWS, n_rows // 2)
    return int(np.clip(round(rate * n_rows), max(minimum, 1), max(n_rows - minimum, 1)))


def _top(values: Floats, rate: float) -> Bools:
    """Whether a row is in the top fraction ``rate``."""
    n = len(values)
    size = top_size(n, rate)
    return np.asarray(values >= np.partition(values, n - size)[n - size])


def _sums(weight: Floats) -> WeightSums:
    return WeightSums(float(weight.sum()), float(np.square(weight).sum()))


def _group_sums(weight: Floats, codes: Ints) -> Floats:
    sums = np.bincount(codes, weights=weight).astype(np.float64)
    return sums[sums > 0]
