"""The roughness penalty: quadratic forms of the tables, banded for each feature.

For the bins f_1 .. f_K of a number, h_i apart on the chosen scale,

    curvature  sum over inner bins of ((f_i+1 - f_i) / h_i - (f_i - f_i-1) / h_i-1)^2 / mean h,
    slope      sum over neighbours of (f_i+1 - f_i)^2 / h_i,

which are the integrals of f''^2 and f'^2 whatever the number of bins. The roughness "bins" is the
penalty of Komori (2010), equation (7): plain second differences, where the end is repeated beyond
both ends, so that the first difference at the end counts too. For categories, which have no
order, and for missing values, the penalty is the squared distance from the feature's mean. Numbers
of few distinct values, which are often codes of categories, have a slope but no curvature.

The distances h_i depend on the scale on which roughness is measured. On the scale of the values one
outlier stretches everything. On the scale of normal scores (the normal quantile of the class-
balanced middle rank of a bin) neither outliers nor the unit of x matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from auctor._typing import Bools, Floats
from auctor.data import Feature, RankingData
from auctor.kernels.linear import factor_banded, solve_banded
from auctor.kernels.smooth import add_pulls

# Minimum distance between bins, as a fraction of the whole range: a curvature over less would be
# dominated by rounding.
_CLOSEST = 1e-3

# Maximum distance from the middle, in spreads, so that powers of distances do not overflow.
_FARTHEST = 1e50


def gaps(feature: Feature, fraction: Floats, scale: str) -> Floats:
    """Distances between neighbouring bins of a numeric feature.

    ``fraction`` is that of the rows in each bin; ``scale`` is "normal", "arcsinh", "linear", or
    "bins", where every distance is 1.
    """
    if scale == "bins" or feature.n_bins < 2 or not fraction.any():
        return np.ones(feature.n_bins - 1)
    fraction = fraction / fraction.sum()
    ranks = np.cumsum(fraction) - fraction / 2
    # Without this, empty bins at either end would lie at infinity.
    edge = float(fraction[fraction > 0].min()) / 2
    positions = (
        ndtri(np.clip(ranks, edge, 1 - edge))
        if scale == "normal"
        else _standardise(feature.centres, fraction, scale)
    )
    length = float(np.ptp(positions))
    if length == 0.0:  # all rows in one bin
        return np.ones(feature.n_bins - 1)
    return np.maximum(np.diff(positions), _CLOSEST * length)


def _standardise(centres: Floats, fraction: Floats, scale: str) -> Floats:
    """Robustly standardised values, (x - median) / (IQR / 1.349), or their arcsinh."""
    # Divided by 4, so that the difference of the largest and the smallest float does not overflow.
    centres = centres / 4
    middle, spread = _middle_and_spread(centres, fraction)
    if not spread > 0.0:  # smaller than the smallest float
        return np.arange(len(centres), dtype=np.float64)
    with np.errstate(over="ignore"):
        standard = np.clip((centres - middle) / spread, -_FARTHEST, _FARTHEST)
    return np.arcsinh(standard) if scale == "arcsinh" else standard


def _middle_and_spread(centres: Floats, fraction: Floats) -> tuple[float, float]:
    """Median and IQR / 1.349; the standard deviation where the IQR is 0."""
    cumulative = np.cumsum(fraction)
    quartiles = np.searchsorted(cumulative, [0.25, 0.5, 0.75])
    lower, middle, upper = centres[np.minimum(quartiles, len(centres) - 1)]
    spread = (upper - lower) / 1.349
    if spread <= 0.0:  # most rows have the same value
        mean = float(np.einsum("i,i->", fraction, centres))
        away = np.abs(centres - mean)
        largest = float(away.max())  # its square may overflow
        if largest == 0.0:
            return float(middle), 0.0
        spread = largest * float(np.sqrt(np.einsum("i,i->", fraction, (away / largest) ** 2)))
    return float(middle), float(spread)


# Curvature of the smoothed AUC, as a multiple of an entry's mass (see ``Sums``): a guess, which the
# quasi-Newton steps correct.
CURVATURE = 0.5
# Adapted penalties are at least and at most these multiples of the common one.
_LEAST, _MOST = 0.1, 100.0
_TINY = 1e-9
# Added to the diagonal of the banded system, relative to it, so that it stays positive definite
# despite rounding.
_DIAGONAL = 1e-13
# As good as infinite: the penalty at a maximum is at most 1, as the smoothed AUC is.
_STRONGEST = 1e3
# Numbers with at most this many values have no curvature penalty and may jump between values.
FEW_VALUES = 10


class Adapted(NamedTuple):
    """Each feature's multiples of the common penalties on curvature and on slope.

    ``loose`` is the penalty on the squared distance of a bin from the feature's smooth curve;
    infinite where every bin must lie on the curve.
    """

    bend: Floats
    slope: Floats
    loose: Floats


class Squares(NamedTuple):
    """The sum of weight_i (a_0 f_i + a_1 f_i+1 + ...)^2, for each feature."""

    factors: Floats  # a: (width, features, codes)
    weight: Floats  # (features, codes)

    def gradient(self, f: Floats) -> Floats:
        """The gradient, from the differences: multiplied out, large terms of f'Pf would cancel."""
        out = np.zeros_like(f)
        add_pulls(self.factors, self.weight, f, out)
        return out

    def add_to(self, bands: Floats) -> None:
        """Add the matrix of the form to three bands."""
        width = len(self.factors)
        for a in range(width):
            for b in range(a + 1):
                product = self.weight * self.factors[a] * self.factors[b]
                bands[a - b, :, b:] += product[:, : product.shape[1] - b]

    def times(self, multiple: Floats) -> "Squares":
        """The form with the weights of each feature times its multiple."""
        return self._replace(weight=self.weight * multiple[:, None])


@dataclass(frozen=True, eq=False)
class Penalty:
    """A sum of squares for each feature, and a ridge toward the feature's mean."""

    squares: tuple[Squares, ...]
    ridge: Floats  # (features, codes)
    fraction: Floats  # (features, codes): class-balanced fraction of the rows
    loose: Floats  # (features,)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the tables: (features, codes)."""
        return self.fraction.shape

    def gradient(self, f: Floats) -> Floats:
        """2 P f; half the sum of f times it is the penalty."""
        mean = np.einsum("jc,jc->j", self.fraction, f)
        away = 2 * self.ridge * (f - mean[:, None])
        out = away - self.fraction * away.sum(axis=1, keepdims=True)
        curve = self._curve(f)
        for squares in self.squares:
            out += squares.gradient(curve)
        return np.asarray(out)

    def _curve(self, f: Floats) -> Floats:
        """The smooth curve of each feature: f itself where bins may not leave it.

        The penalty of a loose feature is the minimum of c'Pc + loose |f - c|^2 over all curves c.
        Its gradient by f is 2 P c at the best curve.
        """
        if self._curve_factor is None:
            return f
        return np.asarray(np.where(self._is_loose, solve(self._curve_factor, self._cost * f), f))

    @property
    def _is_loose(self) -> Bools:
        return np.isfinite(self.loose)[:, None]

    @property
    def _cost(self) -> Floats:
        """``loose`` as a column, 1 where it is infinite."""
        return np.asarray(np.where(self._is_loose, self.loose[:, None], 1.0))

    @cached_property
    def _curve_factor(self) -> Floats | None:
        if not self._is_loose.any():
            return None
        lower = self._bands * self._is_loose
        lower[0] += self._cost
        return factor(lower)

    @cached_property
    def _bands(self) -> Floats:
        """The matrix of the squares, as three bands."""
        lower = np.zeros((3, *self.shape))
        for squares in self.squares:
            squares.add_to(lower)
        return lower

    def of_feature(self, j: int) -> "Penalty":
        """The penalty of one feature alone."""
        one = slice(j, j + 1)
        # Contiguous as the whole is, so that kernels are compiled only once.
        squares = tuple(
            Squares(np.ascontiguousarray(s.factors[:, one]), s.weight[one]) for s in self.squares
        )
        return Penalty(squares, self.ridge[one], self.fraction[one], self.loose[one])

    def solver(self, mass: Floats, extra: Floats | None = None) -> Callable[[Floats], Floats]:
        """A function of g that multiplies it by an approximate inverse of the curvature.

        ``mass`` is that of ``Sums``; ``extra`` are bands to add. The coupling of entries through
        the feature's mean is ignored, so that the system is banded.

        With M the rest of the diagonal and b = 2 loose / (2 loose + M), the table of a loose
        feature is (g + 2 loose c) / (2 loose + M), where the curve c solves (2 P + b M) c = b g.
        """
        rest = 2 * self.ridge + CURVATURE * mass + _TINY
        b = np.where(self._is_loose, 2 * self._cost / (2 * self._cost + rest), 1.0)
        lower = 2 * self._bands
        if extra is not None:
            lower += extra
        lower[0] = lower[0] * (1 + _DIAGONAL) + b * rest
        lower[0][lower[0] <= _TINY] = 1.0  # codes without rows
        banded = factor(lower)

        def step(g: Floats) -> Floats:
            curve = solve(banded, b * g)
            table = (g + 2 * self._cost * curve) / (2 * self._cost + rest)
            return np.asarray(np.where(self._is_loose, table, curve))

        return step


class Roughness:
    """The forms of curvature, slope and distance from the mean, before they are weighted."""

    def __init__(self, data: RankingData, fraction: Floats, scale: str) -> None:
        shape = data.n_features, data.n_codes
        self.fraction, self.gaps = fraction, np.ones(shape)
        self._slope = Squares(np.zeros((2, *shape)), np.zeros(shape))
        self._bend = Squares(np.zeros((3, *shape)), np.zeros(shape))
        self._ends = Squares(np.zeros((2, *shape)), np.zeros(shape))
        self._ridge = np.zeros(shape)
        for j, feature in enumerate(data.features):
            n = feature.n_bins
            if fraction[j, 0] > 0:
                self._ridge[j, 0] = 1.0
            if feature.is_category:
                self._ridge[j, 1 : n + 1] = 1.0
            elif n > 1:
                self._add_number(j, feature, scale)

    def _add_number(self, j: int, feature: Feature, scale: str) -> None:
        n = feature.n_bins
        h = gaps(feature, self.fraction[j, 1 : n + 1], scale)
        self.gaps[j, 1:n] = h
        self._slope.factors[:, j, 1:n] = -1 / h, 1 / h
        self._slope.weight[j, 1:n] = h
        if n > FEW_VALUES or scale == "bins":
            bends = 1 / h[:-1], -1 / h[:-1] - 1 / h[1:], 1 / h[1:]
            self._bend.factors[:, j, 1 : n - 1] = bends
            self._bend.weight[j, 1 : n - 1] = 2 / (h[:-1] + h[1:])
        if scale == "bins":  # the end is repeated, so its second difference is a first difference
            for end in (1, n - 1):
                self._ends.factors[:, j, end] = -1.0, 1.0
                self._ends.weight[j, end] += 1.0

    def weigh(
        self,
        penalty: float,
        shrinkage: float,
        ridge: float,
        adapted: Adapted | None = None,
    ) -> Penalty:
        """The penalty with these weights, times each feature's own multiples if there are any."""
        once = np.ones(len(self.fraction))
        bend, slope, loose = adapted or Adapted(once, once, once * np.inf)
        bends = np.minimum(penalty * bend, _STRONGEST)
        slopes = np.minimum(shrinkage * slope, _STRONGEST)
        squares = tuple(
            form.times(multiple)
            for form, multiple in ((self._bend, bends), (self._ends, bends), (self._slope, slopes))
            if form.weight.any()
        )
        ridges = self._ridge * np.minimum(ridge * slope, _STRONGEST)[:, None]
        return Penalty(squares, ridges, self.fraction, loose)

    def adapt(self, f: Floats, loose: Floats | None = None) -> Adapted:
        """Each feature's own multiples of the penalties, from the tables ``f`` of a pilot fit.

        They are inversely proportional to the feature's curvature and slope in the pilot fit: a
        feature that is rough despite the penalty needs to be, and one that is nearly flat is most
        likely noise.
        """
        flat, none = np.zeros_like(self._ridge), np.full(len(f), np.inf)
        bend = _forms(Penalty((self._bend, self._ends), flat, self.fraction, none), f)
        slope = _forms(Penalty((self._slope,), self._ridge, self.fraction, none), f)
        bends = np.asarray((self._bend.weight + self._ends.weight).any(axis=1))
        loose = none if loose is None else loose
        slopes = np.asarray((self._slope.weight + self._ridge).any(axis=1))
        return Adapted(_inverse(bend, bends), _inverse(slope, slopes), loose)

    @property
    def can_be_loose(self) -> Bools:
        """Features that have a smooth curve: numbers of more than a few values."""
        return np.asarray(self._bend.weight.any(axis=1))


def factor(lower: Floats) -> Floats:
    """The Cholesky factor of one banded system over all tables; the first axis is the band."""
    bands = np.ascontiguousarray(lower.reshape(len(lower), -1))
    if not factor_banded(bands):
        raise np.linalg.LinAlgError("the penalty's banded matrix is not positive definite")
    return bands


def solve(factor: Floats, g: Floats) -> Floats:
    """The solution of the system for tables ``g``, given its factor."""
    flat = g.ravel().copy()
    solve_banded(factor, flat)
    return flat.reshape(g.shape)


def _forms(penalty: Penalty, f: Floats) -> Floats:
    """The value of the penalty for each feature."""
    return np.asarray(np.einsum("jc,jc->j", f, penalty.gradient(f)) / 2)


def _inverse(forms: Floats, counted: Bools) -> Floats:
    """The mean over the counted features divided by each feature's own, within bounds."""
    mean = float(forms[counted].mean()) if counted.any() else 0.0
    tiny = _TINY + _TINY * float(forms.max())
    return np.asarray(np.clip((mean + tiny) / (forms + tiny), _LEAST, _MOST))
