"""MartiRank on a whole distribution: probabilities in place of samples.

Sections 3 and 4 of the paper leave sampling aside: a node is given the distribution of the rows
that reach it. Two distributions on which that can be computed:

- The majority of k features, with 2^k rows. At each node the best single feature becomes a
  two-sided classifier by Lemma 4, from the rates of the labels that the node sees; a coin splits
  the mass of a row.
- Features that are independent within a class, so many that each node has one of its own: it is +1
  with chance v in positives and u in negatives, whatever the path to the node, so that the weak
  ranker has AUC = 1/2 + (v - u) / 2 at every node. The rows of a class do a random walk.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats


class Program(NamedTuple):
    """The vote H after 1, 2, ... layers: its errors, and the smallest advantage of a node."""

    error_neg: Floats
    error_pos: Floats
    least_advantage: Floats  # two-sided, on the true classes, of all nodes so far


class _Rates(NamedTuple):
    """Chances of the two classes at each node to have +1 in the chosen feature."""

    neg: Floats
    pos: Floats


# A class with less mass than this at a node is taken to be absent: ratios would lose their digits.
_NOTHING = 1e-280


def walk(
    n_layers: int, gap: float, fraction: float = 0.5, eta: float = 0.0, is_eta_known: bool = False
) -> Program:
    """MartiRank on independent features with v - u = gap and u + v = 1."""
    neg, pos, found, least = np.ones(1), np.ones(1), [], 0.5
    for T in range(1, n_layers + 1):
        rates = _Rates(np.full(T, (1 - gap) / 2), np.full(T, (1 + gap) / 2))
        total = np.where(np.stack([neg, pos]) > _NOTHING, np.stack([neg, pos]), 0.0)
        weight = total * np.array([1.0 - fraction, fraction])[:, None]
        # A node that no row reaches may do anything.
        weight[:, (total == 0).all(axis=0)] = 1.0
        above, under = _coins(rates if is_eta_known else _with_noise(rates, weight, eta))
        right_neg = rates.neg * above + (1 - rates.neg) * under
        right_pos = rates.pos * above + (1 - rates.pos) * under
        least = min(least, float(np.minimum(right_pos - 0.5, 0.5 - right_neg).min()))
        neg = np.append(neg * (1 - right_neg), 0.0) + np.append(0.0, neg * right_neg)
        pos = np.append(pos * (1 - right_pos), 0.0) + np.append(0.0, pos * right_pos)
        is_right = np.arange(T + 1) >= T / 2
        found.append((float(neg[is_right].sum()), float(pos[~is_right].sum()), least))
    return Program(*np.array(found).T)


def guaranteed_advantage(k: int) -> float:
    """The two-sided advantage of the best of k features under any distribution: 1 / (4 k - 2).

    Its largest gap is J = v - u >= 1 / k (see ``least_edge``), and equation (1) gives an advantage
    of J / (2 (2 - J)).
    """
    return 1.0 / (4 * k - 2)


def build_program(
    k: int, n_layers: int, fraction: float = 0.5, eta: float = 0.0, is_eta_known: bool = False
) -> Program:
    """MartiRank on the majority of k features with a fraction of positives and noise eta.

    Coins are those of the noisy labels, as in Theorem 8, or of the true classes if eta is known.
    """
    rows = np.array(list(product((-1, 1), repeat=k)))
    is_pos = rows.sum(axis=1) > 0
    chance = np.array([~is_pos / (~is_pos).sum(), is_pos / is_pos.sum()])  # of a row, by class
    reach, found = np.ones((1, len(rows))), []
    least = 0.5
    for T in range(1, n_layers + 1):
        right, advantage = _classify(reach, rows, chance, fraction, eta, is_eta_known)
        least = min(least, advantage)
        below = np.zeros((T + 1, len(rows)))
        below[:-1] += reach * (1.0 - right)
        below[1:] += reach * right
        reach = below
        is_right = np.arange(T + 1) >= T / 2
        neg, pos = reach @ chance.T[:, 0], reach @ chance.T[:, 1]
        found.append((float(neg[is_right].sum()), float(pos[~is_right].sum()), least))
    return Program(*np.array(found).T)


def _classify(
    reach: Floats, rows: Floats, chance: Floats, fraction: float, eta: float, is_eta_known: bool
) -> tuple[Floats, float]:
    """Chance of every row to be called positive at every node, and the smallest advantage."""
    total = np.stack([reach @ of for of in chance])  # (class, node)
    total[total < _NOTHING] = 0.0
    is_mixed = np.asarray((total > 0).all(axis=0))
    safe = np.where(total > 0, total, 1.0)
    plus = np.stack([(reach * of) @ (rows > 0) for of in chance]) / safe[..., None]
    gap = plus[1] - plus[0]
    feature = np.abs(gap).argmax(axis=1)
    nodes = np.arange(len(reach))
    sign = np.where(gap[nodes, feature] >= 0, 1, -1)
    towards = plus[:, nodes, feature]
    rates = _Rates(*np.where(sign > 0, towards, 1.0 - towards))
    weight = safe * np.array([1.0 - fraction, fraction])[:, None]
    seen = rates if is_eta_known else _with_noise(rates, weight, eta)
    above, under = _coins(seen)
    called = sign[:, None] * rows.T[feature] > 0
    right = np.where(called, above[:, None], under[:, None])
    # A node that one class alone reaches sends everything that way.
    right = np.where(is_mixed[:, None], right, total[1][:, None] > 0)
    advantage = np.minimum(
        rates.pos * above + (1 - rates.pos) * under - 0.5,
        0.5 - rates.neg * above - (1 - rates.neg) * under,
    )
    return right, float(advantage[is_mixed].min(initial=0.5))


def _with_noise(rates: _Rates, weight: Floats, eta: float) -> _Rates:
    """The rates of the noisy labels at each node."""
    neg, pos = weight
    label_neg, label_pos = (1 - eta) * neg + eta * pos, (1 - eta) * pos + eta * neg
    return _Rates(
        ((1 - eta) * neg * rates.neg + eta * pos * rates.pos) / label_neg,
        ((1 - eta) * pos * rates.pos + eta * neg * rates.neg) / label_pos,
    )


def _coins(rates: _Rates) -> tuple[Floats, Floats]:
    """Lemma 4: chances to be called positive above and below the threshold."""
    difference = (1.0 - rates.pos) - rates.neg  # p+ - p-
    coin = np.abs(difference) / (1.0 + np.abs(difference))
    return np.where(difference >= 0, 1.0, 1.0 - coin), np.where(difference >= 0, coin, 0.0)
