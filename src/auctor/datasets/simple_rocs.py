"""Optimal ROC curves that have a formula."""

import math

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from auctor._checks import check_fraction, check_positive
from auctor._typing import Floats
from auctor.datasets.arguments import check_noise
from auctor.datasets.optimal_roc import OptimalRoc, Rates

# Beyond this number of standard deviations the tail of a Gaussian underflows.
_FAR = 39.0
# exp(-690) is still a normal floating-point number.
_LOG_SMALLEST = -690.0


def gaussian_roc(shift: float = 1.0) -> OptimalRoc:
    """Optimal ROC curve of two Gaussians of variance 1: ROC*(a) = Phi(shift + Phi^-1(a)).

    The slope of ROC* is infinite at 0 and zero at 1, which Proposition 15 of Clemencon and
    Vayatis (2009) excludes.

    Parameters
    ----------
    shift : float, default=1.0
        Difference of the means in standard deviations, above 0.

    Examples
    --------
    >>> from auctor.datasets import gaussian_roc
    >>> round(gaussian_roc(2.0).optimal_auc, 4)  # Phi(2 / sqrt(2))
    0.9214
    """
    shift = check_positive(shift, "shift")

    def tails(t: Floats) -> Rates:
        # The log likelihood ratio is shift * (x - shift / 2).
        return ndtr(-t / shift - shift / 2), ndtr(-t / shift + shift / 2)

    reach = shift * (_FAR + shift / 2)
    auc = float(ndtr(shift / math.sqrt(2)))
    return OptimalRoc(f"two Gaussians {shift:g} apart", tails, -reach, reach, known_auc=auc)


def quadratic_roc(bend: float = 1.0) -> OptimalRoc:
    """Quadratic optimal ROC curve: ROC*(a) = a + bend a (1 - a).

    The likelihood ratio is uniformly distributed among the negatives. The second derivative of
    ROC* is constant, so that `approximate_roc` splits every cell in the middle: at depth D the
    knots are k / 2**D, d1 is bend / 6 / 4**D and d-infinity is bend / 4 / 4**D.

    Parameters
    ----------
    bend : float, default=1.0
        A number above 0 and at most 1; the slope of ROC* falls from 1 + bend to 1 - bend.

    Examples
    --------
    >>> from auctor.datasets import quadratic_roc
    >>> quadratic_roc(0.5).tpr([0.25, 0.5]).round(6).tolist()
    [0.34375, 0.625]
    """
    bend = check_positive(bend, "bend")
    if bend > 1:
        raise ValueError(f"bend is {bend:g}; give a number above 0 and at most 1")

    def tails(t: Floats) -> Rates:
        alpha = np.clip((1 + bend - np.exp(t)) / (2 * bend), 0, 1)
        return alpha, alpha + bend * alpha * (1 - alpha)

    low = math.log(1 - bend) if bend < 1 else _LOG_SMALLEST
    name = f"a likelihood ratio uniform on [{1 - bend:g}, {1 + bend:g}]"
    high = math.log1p(bend)
    return OptimalRoc(name, tails, low, high, (low, high), known_auc=0.5 + bend / 6)


def exponential_roc(rate: float = 2.0) -> OptimalRoc:
    """Exponential optimal ROC curve: ROC*(a) = (1 - exp(-rate a)) / (1 - exp(-rate)).

    The log likelihood ratio is uniformly distributed among the negatives. The second derivative of
    ROC* is bounded and bounded away from zero, as Proposition 15 of Clemencon and Vayatis (2009)
    assumes.

    Parameters
    ----------
    rate : float, default=2.0
        A number above 0; the slope of ROC* falls by a factor exp(rate) from 0 to 1.

    Examples
    --------
    >>> from auctor.datasets import exponential_roc
    >>> exponential_roc(2.0).tpr([0.25, 0.5]).round(4).tolist()
    [0.4551, 0.7311]
    """
    rate = check_positive(rate, "rate")
    total = -math.expm1(-rate)
    high = math.log(rate / total)

    def tails(t: Floats) -> Rates:
        alpha = np.clip((high - t) / rate, 0, 1)
        return alpha, -np.expm1(-rate * alpha) / total

    low = high - rate
    name = f"a log likelihood ratio uniform over a length of {rate:g}"
    return OptimalRoc(name, tails, low, high, (low, high), known_auc=1 / total - 1 / rate)


def power_roc(power: float = 0.5) -> OptimalRoc:
    """Optimal ROC curve that is a power function: ROC*(a) = a**power.

    The tail probability of the positives is a power of that of the negatives (Lehmann
    alternatives), and the slope is infinite at 0. For ``power=0.5`` the knots of
    `approximate_roc` at depth D have beta = k / 2**D: d1 is 1 / 6 / 4**D, as in Proposition 15 of
    Clemencon and Vayatis (2009), but d-infinity is 1 / 4 / 2**D and is only halved by each level.

    Parameters
    ----------
    power : float, default=0.5
        A number strictly between 0 and 1; the optimal AUC is 1 / (1 + power).

    Examples
    --------
    >>> from auctor.datasets import power_roc
    >>> power_roc(0.5).tpr([0.25, 0.81]).round(6).tolist()
    [0.5, 0.9]
    """
    power = check_fraction(power, "power")

    def tails(t: Floats) -> Rates:
        log_alpha = np.minimum((math.log(power) - t) / (1 - power), 0)
        return np.exp(log_alpha), np.exp(power * log_alpha)

    low = math.log(power)
    high = low - (1 - power) * _LOG_SMALLEST
    return OptimalRoc(f"ROC* = a^{power:g}", tails, low, high, (low,), known_auc=1 / (1 + power))


def discrete_roc(neg: npt.ArrayLike, pos: npt.ArrayLike) -> OptimalRoc:
    """Optimal ROC curve of finitely many kinds of rows: ROC* is piecewise linear.

    Parameters
    ----------
    neg, pos : array-like of shape (n_kinds,)
        Probability of each kind of row in the negative and in the positive class. The values are
        at least 0 and are divided by their sums.

    Examples
    --------
    >>> from auctor.datasets import discrete_roc
    >>> discrete_roc([1, 2, 1], [0, 1, 1]).tpr([0.25, 0.75]).tolist()
    [0.5, 1.0]
    """
    of_neg, of_pos = _check_masses("neg", neg), _check_masses("pos", pos)
    if len(of_neg) != len(of_pos):
        raise ValueError(
            f"neg has {len(of_neg)} values and pos has {len(of_pos)}; give one of each per kind"
        )
    return _roc_of_atoms(of_neg, of_pos, f"{len(of_neg)} kinds of rows")


def r_of_k_roc(*, noise: float = 0.1, positive_fraction: float = 0.5) -> OptimalRoc:
    """Optimal ROC curve of `make_r_of_k` for noisy labels.

    The noisy label depends on a row only through the clean label. ROC* therefore has two linear
    parts and one corner, which the first split of `approximate_roc` finds.

    Parameters
    ----------
    noise, positive_fraction : float
        As in `make_r_of_k`. Its other parameters do not change the curve.

    Examples
    --------
    >>> from auctor.datasets import r_of_k_roc
    >>> round(r_of_k_roc(noise=0.1).optimal_auc, 12)
    0.9
    """
    noise, rate = check_noise(noise), check_fraction(positive_fraction, "positive_fraction")
    # Probabilities of the clean positives and the clean negatives in each noisy class.
    neg = np.array([rate * noise, (1 - rate) * (1 - noise)])
    pos = np.array([rate * (1 - noise), (1 - rate) * noise])
    name = f"r of k with {noise:.4g} of the labels flipped"
    return _roc_of_atoms(neg / neg.sum(), pos / pos.sum(), name)


def _roc_of_atoms(neg: Floats, pos: Floats, name: str) -> OptimalRoc:
    """Sort the kinds of rows by decreasing likelihood ratio, without those of probability zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.log(pos / neg)
    order = np.argsort(-log_ratio, stable=True)[: int(((neg > 0) | (pos > 0)).sum())]
    log_ratio = log_ratio[order]
    alpha, beta = (np.concatenate([[0.0], np.cumsum(mass[order])]) for mass in (neg, pos))
    alpha, beta = alpha / alpha[-1], beta / beta[-1]

    def tails(t: Floats) -> Rates:
        above = np.searchsorted(-log_ratio, -t, side="left")
        return alpha[above], beta[above]

    finite = log_ratio[np.isfinite(log_ratio)]
    # One unit beyond the finite log ratios, so that the ends of the curve lie inside; a ratio of
    # zero lies below every threshold.
    low = _LOG_SMALLEST if log_ratio[-1] == -math.inf else finite.min(initial=0.0) - 1
    high = finite.max(initial=0.0) + 1
    auc = float((beta[1:] + beta[:-1]) @ np.diff(alpha) / 2)
    return OptimalRoc(name, tails, float(low), float(high), tuple(finite.tolist()), known_auc=auc)


def _check_masses(name: str, masses: npt.ArrayLike) -> Floats:
    """Return probabilities: values of at least 0, divided by their sum."""
    values = np.asarray(masses, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} has shape {values.shape}; give a list with one value per kind")
    total = values.sum()
    if not (np.isfinite(values) & (values >= 0)).all() or not 0 < total < math.inf:
        raise ValueError(
            f"{name} has values that are not probabilities; give finite numbers of at least 0, not "
            "all of them 0"
        )
    return values / total
