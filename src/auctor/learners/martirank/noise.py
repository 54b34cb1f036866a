"""Estimates of the true classes from labels that are wrong at a known rate (paper 000, section 5).

Labels are wrong with chance eta, whatever the row. From counts N_b of the label b and N_o of
the other one

    C_b = ((1 - eta) N_b - eta N_o) / (1 - 2 eta)

estimates how many are truly of class b; its variance is about
((1 - eta)^2 N_b + eta^2 N_o) / (1 - 2 eta)^2, counts of draws being taken for Poisson's.
"""

from math import sqrt

import numpy as np
from scipy.special import gammaln

from auctor._typing import Bools, Floats, Ints
from auctor.data import Partition
from auctor.learners.martirank.oracle import Stopped
from auctor.learners.martirank.program import groups_of
from auctor.weak.feature import CodeRanker
from auctor.weak.two_sided import TwoSided, two_sided

Counts = Ints  # (class, ...), negatives first

# A label has died out where draws at random would leave it out with less than this chance.
_NEVER = 1e-9


def corrected(counts: Counts | Floats, noise_rate: float) -> Floats:
    """Counts of the two labels as estimates of the counts of the two true classes.

    Examples
    --------
    >>> corrected(np.array([380, 620]), 0.3)  # 200 and 800 rows, three labels in ten wrong
    array([200., 800.])
    """
    other = counts[::-1]
    return ((1.0 - noise_rate) * counts - noise_rate * other) / (1.0 - 2.0 * noise_rate)


def variance(counts: Counts | Floats, noise_rate: float) -> Floats:
    """Variance of ``corrected`` counts, as if one more row of each label had been seen."""
    own, other = counts + 1.0, counts[::-1] + 1.0
    keep, flip = (1.0 - noise_rate) ** 2, noise_rate**2
    return (keep * own + flip * other) / (1.0 - 2.0 * noise_rate) ** 2


def noise_error(counts: Counts, noise_rate: float) -> Floats:
    """Standard error that noise adds to ``corrected`` counts; none without noise."""
    spread = variance(counts - 1, noise_rate) - np.maximum(corrected(counts, noise_rate), 0.0)
    return np.sqrt(np.maximum(spread, 0.0))


def has_enough(counts: Counts, noise_rate: float, min_samples_leaf: float) -> Bools:
    """Which nodes of counts (class, node) have enough rows of both classes.

    Examples
    --------
    >>> counts = np.array([[10, 400], [50, 600]])
    >>> has_enough(counts, 0.0, 10), has_enough(counts, 0.3, 10)
    (array([ True,  True]), array([False,  True]))
    """
    found = corrected(counts, noise_rate)
    spread = variance(counts - 1, noise_rate)
    known = (found > 0) & (found**2 >= min_samples_leaf * spread)
    return known[0] & known[1]


def draws_for_rate(seen: Counts, noise_rate: float) -> float:
    """Draws that make the rate of the scarcer class known to a tenth: guess and halve.

    The guess starts at 1/2 and is halved until the estimate reaches it, so that it ends
    within a factor of two of the rate.
    """
    rate = float(corrected(seen, noise_rate).min()) / int(seen.sum())
    guess = 0.5
    while guess > rate and guess > 1e-12:
        guess /= 2
    label = noise_rate + (1.0 - 2.0 * noise_rate) * guess
    return 100.0 * label * (1.0 - label) / ((1.0 - 2.0 * noise_rate) * guess) ** 2


def clean_two_sided(ranker: CodeRanker, lines: Counts, noise_rate: float) -> TwoSided:
    """Lemma 4 for the true classes, from the counts of noisy labels.

    Noise shrinks the difference of the classes alike at every threshold, so that the best one
    stays where it is. The error rates at it do not stay: they are corrected, and the coin is
    the one that makes the corrected rates equal.
    """
    groups = groups_of(ranker, lines)
    side = two_sided(*groups)
    if noise_rate == 0.0:
        return side
    totals = lines.sum(axis=1)
    noisy = np.array([[group[: side.cut].sum(), group[side.cut :].sum()] for group in groups])
    clean = np.maximum(corrected(noisy * totals[:, None], noise_rate), 0.0)
    if not (clean.sum(axis=1) > 0).all():
        return side
    pair = two_sided(*clean)
    return pair._replace(cut=side.cut) if pair.cut == 1 else side


def auc_error(auc: float, n_neg: int, n_pos: int) -> float:
    """Standard error of an AUC by Hanley and McNeil (1982)."""
    one_pos, one_neg = auc / (2.0 - auc), 2.0 * auc**2 / (1.0 + auc)
    spread = auc * (1.0 - auc)
    spread += (n_pos - 1) * (one_pos - auc**2) + (n_neg - 1) * (one_neg - auc**2)
    return sqrt(max(spread, 0.0) / (n_neg * n_pos))


class LabelCounts:
    """Labels of all draws so far."""

    def __init__(self, classes: Floats, skipped: Counts) -> None:
        self._classes = classes
        self.seen: Counts = skipped.copy()  # negatives, positives
        self._without = skipped[::-1].copy()  # draws since the batch that had the label last

    @property
    def n_draws(self) -> int:
        return int(self.seen.sum())

    def add(self, part: Partition) -> None:
        """Count a batch of draws; an oracle that has turned to one class is stopped."""
        here = np.array([part.n_rows - part.n_pos, part.n_pos])
        self.seen += here
        self._without = np.where(here > 0, 0, self._without + part.n_rows)
        for label in (0, 1):
            after = int(self._without[label])
            before, count = self.n_draws - after, int(self.seen[label])
            if chance_of_none(count, before, after) < _NEVER:
                raise Stopped(
                    f"the oracle gave one class only ({self._classes[1 - label]}) in its last "
                    f"{after:,} draws, although {count:,} of the {before:,} before them were "
                    f"{self._classes[label]},",
                    "draws must come at random: shuffle rows that are sorted by their labels",
                )

    def rates(self, noise_rate: float) -> Floats:
        """D[c(x) = b] of both classes as estimated from all draws, and never nothing."""
        shares = corrected(self.seen, noise_rate) / self.n_draws
        return np.clip(shares, 1.0 / self.n_draws, 1.0)


def chance_of_none(count: int, before: int, after: int) -> float:
    """Chance that all ``count`` draws of a label lie in the first ``before`` of all draws.

    Draws at random may be put in any order, so that this is a share of all choices of places,
    C(before, count) / C(before + after, count), whatever the rate of the label: a label that
    was seen a few times only is never missed.

    Examples
    --------
    >>> round(chance_of_none(1, 100, 300), 9)  # seen once: it may take long to come again
    0.25
    >>> chance_of_none(50, 100, 300) < 1e-30  # every other draw, and then no more
    True
    """
    n = before + after
    ways = gammaln(before + 1) - gammaln(before - count + 1)
    ways -= gammaln(n + 1) - gammaln(n - count + 1)
    return float(np.exp(ways))
