"""The smoothed partial AUC: the mean true positive rate over a range of false positive rates.

Phi(F1 - F0) is the probability of F1 + e1 > F0 + e0, where independent noise N(0, 1/2) blurs both
scores. So the smoothed AUC is the area under the ROC curve of the blurred scores, and the smoothed
partial AUC is the area under a part of this curve. With s0, s1 the blurred densities of the classes
and S0, S1 their upper tails, it is

    integral of S1(c) s0(c) over the thresholds c with low < S0(c) < high, divided by (high - low).

The whole range gives the smoothed AUC itself, and a constant score the area under the diagonal. The
derivative by the score F of a positive is the integral of n(c - F) s0(c) over these thresholds, and
by that of a negative minus the integral of n(c - F) s1(c); the latter takes into account that the
thresholds move with the negatives. Komori and Eguchi (2010) sum over the pairs of a region instead,
and have to treat its edges separately.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfc

from auctor._typing import Bools, Floats, Indices
from auctor.kernels.linear import exp_each

# Beyond this distance the blur, of variance 1/2, is below 1e-16.
_REACH = 6.0
# Number of panels computed at once, so that the arrays stay below some megabytes.
_TOGETHER = 128
# Length of a panel and number of its Gauss points: an error of 1e-13 for a blur of this width.
_PANEL, _POINTS = 0.5, 10


def partial_sums(
    negative: Floats,
    positive: Floats,
    per_unit: int,
    fpr_range: tuple[float, float],
    has_area: bool = True,
) -> tuple[tuple[Floats, Floats], float]:
    """Slopes for rows of each class at every node of the grid, and the partial area.

    Neither is divided by the length of the range: slopes stay below 1, however short it is.
    ``negative`` and ``positive`` are the fractions of each class at the nodes. Without ``has_area``
    the area, which takes half of the time, is not computed and 0.
    """
    low, high = fpr_range
    # Padding on both sides, so that every panel has the same number of nodes.
    padding = int((_REACH + 1) * per_unit) + 1
    fractions = np.pad(np.stack([negative, positive]), ((0, 0), (padding, padding)))
    nodes = (np.arange(fractions.shape[1]) - padding) / per_unit
    start = _threshold(nodes, fractions[0], high) if high < 1.0 else nodes[0] + 1
    stop = _threshold(nodes, fractions[0], low) if low > 0.0 else nodes[-1] - 1
    points, weight = _quadrature(start, stop)
    value, slopes = 0.0, np.zeros_like(fractions)
    for first in range(0, len(points), _TOGETHER):
        some = slice(first, first + _TOGETHER)
        near = _Near.of(points[some], nodes, per_unit)
        densities = _add_slopes(weight[some], near, fractions, slopes)
        if has_area:
            value += _area(weight[some], near, fractions[1], densities[0])
    inner = slopes[:, padding:-padding]
    return (inner[0], inner[1]), value


class _Near(NamedTuple):
    """The nodes near the points of some panels."""

    node: Indices  # (panel, near node)
    once: Bools  # nodes that are repeated at the end of the grid must count once
    away: Floats  # (panel, point, near node): distance of a point to a node

    @classmethod
    def of(cls, points: Floats, nodes: Floats, per_unit: int) -> "_Near":
        """The nodes within reach of the points (panels, points)."""
        first = np.searchsorted(nodes, points[:, 0] - _REACH)
        width = int((2 * _REACH + _PANEL) * per_unit) + 2
        node = first[:, None] + np.arange(width)
        near = np.minimum(node, len(nodes) - 1)
        return cls(near, node < len(nodes), points[:, :, None] - nodes[near][:, None, :])


def _add_slopes(weight: Floats, near: _Near, fractions: Floats, slopes: Floats) -> Floats:
    """Add the part of some panels to the slopes; returns the densities (class, panel, point)."""
    away = near.away
    blur = exp_each((-away * away).ravel()).reshape(away.shape) / np.sqrt(np.pi)
    blur *= near.once[:, None, :]
    density = np.einsum("pqk,cpk->cpq", blur, fractions[:, near.node])
    for label in (0, 1):  # the slope of a class is an integral over the density of the other
        parts = np.einsum("pq,pqk->pk", weight * density[1 - label], blur)
        slopes[label] += np.bincount(near.node.ravel(), parts.ravel(), minlength=slopes.shape[1])
    return np.asarray(density)


def _area(weight: Floats, near: _Near, positive: Floats, density: Floats) -> float:
    """The area over some panels."""
    above = np.append(np.cumsum(positive[::-1])[::-1], 0.0)  # from each node on
    tail = np.einsum("pqk,pk->pq", erfc(near.away) / 2, positive[near.node] * near.once)
    # Nodes beyond the near ones are above the threshold in full.
    tail += above[near.node[:, -1] + 1][:, None]
    return float(np.einsum("pq,pq,pq->", weight, tail, density))


def _threshold(nodes: Floats, fraction: Floats, rate: float) -> float:
    """The threshold at which the blurred false positive rate is ``rate``."""

    def excess(c: float) -> float:
        return float(np.einsum("k,k->", fraction, erfc(c - nodes) / 2)) - rate

    if excess(nodes[0]) <= 0.0:  # the rate is almost 1; below, almost 0
        return float(nodes[0])
    if excess(nodes[-1]) >= 0.0:
        return float(nodes[-1])
    return float(brentq(excess, nodes[0], nodes[-1], xtol=1e-13))


def _quadrature(start: float, stop: float) -> tuple[Floats, Floats]:
    """Points and weights (panels, points) of the Gauss-Legendre rule from start to stop."""
    n_panels = max(1, int(np.ceil((stop - start) / _PANEL)))
    edges = np.linspace(start, stop, n_panels + 1)
    half = (edges[1:] - edges[:-1]) / 2
    x, w = _gauss_rule()
    return (edges[:-1] + half)[:, None] + half[:, None] * x, half[:, None] * w


@cache
def _gauss_rule() -> tuple[Floats, Floats]:
    """Points and weights from -1 to 1."""
    return np.polynomial.legendre.leggauss(_POINTS)
