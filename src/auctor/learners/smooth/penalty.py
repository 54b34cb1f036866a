"""What roughness costs: quadratic forms of the tables, banded for each feature.

For the bins f_1 .. f_K of a number, h_i apart on the chosen scale,

    curvature  sum over inner bins of ((f_i+1 - f_i) / h_i - (f_i - f_i-1) / h_i-1)^2 / mean h,
    slope      sum over neighbours of (f_i+1 - f_i)^2 / h_i,

which are the integrals of f''^2 and f'^2 whatever the number of bins. With "bins" it is the
penalty of Komori (2010), equation (7): plain second differences, where beyond both ends the end is
repeated, so that the end's first difference counts too. Categories have no order: the squared
distance of each from the feature's mean counts, and so does that of missing values. Numbers of few
distinct values, which are often names of categories, have a slope but no curvature.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats
from auctor.data import Feature, RankingData
from auctor.kernels.linear import factor_banded, solve_banded
from auctor.kernels.smooth import add_pulls
from auctor.learners.smooth.scale import gaps

# Curvature of the smoothed AUC, as a multiple of the pairs that an entry has a say in: a guess,
# which the steps correct.
CURVATURE = 0.5
# Adapted penalties are this part to this multiple of the common one.
_LEAST, _MOST = 0.1, 100.0
_TINY = 1e-9
# The banded system is positive definite but for rounding.
_ROUNDING = 1e-13
# As good as infinite: the smoothed AUC is at most 1, and so is what a maximum pays.
_STRONGEST = 1e3
# Numbers with at most so many values may jump from each to the next.
_FEW_VALUES = 10


class Adapted(NamedTuple):
    """Each feature's multiples of the common penalties on curvature and on slope.

    ``loose`` is what it costs a bin to leave the smooth line, squared distance by squared distance;
    infinite where it may not.
    """

    bend: Floats
    slope: Floats
    loose: Floats


class Squares(NamedTuple):
    """weight_i (a_0 f_i + a_1 f_i+1 + ...)^2, summed: arrays (width, features, codes), (f., c.)."""

    factors: Floats
    weight: Floats

    def gradient(self, f: Floats) -> Floats:
        """By differences first: in f'Pf, multiplied out, large penalties cancel to rounding."""
        out = np.zeros_like(f)
        add_pulls(self.factors, self.weight, f, out)
        return out

    def add_to(self, bands: Floats) -> None:
        """Add the form's matrix to three bands."""
        width = len(self.factors)
        for a in range(width):
            for b in range(a + 1):
                product = self.weight * self.factors[a] * self.factors[b]
                bands[a - b, :, b:] += product[:, : product.shape[1] - b]

    def times(self, multiple: Floats) -> "Squares":
        """Every feature's weight times its multiple."""
        return self._replace(weight=self.weight * multiple[:, None])


@dataclass(frozen=True, eq=False)
class Penalty:
    """A sum of squares for each feature, and a ridge toward the feature's mean."""

    squares: tuple[Squares, ...]
    ridge: Floats  # (features, codes)
    share: Floats  # (features, codes): weight of each code, both classes alike
    loose: Floats  # (features,)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the tables: (features, codes)."""
        return self.share.shape

    def gradient(self, f: Floats) -> Floats:
        """2 P f; half the sum of f times it is the penalty."""
        mean = np.einsum("jc,jc->j", self.share, f)
        away = 2 * self.ridge * (f - mean[:, None])
        out = away - self.share * away.sum(axis=1, keepdims=True)
        line = self._line(f)
        for squares in self.squares:
            out += squares.gradient(line)
        return np.asarray(out)

    def _line(self, f: Floats) -> Floats:
        """The smooth line behind the tables: f itself where bins may not leave it.

        What a loose feature pays is the least of line'P line + loose |f - line|^2 over all lines,
        and the gradient of that by f is P's at the best of them.
        """
        if self._line_factor is None:
            return f
        return np.asarray(np.where(self._is_loose, solve(self._line_factor, self._cost * f), f))

    @property
    def _is_loose(self) -> Bools:
        return np.isfinite(self.loose)[:, None]

    @property
    def _cost(self) -> Floats:
        """``loose`` as a column, 1 where there is none."""
        return np.asarray(np.where(self._is_loose, self.loose[:, None], 1.0))

    @cached_property
    def _line_factor(self) -> Floats | None:
        if not self._is_loose.any():
            return None
        lower = self._bands * self._is_loose
        lower[0] += self._cost
        return factor(lower)

    @cached_property
    def _bands(self) -> Floats:
        """The three bands of the squares' matrix."""
        lower = np.zeros((3, *self.shape))
        for squares in self.squares:
            squares.add_to(lower)
        return lower

    def of_feature(self, j: int) -> "Penalty":
        """The penalty of one feature alone."""
        one = slice(j, j + 1)
        # Contiguous, as the whole is: kernels are compiled once.
        squares = tuple(
            Squares(np.ascontiguousarray(s.factors[:, one]), s.weight[one]) for s in self.squares
        )
        return Penalty(squares, self.ridge[one], self.share[one], self.loose[one])

    def solver(self, mass: Floats, extra: Floats | None = None) -> Callable[[Floats], Floats]:
        """g -> an approximate inverse of the objective's curvature times g.

        ``mass`` is how many pairs each entry has a say in; ``extra`` are bands to be added. The
        coupling through the mean is left out: banded, the system costs no more than the table.

        With M the rest of the diagonal and b = 2 loose / (2 loose + M), a loose feature's table is
        (g + 2 loose line) / (2 loose + M), where the line solves (2 P + b M) line = b g.
        """
        rest = 2 * self.ridge + CURVATURE * mass + _TINY
        give = np.where(self._is_loose, 2 * self._cost / (2 * self._cost + rest), 1.0)
        lower = 2 * self._bands
        if extra is not None:
            lower += extra
        lower[0] = lower[0] * (1 + _ROUNDING) + give * rest
        lower[0][lower[0] <= _TINY] = 1.0  # codes of no row
        banded = factor(lower)

        def step(g: Floats) -> Floats:
            line = solve(banded, give * g)
            away = (g + 2 * self._cost * line) / (2 * self._cost + rest)
            return np.asarray(np.where(self._is_loose, away, line))

        return step


class Roughness:
    """Curvature and slope of each feature of some data, before they are weighed."""

    def __init__(self, data: RankingData, share: Floats, scale: str) -> None:
        shape = data.n_features, data.n_codes
        self.share, self.gaps = share, np.ones(shape)
        self._slope = Squares(np.zeros((2, *shape)), np.zeros(shape))
        self._bend = Squares(np.zeros((3, *shape)), np.zeros(shape))
        self._ends = Squares(np.zeros((2, *shape)), np.zeros(shape))
        self._ridge = np.zeros(shape)
        for j, feature in enumerate(data.features):
            n = feature.n_bins
            if share[j, 0] > 0:
                self._ridge[j, 0] = 1.0
            if feature.is_category:
                self._ridge[j, 1 : n + 1] = 1.0
            elif n > 1:
                self._add_number(j, feature, scale)

    def _add_number(self, j: int, feature: Feature, scale: str) -> None:
        n = feature.n_bins
        h = gaps(feature, self.share[j, 1 : n + 1], scale)
        self.gaps[j, 1:n] = h
        self._slope.factors[:, j, 1:n] = -1 / h, 1 / h
        self._slope.weight[j, 1:n] = h
        if n > _FEW_VALUES or scale == "bins":
            bends = 1 / h[:-1], -1 / h[:-1] - 1 / h[1:], 1 / h[1:]
            self._bend.factors[:, j, 1 : n - 1] = bends
            self._bend.weight[j, 1 : n - 1] = 2 / (h[:-1] + h[1:])
        if scale == "bins":  # the end repeated beyond itself: its second difference is a first
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
        """The penalty with these weights, times each feature's own where they were adapted."""
        once = np.ones(len(self.share))
        bend, slope, loose = adapted or Adapted(once, once, once * np.inf)
        bends = np.minimum(penalty * bend, _STRONGEST)
        slopes = np.minimum(shrinkage * slope, _STRONGEST)
        squares = tuple(
            form.times(multiple)
            for form, multiple in ((self._bend, bends), (self._ends, bends), (self._slope, slopes))
            if form.weight.any()
        )
        ridges = self._ridge * np.minimum(ridge * slope, _STRONGEST)[:, None]
        return Penalty(squares, ridges, self.share, loose)

    def adapt(self, f: Floats, loose: Floats | None = None) -> Adapted:
        """How much more than the common one each feature's two penalties should be.

        Inverse to its own curvature and slope in a first fit: what is rough there has shown that it
        needs to be, and what is nearly flat is most likely noise.
        """
        flat, none = np.zeros_like(self._ridge), np.full(len(f), np.inf)
        bend = _forms(Penalty((self._bend, self._ends), flat, self.share, none), f)
        slope = _forms(Penalty((self._slope,), self._ridge, self.share, none), f)
        bends = np.asarray((self._bend.weight + self._ends.weight).any(axis=1))
        loose = none if loose is None else loose
        slopes = np.asarray((self._slope.weight + self._ridge).any(axis=1))
        return Adapted(_inverse(bend, bends), _inverse(slope, slopes), loose)

    @property
    def can_be_loose(self) -> Bools:
        """Features whose bins lie on a smooth line: numbers of more than a few values."""
        return np.asarray(self._bend.weight.any(axis=1))


def factor(lower: Floats) -> Floats:
    """Cholesky's factor of one banded system over all tables; the first axis is the band."""
    bands = np.ascontiguousarray(lower.reshape(len(lower), -1))
    if not factor_banded(bands):
        raise np.linalg.LinAlgError("the penalty's banded matrix is not positive definite")
    return bands


def solve(factor: Floats, g: Floats) -> Floats:
    """The system's solution for tables ``g``, given its factor."""
    flat = g.ravel().copy()
    solve_banded(factor, flat)
    return flat.reshape(g.shape)


def _forms(penalty: Penalty, f: Floats) -> Floats:
    """The penalty of each feature."""
    return np.asarray(np.einsum("jc,jc->j", f, penalty.gradient(f)) / 2)


def _inverse(forms: Floats, counted: Bools) -> Floats:
    """Mean over the counted features, over own, kept within bounds."""
    mean = float(forms[counted].mean()) if counted.any() else 0.0
    tiny = _TINY + _TINY * float(forms.max())
    return np.asarray(np.clip((mean + tiny) / (forms + tiny), _LEAST, _MOST))
