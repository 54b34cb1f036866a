"""The distributions of sections 4.2 and 4.3, and a third one, which Table 2 seems to come from.

Class 0 and class 1 have means mu and diagonal covariances Sigma (auctor.datasets.pairs). With
standard normal z and s^2 chi-square with 1 degree of freedom, a row is

    gaussian    mu + Sigma^1/2 z             section 4.2
    t           mu + Sigma^1/2 z / s         section 4.3 as printed
    divided     (mu + Sigma^1/2 z) / s       the mean, too, divided: a noncentral t distribution
"""

import math
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from auctor._typing import Floats, Ints
from auctor.datasets import make_gaussian_pair, make_t_pair
from auctor.datasets.pairs import MEAN, VARIANCE

DISTRIBUTIONS = ("gaussian", "t", "divided")
FEATURES = ("x1", "x2", "x3", "x4")
N_TRAIN, N_TEST = 250, 100  # rows of each class, section 4.1
_ALL = np.arange(len(FEATURES))


class Labelled(NamedTuple):
    """Rows and their labels, 0 or 1."""

    X: Floats
    y: Ints


class Draw(NamedTuple):
    """One repetition: the same for every method."""

    train: Labelled
    test: Labelled


def draw(distribution: str, seed: int, repetition: int) -> Draw:
    """Training and test sample of a repetition."""
    rng = np.random.default_rng([seed, 3, DISTRIBUTIONS.index(distribution), repetition])
    return Draw(sample(distribution, N_TRAIN, rng), sample(distribution, N_TEST, rng))


def sample(distribution: str, n: int, rng: np.random.Generator) -> Labelled:
    """``n`` rows of each class in random order."""
    if distribution == "divided":
        return _sample_divided(n, rng)
    make = make_gaussian_pair if distribution == "gaussian" else partial(make_t_pair, df=1.0)
    drawn = make(n, n, random_state=rng)
    return Labelled(drawn.X, drawn.y)


def _sample_divided(n: int, rng: np.random.Generator) -> Labelled:
    y = rng.permutation(np.repeat([0, 1], n))
    whole = MEAN[y] + np.sqrt(VARIANCE)[y] * rng.standard_normal((2 * n, len(FEATURES)))
    return Labelled(whole / np.sqrt(rng.chisquare(1.0, size=(2 * n, 1))), y)


def optimal_score(distribution: str, X: Floats) -> Floats:
    """log g_1(x) - log g_0(x): no score ranks better (equation (4))."""
    return log_density(distribution, X, 1) - log_density(distribution, X, 0)


def optimal_parts(X: Floats) -> Floats:
    """The part of each feature in F_N of section 4.2, which is a sum."""
    precision = 1 / VARIANCE
    slope = 2 * (MEAN[1] * precision[1] - MEAN[0] * precision[0])
    return X**2 * (precision[0] - precision[1]) + X * slope


def log_density(distribution: str, X: Floats, label: int, features: Ints = _ALL) -> Floats:
    """Log density of the given features of a class, up to a constant common to both classes."""
    mean, variance = MEAN[label, features], VARIANCE[label, features]
    volume = 0.5 * math.log(variance.prod())
    power = (len(features) + 1) / 2
    if distribution == "gaussian":
        return np.asarray(-((X - mean) ** 2 / variance).sum(axis=1) / 2 - volume)
    if distribution == "t":
        return np.asarray(-power * np.log1p(((X - mean) ** 2 / variance).sum(axis=1)) - volume)
    # g(x) is the integral over s of s^p exp(-|s x - mu|^2 / 2 - s^2 / 2), lengths by Sigma^-1;
    # the substitution u = s sqrt(a) removes a = |x|^2 + 1.
    a, b = (X**2 / variance).sum(axis=1) + 1, (X * mean / variance).sum(axis=1)
    moment = _moment(len(features), b / np.sqrt(a))
    return np.asarray(np.log(moment) - power * np.log(a) - (mean**2 / variance).sum() / 2 - volume)


def _moment(order: int, t: Floats) -> Floats:
    """The integral over u > 0 of u^order exp(-u^2 / 2 + t u), from order 0 upward by parts."""
    below = math.sqrt(2 * math.pi) * np.exp(t**2 / 2) * ndtr(t)
    here = 1 + t * below
    if order == 0:
        return np.asarray(below)
    for n in range(2, order + 1):
        below, here = here, (n - 1) * below + t * here
    return np.asarray(here)


@cache
def best_alone(distribution: str, feature: int, n_points: int = 100_000) -> float:
    """The largest AUC that any score of one feature alone can have: that of its ratio.

    By the midpoint rule in x = tan(angle), which reaches the far tails of the t distributions.
    """
    angle = (np.arange(n_points) + 0.5) / n_points * math.pi - math.pi / 2
    x = np.tan(angle)[:, None]
    logs = [log_density(distribution, x, label, np.array([feature])) for label in (0, 1)]
    weights = [np.exp(log) / np.cos(angle) ** 2 for log in logs]
    order = np.argsort(logs[1] - logs[0], kind="stable")
    negative, positive = (w[order] / w.sum() for w in weights)
    below = np.cumsum(negative) - negative
    return float((positive * (below + negative / 2)).sum())
