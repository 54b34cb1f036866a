"""AUCBoost as in Long & Servedio (2007), Theorem 2: AdaBoost over rows, trying every ranker."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
EQUAL = 2.0**-40  # smaller differences in AUC are ties, and the first ranker is kept


@dataclass(frozen=True)
class SlowRound:
    """The feature, the expected label of each row, the ranker's edge, and Z."""

    feature: int
    h: Floats
    edge: float
    epsilon: float
    z: float


def aucboost_rows(
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    weight: Floats,
    is_category: npt.NDArray[np.bool_],
    n_rounds: int,
) -> list[SlowRound]:
    """Run rounds on a matrix of codes (rows, features); code 0 is missing."""
    D = np.where(positive, weight / weight[positive].sum(), weight / weight[~positive].sum()) / 2
    y = np.where(positive, 1.0, -1.0)
    rounds = []
    for _ in range(n_rounds):
        feature, scores, auc = best_ranker(codes, positive, D, is_category)
        if auc - 0.5 <= EQUAL:
            break
        h, epsilon = two_sided_slow(scores, positive, D)
        if epsilon <= EQUAL:
            break
        alpha = log((1 - epsilon) / epsilon) / 2
        D = D * np.exp(-alpha * y * h)
        z = float(D.sum())
        D /= z
        rounds.append(SlowRound(feature, h, auc - 0.5, epsilon, z))
    return rounds


def weighted_auc(scores: Floats, positive: npt.NDArray[np.bool_], D: Floats) -> float:
    """Return the AUC by forming every pair."""
    gap = scores[positive][:, None] - scores[~positive][None, :]
    pairs = np.outer(D[positive], D[~positive])
    return float((pairs * ((gap > 0) + (gap == 0) / 2)).sum() / pairs.sum())


def two_sided_slow(
    scores: Floats, positive: npt.NDArray[np.bool_], D: Floats
) -> tuple[Floats, float]:
    """Lemma 4: try every threshold, then the coin; return expected labels and the error rate."""
    best = None
    for theta in [*np.unique(scores), np.inf]:
        p_pos = D[positive & (scores < theta)].sum() / D[positive].sum()
        p_neg = D[~positive & (scores >= theta)].sum() / D[~positive].sum()
        if best is None or p_pos + p_neg < best[0] - EQUAL:
            best = (p_pos + p_neg, theta, p_pos, p_neg)
    assert best is not None
    _, theta, p_pos, p_neg = best
    above = scores >= theta
    if p_neg <= p_pos:
        zeta = (p_pos - p_neg) / (1 + p_pos - p_neg)  # chance of 1 below the threshold
        return np.where(above, 1.0, 2 * zeta - 1), float(p_pos / (1 + p_pos - p_neg))
    zeta = (p_neg - p_pos) / (1 + p_neg - p_pos)  # chance of -1 above it
    return np.where(above, 1 - 2 * zeta, -1.0), float(p_neg / (1 + p_neg - p_pos))


def best_ranker(
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    D: Floats,
    is_category: npt.NDArray[np.bool_],
) -> tuple[int, Floats, float]:
    """Return the feature, order and direction of the largest AUC; the first of ties."""
    rankers = [
        (j, scores, weighted_auc(scores, positive, D))
        for j in range(codes.shape[1])
        for scores in _orders(codes[:, j], positive, D, bool(is_category[j]))
    ]
    largest = max(abs(auc - 0.5) for _, _, auc in rankers)
    j, scores, auc = next(r for r in rankers if abs(r[2] - 0.5) >= largest - EQUAL)
    return (j, scores, auc) if auc >= 0.5 else (j, -scores, 1 - auc)


def _orders(
    column: npt.NDArray[np.int64], positive: npt.NDArray[np.bool_], D: Floats, category: bool
) -> Iterator[Floats]:
    """Order by value with missing lowest, then highest; categories by fraction of positives."""
    if category:
        fraction = {}
        for code in np.unique(column):
            here = column == code
            pos = D[here & positive].sum() / D[positive].sum()
            neg = D[here & ~positive].sum() / D[~positive].sum()
            fraction[code] = (pos / (pos + neg), code)
        order = sorted(fraction, key=lambda code: fraction[code])
        yield np.array([float(order.index(code)) for code in column])
        return
    yield column.astype(float)
    yield np.where(column == 0, column.max() + 1.0, column.astype(float))
