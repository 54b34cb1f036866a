"""Labels of draws: estimates of the true classes from noisy labels, and counts of all labels.

Labels are wrong with probability eta, independently of the row (Long & Servedio 2007, section 5).
From the counts N_b of label b and N_o of the other label,

    C_b = ((1 - eta) N_b - eta N_o) / (1 - 2 eta)

estimates the number of rows whose true class is b. Its variance is about
((1 - eta)^2 N_b + eta^2 N_o) / (1 - 2 eta)^2, where the counts are taken to be Poisson distributed.

``LabelCounts`` counts the labels of all draws and detects an oracle that no longer gives both
classes.
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

# An oracle is stopped if random draws would lack a label for so long with less than this
# probability.
_NEVER = 1e-9


def corrected(counts: Counts | Floats, noise_rate: float) -> Floats:
    """Estimated counts of the two true classes, from the counts of the two labels.

    Examples
    --------
    >>> corrected(np.array([380, 620]), 0.3)  # 200 and 800 rows; 30 % of the labels are wrong
    array([200., 800.])
    """
    other = counts[::-1]
    return ((1.0 - noise_rate) * counts - noise_rate * other) / (1.0 - 2.0 * noise_rate)


def variance(counts: Counts | Floats, noise_rate: float) -> Floats:
    """Variance of ``corrected`` counts, with one row added to the count of each label."""
    own, other = counts + 1.0, counts[::-1] + 1.0
    keep, flip = (1.0 - noise_rate) ** 2, noise_rate**2
    return (keep * own + flip * other) / (1.0 - 2.0 * noise_rate) ** 2


def noise_error(counts: Counts, noise_rate: float) -> Floats:
    """Standard error that label noise adds to ``corrected`` counts; 0 without noise."""
    spread = variance(counts - 1, noise_rate) - np.maximum(corrected(counts, noise_rate), 0.0)
    return np.sqrt(np.maximum(spread, 0.0))


def has_enough(counts: Counts, noise_rate: float, min_samples_leaf: float) -> Bools:
    """Whether each node has enough rows of both classes, from counts (class, node).

    Examples
    --------
    >>> counts = np.array([[10, 400], [50, 600]])
    >>> has_enough(counts, 0.0, 10), has_enough(counts, 0.3, 10)
    (array([ True,  True]), array([False,  True]))
    """
    estimate = corrected(counts, noise_rate)
    spread = variance(counts - 1, noise_rate)
    enough = (estimate > 0) & (estimate**2 >= min_samples_leaf * spread)
    return enough[0] & enough[1]


def draws_for_rate(seen: Counts, noise_rate: float) -> float:
    """Number of draws after which the rate of the rarer class is known to about 10 %.

    "Guess and halve": the guess of the rate starts at 1/2 and is halved until the estimate reaches
    it, so that it is within a factor of two of the rate.
    """
    rate = float(corrected(seen, noise_rate).min()) / int(seen.sum())
    guess = 0.5
    while guess > rate and guess > 1e-12:
        guess /= 2
    label = noise_rate + (1.0 - 2.0 * noise_rate) * guess
    return 100.0 * label * (1.0 - label) / ((1.0 - 2.0 * noise_rate) * guess) ** 2


def clean_two_sided(ranker: CodeRanker, counts: Counts, noise_rate: float) -> TwoSided:
    """The two-sided classifier (Lemma 4) of the true classes, from counts of noisy labels.

    Noise shrinks the difference between the classes by the same factor at every threshold, so that
    the best threshold does not change. The error rates do: they are corrected, and the coin is the
    one that makes the corrected rates equal.
    """
    groups = groups_of(ranker, counts)
    side = two_sided(*groups)
    if noise_rate == 0.0:
        return side
    totals = counts.sum(axis=1)
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
    """Counts of the labels of all draws so far.

    ``skipped`` are the draws of each class (negatives, positives) that were made and not used.
    """

    def __init__(self, classes: Floats, skipped: Counts) -> None:
        self._classes = classes
        self.seen: Counts = skipped.copy()  # (negatives, positives)
        self._without = skipped[::-1].copy()  # draws since the last batch that had the label

    @property
    def n_draws(self) -> int:
        return int(self.seen.sum())

    def add(self, part: Partition) -> None:
        """Count a batch of draws; raises Stopped if the oracle gives only one class by now."""
        here = np.array([part.n_rows - part.n_pos, part.n_pos])
        self.seen += here
        self._without = np.where(here > 0, 0, self._without + part.n_rows)
        for label in (0, 1):
            after = int(self._without[label])
            before, count = self.n_draws - after, int(self.seen[label])
            if chance_of_none(count, before, after) < _NEVER:
                raise Stopped(
                    f"the oracle gave only one class ({self._classes[1 - label]}) in its last "
                    f"{after:,} draws, although {count:,} of the {before:,} draws before were "
                    f"{self._classes[label]}",
                    "give rows in random order: shuffle rows that are sorted by their labels",
                )

    def rates(self, noise_rate: float) -> Floats:
        """D[c(x) = b] of both classes, estimated from all draws; at least one draw of each."""
        fractions = corrected(self.seen, noise_rate) / self.n_draws
        return np.clip(fractions, 1.0 / self.n_draws, 1.0)


def chance_of_none(count: int, before: int, after: int) -> float:
    """Probability that all ``count`` draws of a label are among the first ``before`` of all draws.

    Every order of random draws is equally likely, so that it is
    C(before, count) / C(before + after, count), whatever the rate of the label. A label that was
    seen only a few times is therefore never missed.

    Examples
    --------
    >>> round(chance_of_none(1, 100, 300), 9)  # seen once: it may take long to occur again
    0.25
    >>> f"{chance_of_none(50, 100, 300):.0e}"  # every other draw, and then no more
    '6e-36'
    """
    n = before + after
    ways = gammaln(before + 1) - gammaln(before - count + 1)
    ways -= gammaln(n + 1) - gammaln(n - count + 1)
    return float(np.exp(ways))
