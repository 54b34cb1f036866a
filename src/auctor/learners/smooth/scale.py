"""Where the bins of a feature lie on the scale that roughness is measured on.

Curvature and slope depend on how far apart two bins are. On the scale of the values one outlier
stretches everything; on that of normal scores (the normal quantile of a bin's middle rank, both
classes alike) neither outliers nor the unit of x matter.
"""

import numpy as np
from scipy.special import ndtri

from auctor._typing import Floats
from auctor.data import Feature

# Bins closer than this share of the whole range count as so far apart: a curvature over less
# would be all rounding.
_CLOSEST = 1e-3

# In spreads from the middle: an outlier beyond this lies no farther, so that powers of distances
# stay within floating point.
_FARTHEST = 1e50


def gaps(feature: Feature, share: Floats, scale: str) -> Floats:
    """Distances between neighbouring bins of a numeric feature.

    ``share`` is the weight of each bin; ``scale`` is "normal", "arcsinh", "linear", or "bins",
    where every distance is 1.
    """
    if scale == "bins" or feature.n_bins < 2 or not share.any():
        return np.ones(feature.n_bins - 1)
    share = share / share.sum()
    ranks = np.cumsum(share) - share / 2
    # Bins without a row, at either end, would lie at infinity.
    edge = float(share[share > 0].min()) / 2
    places = (
        ndtri(np.clip(ranks, edge, 1 - edge))
        if scale == "normal"
        else _places_of(feature.centres, share, scale)
    )
    length = float(np.ptp(places))
    if length == 0.0:  # all rows in one bin
        return np.ones(feature.n_bins - 1)
    return np.maximum(np.diff(places), _CLOSEST * length)


def _places_of(centres: Floats, share: Floats, scale: str) -> Floats:
    """Robustly standardised values: (x - median) / (IQR / 1.349), and their arcsinh."""
    # Halved twice, values at both ends of floating point have a distance.
    centres = centres / 4
    middle, spread = _middle_and_spread(centres, share)
    if not spread > 0.0:  # below the least number there is
        return np.arange(len(centres), dtype=np.float64)
    with np.errstate(over="ignore"):
        standard = np.clip((centres - middle) / spread, -_FARTHEST, _FARTHEST)
    return np.arcsinh(standard) if scale == "arcsinh" else standard


def _middle_and_spread(centres: Floats, share: Floats) -> tuple[float, float]:
    cumulative = np.cumsum(share)
    places = np.searchsorted(cumulative, [0.25, 0.5, 0.75])
    lower, middle, upper = centres[np.minimum(places, len(centres) - 1)]
    spread = (upper - lower) / 1.349
    if spread <= 0.0:  # most rows share one value
        mean = float(np.einsum("i,i->", share, centres))
        away = np.abs(centres - mean)
        largest = float(away.max())  # whose square may be beyond floating point
        if largest == 0.0:
            return float(middle), 0.0
        spread = largest * float(np.sqrt(np.einsum("i,i->", share, (away / largest) ** 2)))
    return float(middle), float(spread)
