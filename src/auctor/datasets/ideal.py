"""The ideal tree: TreeRank on a distribution instead of a sample (Clemencon and Vayatis, 3.4)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from auctor._checks import check_whole
from auctor._typing import Floats
from auctor.datasets.optimal_roc import OptimalRoc, Rates

# 65,536 cells: at a larger depth, the distances of smooth curves are below rounding.
_LARGEST_DEPTH = 16


@dataclass(frozen=True, eq=False, repr=False)
class RocApproximation:
    """A piecewise linear curve inscribed in ROC*, returned by `approximate_roc`.

    Attributes
    ----------
    optimal : OptimalRoc
        The optimal curve that is approximated.
    depth : int
        Depth of the ideal tree.
    alpha, beta : ndarray of shape (2**depth + 1,)
        The knots (alpha_{D,k}, beta_{D,k}) from (0, 0) to (1, 1). If no split of a cell increases
        the AUC, its lower part is empty (Remark 9), and a knot occurs twice.
    auc, optimal_auc : float
        Areas under the piecewise linear curve and under ROC*.
    d1 : float
        Area between the two curves: ``optimal_auc - auc``.
    d_inf : float
        The largest vertical distance between the two curves.

    Examples
    --------
    >>> from auctor.datasets import approximate_roc, gaussian_roc
    >>> tree = approximate_roc(gaussian_roc(1.0), depth=2)
    >>> tree.alpha.round(3).tolist()
    [0.0, 0.096, 0.309, 0.621, 1.0]
    >>> f"AUC {tree.auc:.4f} of at most {tree.optimal_auc:.4f}, d1 {tree.d1:.4f}"
    'AUC 0.7424 of at most 0.7602, d1 0.0178'
    """

    optimal: OptimalRoc
    depth: int
    alpha: Floats
    beta: Floats
    auc: float
    optimal_auc: float
    d1: float
    d_inf: float

    @property
    def knots(self) -> Rates:
        """The pair (alpha, beta), as `auctor.metrics.roc_distance` takes it."""
        return self.alpha, self.beta

    def __repr__(self) -> str:
        n_pieces = int(((np.diff(self.alpha) > 0) | (np.diff(self.beta) > 0)).sum())
        pieces = "1 piece" if n_pieces == 1 else f"{n_pieces} pieces"
        return (
            f"ideal tree of depth {self.depth} for {self.optimal.name}: {pieces}, "
            f"AUC {self.auc:.6f} (optimal {self.optimal_auc:.6f}), d1 {self.d1:.2g}, "
            f"d-infinity {self.d_inf:.2g}"
        )


def approximate_roc(optimal: OptimalRoc, *, depth: int) -> RocApproximation:
    """Approximate an optimal ROC curve by the ideal tree of Clemencon and Vayatis (2009).

    Each cell of the tree is split where the split increases the AUC most.

    Parameters
    ----------
    optimal : OptimalRoc
        An optimal curve, from one of the ``_roc`` functions of `auctor.datasets`.
    depth : int
        Depth of the tree, from 0 to 16; it has ``2**depth`` cells.

    Returns
    -------
    RocApproximation

    Notes
    -----
    A knot (a, b) in the cell from (alpha_k, beta_k) to (alpha_{k+1}, beta_{k+1}) adds half of
    (alpha_{k+1} - alpha_k) (b - beta_k) - (beta_{k+1} - beta_k) (a - alpha_k) to the AUC. This is
    largest where the slope of ROC* equals that of the chord. The slope of ROC* is the likelihood
    ratio, so that the new knot is the point of ROC* at the threshold log(slope of the chord), and
    no search is needed. At the same point ROC* is farthest above the chord, which gives d-infinity.

    Proposition 15 of the paper: if the second derivative of ROC* is bounded and bounded away from
    zero, d1 and d-infinity are at most C / 4**depth. Its Lemma 23 bounds the fraction of a cell
    that one of its parts may have by some C < 1, while the rate requires 1/2 in the limit. This
    holds if the second derivative is also Lipschitz: splits then approach the middle as cells
    shrink, and both distances fall by a factor that tends to 4.

    Examples
    --------
    >>> from auctor.datasets import approximate_roc, quadratic_roc
    >>> approximation = approximate_roc(quadratic_roc(0.75), depth=2)
    >>> approximation
    ideal tree of depth 2 for a likelihood ratio uniform on [0.25, 1.75]: 4 pieces,
    AUC 0.617188 (optimal 0.625000), d1 0.0078, d-infinity 0.012
    >>> approximation.alpha.tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    optimal, depth = _check_optimal(optimal), _check_depth(depth)
    alpha = beta = np.array([0.0, 1.0])
    for _ in range(depth):
        split = _split(optimal, alpha, beta)
        alpha, beta = _interleave(alpha, split.alpha), _interleave(beta, split.beta)
    auc = float((beta[1:] + beta[:-1]) @ np.diff(alpha)) / 2
    for knots in (alpha, beta):
        knots.flags.writeable = False
    return RocApproximation(
        optimal=optimal,
        depth=depth,
        alpha=alpha,
        beta=beta,
        auc=auc,
        optimal_auc=optimal.optimal_auc,
        d1=max(optimal.optimal_auc - auc, 0.0),
        d_inf=float(_split(optimal, alpha, beta).height.max()),
    )


class _Split(NamedTuple):
    """One knot per cell, and its height above the chord of the cell."""

    alpha: Floats
    beta: Floats
    height: Floats


def _split(optimal: OptimalRoc, alpha: Floats, beta: Floats) -> _Split:
    """The best knot of every cell, where the slope of ROC* equals that of the chord."""
    width, rise = np.diff(alpha), np.diff(beta)
    # A vertical cell (without negatives) or an empty one is not split.
    open_cell = width > 0
    slope = np.divide(rise, width, out=np.ones_like(width), where=open_cell)
    with np.errstate(divide="ignore"):
        knots = optimal.rates(np.log(slope))
    # Rounding may put the knot of a linear cell just outside it.
    a, b = (
        np.clip(knot, ends[:-1], ends[1:]) for knot, ends in zip(knots, (alpha, beta), strict=True)
    )
    height = np.where(open_cell, b - beta[:-1] - slope * (a - alpha[:-1]), 0.0)
    gains = height > 0
    return _Split(
        np.where(gains, a, alpha[1:]), np.where(gains, b, beta[1:]), np.where(gains, height, 0.0)
    )


def _interleave(ends: Floats, inner: Floats) -> Floats:
    """The knots of the next level: the old ones at even positions, the new ones between them."""
    knots = np.empty(len(ends) + len(inner))
    knots[::2], knots[1::2] = ends, inner
    return knots


def _check_optimal(optimal: Any) -> OptimalRoc:
    """Return an OptimalRoc; a sample is not accepted."""
    if not isinstance(optimal, OptimalRoc):
        kind = type(optimal).__name__
        raise ValueError(
            f"optimal is a {kind}; give an OptimalRoc, such as auctor.datasets.gaussian_roc()"
        )
    return optimal


def _check_depth(depth: Any) -> int:
    """Return a depth at which the distances are above rounding."""
    whole = check_whole(depth, "depth", minimum=0)
    if whole > _LARGEST_DEPTH:
        raise ValueError(f"depth is {depth}; give a whole number of at most {_LARGEST_DEPTH}")
    return whole
