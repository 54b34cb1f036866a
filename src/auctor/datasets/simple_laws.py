"""Laws whose optimal ROC curve has a formula."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from auctor._typing import Floats
from auctor.datasets.arguments import check_noise, check_real
from auctor.datasets.law import Law, Rates

# Beyond so many standard deviations a Gaussian has no mass that a float could hold.
_FAR = 39.0
# exp(-690) is still a normal float.
_LOG_SMALLEST = -690.0


def gaussian_law(shift: float = 1.0) -> Law:
    """Two Gaussians of variance 1, ``shift`` apart: ROC*(a) = Phi(shift + Phi^-1(a)).

    The slope of ROC* is infinite at 0 and zero at 1, which Proposition 15 of paper 002 excludes.

    Parameters
    ----------
    shift : float, default 1
        Distance of the means in standard deviations, above 0.

    Examples
    --------
    >>> from auctor.datasets import gaussian_law
    >>> round(gaussian_law(2.0).optimal_auc, 4)  # Phi(2 / sqrt(2))
    0.9214
    """
    shift = _check_positive("shift", shift)

    def tails(t: Floats) -> Rates:
        # The log likelihood ratio is shift * (x - shift / 2).
        return ndtr(-t / shift - shift / 2), ndtr(-t / shift + shift / 2)

    reach = shift * (_FAR + shift / 2)
    auc = float(ndtr(shift / math.sqrt(2)))
    return Law(f"two Gaussians {shift:g} apart", tails, -reach, reach, known_auc=auc)


def linear_law(bend: float = 1.0) -> Law:
    """A likelihood ratio that is uniform among the negatives: ROC*(a) = a + bend a (1 - a).

    The second derivative of ROC* is constant, so that every cell is split in the middle: after D
    levels the knots are k / 2**D, d1 is bend / 6 / 4**D and d-infinity is bend / 4 / 4**D.

    Parameters
    ----------
    bend : float, default 1
        In (0, 1]; the slope of ROC* falls from 1 + bend to 1 - bend.

    Examples
    --------
    >>> from auctor.datasets import linear_law
    >>> linear_law(0.5).roc([0.25, 0.5]).round(6).tolist()
    [0.34375, 0.625]
    """
    bend = _check_positive("bend", bend)
    if bend > 1:
        raise ValueError(f"bend={bend:g} is too large, ROC* would pass 1; up to 1 will do")

    def tails(t: Floats) -> Rates:
        alpha = np.clip((1 + bend - np.exp(t)) / (2 * bend), 0, 1)
        return alpha, alpha + bend * alpha * (1 - alpha)

    low = math.log(1 - bend) if bend < 1 else _LOG_SMALLEST
    name = f"a likelihood ratio uniform on [{1 - bend:g}, {1 + bend:g}]"
    high = math.log1p(bend)
    return Law(name, tails, low, high, (low, high), known_auc=0.5 + bend / 6)


def exponential_law(rate: float = 2.0) -> Law:
    """A log likelihood ratio that is uniform among the negatives.

    ROC*(a) = (1 - exp(-rate a)) / (1 - exp(-rate)). Its second derivative is neither constant
    nor zero nor infinite: all that Proposition 15 of paper 002 asks.

    Parameters
    ----------
    rate : float, default 2
        Above 0; the slope of ROC* falls by a factor exp(rate) from 0 to 1.

    Examples
    --------
    >>> from auctor.datasets import exponential_law
    >>> exponential_law(2.0).roc([0.25, 0.5]).round(4).tolist()
    [0.4551, 0.7311]
    """
    rate = _check_positive("rate", rate)
    share = -math.expm1(-rate)
    high = math.log(rate / share)

    def tails(t: Floats) -> Rates:
        alpha = np.clip((high - t) / rate, 0, 1)
        return alpha, -np.expm1(-rate * alpha) / share

    low = high - rate
    name = f"a log likelihood ratio uniform over a length of {rate:g}"
    return Law(name, tails, low, high, (low, high), known_auc=1 / share - 1 / rate)


def power_law(power: float = 0.5) -> Law:
    """ROC*(a) = a**power, as of two powers of one uniform variable.

    The slope is infinite at 0. At ``power=0.5`` the knots have beta = k / 2**D: d1 is 1 / 6 / 4**D
    as in Proposition 15 of paper 002, but d-infinity is 1 / 4 / 2**D and only halves.

    Parameters
    ----------
    power : float, default 0.5
        In (0, 1); the optimal AUC is 1 / (1 + power).

    Examples
    --------
    >>> from auctor.datasets import power_law
    >>> power_law(0.5).roc([0.25, 0.81]).round(6).tolist()
    [0.5, 0.9]
    """
    power = _check_positive("power", power)
    if power >= 1:
        raise ValueError(f"power={power:g} is outside (0, 1); ROC* must be concave")

    def tails(t: Floats) -> Rates:
        log_alpha = np.minimum((math.log(power) - t) / (1 - power), 0)
        return np.exp(log_alpha), np.exp(power * log_alpha)

    low = math.log(power)
    high = low - (1 - power) * _LOG_SMALLEST
    return Law(f"ROC* = a^{power:g}", tails, low, high, (low,), known_auc=1 / (1 + power))


def discrete_law(neg: npt.ArrayLike, pos: npt.ArrayLike) -> Law:
    """Finitely many kinds of rows, each with its mass in both classes: ROC* is a broken line.

    Parameters
    ----------
    neg, pos : array-like of shape (n_kinds,)
        Masses among the negatives and among the positives, at least 0; divided by their sums.

    Examples
    --------
    >>> from auctor.datasets import discrete_law
    >>> law = discrete_law([1, 2, 1], [0, 1, 1])
    >>> law.roc([0.25, 0.75]).tolist()
    [0.5, 1.0]
    """
    of_neg, of_pos = _check_masses("neg", neg), _check_masses("pos", pos)
    if len(of_neg) != len(of_pos):
        raise ValueError(
            f"neg has {len(of_neg)} masses and pos has {len(of_pos)}; one of each per kind will do"
        )
    return _law_of_atoms(of_neg, of_pos, f"{len(of_neg)} kinds of rows")


def r_of_k_law(noise: float = 0.1, positive_share: float = 0.5) -> Law:
    """The law of `make_r_of_k`, whose clean label is all that a row says of its noisy one.

    ROC* has two straight parts and one corner, which the first split finds.

    Parameters
    ----------
    noise, positive_share : float
        As in `make_r_of_k`; its other arguments play no part.

    Examples
    --------
    >>> from auctor.datasets import r_of_k_law
    >>> round(r_of_k_law(noise=0.1).optimal_auc, 12)
    0.9
    """
    noise, share = check_noise(noise), check_real("positive_share", positive_share)
    if not 0 < share < 1:
        raise ValueError(f"positive_share={positive_share} is outside (0, 1)")
    # Masses of the clean positives and the clean negatives, in each noisy class.
    neg = np.array([share * noise, (1 - share) * (1 - noise)])
    pos = np.array([share * (1 - noise), (1 - share) * noise])
    name = f"r of k with {noise:.4g} of the labels flipped"
    return _law_of_atoms(neg / neg.sum(), pos / pos.sum(), name)


def _law_of_atoms(neg: Floats, pos: Floats, name: str) -> Law:
    """Sort the atoms by their ratio, best first; what no class has is left out."""
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
    # A unit beyond the atoms, so that the ends of the curve lie inside; a ratio of zero lies
    # below every threshold.
    low = _LOG_SMALLEST if log_ratio[-1] == -math.inf else finite.min(initial=0.0) - 1
    high = finite.max(initial=0.0) + 1
    auc = float((beta[1:] + beta[:-1]) @ np.diff(alpha) / 2)
    return Law(name, tails, float(low), float(high), tuple(finite.tolist()), known_auc=auc)


def _check_positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    number = check_real(name, value)
    if number <= 0:
        raise ValueError(f"{name}={number:g} must be above 0")
    return number


def _check_masses(name: str, masses: npt.ArrayLike) -> Floats:
    """Masses of at least 0 that can be divided by their sum."""
    values = np.asarray(masses, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} must be a list of masses, got shape {values.shape}")
    total = values.sum()
    if not (np.isfinite(values) & (values >= 0)).all() or not 0 < total < math.inf:
        raise ValueError(f"{name} must hold masses of 0 or more, one of them above 0")
    return values / total
