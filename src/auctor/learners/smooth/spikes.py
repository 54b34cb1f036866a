"""Features of which single values stand out: codes, round amounts, "999 is unknown".

A smooth line cannot follow them. At the maximum of a smooth fit the gradient that is left at
neighbouring bins differs by noise alone, unless their values have something of their own; how much
more it differs says how far bins are from the line, and so how dear it should be to leave it.
"""

import numpy as np

from auctor._typing import Floats
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.penalty import CURVATURE, Roughness

# The excess must be so many standard deviations of what noise does.
_SURE = 6.0
# Bins of fewer rows tell nothing: what one row does to a gradient is far from normal.
_FEWEST_ROWS = 5
_FEWEST_BINS = 8


def find_loose(
    roughness: Roughness,
    point: Point,
    gradient: Floats,
    n_rows: Floats,
    noise: float,
    uneven: Floats | None = None,
) -> Floats:
    """For each feature the cost of leaving its line, infinite where nothing stands out.

    ``gradient`` is that of the smoothed AUC by table entry, ``n_rows`` are the entry's rows; the
    variance of an entry is its share times ``noise``, and times ``uneven`` where weights are.
    """
    shape = roughness.share.shape
    mass = point.mass[0].reshape(shape)
    loose = np.full(len(gradient), np.inf)
    for j in np.flatnonzero(roughness.can_be_loose):
        held = 1 + np.flatnonzero(n_rows[j, 1:] >= _FEWEST_ROWS)
        if len(held) >= _FEWEST_BINS:
            share = roughness.share[j, held]
            times = np.ones(len(held)) if uneven is None else uneven[j, held]
            loose[j] = _cost(gradient[j, held], share, mass[j, held], noise, times)
    return loose


def _cost(gradient: Floats, share: Floats, mass: Floats, noise: float, uneven: Floats) -> float:
    """From differences of neighbours: what changes slowly from bin to bin is the line's."""
    per_share = gradient / share
    alone = uneven / share
    spread = noise * (alone[1:] + alone[:-1])  # variance of a difference, by noise alone
    ratios = np.diff(per_share) ** 2 / spread
    excess = float((ratios - 1).sum())
    # Twice the variance of a square, and neighbours share a bin: 3 a difference, if all is noise.
    if excess <= _SURE * np.sqrt(3 * len(ratios)):
        return np.inf
    stiffness = CURVATURE * mass / share
    expected = float(((stiffness[1:] ** 2 + stiffness[:-1] ** 2) / spread).sum())
    variance = excess / expected  # of a bin's distance from the line
    # The best linear guess of a distance d from a gradient g = stiffness d + noise.
    typical = float(np.einsum("i,i->", share, stiffness) / share.sum())
    return noise / (2 * typical * variance)
