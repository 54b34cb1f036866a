"""The smoothed partial AUC as it is defined, by adaptive quadrature: slow, and without a grid."""

from itertools import pairwise

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfc

# Beyond this distance the blur is below 1e-43.
REACH = 10.0


def partial_by_quadrature(scores, positive, fpr_range, weight=None):
    """The mean TPR of scores blurred by N(0, 1/2) over thresholds whose FPR is in the range."""
    scores, positive = np.asarray(scores, dtype=float), np.asarray(positive, dtype=bool)
    weight = np.ones(len(scores)) if weight is None else np.asarray(weight, dtype=float)
    (pos, of_pos), (neg, of_neg) = (
        (scores[rows], weight[rows] / weight[rows].sum()) for rows in (positive, ~positive)
    )

    def tail(c, rows, fraction):
        return float(fraction @ erfc(c - rows)) / 2

    def integrand(c):
        return tail(c, pos, of_pos) * float(of_neg @ np.exp(-((c - neg) ** 2))) / np.sqrt(np.pi)

    ends = scores.min() - REACH, scores.max() + REACH
    low, high = fpr_range
    start = ends[0] if high == 1 else brentq(lambda c: tail(c, neg, of_neg) - high, *ends)
    stop = ends[1] if low == 0 else brentq(lambda c: tail(c, neg, of_neg) - low, *ends)
    # In pieces: a peak in a long interval is easily passed over.
    edges = np.linspace(start, stop, 2 + int(stop - start))
    pieces = [
        quad(integrand, a, b, epsabs=1e-14, epsrel=1e-12)[0]
        for a, b in pairwise(edges)
        if np.abs(neg - (a + b) / 2).min() < REACH
    ]
    return sum(pieces) / (high - low)
