"""The ideal tree of Clémençon & Vayatis (2009), section 3.4, by a grid search in each cell."""

from collections.abc import Callable
from itertools import pairwise

Curve = Callable[[float], float]
Knots = list[tuple[float, float]]

_N_GRID, _N_ZOOMS = 50, 4


def approximate_roc(roc: Curve, depth: int) -> Knots:
    """Return the knots after ``depth`` levels; ``roc`` is ROC* as a function of alpha."""
    knots = [(0.0, 0.0), (1.0, 1.0)]
    for _ in range(depth):
        inner = [best_knot(roc, start, end) for start, end in pairwise(knots)]
        knots = sorted([*knots, *inner])
    return knots


def best_knot(
    roc: Curve, start: tuple[float, float], end: tuple[float, float]
) -> tuple[float, float]:
    """Return the point of ROC* in a cell with the largest Ent, by refining a grid."""

    def ent(alpha: float) -> float:
        return (end[0] - start[0]) * (roc(alpha) - start[1]) - (end[1] - start[1]) * (
            alpha - start[0]
        )

    low, high = start[0], end[0]
    for _ in range(_N_ZOOMS):
        step = (high - low) / _N_GRID
        best = max((low + k * step for k in range(_N_GRID + 1)), key=ent)
        low, high = max(best - step, start[0]), min(best + step, end[0])
    return best, roc(best)


def distances(roc: Curve, knots: Knots, n_grid: int = 2000) -> tuple[float, float]:
    """d1 and d-infinity from a grid in each cell."""
    d1 = d_inf = 0.0
    for (a0, b0), (a1, b1) in pairwise(knots):
        for k in range(n_grid):
            fraction = (k + 0.5) / n_grid
            gap = roc(a0 + fraction * (a1 - a0)) - (b0 + fraction * (b1 - b0))
            d1 += gap * (a1 - a0) / n_grid
            d_inf = max(d_inf, gap)
    return d1, d_inf
