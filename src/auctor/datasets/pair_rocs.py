"""Optimal ROC curves of `make_gaussian_pair` and `make_t_pair`.

The rates of the optimal score are probabilities that a quadratic form in Gaussian variables is
positive.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from auctor._typing import Floats
from auctor.datasets.optimal_roc import OptimalRoc, Rates
from auctor.datasets.pairs import MEAN, N_FEATURES, VARIANCE, check_df

ComplexArray = np.ndarray[tuple[int, ...], np.dtype[np.complex128]]

_LOG_VOLUME = 0.5 * math.log(VARIANCE[0].prod() / VARIANCE[1].prod())
# Number of thresholds that are computed at a time, which bounds the memory of the integrals.
_BLOCK_SIZE = 1024
# The density of q, twice the log likelihood ratio of the Gaussians, falls like exp(-|q| / 6) on
# both sides and is below rounding at |q| = 240. A sum over steps of 2 pi / period does not
# distinguish q from q + period, so that the period covers both sides. The characteristic function
# falls like exp(-u^2 / 2) and is below rounding at u = 9.
_GAUSSIAN_REACH, _GAUSSIAN_PERIOD, _GAUSSIAN_END = 120.0, 520.0, 9.0
# With many more degrees of freedom the integrand oscillates and needs another quadrature rule.
_LARGEST_DF = 30.0


class _Form(NamedTuple):
    """sum_j (curve_j Z_j^2 + tilt_j s Z_j) + rest s^2 with standard normal Z, per threshold."""

    curve: Floats
    tilt: Floats
    rest: Floats


class _Rule(NamedTuple):
    """Nodes and weights of a quadrature rule for u > 0."""

    node: Floats
    weight: Floats


def gaussian_pair_roc() -> OptimalRoc:
    """Optimal ROC curve of `make_gaussian_pair` for clean labels.

    Examples
    --------
    >>> from auctor.datasets import gaussian_pair_roc
    >>> round(gaussian_pair_roc().optimal_auc, 4)
    0.8456
    """
    step = 2 * math.pi / _GAUSSIAN_PERIOD
    node = np.arange(step / 2, _GAUSSIAN_END, step)
    rule = _Rule(node, np.full_like(node, step))

    def tail(t: Floats, label: int) -> Floats:
        form = _difference(np.ones(1), label)  # the threshold enters through ``rest`` only
        rest = form.rest + 2 * (_LOG_VOLUME - t)
        return _probability_positive(form._replace(rest=rest), rule, None)

    def tails(t: Floats) -> Rates:
        return tail(t, 0), tail(t, 1)

    return OptimalRoc("the Gaussian pair", _in_blocks(tails), -_GAUSSIAN_REACH, _GAUSSIAN_REACH)


def t_pair_roc(df: float = 1.0) -> OptimalRoc:
    """Optimal ROC curve of `make_t_pair` for clean labels; its likelihood ratio is bounded.

    Parameters
    ----------
    df : float, default=1.0
        Degrees of freedom, from 0.1 to 30.

    Examples
    --------
    >>> from auctor.datasets import t_pair_roc
    >>> round(t_pair_roc(df=1).optimal_auc, 4)
    0.825
    """
    df = check_df(df)
    if df > _LARGEST_DF:
        raise ValueError(
            f"df is {df:g}; give a number of at most {_LARGEST_DF:g}, or call gaussian_pair_roc"
        )
    power = (N_FEATURES + df) / 2
    # With u = exp(x), all poles of the integrand lie on |Im x| = pi/2, so that sums converge like
    # exp(-pi^2 / step). The integrand falls like exp(x) to the left and exp(-power x) to the right.
    x = np.arange(-38.0, 42.0 / power + 4, 0.2)
    rule = _Rule(np.exp(x), 0.2 * np.exp(x))

    def tail(t: Floats, label: int) -> Floats:
        k = np.exp((t - _LOG_VOLUME) / power)
        form = _difference(k, label)
        form = _scaled(form._replace(rest=form.rest + df * (1 - k)))
        return _probability_positive(form, rule, df)

    def tails(t: Floats) -> Rates:
        return tail(t, 0), tail(t, 1)

    breaks = (_LOG_VOLUME + power * np.log(_singular_ratios(df))).tolist()
    name = f"the t pair with df={df:g}"
    return OptimalRoc(name, _in_blocks(tails), breaks[0], breaks[-1], tuple(breaks))


def _difference(k: Floats, label: int) -> _Form:
    """s^2 (Q_0(x) - k Q_1(x)) for the squared distances Q of a row x of the given class.

    x = mean + deviation * Z / s, where s is 1 for Gaussian classes and sqrt(chi2 / df) for t
    classes.
    """
    deviation = np.sqrt(VARIANCE[label])
    shift = MEAN[label] - MEAN
    sides = np.stack([np.ones_like(k), -k], axis=1)[:, :, np.newaxis] / VARIANCE
    return _Form(
        curve=deviation**2 * sides.sum(axis=1),
        tilt=2 * deviation * (sides * shift).sum(axis=1),
        rest=(sides * shift**2).sum(axis=(1, 2)),
    )


def _scaled(form: _Form) -> _Form:
    """The form divided by its size, which does not change the probability that it is positive."""
    size = np.abs(form.curve).sum(axis=1) + np.abs(form.tilt).sum(axis=1) + np.abs(form.rest)
    return _Form(form.curve / size[:, None], form.tilt / size[:, None], form.rest / size)


def _probability_positive(form: _Form, rule: _Rule, df: float | None) -> Floats:
    """P(form > 0) by the formula of Gil-Pelaez: 1/2 + 1/pi int Im(phi(u)) / u du."""
    phi = _characteristic(form, rule.node, df)
    return 0.5 + phi.imag @ (rule.weight / rule.node) / math.pi


def _characteristic(form: _Form, u: Floats, df: float | None) -> ComplexArray:
    """E exp(i u form), the characteristic function, in closed form.

    Given s, the term of Z_j has the characteristic function
    (1 - 2iu curve)^-1/2 exp(-u^2 tilt^2 s^2 / (2 (1 - 2iu curve))). The exponents add up to
    s^2 theta(u), and E exp(theta chi2 / df) is (1 - 2 theta / df)^(-df/2).
    """
    theta = 1j * u * form.rest[:, np.newaxis]
    root = np.ones((1, len(u)), dtype=np.complex128)
    for curve, tilt in zip(form.curve.T, form.tilt.T, strict=True):
        spread = 1 - 2j * u * curve[:, np.newaxis]
        theta = theta - (u * tilt[:, np.newaxis]) ** 2 / (2 * spread)
        # The real part of each factor is positive, so that its principal root is the right one.
        root = root / np.sqrt(spread)
    return root * (np.exp(theta) if df is None else (1 - 2 * theta / df) ** (-df / 2))


def _singular_ratios(df: float) -> Floats:
    """The values k at which the region Q_0 + df > k (Q_1 + df) changes its type.

    The first and the last bound the likelihood ratio, since the ratio of two positive definite
    forms lies between their smallest and their largest generalised eigenvalue.
    """
    forms = []
    for mean, variance in zip(MEAN, VARIANCE, strict=True):
        # (x, 1)' A (x, 1) = Q(x) + df
        A = np.diag([*1 / variance, df + (mean**2 / variance).sum()])
        A[:-1, -1] = A[-1, :-1] = -mean / variance
        forms.append(A)
    at_infinity = VARIANCE[1] / VARIANCE[0]
    return np.unique([*eigh(forms[0], forms[1], eigvals_only=True), *at_infinity])


def _in_blocks(tails: Callable[[Floats], Rates]) -> Callable[[Floats], Rates]:
    """The same function, computed for blocks of thresholds."""

    def blocks(t: Floats) -> Rates:
        starts = range(0, max(len(t), 1), _BLOCK_SIZE)
        parts = [tails(t[start : start + _BLOCK_SIZE]) for start in starts]
        alpha, beta = (np.concatenate(side) for side in zip(*parts, strict=True))
        return alpha, beta

    return blocks
