"""How many draws had which label, and whether a label has died out."""

import numpy as np
from scipy.special import gammaln

from auctor.data import Partition
from auctor.learners.noise import Counts, Floats, corrected
from auctor.learners.oracle import Stopped

# A label has died out where draws at random would leave it out with less than this chance.
_NEVER = 1e-9


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
