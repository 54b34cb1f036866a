"""The distributions of Proposition 15 and Figure 1, with the curvature of their ROC*."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.datasets import OptimalRoc, exponential_roc, gaussian_roc, power_roc, quadratic_roc

Rates = tuple[Floats, Floats]

# Number of octaves of the curvature; the rest is below rounding.
_N_OCTAVES = 80
# An octave is [RATIO, 1] times a power of RATIO; the curvature rises to a peak, falls again before
# END, and is constant from there on.
RATIO, _PEAK, _END = 0.55, 0.6, 0.65


@dataclass(frozen=True)
class KnownRoc:
    """Bounds on |ROC*''|: Proposition 15 needs ``least`` above 0 and a finite ``most``."""

    title: str
    make: Callable[[], OptimalRoc]
    least: float
    most: float
    is_smooth: bool = True  # ROC*'' is also Lipschitz, which the recursion needs

    @property
    def meets(self) -> bool:
        """The assumption of Proposition 15: bounded, and bounded away from zero."""
        return self.least > 0 and math.isfinite(self.most)


def _exponential(rate: float) -> KnownRoc:
    """|ROC*''| falls from rate^2 / (1 - exp(-rate)) by a factor exp(rate)."""
    most = rate**2 / -math.expm1(-rate)
    title = f"exponential, rate {rate:g}"
    return KnownRoc(title, lambda: exponential_roc(rate), most * math.exp(-rate), most)


class Curvature(NamedTuple):
    """h = -ROC*'', piecewise linear in x, with the slope and the height of ROC* at its nodes."""

    x: Floats
    h: Floats
    slope: Floats
    height: Floats

    @property
    def rise(self) -> Floats:
        """The slope of h on each piece."""
        return np.diff(self.h) / np.diff(self.x)

    def rates(self, ratio: Floats) -> Rates:
        """The point of ROC* with a given slope: a root of h u + rise u^2 / 2 = fall of slope."""
        k = np.clip(np.searchsorted(-self.slope, -ratio, side="right") - 1, 0, len(self.x) - 2)
        h, rise, fall = self.h[k], self.rise[k], self.slope[k] - ratio
        u = 2 * fall / (h + np.sqrt(h**2 + 2 * rise * fall))
        return self.x[k] + u, self.height[k] + u * (self.slope[k] - u * (h / 2 + u * rise / 6))

    def area(self) -> float:
        """The area under ROC*, a cubic on each piece."""
        w, h = np.diff(self.x), self.h[:-1]
        inner = self.slope[:-1] / 2 - w * (h / 6 + w * self.rise / 24)
        return float((w * (self.height[:-1] + w * inner)).sum())


def octave_roc() -> OptimalRoc:
    """|ROC*''| is continuous above 0, with the same pattern on every octave [r^(k+1), r^k].

    The pattern is chosen so that a cell [0, x] is split at r x for x = 1, r, r^2, ...: the left
    cell has a width of r^D after D levels, with r above one half.
    """
    curvatures = _octaves()
    top, end = float(curvatures.slope[0]), float(curvatures.slope[-1])

    def tails(t: Floats) -> Rates:
        """Fractions of both classes with a log ratio above t."""
        return curvatures.rates(np.clip(np.exp(t), end, top))

    ends = math.log(end), math.log(top)
    return OptimalRoc(
        "a curvature that repeats in octaves", tails, *ends, ends, known_auc=curvatures.area()
    )


def octave_curvatures() -> tuple[float, float]:
    """The smallest and the largest value of |ROC*''|.

    A cell [0, 1] is split at r if int_0^1 x h = int_r^1 h for h = -ROC*''. With the same pattern
    on each octave the left side is int_r^1 x h / (1 - r^2): the mean of x under h on [r, 1] has to
    be 1 - r^2, which says how much the peak has to hold. The scale is such that the slope of ROC*
    falls to 1 - int x h = 1/4.
    """
    wanted, flat, middle = 1 - RATIO**2, 1 - RATIO, (1 + RATIO) / 2
    centre = (RATIO + _PEAK + _END) / 3
    mass = flat * (middle - wanted) / (wanted - centre)
    moment = (flat * middle + mass * centre) / (1 - RATIO**2)
    least = 0.75 / moment
    return least, least * (1 + 2 * mass / (_END - RATIO))


def _octaves() -> Curvature:
    """The nodes of the curvature, from 0 to 1."""
    least, most = octave_curvatures()
    powers = RATIO ** np.arange(_N_OCTAVES)[::-1]
    x = np.concatenate([[0.0], np.outer(powers, [RATIO, _PEAK, _END]).ravel(), [1.0]])
    h = np.where(np.arange(len(x)) % 3 == 2, most, least)
    width = np.diff(x)
    fall = _sums(width * (h[1:] + h[:-1]) / 2)
    slope = 0.25 + fall[-1] - fall
    # The area under the slope, a parabola on each piece.
    height = _sums(width * (slope[:-1] - width * (2 * h[:-1] + h[1:]) / 6))
    return Curvature(x, h, slope, height)


def _sums(parts: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(parts)])


ROC_CURVES: dict[str, KnownRoc] = {
    "linear": KnownRoc("constant curvature 1.5", lambda: quadratic_roc(0.75), 1.5, 1.5),
    "exponential_1": _exponential(1.0),
    "exponential_2": _exponential(2.0),
    "exponential_5": _exponential(5.0),
    "octaves": KnownRoc(
        "curvature that repeats in octaves", octave_roc, *octave_curvatures(), is_smooth=False
    ),
    "power": KnownRoc("square root", lambda: power_roc(0.5), 0.25, math.inf),
    "power_quarter": KnownRoc("fourth root", lambda: power_roc(0.25), 3 / 16, math.inf),
    "gaussian_1": KnownRoc("Gaussians 1 apart", lambda: gaussian_roc(1.0), 0.0, math.inf),
    "gaussian_2": KnownRoc("Gaussians 2 apart", lambda: gaussian_roc(2.0), 0.0, math.inf),
}
