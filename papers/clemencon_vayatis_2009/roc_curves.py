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
# The second curve splits the cell [0, x] of level k at 1/2 + 1 / (k + _START) of its width.
_START = 32


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
    return _known("a curvature that repeats in octaves", _octaves())


def fading_roc() -> OptimalRoc:
    """|ROC*''| is continuous on all of [0, 1]: waves on ever shorter intervals that fade away.

    The cell [0, x] of level k is split at 1/2 + 1 / (k + 32) of its width, so that its width times
    the number of cells grows like the square of the depth.
    """
    return _known("a curvature whose waves fade", _fading())


def _known(name: str, curvatures: Curvature) -> OptimalRoc:
    """The curve with a given curvature."""
    top, end = float(curvatures.slope[0]), float(curvatures.slope[-1])

    def tails(t: Floats) -> Rates:
        """Fractions of both classes with a log ratio above t."""
        return curvatures.rates(np.clip(np.exp(t), end, top))

    ends = math.log(end), math.log(top)
    return OptimalRoc(name, tails, *ends, ends, known_auc=curvatures.area())


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
    return _bent(x, np.where(np.arange(len(x)) % 3 == 2, most, least))


def _bent(x: Floats, h: Floats) -> Curvature:
    """The curve from (0, 0) to (1, 1) with the last slope 1/4."""
    width = np.diff(x)
    fall = _sums(width * (h[1:] + h[:-1]) / 2)
    slope = 0.25 + fall[-1] - fall
    # The area under the slope, a parabola on each piece.
    height = _sums(width * (slope[:-1] - width * (2 * h[:-1] + h[1:]) / 6))
    return Curvature(x, h, slope, height)


def _fading() -> Curvature:
    """A wave on each interval between cells: up by c on its first half, down by c on its second.

    A cell [0, v] is split at u where int_u^v (v - x) h = int_0^u x h, for h = -ROC*''. With h = 1
    and waves of first moment -c L^2 / 8, where L is the width of an interval, c L^2 / 8 has to be
    v^2 (u / v - 1/2) less the same terms of all intervals nearer to 0.
    """
    levels = np.arange(_N_OCTAVES)
    fractions = 0.5 + 1 / (levels + _START)
    ends = np.cumprod(np.concatenate([[1.0], fractions]))  # of the cells at 0, from 1 down
    x, h, nearer = [0.0], [1.0], 0.0
    for k in levels[::-1]:
        u, v = float(ends[k + 1]), float(ends[k])
        width = v - u
        moment = v**2 * (fractions[k] - 0.5) - nearer
        c = 8 * moment / width**2
        x += [u, u + width / 4, u + 3 * width / 4]
        h += [1.0, 1 + c, 1 - c]
        nearer += moment
    nodes, heights = np.array([*x, 1.0]), np.array([*h, 1.0])
    w = np.diff(nodes)
    # int x h, on pieces where both are linear; it has to be 3/4 for the curve to end at (1, 1).
    at = nodes[:-1] * (heights[:-1] + heights[1:]) / 2 + w * (heights[:-1] + 2 * heights[1:]) / 6
    return _bent(nodes, heights * 0.75 / float((w * at).sum()))


def fading_curvatures() -> tuple[float, float]:
    """The smallest and the largest value of |ROC*''|."""
    h = _fading().h
    return float(h.min()), float(h.max())


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
    "fading": KnownRoc(
        "curvature whose waves fade", fading_roc, *fading_curvatures(), is_smooth=False
    ),
    "power": KnownRoc("square root", lambda: power_roc(0.5), 0.25, math.inf),
    "power_quarter": KnownRoc("fourth root", lambda: power_roc(0.25), 3 / 16, math.inf),
    "gaussian_1": KnownRoc("Gaussians 1 apart", lambda: gaussian_roc(1.0), 0.0, math.inf),
    "gaussian_2": KnownRoc("Gaussians 2 apart", lambda: gaussian_roc(2.0), 0.0, math.inf),
}
