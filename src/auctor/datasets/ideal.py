"""The ideal tree: TreeRank on the law itself, in place of a sample (paper 002, section 3.4)."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.datasets.arguments import check_whole
from auctor.datasets.law import Law, Rates

# 65,536 cells: beyond, the distances of smooth laws are lost in the rounding of their areas.
_LARGEST_DEPTH = 16


@dataclass(frozen=True, eq=False, repr=False)
class RocApproximation:
    """A broken line inscribed in ROC*, and its distances from it; see `approximate_roc`.

    Attributes
    ----------
    law : Law
        The law whose optimal curve it follows.
    depth : int
        Levels of the ideal tree.
    alpha, beta : ndarray of shape (2**depth + 1,)
        The knots (alpha_{D,k}, beta_{D,k}) from (0, 0) to (1, 1). Where no split adds to the AUC
        the lower cell is empty (Remark 9), and a knot stands twice.
    auc, optimal_auc : float
        Areas under the broken line and under ROC*.
    d1 : float
        Area between the two: ``optimal_auc - auc``.
    d_inf : float
        The largest vertical distance of the two.
    """

    law: Law
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
            f"At depth {self.depth} the ideal tree for {self.law.name} has a ROC curve of {pieces}:"
            f" AUC {self.auc:.6f} of {self.optimal_auc:.6f}, d1 {self.d1:.2g}, "
            f"d-infinity {self.d_inf:.2g}"
        )


def approximate_roc(law: Law, depth: int) -> RocApproximation:
    """Approximate ROC* by the ideal tree: each cell is split where that adds most to the AUC.

    Parameters
    ----------
    law : Law
        From one of the ``_law`` functions of `auctor.datasets`.
    depth : int
        Levels of the tree, 0 to 16; there are ``2**depth`` cells.

    Returns
    -------
    RocApproximation

    Notes
    -----
    A knot (a, b) in the cell from (alpha_k, beta_k) to (alpha_{k+1}, beta_{k+1}) adds half of
    (alpha_{k+1} - alpha_k) (b - beta_k) - (beta_{k+1} - beta_k) (a - alpha_k) to the AUC, which
    is largest where the slope of ROC* is that of the chord. The slope is the likelihood ratio, so
    the new knot is what lies above the threshold log(chord): no search is needed. The same point
    is where ROC* is farthest above the chord, which gives d-infinity.

    Proposition 15: where the second derivative of ROC* is bounded and bounded away from zero,
    d1 and d-infinity are at most C / 4**depth. Its Lemma 23 bounds the share of a cell that a
    part may have by some C < 1, while the rate wants 1/2 in the limit; that holds where the
    second derivative is also Lipschitz, for then a split comes nearer to the middle as cells
    shrink, and both distances fall by a factor that tends to 4.

    Examples
    --------
    >>> from auctor.datasets import approximate_roc, linear_law
    >>> found = approximate_roc(linear_law(0.75), depth=2)
    >>> found
    At depth 2 the ideal tree for a likelihood ratio uniform on [0.25, 1.75] has a ROC curve of
    4 pieces: AUC 0.617188 of 0.625000, d1 0.0078, d-infinity 0.012
    >>> found.alpha.tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    law, depth = _check_law(law), _check_depth(depth)
    alpha = beta = np.array([0.0, 1.0])
    for _ in range(depth):
        split = _split(law, alpha, beta)
        alpha, beta = _interleave(alpha, split.alpha), _interleave(beta, split.beta)
    auc = float((beta[1:] + beta[:-1]) @ np.diff(alpha)) / 2
    for knots in (alpha, beta):
        knots.flags.writeable = False
    return RocApproximation(
        law=law,
        depth=depth,
        alpha=alpha,
        beta=beta,
        auc=auc,
        optimal_auc=law.optimal_auc,
        d1=max(law.optimal_auc - auc, 0.0),
        d_inf=float(_split(law, alpha, beta).height.max()),
    )


class _Split(NamedTuple):
    """One knot a cell, and how far it lies above the cell's chord."""

    alpha: Floats
    beta: Floats
    height: Floats


def _split(law: Law, alpha: Floats, beta: Floats) -> _Split:
    """The best knot of every cell: where the slope of ROC* is that of the chord."""
    width, rise = np.diff(alpha), np.diff(beta)
    # An upright cell (no negatives) or an empty one has nothing to split.
    open_cell = width > 0
    slope = np.divide(rise, width, out=np.ones_like(width), where=open_cell)
    with np.errstate(divide="ignore"):
        knots = law.rates(np.log(slope))
    # Rounding may put the knot of a straight cell beside it.
    a, b = (
        np.clip(knot, ends[:-1], ends[1:]) for knot, ends in zip(knots, (alpha, beta), strict=True)
    )
    height = np.where(open_cell, b - beta[:-1] - slope * (a - alpha[:-1]), 0.0)
    gains = height > 0
    return _Split(
        np.where(gains, a, alpha[1:]), np.where(gains, b, beta[1:]), np.where(gains, height, 0.0)
    )


def _interleave(ends: Floats, inner: Floats) -> Floats:
    """The knots of the next level: the old ones at even places, the new ones between them."""
    knots = np.empty(len(ends) + len(inner))
    knots[::2], knots[1::2] = ends, inner
    return knots


def _check_law(law: Any) -> Law:
    """A Law, and not the sample drawn from it."""
    if not isinstance(law, Law):
        raise ValueError(
            f"law must be a Law, such as auctor.datasets.gaussian_law(), got {type(law).__name__}"
        )
    return law


def _check_depth(depth: Any) -> int:
    """A whole number of levels that floats can tell apart."""
    depth = check_whole("depth", depth, minimum=0)
    if depth > _LARGEST_DEPTH:
        raise ValueError(f"depth={depth} is too large; up to {_LARGEST_DEPTH} will do")
    return depth
