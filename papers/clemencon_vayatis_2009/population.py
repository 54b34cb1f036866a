"""The paper's equations on random finite populations, where all of them are sums."""

from dataclasses import dataclass

import numpy as np

from auctor._typing import Floats
from papers.experiment import Result


@dataclass(frozen=True)
class Population:
    """Kinds of rows from the largest eta to the smallest; each has the same mass of negatives."""

    p: float
    neg: Floats
    pos: Floats

    @property
    def eta(self) -> Floats:
        """P(Y = 1) of each kind."""
        return self.p * self.pos / self.mass

    @property
    def mass(self) -> Floats:
        """mu of each kind."""
        return self.p * self.pos + (1 - self.p) * self.neg

    @property
    def alpha(self) -> Floats:
        """Knots of ROC*, from 0 to 1."""
        return np.concatenate([[0.0], np.cumsum(self.neg)])

    @property
    def beta(self) -> Floats:
        """Knots of ROC*, from 0 to 1."""
        return self.knots(np.arange(len(self.pos)))

    def knots(self, order: np.ndarray) -> Floats:
        """beta after 1, 2, ... kinds in the given order."""
        return np.concatenate([[0.0], np.cumsum(self.pos[order])])


def draw_population(rng: np.random.Generator) -> Population:
    """5 to 30 kinds; ratios of three orders of magnitude, all different."""
    n_kinds = int(rng.integers(5, 31))
    pos = np.sort(rng.lognormal(sigma=1.2, size=n_kinds))[::-1]
    neg = np.full(n_kinds, 1 / n_kinds)
    return Population(float(rng.uniform(0.1, 0.9)), neg, pos / pos.sum())


def area(alpha: Floats, beta: Floats) -> float:
    """The area under a piecewise linear curve."""
    return float((beta[1:] + beta[:-1]) @ np.diff(alpha)) / 2


def level_set_error(one: Population, rng: np.random.Generator) -> float:
    """Proposition 6: ROC* - ROC(s) as an error in level sets, at every alpha; its largest error."""
    order = rng.permutation(len(one.neg))
    gap = one.beta - one.knots(order)
    misses = [0.0]
    for j in range(1, len(order)):
        Q = one.eta[j]
        differ = np.zeros(len(order))
        differ[:j] += 1
        differ[order[:j]] -= 1
        right = one.mass @ (np.abs(one.eta - Q) * np.abs(differ)) / (one.p * (1 - Q))
        misses.append(abs(float(gap[j] - right)))
    return max(misses)


def pair_errors(one: Population, rng: np.random.Generator) -> tuple[float, float]:
    """Proposition 11 and the identity behind Proposition 10, over all pairs of kinds."""
    score = rng.permutation(len(one.neg)).astype(float)
    order = np.argsort(-score)
    auc = area(one.alpha, one.knots(order))
    wins = (score[:, None] > score).astype(float) + 0.5 * np.eye(len(score))
    by_pairs = float(one.pos @ wins @ one.neg)
    # Pairs in the wrong order; a kind against itself has |eta - eta'| = 0.
    wrong = np.sign(score[:, None] - score) != np.sign(one.eta[:, None] - one.eta)
    apart = np.abs(one.eta[:, None] - one.eta) * wrong
    lost = float(one.mass @ apart @ one.mass) / (2 * one.p * (1 - one.p))
    return abs(auc - by_pairs), abs(area(one.alpha, one.beta) - auc - lost)


def plug_in_slack(one: Population, rng: np.random.Generator) -> float:
    """Proposition 10: its right side minus its left side, for an eta with noise."""
    guess = one.eta + rng.normal(scale=rng.choice([0.01, 0.1, 0.5]), size=len(one.eta))
    lost = area(one.alpha, one.beta) - area(one.alpha, one.knots(np.argsort(-guess)))
    return float(one.mass @ np.abs(guess - one.eta)) / (one.p * (1 - one.p)) - lost


def first_iteration_miss(one: Population) -> float:
    """Propositions 19 and 20: the best first cut is eta > p for d1, and the same for d-infinity."""
    gain = (one.beta - one.alpha)[1:-1]  # of d-infinity; that of d1 is half of it
    by_area = [area(one.alpha[[0, j, -1]], one.beta[[0, j, -1]]) for j in range(1, len(one.neg))]
    cut = min(max(int((one.eta > one.p).sum()), 1), len(gain))
    best_d1, best_sup = max(by_area), gain.max()
    return float(max(best_d1 - by_area[cut - 1], best_sup - gain[cut - 1]))


def next_iteration_miss(one: Population, rng: np.random.Generator) -> float:
    """Section 3.3: inside a cell the best knot is eta > Delta_j, with AUC gain Ent / 2."""
    start, end = np.sort(rng.choice(len(one.alpha), 2, replace=False))
    if end - start < 2:
        return 0.0
    width, rise = one.alpha[end] - one.alpha[start], one.beta[end] - one.beta[start]
    delta = one.p * rise / ((1 - one.p) * width + one.p * rise)
    inner = np.arange(start + 1, end)
    ent = width * (one.beta - one.beta[start]) - rise * (one.alpha - one.alpha[start])
    gains = np.array([_gain(one, start, j, end) for j in inner])
    cut = int(np.clip((one.eta > delta).sum(), start + 1, end - 1))
    return float(max(np.abs(gains - ent[inner] / 2).max(), gains.max() - gains[cut - start - 1]))


def _gain(one: Population, start: int, knot: int, end: int) -> float:
    with_knot = area(one.alpha[[start, knot, end]], one.beta[[start, knot, end]])
    return with_knot - area(one.alpha[[start, end]], one.beta[[start, end]])


def classification_miss(one: Population) -> tuple[float, float]:
    """Remark 4: the error of eta > t minus p (1 - beta) + (1 - p) alpha; and as printed."""
    upper = np.arange(len(one.alpha))[:, None] > np.arange(len(one.eta))
    error = np.where(upper, 1 - one.eta, one.eta) @ one.mass
    mended = one.p * (1 - one.beta) + (1 - one.p) * one.alpha
    printed = one.p * (1 - one.alpha) + (1 - one.p) * one.beta
    at_half = int((one.eta > 0.5).sum())
    miss = max(np.abs(error - mended).max(), error[at_half] - error.min())
    return float(miss), float(np.abs(error - printed).max())


def representation_miss(one: Population, rng: np.random.Generator) -> float:
    """Proposition 3: E(w(V) 1{eta > V}), V uniform and w > 0 a step function, has eta's AUC."""
    levels = np.concatenate([[0.0], one.eta[::-1]])  # from the smallest eta up
    weights = rng.exponential(size=len(one.eta)) + 1e-3
    score = np.cumsum(np.diff(levels) * weights)[::-1]
    order = np.argsort(-score, kind="stable")
    return abs(area(one.alpha, one.beta) - area(one.alpha, one.knots(order)))


def observing_eta_miss(one: Population, rng: np.random.Generator) -> float:
    """Corollary 7: observing eta(X) in place of X leaves ROC* as it is.

    Each kind becomes two kinds of rows with the same eta; only their sum is seen through eta.
    """
    part = rng.uniform(0.05, 0.95, size=len(one.neg))
    neg = np.column_stack([one.neg * part, one.neg * (1 - part)]).ravel()
    pos = np.column_stack([one.pos * part, one.pos * (1 - part)]).ravel()
    alpha, beta = (np.concatenate([[0.0], np.cumsum(mass)]) for mass in (neg, pos))
    return float(np.abs(np.interp(alpha, one.alpha, one.beta) - beta).max())


def curve_properties_miss(one: Population, rng: np.random.Generator) -> float:
    """Proposition 22: ROC(0) = 0 and ROC(1) = 1, invariance, and concavity of ROC*."""
    from auctor.metrics import roc_curve

    slopes = np.diff(one.beta) / np.diff(one.alpha)
    ends = max(abs(float(one.beta[0])), abs(float(one.beta[-1]) - 1))
    score, y = rng.normal(size=50).round(1), np.arange(50) % 2
    plain, raised = roc_curve(y, score), roc_curve(y, np.exp(3 * score))
    changed = max(np.abs(plain.fpr - raised.fpr).max(), np.abs(plain.tpr - raised.tpr).max())
    return float(max(ends, np.diff(slopes).max(initial=0.0), changed))


def shapes_miss(one: Population, rng: np.random.Generator) -> float:
    """Proposition 22, 3 and 4: concave and linear parts, for scores that are not optimal.

    A score that takes one value on several neighbouring kinds has a likelihood ratio that rises
    with it; where a kind is split among two values of the score, the ratio is constant.
    """
    levels = np.sort(rng.choice(len(one.neg), int(rng.integers(2, 6)), replace=False))
    ends = np.concatenate([[0], levels[levels > 0], [len(one.neg)]])
    rise = np.diff(np.diff(one.beta[ends]) / np.diff(one.alpha[ends])).max(initial=0.0)
    kind, part = int(rng.integers(len(one.neg))), float(rng.uniform(0.05, 0.95))
    alpha = one.alpha[kind] + one.neg[kind] * np.array([0.0, part, 1.0])
    beta = one.beta[kind] + one.pos[kind] * np.array([0.0, part, 1.0])
    slopes = np.diff(beta) / np.diff(alpha)
    return float(max(rise, abs(slopes[1] - slopes[0]) / slopes.max()))


def slopes_at_a_kink() -> tuple[float, float]:
    """Proposition 22, 5: slopes beside alpha = 1/2 of the ROC curve of a continuous score.

    The score is uniform on [0, 1] among negatives; among positives it has the density 1/2 below
    1/2 and 3/2 above it.
    """

    def beta(alpha: float) -> float:
        return 1.5 * min(alpha, 0.5) + 0.5 * max(alpha - 0.5, 0.0)

    step = 1e-6
    left, right = beta(0.5) - beta(0.5 - step), beta(0.5 + step) - beta(0.5)
    return left / step, right / step


def check_populations(n_populations: int, seed: int) -> Result:
    """The largest error of each statement over many populations."""
    rng, extra, more = (np.random.default_rng([seed, stream]) for stream in (6, 22, 23))
    rows = []
    for _ in range(n_populations):
        one = draw_population(rng)
        pairs, lost = pair_errors(one, rng)
        mended, printed = classification_miss(one)
        rows.append({
            "proposition6": level_set_error(one, rng),
            "proposition11": pairs,
            "proposition10_identity": lost,
            "proposition10_below": -plug_in_slack(one, rng),
            "proposition19": first_iteration_miss(one),
            "section33": next_iteration_miss(one, rng),
            "remark4": mended,
            "remark4_printed": printed,
            "proposition3": representation_miss(one, extra),
            "corollary7": observing_eta_miss(one, extra),
            "proposition22": curve_properties_miss(one, extra),
            "proposition22_shapes": shapes_miss(one, more),
        })  # fmt: skip
    return {key: max(row[key] for row in rows) for key in rows[0]} | {"n": n_populations}
