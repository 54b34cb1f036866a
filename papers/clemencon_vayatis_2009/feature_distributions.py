"""Distributions of rows: uniform negatives in the unit cube, positives by a known ratio.

Everything about a score that is constant on boxes is then known without a test sample: its ROC
curve in the population, and so its distances from ROC*.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.datasets import OptimalRoc, exponential_roc, quadratic_roc

Rates = tuple[Floats, Floats]

# Not one half, so that ranking and classification cut at different thresholds (Remark 4).
POSITIVE_FRACTION = 0.3


@dataclass(frozen=True)
class FeatureDistribution:
    """A distribution of rows: ``roc`` knows ROC*, ``log_ratio`` the likelihood ratio at a row.

    ``corner`` is the fraction of positives below a corner (a grid of corners), one argument for
    each feature; ``meets_all`` tells whether all assumptions of Theorem 21 for d-infinity hold.
    """

    name: str
    roc: OptimalRoc
    n_features: int
    log_ratio: Callable[[Floats], Floats]
    corner: Callable[..., Floats]
    meets_all: bool

    def draw(self, n_rows: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Draw independent copies of (X, Y); the number of positives is random."""
        y = (rng.random(n_rows) < POSITIVE_FRACTION).astype(np.int64)
        X = rng.random((n_rows, self.n_features))
        waiting = np.flatnonzero(y)
        while len(waiting):  # rejection: a uniform row is kept with ratio / largest ratio
            ratio = np.exp(self.log_ratio(X[waiting]) - self.roc.high)
            waiting = waiting[rng.random(len(waiting)) > ratio]
            X[waiting] = rng.random((len(waiting), self.n_features))
        return X, y

    def masses(self, edges: Sequence[Floats]) -> Rates:
        """Fractions of the negatives and of the positives in each box of a grid."""
        sides = np.meshgrid(*(np.diff(axis) for axis in edges), indexing="ij")
        neg = np.prod(np.stack(sides), axis=0)
        pos = self.corner(*np.meshgrid(*edges, indexing="ij"))
        for axis in range(self.n_features):
            pos = np.diff(pos, axis=axis)
        return neg.ravel(), np.maximum(pos.ravel(), 0.0)


def exponential_line() -> FeatureDistribution:
    """One feature: the fraction of negatives above a row is the row itself."""
    roc, rate = exponential_roc(2.0), 2.0

    def log_ratio(X: Floats) -> Floats:
        """Log ratio of the densities at each row."""
        return roc.high - rate * X[:, 0]

    return FeatureDistribution(
        "one feature", roc, 1, log_ratio, _exponential_fraction(rate), meets_all=True
    )


def nested_squares() -> FeatureDistribution:
    """Two features; the ratio falls with the larger one, uniform on [0.25, 1.75]."""
    curvature = 0.75
    roc = quadratic_roc(curvature)

    def log_ratio(X: Floats) -> Floats:
        """Log ratio of the densities at each row."""
        return np.log(1 + curvature - 2 * curvature * X.max(axis=1) ** 2)

    def corner(a: Floats, b: Floats) -> Floats:
        """Fraction of the positives in the box from 0 to (a, b)."""
        low, high = np.minimum(a, b), np.maximum(a, b)
        # The square up to the smaller side, and a strip beside it.
        strip = (1 + curvature) * (high - low) - 2 * curvature / 3 * (high**3 - low**3)
        return low**2 * (1 + curvature * (1 - low**2)) + low * strip

    return FeatureDistribution(
        "two features, square level sets", roc, 2, log_ratio, corner, meets_all=True
    )


def diagonals() -> FeatureDistribution:
    """Two features; the log ratio falls with their sum: no level set is a union of few boxes."""
    rate = 2.0
    roc = _sum_roc(rate)
    fraction = _exponential_fraction(rate)

    def log_ratio(X: Floats) -> Floats:
        """Log ratio of the densities at each row."""
        return roc.high - rate * X.sum(axis=1)

    def corner(a: Floats, b: Floats) -> Floats:
        """Fraction of the positives in the box from 0 to (a, b)."""
        return fraction(a) * fraction(b)

    # The density of eta vanishes at both ends of its range: a corner of the square is a point.
    return FeatureDistribution(
        "two features, diagonal level sets", roc, 2, log_ratio, corner, meets_all=False
    )


DISTRIBUTIONS: dict[str, Callable[[], FeatureDistribution]] = {
    "line": exponential_line,
    "squares": nested_squares,
    "diagonals": diagonals,
}


def _exponential_fraction(rate: float) -> Callable[[Floats], Floats]:
    """Distribution function of the density exp(-rate x) on [0, 1]."""
    return lambda x: np.expm1(-rate * x) / math.expm1(-rate)


def _sum_roc(rate: float) -> OptimalRoc:
    """ROC* where both features have the density exp(-rate x) among the positives."""
    scale = rate / -math.expm1(-rate)
    high = 2 * math.log(scale)

    def tails(t: Floats) -> Rates:
        """Fractions of both classes with a log ratio above t."""
        s = np.clip((high - t) / rate, 0, 2)  # the sum of the features at the threshold
        rest = 2 - s
        # Integrals of exp(-rate u) u up to s, and of exp(-rate u) (2 - u) from s on.
        below = (scale / rate) ** 2 * (1 - np.exp(-rate * s) * (1 + rate * s))
        far = np.exp(rate * (rest - 2)) * (rate * rest - 1) + math.exp(-2 * rate)
        above = 1 - (scale / rate) ** 2 * far
        return np.where(s < 1, s**2 / 2, 1 - rest**2 / 2), np.where(s < 1, below, above)

    low = high - 2 * rate
    return OptimalRoc("a sum of two features", tails, low, high, (low, high - rate, high))


class Evaluation(NamedTuple):
    """A score in the population: distances from ROC*, and the cells on which it is constant."""

    d1: float
    d_inf: float
    n_cells: int
    diameter: float  # mean over the negatives
    largest: float  # diameter of any cell


def evaluate(ranker: Any, distribution: FeatureDistribution) -> Evaluation:
    """A fitted ranker whose score is constant between the cuts of its features."""
    inner = [feature.cuts for feature in ranker.model_.features]
    edges = [np.concatenate([[0.0], c[(c > 0) & (c < 1)], [1.0]]) for c in inner]
    middle = np.meshgrid(*((e[1:] + e[:-1]) / 2 for e in edges), indexing="ij")
    score = ranker.decision_function(np.column_stack([m.ravel() for m in middle]))
    _, cell = np.unique(-score, return_inverse=True)
    neg, pos = distribution.masses(edges)
    alpha, beta = (_knots(cell, mass) for mass in (neg, pos))
    size = _diameters(edges, cell)
    d1, d_inf = distances(distribution.roc, alpha, beta)
    mean_size = float(np.bincount(cell, neg) @ size)
    return Evaluation(d1, d_inf, len(size), mean_size, float(size.max()))


def distances(roc: OptimalRoc, alpha: Floats, beta: Floats) -> tuple[float, float]:
    """Exact d1 and d-infinity of a piecewise linear curve below ROC*.

    ROC* less a line is concave on each piece: it is largest where its slope is the line's, or at
    the end of the piece that is nearest to that.
    """
    d1 = roc.optimal_auc - float((beta[1:] + beta[:-1]) @ np.diff(alpha)) / 2
    width, rise = np.diff(alpha), np.diff(beta)
    slope = np.divide(rise, width, out=np.ones_like(width), where=width > 0)
    with np.errstate(divide="ignore"):
        top = np.clip(roc.rates(np.log(slope))[0], alpha[:-1], alpha[1:])
    gap = roc.tpr(np.clip(top, 0, 1)) - beta[:-1] - slope * (top - alpha[:-1])
    return d1, float(gap[width > 0].max())


def _knots(cell: Ints, mass: Floats) -> Floats:
    """Cumulative fractions after each cell, rescaled to end at 1 despite rounding."""
    total = np.cumsum(np.bincount(cell, mass))
    return np.concatenate([[0.0], total / total[-1]])


def _diameters(edges: Sequence[Floats], cell: Ints) -> Floats:
    """The diagonal of the smallest box around each cell."""
    square = np.zeros(int(cell.max()) + 1)
    starts = np.meshgrid(*(e[:-1] for e in edges), indexing="ij")
    ends = np.meshgrid(*(e[1:] for e in edges), indexing="ij")
    for start, end in zip(starts, ends, strict=True):
        least, most = np.full(len(square), np.inf), np.full(len(square), -np.inf)
        np.minimum.at(least, cell, start.ravel())
        np.maximum.at(most, cell, end.ravel())
        square += (most - least) ** 2
    return np.sqrt(square)
