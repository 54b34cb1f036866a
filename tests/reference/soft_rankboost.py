"""SoftRankBoost with two explicit distributions, every stump, and a projection by sorting."""

from dataclasses import dataclass
from math import log

import numpy as np
import numpy.typing as npt

from tests.reference.rankboost import EQUAL, every_stump


@dataclass(frozen=True)
class RowRound:
    """A round: the stump's values on all rows, its r, alpha, Z, and the distributions after it."""

    feature: int
    h: npt.NDArray[np.bool_]
    r: float
    alpha: float
    z: float
    d: npt.NDArray[np.float64]  # adds up to 1 over each class


def project(d: npt.NDArray[np.float64], caps: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The distribution nearest to ``d`` in relative entropy with no entry above its cap.

    It is min(c d, caps). In the order of d / caps the rows at their cap come first; the number of
    these rows is increased until the others, scaled to the remaining weight, stay below theirs.
    """
    order = np.argsort(-d / caps, kind="stable")
    for n_capped in range(len(d) + 1):
        capped, others = order[:n_capped], order[n_capped:]
        left = 1.0 - caps[capped].sum()
        c = left / d[others].sum() if len(others) else 0.0
        if (c * d[others] <= caps[others]).all():
            out = caps.copy()
            out[others] = c * d[others]
            return out
    raise AssertionError("no row can exceed its cap if all are at it")


def soft_rankboost_rows(
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    weight: npt.NDArray[np.float64],
    is_category: npt.NDArray[np.bool_],
    nus: tuple[float, float],
    n_rounds: int,
    learning_rate: float = 1.0,
) -> list[RowRound]:
    """Rounds on a matrix of codes (rows, features), 0 for missing; ``nus`` negative, positive."""
    sides = [(~positive, nus[0], 1.0), (positive, nus[1], -1.0)]
    d = np.empty(len(weight))
    for rows, _, _ in sides:
        d[rows] = weight[rows] / weight[rows].sum()
    rounds: list[RowRound] = []
    for _ in range(n_rounds):
        best = _best_stump(codes, positive, d, is_category)
        if best is None or abs(best[2]) > 1 - EQUAL:
            break
        feature, h, r = best
        # Rounded like the steps of the model, so that the same stumps tie.
        alpha = round(learning_rate * log((1 + r) / (1 - r)) / 2 * 2**32) / 2**32
        z, d = 1.0, d.copy()
        for rows, nu, sign in sides:
            d[rows] *= np.exp(sign * alpha * h[rows])
            z *= float(d[rows].sum())
            d[rows] = project(d[rows] / d[rows].sum(), weight[rows] / nu)
        rounds.append(RowRound(feature, h, r, alpha, z, d))
    return rounds


def _best_stump(
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    d: npt.NDArray[np.float64],
    is_category: npt.NDArray[np.bool_],
) -> tuple[int, npt.NDArray[np.bool_], float] | None:
    best, best_r = None, 0.0
    for j, h in every_stump(codes, is_category):
        r = float(d[positive & h].sum() - d[~positive & h].sum())
        if is_category[j] and r < 0:
            continue  # the complementary set of categories has the same edge, above 0
        if abs(r) > abs(best_r) + EQUAL:
            best, best_r = (j, h, r), r
    return best


def capped_mean(
    scores: npt.NDArray[np.float64], weight: npt.NDArray[np.float64], nu: float
) -> float:
    """The smallest mean score over distributions with no row above its weight / nu."""
    left, total = 1.0, 0.0
    for i in np.argsort(scores, kind="stable"):
        fraction = min(left, weight[i] / nu)
        total += fraction * scores[i]
        left -= fraction
    return float(total)
