"""A law of two classes, as far as the optimal ROC curve knows it: paper 002, section 2.2."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats

Rates = tuple[Floats, Floats]

# Halving the log likelihood ratio so often, then a straight line: its error is the square of
# what is left, far below rounding.
_N_HALVINGS = 40
# exp(-|t|) weighs what lies beyond this with less than rounding.
_FAR = 38.0


@dataclass(frozen=True, eq=False, repr=False)
class Law:
    """A law of two classes with a known likelihood ratio, and so with a known ROC*.

    ROC* is drawn by one number, the threshold t on the log likelihood ratio: alpha(t) and
    beta(t) are the shares of negatives and of positives above it, and the slope of ROC* there is
    exp(t) (Proposition 8, where eta / (1 - eta) is the likelihood ratio times p / (1 - p)).

    Attributes
    ----------
    name : str
        What the law is called in sentences.
    tails : callable
        Takes thresholds (a vector) and returns alpha and beta; called between low and high.
    low, high : float
        Below ``low`` there is nothing, above ``high`` no negative, but for a likelihood ratio
        of zero and for what rounding hides.
    breaks : tuple of float
        Thresholds at which alpha and beta are not smooth; the integral for the AUC pauses there.
    known_auc : float or None
        The area under ROC* where there is a formula for it.

    Examples
    --------
    >>> from auctor.datasets import gaussian_law
    >>> law = gaussian_law(1.0)
    >>> law
    Law(two Gaussians 1 apart, optimal AUC 0.7602)
    >>> law.roc([0.0, 0.1, 0.5, 1.0]).round(4).tolist()
    [0.0, 0.3891, 0.8413, 1.0]
    >>> alpha, beta = law.rates(0.0)  # slope 1: where ROC* is farthest above the diagonal
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
        return f"Law({self.name}, optimal AUC {self.optimal_auc:.4f})"

    def rates(self, threshold: npt.ArrayLike) -> Rates:
        """Shares of the negatives and of the positives whose log likelihood ratio is above it."""
        t = np.asarray(threshold, dtype=np.float64)
        flat = t.ravel()
        tails = self.tails(np.clip(flat, self.low, self.high))
        alpha, beta = (np.where(flat < self.low, 1.0, np.clip(rate, 0, 1)) for rate in tails)
        return alpha.reshape(t.shape), beta.reshape(t.shape)

    def roc(self, alpha: npt.ArrayLike) -> Floats:
        """ROC*: the largest share of positives that any score has above a share of negatives."""
        share = np.asarray(alpha, dtype=np.float64)
        if not ((share >= 0) & (share <= 1)).all():
            raise ValueError("alpha must lie in [0, 1]; it is a share of the negatives")
        (alpha_low, beta_low), (alpha_high, beta_high) = map(self.rates, self._bracket(share))
        width = alpha_low - alpha_high
        # A jump of alpha is a straight part of ROC*, so that one line serves both.
        part = np.divide(share - alpha_high, width, out=np.zeros_like(share), where=width > 0)
        return np.clip(beta_high + np.clip(part, 0, 1) * (beta_low - beta_high), 0, 1)

    @cached_property
    def optimal_auc(self) -> float:
        """The area under ROC*; no score has a larger one."""
        return _integrate_auc(self) if self.known_auc is None else self.known_auc

    def _bracket(self, share: Floats) -> Rates:
        """Thresholds a hair apart with alpha above the share at the first, not at the second."""
        below, above = np.full(share.shape, self.low), np.full(share.shape, self.high)
        for _ in range(_N_HALVINGS):
            middle = (below + above) / 2
            enough = self.rates(middle)[0] <= share
            below, above = np.where(enough, below, middle), np.where(enough, middle, above)
        # Negatives with a ratio of zero lie below every threshold: there both rates are 1.
        below = np.where(below == self.low, np.nextafter(self.low, -np.inf), below)
        return below, above


def _integrate_auc(law: Law) -> float:
    """AUC* = 3/2 - J + J^2/2 - 1/2 int exp(-|t|) m(t)^2 dt with J = beta(0) - alpha(0).

    m is alpha for t < 0 and 1 - beta for t > 0. The sector of ROC* seen from (0, 0) is
    1/2 - 1/2 int exp(t) alpha^2 dt, by parts from dbeta = exp(t) dalpha; seen from (1, 1) it is
    the same with exp(-t) (1 - beta)^2. Each half is taken from the corner where its weight is
    bounded, and the triangle that both count is taken off.
    """
    inner = [t for t in (0.0, *law.breaks) if -_FAR < t < _FAR]
    edges = np.unique([-_FAR, *inner, _FAR])
    t, weight = _tanh_sinh(edges[:-1], edges[1:])
    alpha, beta = law.rates(t)
    missed = np.where(t < 0, alpha, 1 - beta)
    gain = float(np.subtract(*law.rates(0.0)[::-1]))
    return 1.5 - gain + gain**2 / 2 - float((weight * np.exp(-np.abs(t)) * missed**2).sum()) / 2


def _tanh_sinh(start: Floats, end: Floats) -> Rates:
    """Nodes and weights on each interval; exact also where a function has a root at an end."""
    step = 1 / 64
    x = np.arange(-3.2, 3.2 + step, step)
    inner = np.pi / 2 * np.sinh(x)
    density = np.pi / 2 * np.cosh(x) / np.cosh(inner) ** 2
    half = (end - start)[:, np.newaxis] / 2
    return (start[:, np.newaxis] + half * (1 + np.tanh(inner))), half * step * density
