"""Slow and obvious metrics: form every pair, try every order of ties, follow every curve.

Nothing here is fast, and nothing here shares code with ``auctor.metrics``. ``y`` is an
array of zeros and ones, ``s`` one of scores, ``w`` one of weights or None.
"""

from itertools import pairwise, permutations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Points = list[tuple[float, float]]


def _weights(y: npt.NDArray[np.int64], w: Floats | None) -> Floats:
    """The weights, or ones."""
    return np.ones(len(y)) if w is None else np.asarray(w, dtype=np.float64)


def kernel_of_pair(s_pos: float, s_neg: float) -> float:
    """One for a pair in the right order, one half for a tie, else zero."""
    if s_pos > s_neg:
        return 1.0
    return 0.5 if s_pos == s_neg else 0.0


def auc(y: npt.NDArray[np.int64], s: Floats, w: Floats | None = None) -> float:
    """Weighted fraction of pairs in the right order."""
    w = _weights(y, w)
    right = total = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            right += w[i] * w[j] * kernel_of_pair(s[i], s[j])
            total += w[i] * w[j]
    return float(right / total)


def margin_auc(y: npt.NDArray[np.int64], s: Floats, rho: float, w: Floats | None = None) -> float:
    """Weighted fraction of pairs with a margin of at least rho."""
    w = _weights(y, w)
    right = total = 0.0
    for i in np.flatnonzero(y == 1):
        for j in np.flatnonzero(y == 0):
            right += w[i] * w[j] * (s[i] - s[j] >= rho)
            total += w[i] * w[j]
    return float(right / total)


def roc_points(y: npt.NDArray[np.int64], s: Floats, w: Floats | None = None) -> Points:
    """The points (fpr, tpr) of every threshold, the highest first."""
    w = _weights(y, w)
    points = [(0.0, 0.0)]
    for threshold in sorted(set(s.tolist()), reverse=True):
        flagged = s >= threshold
        fpr = w[flagged & (y == 0)].sum() / w[y == 0].sum()
        tpr = w[flagged & (y == 1)].sum() / w[y == 1].sum()
        points.append((float(fpr), float(tpr)))
    return points


def ks(y: npt.NDArray[np.int64], s: Floats, w: Floats | None = None) -> float:
    """The largest tpr - fpr of any threshold."""
    return max(tpr - fpr for fpr, tpr in roc_points(y, s, w))


def area(points: Points, low: float, high: float) -> float:
    """Area under a piecewise linear curve over [low, high]."""
    total = 0.0
    for (x0, y0), (x1, y1) in pairwise(points):
        left, right = max(x0, low), min(x1, high)
        if left < right:
            y_left = y0 + (y1 - y0) * (left - x0) / (x1 - x0)
            y_right = y0 + (y1 - y0) * (right - x0) / (x1 - x0)
            total += (y_left + y_right) / 2 * (right - left)
    return total


def top_positives(y: npt.NDArray[np.int64], s: Floats, k: int) -> float:
    """Mean number of positives among the first k rows over every order of the ties at the cut."""
    order = np.argsort(-s, kind="stable")
    cut = s[order[k - 1]]
    above = [int(y[row]) for row in order if s[row] > cut]
    tied = [int(y[row]) for row in order if s[row] == cut]
    counts = [sum((above + list(ties))[:k]) for ties in permutations(tied)]
    return float(np.mean(counts))


def placements(y: npt.NDArray[np.int64], s: Floats) -> tuple[Floats, Floats]:
    """DeLong's placements of the positive and of the negative rows, in row order."""
    pos, neg = s[y == 1], s[y == 0]
    psi = np.array([[kernel_of_pair(a, b) for b in neg] for a in pos])
    return psi.mean(axis=1), psi.mean(axis=0)


def delong_covariance(y: npt.NDArray[np.int64], s_a: Floats, s_b: Floats) -> Floats:
    """DeLong's 2 by 2 covariance matrix of the AUCs of two scores of the same rows."""
    (pos_a, neg_a), (pos_b, neg_b) = placements(y, s_a), placements(y, s_b)
    return np.cov(pos_a, pos_b) / len(pos_a) + np.cov(neg_a, neg_b) / len(neg_a)


def hull_height(points: Points, x: float) -> float:
    """Height at x of the smallest concave curve above the points: the best chord."""
    heights = [y for at, y in points if at == x]
    for x0, y0 in points:
        for x1, y1 in points:
            if x0 < x < x1:
                heights.append(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
    return max(heights)


def line_height(points: Points, x: float) -> float:
    """Height at x of the curve through the points, where it does not jump."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1 and x0 < x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0)
    raise ValueError(f"x={x} is outside the curve")


def roc_distance(a: Points, b: Points) -> tuple[float, float]:
    """L1 and sup distance, piece by piece, evaluated inside each piece, away from jumps."""
    knots = sorted({x for x, _ in a} | {x for x, _ in b})
    l1 = sup = 0.0
    for left, right in pairwise(knots):
        inside = [left + (right - left) * fraction for fraction in (0.25, 0.75)]
        d0, d1 = (line_height(a, x) - line_height(b, x) for x in inside)
        start, end = d0 - (d1 - d0) / 2, d1 + (d1 - d0) / 2
        sup = max(sup, abs(start), abs(end))
        if start * end < 0:
            zero = abs(start) / (abs(start) + abs(end))
            l1 += (right - left) * (abs(start) * zero + abs(end) * (1 - zero)) / 2
        else:
            l1 += (right - left) * (abs(start) + abs(end)) / 2
    return l1, sup
