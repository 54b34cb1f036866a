"""Basic MartiRank as in Long & Servedio (2007), section 4: one node after the other."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.reference.aucboost import EQUAL, best_ranker, two_sided_slow

Floats = npt.NDArray[np.float64]
_MASK = 2**64 - 1


@dataclass(frozen=True)
class SlowNode:
    """A node: its rows, the probability of each to go right, or a frozen label.

    ``lean`` of a frozen node is tanh(log(q+ / q-) / 2), where q of a class is the fraction of its
    rows at the node, plus that of one row.
    """

    rows: npt.NDArray[np.int64]
    feature: int
    right: Floats
    label: int
    lean: float = 0.0


def coin(seed: int, row: int, layer: int, index: int) -> float:
    """The random number of a row at a node: splitmix64 in Python integers."""
    position = layer * 65_536 + index
    x = seed * 0xA0761D6478BD642F & _MASK
    x ^= (row * 0x9E3779B97F4A7C15 & _MASK) ^ (position * 0xD1B54A32D192ED03 & _MASK)
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _MASK
    return ((x ^ (x >> 31)) >> 11) * 2.0**-53


def martirank_bins(
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    weight: Floats,
    is_category: npt.NDArray[np.bool_],
    n_layers: int,
    min_class: float,
    seed: int,
) -> list[list[SlowNode]]:
    """Build the program on a matrix of codes (rows, features) until no row is left."""
    bins: list[list[int]] = [list(range(len(codes)))]
    layers = []
    for t in range(1, n_layers + 1):
        nodes = [
            _train(np.array(rows, dtype=np.int64), codes, positive, weight, is_category, min_class)
            for rows in bins
        ]
        layers.append(nodes)
        if all(node.feature < 0 for node in nodes):
            break
        bins = [[] for _ in range(t + 1)]
        for i, node in enumerate(nodes):
            if node.feature < 0:
                continue
            for row, chance in zip(node.rows.tolist(), node.right.tolist(), strict=True):
                bins[i + (coin(seed, row, t, i) < chance)].append(row)
    return layers


def _train(
    rows: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    positive: npt.NDArray[np.bool_],
    weight: Floats,
    is_category: npt.NDArray[np.bool_],
    min_class: float,
) -> SlowNode:
    pos = weight[rows][positive[rows]].sum()
    neg = weight[rows][~positive[rows]].sum()
    all_pos, all_neg = weight[positive].sum(), weight[~positive].sum()
    one = 1 / (all_pos + all_neg)
    lean = np.tanh(np.log((pos / all_pos + one) / (neg / all_neg + one)) / 2)
    if min(pos, neg) < min_class:
        return SlowNode(rows, -1, np.zeros(0), int(np.sign(pos * all_neg - neg * all_pos)), lean)
    feature, scores, auc = best_ranker(codes[rows], positive[rows], weight[rows], is_category)
    if auc - 0.5 <= EQUAL:
        return SlowNode(rows, -1, np.zeros(0), 0, lean)
    labels, _ = two_sided_slow(scores, positive[rows], weight[rows])
    return SlowNode(rows, feature, (1 + labels) / 2, 0)


def expected_value(
    chances: list[list[float | None]], values: list[list[float]], final: list[float]
) -> float:
    """Expected value of one row: chances[t][i] to go right, None if the node is frozen."""
    at = {0: 1.0}
    total = 0.0
    for layer, frozen in zip(chances, values, strict=True):
        below: dict[int, float] = {}
        for i, here in at.items():
            p = layer[i]
            if p is None:
                total += here * frozen[i]
            else:
                below[i] = below.get(i, 0.0) + here * (1 - p)
                below[i + 1] = below.get(i + 1, 0.0) + here * p
        at = below
    return total + sum(here * final[i] for i, here in at.items())
