"""The optimal ROC curve of a distribution with two classes (Clemencon and Vayatis 2009, 2.2)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats

Rates = tuple[Floats, Floats]

# Number of bisections of the log likelihood ratio before linear interpolation, whose error is
# the square of the remaining interval: far below rounding.
_N_HALVINGS = 40
# Beyond this threshold the weight exp(-|t|) is below rounding.
_FAR = 38.0


@dataclass(frozen=True, eq=False, repr=False)
class OptimalRoc:
    """The optimal ROC curve, ROC*, of two classes whose likelihood ratio is known.

    The optimal score is the likelihood ratio. ROC* is parametrised by the threshold t on the log
    likelihood ratio: alpha(t) and beta(t) are the fractions of negatives and of positives above t,
    and the slope of ROC* at this point is exp(t) (Proposition 8 of Clemencon and Vayatis 2009,
    where eta / (1 - eta) is the likelihood ratio times p / (1 - p)).

    Attributes
    ----------
    name : str
        The distribution in words, for printing.
    tails : callable
        A function that takes a vector of thresholds between ``low`` and ``high`` and returns alpha
        and beta.
    low, high : float
        The range of the log likelihood ratio. Up to rounding, no row lies below ``low`` (except
        rows with a likelihood ratio of zero) and no negative row lies above ``high``.
    breaks : tuple of float
        Thresholds at which alpha and beta are not smooth; the integral of the AUC is split there.
    known_auc : float or None
        The area under ROC* if there is a formula for it.

    Examples
    --------
    >>> from auctor.datasets import gaussian_roc
    >>> optimal = gaussian_roc(1.0)
    >>> optimal
    OptimalRoc(two Gaussians 1 apart, optimal AUC 0.7602)
    >>> optimal.tpr([0.0, 0.1, 0.5, 1.0]).round(4).tolist()
    [0.0, 0.3891, 0.8413, 1.0]
    >>> alpha, beta = optimal.rates(0.0)  # slope 1: the largest distance from the diagonal
    >>> float(alpha.round(4)), float(beta.round(4))
    (0.3085, 0.6915)
    """

    name: str
    tails: Callable[[Floats], Rates]
    low: float
    high: float
    breaks: tuple[float, ...] = ()
    known_auc: float | None = None

    def __repr__(self) -> str:
        return f"OptimalRoc({self.name}, optimal AUC {self.optimal_auc:.4f})"

    def rates(self, threshold: npt.ArrayLike) -> Rates:
        """Fractions of negatives and positives with a log likelihood ratio above a threshold."""
        t = np.asarray(threshold, dtype=np.float64)
        flat = t.ravel()
        tails = self.tails(np.clip(flat, self.low, self.high))
        alpha, beta = (np.where(flat < self.low, 1.0, np.clip(rate, 0, 1)) for rate in tails)
        return alpha.reshape(t.shape), beta.reshape(t.shape)

    def tpr(self, fpr: npt.ArrayLike) -> Floats:
        """ROC*: the largest true positive rate of any score at each false positive rate."""
        rate = np.asarray(fpr, dtype=np.float64)
        if not ((rate >= 0) & (rate <= 1)).all():
            raise ValueError("fpr has values outside [0, 1] or NaN; give numbers from 0 to 1")
        (alpha_low, beta_low), (alpha_high, beta_high) = map(self.rates, self._bracket(rate))
        width = alpha_low - alpha_high
        # A jump of alpha is a linear part of ROC*: linear interpolation is exact there too.
        part = np.divide(rate - alpha_high, width, out=np.zeros_like(rate), where=width > 0)
        return np.clip(beta_high + np.clip(part, 0, 1) * (beta_low - beta_high), 0, 1)

    @cached_property
    def optimal_auc(self) -> float:
        """The area under ROC*, the largest AUC that any score has."""
        return _integrate_auc(self) if self.known_auc is None else self.known_auc

    def _bracket(self, rate: Floats) -> Rates:
        """Close thresholds with alpha above the rate at the first one and not at the second."""
        below, above = np.full(rate.shape, self.low), np.full(rate.shape, self.high)
        for _ in range(_N_HALVINGS):
            middle = (below + above) / 2
            enough = self.rates(middle)[0] <= rate
            below, above = np.where(enough, below, middle), np.where(enough, middle, above)
        # Negatives with a likelihood ratio of zero lie below every threshold: there both rates
        # are 1.
        below = np.where(below == self.low, np.nextafter(self.low, -np.inf), below)
        return below, above


def _integrate_auc(optimal: OptimalRoc) -> float:
    """AUC* = 3/2 - J + J^2/2 - 1/2 int exp(-|t|) m(t)^2 dt with J = beta(0) - alpha(0).

    m is alpha for t < 0 and 1 - beta for t > 0. The area of the sector of ROC* as seen from (0, 0)
    is 1/2 - 1/2 int exp(t) alpha^2 dt, by integration by parts of dbeta = exp(t) dalpha. As seen
    from (1, 1) it is the same with exp(-t) (1 - beta)^2. Each half of the curve is integrated from
    the corner for which the weight is bounded, and the triangle that both include is subtracted.
    """
    inner = [t for t in (0.0, *optimal.breaks) if -_FAR < t < _FAR]
    edges = np.unique([-_FAR, *inner, _FAR])
    t, weight = _tanh_sinh(edges[:-1], edges[1:])
    alpha, beta = optimal.rates(t)
    missed = np.where(t < 0, alpha, 1 - beta)
    gain = float(np.subtract(*optimal.rates(0.0)[::-1]))
    return 1.5 - gain + gain**2 / 2 - float((weight * np.exp(-np.abs(t)) * missed**2).sum()) / 2


def _tanh_sinh(start: Floats, end: Floats) -> Rates:
    """Nodes and weights of tanh-sinh quadrature, accurate also for square roots at the ends."""
    step = 1 / 64
    x = np.arange(-3.2, 3.2 + step, step)
    inner = np.pi / 2 * np.sinh(x)
    density = np.pi / 2 * np.cosh(x) / np.cosh(inner) ** 2
    half = (end - start)[:, np.newaxis] / 2
    return (start[:, np.newaxis] + half * (1 + np.tanh(inner))), half * step * density
