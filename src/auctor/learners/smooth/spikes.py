"""Features with single values that stand out, such as codes, round amounts, or 999 for unknown.

A smooth curve cannot follow such values. At the maximum of a smooth fit the remaining gradients of
neighbouring bins differ by noise alone, unless their values have an effect of their own. How much
more they differ shows how far bins are from the curve, and so how large the penalty on leaving the
curve should be.
"""

import numpy as np

from auctor._typing import Floats
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.penalty import CURVATURE, Roughness

# The excess must be this many standard deviations of what noise does.
_SURE = 6.0
# Bins with fewer rows are ignored: the effect of a single row on a gradient is far from normal.
_FEWEST_ROWS = 5
FEWEST_BINS = 8


def find_loose(
    roughness: Roughness,
    point: Point,
    gradient: Floats,
    n_rows: Floats,
    noise: float,
    variance_ratio: Floats | None = None,
) -> Floats:
    """The penalty on leaving the smooth curve for each feature, infinite where nothing stands out.

    ``gradient`` is that of the smoothed AUC by table entry, ``n_rows`` the number of rows of each
    entry. The variance of an entry is its fraction of the rows times ``noise``, and times
    ``variance_ratio`` where rows have different weights.
    """
    shape = roughness.fraction.shape
    mass = point.mass[0].reshape(shape)
    loose = np.full(len(gradient), np.inf)
    for j in np.flatnonzero(roughness.can_be_loose):
        held = 1 + np.flatnonzero(n_rows[j, 1:] >= _FEWEST_ROWS)
        if len(held) >= FEWEST_BINS:
            fraction = roughness.fraction[j, held]
            ratio = np.ones(len(held)) if variance_ratio is None else variance_ratio[j, held]
            loose[j] = spike_cost(gradient[j, held], fraction, mass[j, held], noise, ratio)
    return loose


def spike_cost(
    gradient: Floats, fraction: Floats, mass: Floats, noise: float, ratio: Floats
) -> float:
    """The penalty, from differences of neighbours: the curve explains slow changes between bins."""
    per_row = gradient / fraction
    alone = ratio / fraction
    spread = noise * (alone[1:] + alone[:-1])  # variance of a difference, by noise alone
    ratios = np.diff(per_row) ** 2 / spread
    excess = float((ratios - 1).sum())
    # If all is noise, each ratio has the variance 2, and the covariance of neighbouring ratios,
    # which share a bin, adds 1 for each.
    if excess <= _SURE * np.sqrt(3 * len(ratios)):
        return np.inf
    curvature = CURVATURE * mass / fraction
    expected = float(((curvature[1:] ** 2 + curvature[:-1] ** 2) / spread).sum())
    variance = excess / expected  # of a bin's distance from the curve
    # The best linear predictor of a distance d from a gradient g = curvature d + noise.
    typical = float(np.einsum("i,i->", fraction, curvature) / fraction.sum())
    return noise / (2 * typical * variance)
