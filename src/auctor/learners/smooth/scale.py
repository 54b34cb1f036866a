"""Distances between the bins of a feature, on the scale on which roughness is measured.

Curvature and slope depend on how far apart two bins are. On the scale of the values one outlier
stretches everything. On the scale of normal scores (the normal quantile of the class-balanced
middle rank of a bin) neither outliers nor the unit of x matter.
"""

import numpy as np
from scipy.special import ndtri

from auctor._typing import Floats
from auctor.data import Feature

# Minimum distance between bins, as a fraction of the whole range: a curvature over less would be
# dominated by rounding.
_CLOSEST = 1e-3

# Maximum distance from the middle, in spreads, so that powers of distances do not overflow.
_FARTHEST = 1e50


def gaps(feature: Feature, fraction: Floats, scale: str) -> Floats:
    """Distances between neighbouring bins of a numeric feature.

    ``fraction`` is that of the rows in each bin; ``scale`` is "normal", "arcsinh", "linear", or
    "bins", where every distance is 1.
    """
    if scale == "bins" or feature.n_bins < 2 or not fraction.any():
        return np.ones(feature.n_bins - 1)
    fraction = fraction / fraction.sum()
    ranks = np.cumsum(fraction) - fraction / 2
    # Without this, empty bins at either end would lie at infinity.
    edge = float(fraction[fraction > 0].min()) / 2
    positions = (
        ndtri(np.clip(ranks, edge, 1 - edge))
        if scale == "normal"
        else _standardise(feature.centres, fraction, scale)
    )
    length = float(np.ptp(positions))
    if length == 0.0:  # all rows in one bin
        return np.ones(feature.n_bins - 1)
    return np.maximum(np.diff(positions), _CLOSEST * length)


def _standardise(centres: Floats, fraction: Floats, scale: str) -> Floats:
    """Robustly standardised values, (x - median) / (IQR / 1.349), or their arcsinh."""
    # Divided by 4, so that the difference of the largest and the smallest float does not overflow.
    centres = centres / 4
    middle, spread = _middle_and_spread(centres, fraction)
    if not spread > 0.0:  # smaller than the smallest float
        return np.arange(len(centres), dtype=np.float64)
    with np.errstate(over="ignore"):
        standard = np.clip((centres - middle) / spread, -_FARTHEST, _FARTHEST)
    return np.arcsinh(standard) if scale == "arcsinh" else standard


def _middle_and_spread(centres: Floats, fraction: Floats) -> tuple[float, float]:
    """Median and IQR / 1.349; the standard deviation where the IQR is 0."""
    cumulative = np.cumsum(fraction)
    quartiles = np.searchsorted(cumulative, [0.25, 0.5, 0.75])
    lower, middle, upper = centres[np.minimum(quartiles, len(centres) - 1)]
    spread = (upper - lower) / 1.349
    if spread <= 0.0:  # most rows have the same value
        mean = float(np.einsum("i,i->", fraction, centres))
        away = np.abs(centres - mean)
        largest = float(away.max())  # its square may overflow
        if largest == 0.0:
            return float(middle), 0.0
        spread = largest * float(np.sqrt(np.einsum("i,i->", fraction, (away / largest) ** 2)))
    return float(middle), float(spread)
