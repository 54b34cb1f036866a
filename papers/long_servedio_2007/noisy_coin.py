"""The coin of Lemma 4 under label noise: a gap in the proof of Theorem 8.

A node sees D_{i,t} with noise. Its cut is the same with and without noise, since noise shrinks
v - u by one factor everywhere. The coin is not: it makes the error rates of the noisy labels
equal, r~+ = (1 - a) r+ + a r- and r~- = (1 - b) r- + b r+, where a and b are the fractions of wrong
labels among the noisy positives and negatives. Unless a = b, which needs balanced classes, the
rates of the true classes are then unequal, and one of them may have no advantage left. If eta is
known, the noise can be removed from the rates first.
"""

from typing import NamedTuple

import numpy as np

from auctor.learners.martirank.noise import corrected
from auctor.weak.two_sided import TwoSided, two_sided
from papers.experiment import CaseResults, Result
from papers.long_servedio_2007.lemma4 import Groups, draw_groups
from papers.long_servedio_2007.rates import of_all
from papers.page import Cause, Page

COINS = "coins"
_ROUNDING = 1e-9


class Coin(NamedTuple):
    """One ranker under noise: its edge, and the two-sided advantages on the true classes."""

    edge: float
    noisy: float  # with the coin that equalises the error rates of the noisy labels
    clean: float  # with the noise removed first
    gap_lost: float  # loss of v - u on the true classes from the cut chosen on noisy labels


def draw_coins(seed: int, stream: int, n_draws: int) -> Result:
    """Rankers, class fractions and noise rates drawn at random."""
    rng = np.random.default_rng([seed, 88, stream])
    outcomes = [
        toss(draw_groups(rng), rng.uniform(0.02, 0.98), rng.uniform(0, 0.49))
        for _ in range(n_draws)
    ]
    even = [toss(draw_groups(rng), 0.5, rng.uniform(0, 0.49)) for _ in range(n_draws)]
    edge, noisy, clean, gap_lost = np.array(outcomes).T
    even_edge, even_noisy, *_ = np.array(even).T
    return {
        "n_draws": n_draws,
        "n_noisy_below": int((noisy < edge / 4 - _ROUNDING).sum()),
        "least_ratio": float((noisy / (edge / 4)).min()),
        "least_clean_over": float((clean - edge / 4).min()),
        "least_even_over": float((even_noisy - even_edge / 4).min()),
        "largest_gap_lost": float(gap_lost.max()),
    }


def toss(groups: Groups, fraction: float, eta: float) -> Coin:
    """A ranker at a node with the given fraction of positives and labels wrong at rate eta."""
    neg, pos = (part / part.sum() for part in groups)
    clean = np.array([(1 - fraction) * neg, fraction * pos])
    labels = (1 - eta) * clean + eta * clean[::-1]
    side, restored = two_sided(*labels), two_sided(*np.maximum(corrected(labels, eta), 0.0))
    lost = groups.largest_gap - float(neg[: side.cut].sum() - pos[: side.cut].sum())
    return Coin(groups.edge, _advantage(side, groups), _advantage(restored, groups), lost)


def _advantage(side: TwoSided, groups: Groups) -> float:
    """The smaller of the two advantages on the true classes."""
    label = side.values(len(groups.neg))
    towards = groups.pos @ label / groups.pos.sum(), -(groups.neg @ label) / groups.neg.sum()
    return float(min(towards)) / 2


def report_coins(page: Page, results: CaseResults) -> None:
    """Report which parts of Lemma 4 hold under noise."""
    drawn = [result for name, result in results.items() if name.startswith(COINS)]
    if not drawn:
        return
    n, below = (sum(result[name] for result in drawn) for name in ("n_draws", "n_noisy_below"))
    page.claim(
        "proof of Theorem 8: at a node with noise Lemma 4 gives advantage gamma/4 on both true "
        "classes",
        of_all([result["n_noisy_below"] == 0 for result in drawn]),
        f"{below / n:.1%} of {n:,} rankers, class fractions and noise rates have a smaller "
        f"advantage, down to {min(result['least_ratio'] for result in drawn):.3f} of gamma/4",
        cause=Cause.PAPER,
    )
    page.check(
        "noise does not move the cut: v - u on the true classes is still the largest possible",
        max(result["largest_gap_lost"] for result in drawn) < 1e-6,
        f"largest loss {max(result['largest_gap_lost'] for result in drawn):.1g}",
    )
    least = min(min(r["least_clean_over"], r["least_even_over"]) for r in drawn)
    page.check(
        "with the noise removed from the rates (eta known), or with balanced classes, the "
        "advantage is gamma/4 or more",
        least > -1e-6,
        f"smallest excess {least:.1g}",
    )
