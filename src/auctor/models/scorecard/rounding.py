"""Rounding points so that the error of a row's sum stays small."""

from math import fsum

import numpy as np

from auctor._typing import Floats
from auctor.models.scorecard.merge_bins import LEAST_WEIGHT


def round_together(points: Floats, weight: Floats) -> tuple[Floats, float]:
    """Points rounded to whole numbers, and the average error (rounded - exact) over the weight.

    The base points can make up for an average error, but not for errors that differ from bin to
    bin. So the fraction from which on points are rounded up is not always one half: it is chosen,
    once for the feature, so that the errors vary least around their average. The order of the
    bins is kept, and differences between two bins change by less than 1.

    Examples
    --------
    >>> rounded, error = round_together(np.array([0.0, 1.4, 2.4, 3.4]), np.ones(4))
    >>> rounded.tolist(), round(error, 3)
    ([0.0, 1.0, 2.0, 3.0], -0.3)
    >>> round_together(np.array([0.0, 1.5, 3.0]), np.array([0.1, 0.1, 0.8]))[0].tolist()
    [0.0, 2.0, 3.0]
    """
    whole = np.floor(points)
    fraction = (points - whole).ravel()
    weight = weight.ravel() if weight.sum() > 0 else np.ones(points.size)
    # Bins without rows count a little, so that they, too, are rounded to a number nearby.
    least = np.maximum(weight, LEAST_WEIGHT * weight.mean())
    order = np.argsort(fraction, kind="stable")
    cut = _best_cut(fraction[order], (least / least.sum())[order])
    rounded = whole + (points - whole >= cut)
    error = fsum(((rounded - points).ravel() * weight).tolist()) / fsum(weight.tolist())
    return rounded, error


def _best_cut(fraction: Floats, weight: Floats) -> float:
    """The fraction from which on numbers are rounded up; 1 rounds none up."""
    # Rounding up the numbers k, k + 1, ... in the order of their fractions has errors
    # -fraction + 1 there and -fraction elsewhere; their variance follows from running sums.
    up = np.append(np.cumsum(weight[::-1])[::-1], 0.0)
    up_fraction = np.append(np.cumsum((weight * fraction)[::-1])[::-1], 0.0)
    mean = up - up_fraction[0]
    square = np.cumsum(weight * fraction**2)[-1] + up - 2.0 * up_fraction
    variance = square - mean**2
    # Equal fractions are rounded alike; rounding all of them up would only move the base points.
    differs = np.append(np.diff(fraction, prepend=fraction[0]) > 0, True)
    candidates = np.flatnonzero(differs)
    best = candidates[np.argmin(np.round(variance[candidates], 12))]
    return 1.0 if best == len(fraction) else float(fraction[best])
