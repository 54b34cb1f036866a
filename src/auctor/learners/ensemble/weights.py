"""Non-negative weights that sum to 1 and maximise a metric of held-out scores."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.learners.ensemble.held_out import HeldOut, Target, weighted_sum

# Weights are tried on a grid of this step if members are few, then in ever smaller steps.
_GRID = 8
_MOST_ON_GRID = 4  # members
_STEPS = (1 / 4, 1 / 8, 1 / 16, 1 / 32)
_MOST_MOVES = 200  # at each size of step
# Rounding must not decide between equally good weights.
_SMALLEST_GAIN = 1e-12
# A member is tried without if its weight is below this fraction of an equal weight.
_SMALL = 0.5


class Choice(NamedTuple):
    """The chosen weights, and the metric of the held-out scores with them."""

    weights: Floats
    value: float
    n_tried: int


def _equal(rows: HeldOut) -> Floats:
    return np.full(rows.n_members, 1.0 / rows.n_members)


def _variance(metric: str, value: float) -> float:
    """The variance of a single outcome: 1/4 in the middle, 0 where all pairs are in order."""
    fraction = (1.0 + value) / 2.0 if metric == "ks" else value
    return fraction * (1.0 - fraction)


class _Search:
    """The metric of weights, less what leaving equal weights costs."""

    def __init__(self, rows: HeldOut, target: Target) -> None:
        self._rows, self._target = rows, target
        self._values: dict[bytes, float] = {}
        variance = _variance(target.metric, self.value(_equal(rows)))
        self.cost = variance / target.n_decisive(rows.sizes)

    def value(self, weights: Floats) -> float:
        """The metric itself."""
        key = weights.tobytes()
        if key not in self._values:
            scores = weighted_sum(self._rows.scores, weights)
            self._values[key] = self._target.value(self._rows, scores)
        return self._values[key]

    def quality(self, weights: Floats) -> float:
        """The metric less the cost.

        The standard error of an AUC A from n rows of the smaller class is at most
        sqrt(A (1 - A) / n), and that of the difference between two similar scores about a tenth of
        it; the loss by wrong weights is quadratic. Of m members, one alone costs
        (m - 1) A (1 - A) / n.
        """
        away = weights - 1.0 / len(weights)
        return self.value(weights) - self.cost * len(weights) * float((away**2).sum())

    @property
    def n_tried(self) -> int:
        return len(self._values)


def find_weights(rows: HeldOut, target: Target) -> Choice:
    """Weights by a grid of the simplex and moves between two members.

    Examples
    --------
    >>> positive = np.arange(40) % 2 == 0
    >>> good, noise = positive + np.arange(40) / 30, np.arange(40) * 7 % 11 / 4.0
    >>> folds, row = np.repeat([0, 1], 20), np.arange(40)
    >>> scores = np.column_stack([good, noise])
    >>> rows = HeldOut(scores, positive, np.ones(40), folds, row, (20.0, 20.0))
    >>> find_weights(rows, Target("auc")).weights.tolist()
    [1.0, 0.0]
    """
    search, n_members = _Search(rows, target), rows.n_members
    best = _equal(rows)
    if n_members > 1:
        best = _best(search, best, _starts(n_members))
        for step in _STEPS:
            best = _climb(search, best, step)
        best = _without_small(search, best)
    return Choice(best, search.value(best), search.n_tried)


def _starts(n_members: int) -> Iterator[Floats]:
    """Each member alone, and for few members all weights on a grid."""
    yield from np.eye(n_members)
    if n_members <= _MOST_ON_GRID:
        yield from (np.array(parts) / _GRID for parts in _compositions(_GRID, n_members))


def _compositions(total: int, n_parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to divide a whole number into parts of 0 or more."""
    if n_parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, n_parts - 1):
            yield (first, *rest)


def _best(search: _Search, best: Floats, others: Iterator[Floats]) -> Floats:
    """The first weights, unless others are better."""
    quality = search.quality(best)
    for weights in others:
        other = search.quality(weights)
        if other > quality + _SMALLEST_GAIN:
            best, quality = weights, other
    return best


def _climb(search: _Search, best: Floats, step: float) -> Floats:
    """Move weight from one member to another as long as that is better."""
    for _ in range(_MOST_MOVES):
        moved = _best(search, best, _moves(best, step))
        if moved is best:
            break
        best = moved
    return best


def _moves(weights: Floats, step: float) -> Iterator[Floats]:
    for source in np.flatnonzero(weights).tolist():
        amount = min(step, float(weights[source]))
        for other in range(len(weights)):
            if other != source:
                moved = weights.copy()
                moved[other] += amount
                moved[source] = 0.0 if amount == weights[source] else moved[source] - amount
                yield moved


def _without_small(search: _Search, weights: Floats) -> Floats:
    """Leave out members of small weight that gain no more than the noise of the metric."""
    small = np.flatnonzero((weights > 0) & (weights < _SMALL / len(weights)))
    for member in small[np.argsort(weights[small], kind="stable")].tolist():
        left = weights.copy()
        left[member] = 0.0
        left /= left.sum()
        if search.value(left) >= search.value(weights) - search.cost:
            weights = left
    return weights
