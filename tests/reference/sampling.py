"""SMartiRank as in Long & Servedio (2007), section 5: every draw is stored and followed."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tests.reference.aucboost import EQUAL, best_ranker, two_sided_slow
from tests.reference.martirank import coin

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class SlowRule:
    """Settings of a node: m_A, the fraction of equation (2), and the noise rate."""

    min_class: float
    least_fraction: float
    noise_rate: float


@dataclass(frozen=True)
class SlowSamplingNode:
    """A node: the draws of its layer that reached it, and where it sends each of them."""

    draws: npt.NDArray[np.int64]
    feature: int  # -1 if it is frozen
    right: dict[int, float]  # probability to go right for each code that was drawn
    label: int


def clean_rate(n_label: float, n_other: float, noise_rate: float) -> float:
    """D_{i,t}[c(x) = b] from the fraction of the label b."""
    fraction = n_label / (n_label + n_other)
    return (fraction - noise_rate) / (1 - 2 * noise_rate)


def sampling_layers(
    codes: npt.NDArray[np.int64],
    positive: Bools,
    draws: list[int],
    is_category: Bools,
    rule: SlowRule,
    seed: int,
) -> list[list[SlowSamplingNode]]:
    """Build the layers from all draws in order (rows, features), given the number of each layer.

    A code that a node has not seen in training raises a KeyError: use few codes and many draws.
    """
    layers: list[list[SlowSamplingNode]] = []
    stop = 0
    for t, size in enumerate(draws, start=1):
        start, stop = stop, stop + size
        bins: list[list[int]] = [[] for _ in range(t)]
        for draw in range(start, stop):
            at = _follow(layers, codes, draw, seed)
            if at >= 0:
                bins[at].append(draw)
        # All draws so far give the fraction of a class, those of the layer the fraction at a node.
        seen = positive[:stop].sum()
        rates = [
            clean_rate(stop - seen, seen, rule.noise_rate),
            clean_rate(seen, stop - seen, rule.noise_rate),
        ]
        trained = (np.array(here, dtype=np.int64) for here in bins)
        layers.append(
            [_train(here, codes, positive, is_category, rule, rates, size) for here in trained]
        )
    return layers


def _follow(
    layers: list[list[SlowSamplingNode]], codes: npt.NDArray[np.int64], draw: int, seed: int
) -> int:
    """Return the node that a draw reaches below the layers; -1 if it met a frozen one."""
    i = 0
    for t, nodes in enumerate(layers, start=1):
        node = nodes[i]
        if node.feature < 0:
            return -1
        chance = node.right[int(codes[draw, node.feature])]
        i += int(coin(seed, draw, t, i) < chance)
    return i


def _train(
    draws: npt.NDArray[np.int64],
    codes: npt.NDArray[np.int64],
    positive: Bools,
    is_category: Bools,
    rule: SlowRule,
    rates: list[float],
    n_draws: int,
) -> SlowSamplingNode:
    y = positive[draws]
    n_pos, n_neg = int(y.sum()), int((~y).sum())
    if n_pos + n_neg == 0:
        return SlowSamplingNode(draws, -1, {}, 0)
    reach = (n_pos + n_neg) / n_draws
    p_neg = reach * clean_rate(n_neg, n_pos, rule.noise_rate)
    p_pos = reach * clean_rate(n_pos, n_neg, rule.noise_rate)
    sides = ((p_neg, n_neg, n_pos, rates[0]), (p_pos, n_pos, n_neg, rates[1]))
    if any(_is_given_up(*side, rule, n_draws) for side in sides):
        return SlowSamplingNode(draws, -1, {}, int(np.sign(p_pos / rates[1] - p_neg / rates[0])))
    own = codes[draws]
    feature, scores, auc = best_ranker(own, y, np.ones(len(y)), is_category)
    if auc - 0.5 <= EQUAL:
        return SlowSamplingNode(draws, -1, {}, 0)
    labels = _clean_labels(scores, y, rule.noise_rate)
    right = {int(c): (1 + h) / 2 for c, h in zip(own[:, feature], labels, strict=True)}
    return SlowSamplingNode(draws, feature, right, 0)


def _is_given_up(
    p: float, n_label: int, n_other: int, rate: float, rule: SlowRule, n_draws: int
) -> bool:
    """Whether a class is rare by the paper's rule, or has too few rows given the noise."""
    eta = rule.noise_rate
    spread = ((1 - eta) ** 2 * n_label + eta**2 * n_other) / (1 - 2 * eta) ** 2
    one_more = ((1 - eta) ** 2 + eta**2) / (1 - 2 * eta) ** 2
    error = (spread + one_more) ** 0.5 / n_draws
    if p <= rule.least_fraction * rate and p + 2 * error <= 4 * rule.least_fraction * rate:
        return True
    count = p * n_draws
    hidden = max(spread - max(count, 0.0), 0.0) ** 0.5
    return count + 2 * hidden < rule.min_class - EQUAL


def _clean_labels(scores: Floats, positive: Bools, noise_rate: float) -> Floats:
    """Lemma 4 with the threshold for the noisy labels and the coin for the clean ones."""
    labels, _ = two_sided_slow(scores, positive, np.ones(len(scores)))
    above = labels == labels.max()
    if noise_rate == 0:
        return labels
    below_pos, above_pos, below_neg, above_neg = (
        max(0.0, side.sum() * clean_rate((side & label).sum(), (side & ~label).sum(), noise_rate))
        for label in (positive, ~positive)
        for side in (~above, above)
    )
    p_pos = below_pos / (below_pos + above_pos)
    p_neg = above_neg / (below_neg + above_neg)
    zeta = abs(p_pos - p_neg) / (1 + abs(p_pos - p_neg))
    if p_neg <= p_pos:
        return np.where(above, 1.0, 2 * zeta - 1)
    return np.where(above, 1 - 2 * zeta, -1.0)
