"""ScoreSpread: how much of the variance of a score is due to single features, pairs and trees."""

from dataclasses import dataclass
from math import fsum

import numpy as np

from auctor._text import count
from auctor._typing import Floats


@dataclass(frozen=True)
class ScoreSpread:
    """The variance of a score over some rows, divided among the parts of the score.

    The score is the sum of three partial scores: of single features, of pairs of features, and of
    trees. The fraction of a partial score is its covariance with the score divided by the variance
    of the score. The fractions sum to 1. One is negative if its partial score tends to take back
    what the others add.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    variance : float
        The variance of the score.
    variances : tuple of float
        The variance of each partial score alone: single features, pairs, trees.
    fractions : tuple of float
        The fraction of each partial score; all of them are 0 if all rows have the same score.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor.models.spread import find_spread
    >>> rows = np.arange(4.0)
    >>> print(find_spread(3.0 * rows, np.zeros(4), rows))
    Of the variance of the score over 4 rows (20), 75.0% are due to single features, 0.0% to pairs
    of features and 25.0% to trees.
    """

    n_rows: int
    variance: float
    variances: tuple[float, float, float]
    fractions: tuple[float, float, float]

    def __str__(self) -> str:
        if self.variance == 0.0:
            return f"All of {count(self.n_rows, 'row')} have the same score."
        single, pairs, trees = (f"{fraction + 0.0:.1%}" for fraction in self.fractions)
        return (
            f"Of the variance of the score over {count(self.n_rows, 'row')} ({self.variance:.4g}), "
            f"{single} are due to single features, {pairs} to pairs of features and {trees} to "
            "trees."
        )


def find_spread(single: Floats, pairs: Floats, trees: Floats) -> ScoreSpread:
    """The variance of the sum of three partial scores of the same rows."""
    centred = [part - fsum(part.tolist()) / len(part) for part in (single, pairs, trees)]
    total = centred[0] + centred[1] + centred[2]
    variance = _mean_product(total, total)
    variances = [_mean_product(part, part) for part in centred]
    shared = [_mean_product(part, total) for part in centred]
    fractions = [part / variance if variance > 0 else 0.0 for part in shared]
    return ScoreSpread(
        len(single),
        variance,
        (variances[0], variances[1], variances[2]),
        (fractions[0], fractions[1], fractions[2]),
    )


def _mean_product(a: Floats, b: Floats) -> float:
    return float(np.mean(a * b))
