"""The objectives: functions of the weights alpha of hypotheses (Suehiro et al. 2011).

Each problem of Suehiro et al. maximises a concave function of alpha, the smallest mean margin under
any distribution d from a set of allowed ones,

    f(alpha) = min_d  (sum_i d_i^+ s(x_i^+) - sum_j d_j^- s(x_j^-)) / 2,   s = sum_k alpha_k h_k.

An objective finds the d of the minimum. The edges of the hypotheses under d give the value of f and
a cut: a linear function that equals f at alpha and is nowhere below it.
"""

from math import sqrt
from typing import NamedTuple, Protocol

import numpy as np

from auctor._typing import Floats
from auctor.kernels.pairs import nth_difference, pair_fractions


class Distributions(NamedTuple):
    """A distribution over the negatives and one over the positives; the sum of each is 1."""

    neg: Floats
    pos: Floats
    nu_pos: float = 0.0  # of the tangent problem: the nu+ of the distribution


class Objective(Protocol):
    """Finds the worst distribution for given scores."""

    def worst(self, neg: Floats, pos: Floats) -> Distributions:
        """The allowed distribution with the smallest mean margin."""


class PairsObjective:
    """Problems (2) and (3): no pair may have more than 1/nu, so that f is the mean of the nu
    smallest margins.

    The distribution over pairs is never formed: edges need only its marginals.
    """

    def __init__(self, weight_neg: Floats, weight_pos: Floats, nu: float) -> None:
        self._neg, self._pos = weight_neg, weight_pos
        self._nu = min(nu, float(weight_neg.sum() * weight_pos.sum()))
        self._guess = 0.0  # the nu-th difference changes little from one call to the next

    def worst(self, neg: Floats, pos: Floats) -> Distributions:
        order_neg, order_pos = np.argsort(neg, kind="stable"), np.argsort(pos, kind="stable")
        neg, pos = neg[order_neg], pos[order_pos]
        weight_neg, weight_pos = self._neg[order_neg], self._pos[order_pos]
        above = np.append(np.cumsum(weight_neg[::-1])[::-1], 0.0)
        below = np.append(0.0, np.cumsum(weight_pos))
        self._guess = nth_difference(pos, weight_pos, neg, above, self._nu, self._guess)
        sorted_neg, sorted_pos = np.empty(len(neg)), np.empty(len(pos))
        pair_fractions(
            pos,
            weight_pos,
            neg,
            weight_neg,
            above,
            below,
            self._guess,
            self._nu,
            sorted_pos,
            sorted_neg,
        )
        out = Distributions(np.empty(len(neg)), np.empty(len(pos)))
        out.neg[order_neg], out.pos[order_pos] = sorted_neg, sorted_pos
        return out


class RowsObjective:
    """Problems (7) and (8): no positive may have more than 1/nu+, no negative more than 1/nu-.

    f is half of the mean of the nu+ smallest positive scores minus that of the nu- largest negative
    scores. nu 0 puts all weight on the worst row: the hard margin of problem (5).
    """

    def __init__(
        self, weight_neg: Floats, weight_pos: Floats, nu_neg: float, nu_pos: float
    ) -> None:
        self._neg, self._pos = weight_neg, weight_pos
        self._nu_neg, self._nu_pos = nu_neg, nu_pos

    def worst(self, neg: Floats, pos: Floats) -> Distributions:
        return Distributions(
            fill_lowest(-neg, self._neg, self._nu_neg), fill_lowest(pos, self._pos, self._nu_pos)
        )


class TangentObjective:
    """Problem (9): nu+ is free, and the tangent at nu_c replaces the cap 1/nu+ of the positives.

    The caps are 2/nu_c - nu+/nu_c^2 for positives and nu+/nu for negatives. nu+ lies between nu/n
    and 2 nu_c - nu_c^2/p, where distributions exist under both caps. For given scores the value is
    convex in nu+, and its minimum is found by golden section search.
    """

    def __init__(self, weight_neg: Floats, weight_pos: Floats, nu: float, nu_c: float) -> None:
        self._neg, self._pos, self._nu, self._nu_c = weight_neg, weight_pos, nu, nu_c
        self._low = nu / float(weight_neg.sum())
        self._high = 2.0 * nu_c - nu_c**2 / float(weight_pos.sum())

    def worst(self, neg: Floats, pos: Floats) -> Distributions:
        low_neg, low_pos = _Lowest(-neg, self._neg), _Lowest(pos, self._pos)

        def value(nu_pos: float) -> float:
            return low_pos.mean(1.0 / self._cap(nu_pos)) + low_neg.mean(self._nu / nu_pos)

        nu_pos = _least(value, self._low, self._high)
        return Distributions(
            fill_lowest(-neg, self._neg, self._nu / nu_pos),
            fill_lowest(pos, self._pos, 1.0 / self._cap(nu_pos)),
            nu_pos,
        )

    def _cap(self, nu_pos: float) -> float:
        return 2.0 / self._nu_c - nu_pos / self._nu_c**2


def fill_lowest(scores: Floats, weight: Floats, nu: float) -> Floats:
    """Probabilities weight / nu for the lowest scores, until their sum is 1.

    Examples
    --------
    >>> fill_lowest(np.array([5.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0]), 1.25)
    array([0. , 0.8, 0.2])
    """
    order = np.argsort(scores, kind="stable")
    ordered = weight[order]
    before = np.cumsum(ordered) - ordered
    # A row gets at most weight / nu; with nu 0 the lowest row gets everything.
    nu = max(nu, 1e-9 * float(ordered[0]))
    taken = np.clip(nu - before, 0.0, ordered)
    out = np.empty(len(scores))
    out[order] = taken / taken.sum()
    return out


class _Lowest:
    """Means of the lowest scores for any nu, after sorting once."""

    def __init__(self, scores: Floats, weight: Floats) -> None:
        order = np.argsort(scores, kind="stable")
        self._scores, ordered = scores[order], weight[order]
        self._before = np.append(0.0, np.cumsum(ordered))
        self._sums = np.append(0.0, np.cumsum(ordered * self._scores))

    def mean(self, nu: float) -> float:
        """Mean of the lowest scores whose total weight is ``nu``."""
        nu = min(nu, float(self._before[-1]))
        k = min(int(np.searchsorted(self._before, nu, side="right")) - 1, len(self._scores) - 1)
        rest = nu - float(self._before[k])
        return (float(self._sums[k]) + rest * float(self._scores[k])) / nu


def _least(value: "Function", low: float, high: float) -> float:
    """The minimum of a convex function, by golden section search."""
    ratio = (sqrt(5.0) - 1.0) / 2.0
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    at_a, at_b = value(a), value(b)
    while high - low > 1e-12 * high:
        if at_a <= at_b:
            high, b, at_b = b, a, at_a
            a = high - ratio * (high - low)
            at_a = value(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + ratio * (high - low)
            at_b = value(b)
    return (low + high) / 2.0


class Function(Protocol):
    """A function of one number."""

    def __call__(self, x: float, /) -> float: ...
