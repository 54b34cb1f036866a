"""How many independent rows a sample is worth that has weights or groups."""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri, stdtrit

from auctor._typing import Bools, Floats, Ints

# Fewer rows than this do not tell what the weights on their side are, or how groups vary there.
_FEWEST = 10


class Counted(NamedTuple):
    """Rows with their scores, and what decides how much each of them counts."""

    positive: Bools
    scores: Floats
    weight: Floats | None
    codes: Ints | None  # the group of each row, as a whole number from 0

    @property
    def is_plain(self) -> bool:
        """Whether each row counts once and is independent of the others."""
        return self.weight is None and self.codes is None

    @property
    def weights(self) -> Floats:
        """The weight of each row, 1 where none was given."""
        return np.ones(len(self.scores)) if self.weight is None else self.weight

    def take(self, chosen: Bools) -> "Counted":
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[chosen]
        codes = None if self.codes is None else self.codes[chosen]
        return Counted(self.positive[chosen], self.scores[chosen], weight, codes)


def effective_rows(rows: Counted, values: Floats, rate: float, tail: float) -> float:
    """The number of independent rows from which a rate would be known as well as from these.

    ``rate`` is the share of rows with the largest ``values``. Without weights and groups it is the
    number of rows. With weights it follows from the variance of a weighted mean, to first order;
    for weights that do not depend on the values it is that of Kish, ``(sum w)^2 / sum w^2``.
    With groups the correlation within them enters (Kish's design effect); and since few groups
    tell little about it, the number is lowered by the squared ratio of the normal quantile at
    ``tail`` to that of Student's t, as in the interval of Korn and Graubard.

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
    alone = float(weight.sum()) / typical
    # What the weights are on either side of the cut is known from few rows where they differ much;
    # Kish's number of all rows is known better, and often too small. By simulation their
    # geometric mean covers.
    alone = float(np.sqrt(alone * min(alone, kish(weight))))
    if rows.codes is None:
        return alone
    sums = _group_sums(weight, rows.codes)
    share = within_correlation(top.astype(np.float64), rows.codes)
    together = alone / ((1 - share) + share * alone / min(kish(sums), alone))
    return together * student_factor(len(sums), tail)


def student_factor(n_groups: int, tail: float) -> float:
    """By how much few groups lower the effective number of rows.

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
    scaled = weight / weight.max()  # squares neither overflow nor vanish
    return float(scaled.sum() ** 2 / np.square(scaled).sum())


def kish_of_groups(rows: Counted) -> tuple[float, int]:
    """Kish's effective number of the groups, and how many there are."""
    if rows.codes is None:
        return kish(rows.weights), len(rows.scores)
    sums = _group_sums(rows.weights, rows.codes)
    return kish(sums), len(sums)


def within_correlation(values: Floats, codes: Ints) -> float:
    """Correlation of two rows of one group, from 0 to 1, by the analysis of variance.

    It is 1 where the values do not vary, since then nothing speaks for less.

    Examples
    --------
    >>> within_correlation(np.array([1.0, 1.0, 0.0, 0.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    _, codes = np.unique(codes, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    n, n_groups = len(values), len(sizes)
    if n_groups == n:
        return 0.0  # every row is a group: there is no other row to be correlated with
    means = np.bincount(codes, weights=values) / sizes
    inside = float(np.square(values - means[codes]).sum()) / (n - n_groups)
    total = float(np.square(values - values.mean()).sum())
    if n_groups == 1 or total == 0:
        return 1.0
    between = (total - inside * (n - n_groups)) / (n_groups - 1)
    usual = (n - float(np.square(sizes).sum()) / n) / (n_groups - 1)
    return float(np.clip((between - inside) / (between + (usual - 1) * inside), 0.0, 1.0))


def _top(values: Floats, rate: float) -> Bools:
    """The rows of the largest values: a share ``rate``, but enough of them and of the others."""
    n = len(values)
    fewest = min(_FEWEST, n // 2)
    size = int(np.clip(round(rate * n), max(fewest, 1), max(n - fewest, 1)))
    return np.asarray(values >= np.partition(values, n - size)[n - size])


def _typical(weight: Floats, part: Bools) -> float:
    """The mean weight of these rows, each taken as often as it weighs; of all if there are none."""
    chosen = weight[part] if part.any() else weight
    return float(np.square(chosen).sum() / chosen.sum())


def _group_sums(weight: Floats, codes: Ints) -> Floats:
    sums = np.bincount(codes, weights=weight).astype(np.float64)
    return sums[sums > 0]
