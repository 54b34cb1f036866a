"""RankBoost as in Freund et al. (2003): a distribution over all pairs, trying every stump."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

# Two stumps whose |r| differ by less are equally good; the first one is kept.
EQUAL = 2.0**-40


@dataclass(frozen=True)
class PairRound:
    """A round: the stump's values on all rows, its r and alpha, and Z."""

    feature: int
    h: npt.NDArray[np.bool_]
    r: float
    alpha: float
    z: float


def rankboost_pairs(
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    weight: npt.NDArray[np.float64],
    is_category: npt.NDArray[np.bool_],
    n_rounds: int,
    learning_rate: float = 1.0,
) -> list[PairRound]:
    """Rounds on a matrix of codes (rows, features), 0 for missing, by forming every pair."""
    pairs = np.outer(weight[~positive], weight[positive])  # D(x0, x1)
    pairs /= pairs.sum()
    rounds = []
    for _ in range(n_rounds):
        best = _best_stump(codes, positive, pairs, is_category)
        if best is None:
            break
        feature, h, r = best
        if abs(r) > 1 - EQUAL:  # every pair in order: alpha would be infinite
            break
        alpha = learning_rate * log((1 + r) / (1 - r)) / 2
        pairs = pairs * np.exp(alpha * (h[~positive][:, None] * 1.0 - h[positive][None, :]))
        z = float(pairs.sum())
        pairs /= z
        rounds.append(PairRound(feature, h, r, alpha, z))
    return rounds


def _best_stump(
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    pairs: npt.NDArray[np.float64],
    is_category: npt.NDArray[np.bool_],
) -> tuple[int, npt.NDArray[np.bool_], float] | None:
    best = None
    best_r = 0.0
    for j, h in every_stump(codes, is_category):
        r = float((pairs * (h[positive][None, :] * 1.0 - h[~positive][:, None])).sum())
        if is_category[j] and r < 0:
            continue  # the complementary set of categories gives the same order, with r > 0
        if abs(r) > abs(best_r) + EQUAL:
            best, best_r = (j, h, r), r
    return best


def every_stump(
    codes: npt.NDArray[np.int64], is_category: npt.NDArray[np.bool_]
) -> Iterator[tuple[int, npt.NDArray[np.bool_]]]:
    """Yield each stump of each feature as its values on all rows; the first of ties is kept."""
    for j in range(codes.shape[1]):
        column = codes[:, j]
        for h in _subsets(column) if is_category[j] else _cuts(column):
            yield j, h


def _cuts(column: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.bool_]]:
    """Missing against the rest; then each cut, highest first, with missing below and above."""
    missing = column == 0
    yield missing
    for cut in range(int(column.max()) - 1, 0, -1):
        yield column > cut
        yield (column > cut) | missing


def _subsets(column: npt.NDArray[np.int64]) -> Iterator[npt.NDArray[np.bool_]]:
    """Every set of categories, where missing is a category."""
    present = np.unique(column)
    for mask in range(2 ** len(present)):
        chosen = [code for i, code in enumerate(present) if mask >> i & 1]
        yield np.isin(column, chosen)
