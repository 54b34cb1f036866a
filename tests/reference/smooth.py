"""The smoothed AUC and AUCBoost of Komori (2010), section 3, with every pair formed."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Smaller differences of slopes are ties, and the first stump is kept. A smaller slope counts as 0.
EQUAL = 2.0**-40
# Upper limit of a coefficient: without a penalty the objective may increase without bound.
MAX_ALPHA = 16.0


def phi(z: Floats) -> Floats:
    """The standard normal density."""
    return np.asarray(np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi))


def pair_weights(positive: Bools, weight: Floats) -> Floats:
    """Weight of each pair (negative, positive) as a fraction of the total."""
    pairs = np.outer(weight[~positive], weight[positive])
    return np.asarray(pairs / pairs.sum())


def pair_differences(values: Floats, positive: Bools) -> Floats:
    """Score of the positive minus that of the negative, for each pair."""
    return np.asarray(values[positive][None, :] - values[~positive][:, None])


def smoothed_auc(scores: Floats, positive: Bools, weight: Floats) -> float:
    """The mean over all pairs of Phi(F(x1) - F(x0)): section 2.2."""
    pairs = pair_weights(positive, weight)
    return float((pairs * ndtr(pair_differences(scores, positive))).sum())


def smoothed_auc_slopes(scores: Floats, positive: Bools, weight: Floats) -> Floats:
    """Derivative of the smoothed AUC with respect to each row's score."""
    pairs = pair_weights(positive, weight) * phi(pair_differences(scores, positive))
    out = np.empty(len(scores))
    out[positive], out[~positive] = pairs.sum(axis=0), -pairs.sum(axis=1)
    return out


def table_gradient(
    codes: npt.NDArray[np.int64], tables: Floats, positive: Bools, weight: Floats
) -> Floats:
    """Derivative of the smoothed AUC by each table entry; ``codes`` are (features, rows)."""
    scores = np.sum([table[column] for table, column in zip(tables, codes, strict=True)], axis=0)
    slopes = smoothed_auc_slopes(scores, positive, weight)
    out = np.zeros_like(tables)
    for column, gains in zip(codes, out, strict=True):
        np.add.at(gains, column, slopes)
    return out


def bins_roughness(f: Floats) -> float:
    """Sum of squared second differences over the bins of one feature, equation (7).

    The values at both ends are repeated beyond them.
    """
    padded = np.concatenate([f[:1], f, f[-1:]])
    return float(sum((a - 2 * b + c) ** 2 for a, b, c in zip(padded, f, padded[2:], strict=False)))


def curvature_roughness(f: Floats, positions: Floats) -> float:
    """The integral of f''^2 over the bins' positions; f'' is constant around each inner bin."""
    total = 0.0
    for i in range(1, len(f) - 1):
        before, after = positions[i] - positions[i - 1], positions[i + 1] - positions[i]
        bend = (f[i + 1] - f[i]) / after - (f[i] - f[i - 1]) / before
        total += bend**2 / ((before + after) / 2)
    return total


def slope_roughness(f: Floats, positions: Floats) -> float:
    """The integral of f'^2 by the positions of the bins."""
    return float((np.diff(f) ** 2 / np.diff(positions)).sum())


@dataclass(frozen=True)
class PaperRound:
    """A round: f(x) = a H(x_k - b) + (1 - a) / 2, and alpha."""

    k: int
    b: float
    a: int
    alpha: float
    slope: float

    def f(self, x: Floats) -> Floats:
        """The stump's values at values of feature k."""
        return np.asarray(self.a * (x >= self.b) + (1 - self.a) / 2)


@dataclass
class AUCBoost:
    """Section 3.2 on numbers without missing values; ``lam`` is lambda."""

    X: Floats
    positive: Bools
    weight: Floats
    lam: float
    rounds: list[PaperRound] = field(default_factory=list)

    def points(self, k: int) -> list[float]:
        """B_k: a point below all samples, then every intermediate point.

        F_k takes one value from each of them to the next. Without the lowest point, equation (7)
        would not see the value below the first cut, and its second derivative for that cut would
        not be the paper's 4 lambda.
        """
        values = np.unique(self.X[:, k])
        return [values[0] - 1.0, *(float((a + b) / 2) for a, b in pairwise(values))]

    def component(self, k: int, x: Floats) -> Floats:
        """F_k at values of feature k."""
        out = np.zeros(len(x))
        for step in self.rounds:
            if step.k == k:
                out += step.alpha * step.f(x)
        return out

    def scores(self) -> Floats:
        """F at all rows."""
        n_features = self.X.shape[1]
        parts = [self.component(k, self.X[:, k]) for k in range(n_features)]
        return np.asarray(np.sum(parts, axis=0), dtype=np.float64)

    def objective(self) -> float:
        """Equation (7) with sigma = 1."""
        total = smoothed_auc(self.scores(), self.positive, self.weight)
        for k in range(self.X.shape[1]):
            total -= self.lam * bins_roughness(self.component(k, np.array(self.points(k))))
        return total

    def stumps(self) -> Iterator[PaperRound]:
        """Yield every stump with its slope at alpha = 0; the first of ties is kept."""
        z = pair_differences(self.scores(), self.positive)
        density = pair_weights(self.positive, self.weight) * phi(z)
        for k in range(self.X.shape[1]):
            for i, b in enumerate(self.points(k)[1:], start=1):
                h = pair_differences((self.X[:, k] >= b).astype(np.float64), self.positive)
                for a in (1, -1):
                    slope = float((density * a * h).sum()) - self.penalty_slope(k, i, a)
                    yield PaperRound(k, b, a, 0.0, slope)

    def penalty_slope(self, k: int, i: int, a: int) -> float:
        """2 lambda a {F(b^(-2)) - 3 F(b^(-1)) + 3 F(b) - F(b^(+1))} for the i-th point b of B_k.

        An element before the first is the first, one after the last is the last.
        """
        values = self.component(k, np.array(self.points(k)))
        two_before, before, here, after = values[
            np.clip([i - 2, i - 1, i, i + 1], 0, len(values) - 1)
        ]
        return float(2 * self.lam * a * (two_before - 3 * before + 3 * here - after))

    def steepest(self) -> PaperRound:
        """Step 2.a: the first stump of the largest slope."""
        stumps = list(self.stumps())
        largest = max(stump.slope for stump in stumps)
        return next(stump for stump in stumps if stump.slope >= largest - EQUAL)

    def derivatives(self, stump: PaperRound, alpha: float) -> tuple[float, float]:
        """First and second derivative along the stump: equation (8) and the one before it."""
        i = self.points(stump.k).index(stump.b)
        pairs = pair_weights(self.positive, self.weight)
        moved = pair_differences(stump.f(self.X[:, stump.k]), self.positive)
        z = pair_differences(self.scores(), self.positive) + alpha * moved
        first = float((pairs * phi(z) * moved).sum())
        second = -float((pairs * phi(z) * moved**2 * z).sum())
        bend = self.penalty_slope(stump.k, i, stump.a) + 4 * self.lam * alpha
        return first - bend, second - 4 * self.lam

    def alpha(self, stump: PaperRound) -> float:
        """Newton-Raphson in a bracket, which doubles until the objective falls."""
        low, high = 0.0, 1.0
        while self.derivatives(stump, high)[0] > EQUAL:
            if high >= MAX_ALPHA:
                return MAX_ALPHA
            low, high = high, 2 * high
        alpha, before = (low + high) / 2, np.inf
        while abs(alpha - before) > 1e-12:
            first, second = self.derivatives(stump, alpha)
            low, high = (alpha, high) if first > EQUAL else (low, alpha)
            newton = alpha - (first - EQUAL) / second if second < 0 else np.inf
            before, alpha = alpha, newton if low <= newton <= high else (low + high) / 2
        return alpha

    def run(self, n_rounds: int) -> None:
        """Steps 2.a and 2.b, ``n_rounds`` times or until no stump has a positive slope."""
        for _ in range(n_rounds):
            stump = self.steepest()
            if stump.slope <= EQUAL:
                break
            alpha = self.alpha(stump)
            self.rounds.append(PaperRound(stump.k, stump.b, stump.a, alpha, stump.slope))
