"""PSI and Holm's correction, as slow and obvious as can be."""

import math


def slow_psi(reference, new, smoothing=0.5):
    """The sum over the bins of (p - q) log(p / q), half a row added to each count."""
    n_bins, total = len(new), 0.0
    for a, b in zip(new, reference, strict=True):
        p = (a + smoothing) / (sum(new) + smoothing * n_bins)
        q = (b + smoothing) / (sum(reference) + smoothing * n_bins)
        total += (p - q) * math.log(p / q)
    return total


def slow_holm(p_values):
    """The largest of the m - k times smaller p-values, for each of m p-values."""
    ordered = sorted(p_values)
    return [
        min(1.0, max((len(ordered) - k) * own for k, own in enumerate(ordered) if own <= value))
        for value in p_values
    ]
