"""Slow and obvious DMKS: try every threshold and every interval of a coefficient."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]

EQUAL = 2.0**-40


class Labelled(NamedTuple):
    """Which rows are positive, and their whole weights."""

    positive: Labels
    weight: npt.NDArray[np.int64]


class Limits(NamedTuple):
    """Constraints on moves and thresholds; see ``auctor.learners.dmks.fit``."""

    min_gap: float
    clearance: float
    widest: float


def ks_at(scores: Floats, threshold: float, rows: Labelled) -> float:
    """Fraction of positives above the threshold minus that of negatives."""
    above, total = [0, 0], [0, 0]
    for score, is_positive, weight in zip(scores, rows.positive, rows.weight, strict=True):
        total[int(is_positive)] += int(weight)
        if score > threshold:
            above[int(is_positive)] += int(weight)
    return above[1] / total[1] - above[0] / total[0]


def slow_cut(scores: Floats, rows: Labelled, min_gap: float) -> tuple[float, float]:
    """Return (KS, threshold) by trying the middle of every gap; the widest gap of ties."""
    ordered = np.sort(scores)
    best, width, threshold = 0.0, np.inf, float(ordered[0]) - 1.0
    for low, high in zip(ordered[:-1].tolist(), ordered[1:].tolist(), strict=True):
        if high - low < min_gap:
            continue
        middle = low + (high - low) / 2
        value = ks_at(scores, middle, rows)
        if value > best or (value == best and high - low > width):
            best, width, threshold = value, high - low, middle
    return best, threshold


def slow_move(
    scores: Floats,
    threshold: float,
    x: Floats,
    rows: Labelled,
    low: float,
    high: float,
    step: float,
    clearance: float,
) -> tuple[float, float]:
    """Return (KS, move) of one coefficient by trying the middle of every allowed interval."""
    moving = np.flatnonzero(x)
    crossing = (threshold - scores[moving]) / x[moving]
    blocked = clearance / np.abs(x[moving])
    starts, stops = crossing - blocked, crossing + blocked
    points = np.unique(np.clip(np.concatenate([[low, high], starts, stops]), low, high))
    best, width, move = -1.0, 0.0, 0.0
    for first, last in zip(points[:-1].tolist(), points[1:].tolist(), strict=True):
        if ((starts <= first) & (stops >= last)).any():
            continue
        n_crossed = int((crossing <= first).sum())
        start = max(first, last - 2 * step) if n_crossed == 0 else first
        stop = min(last, start + 2 * step) if n_crossed == len(moving) else last
        middle = start + (stop - start) / 2
        value = ks_at(scores + middle * x, threshold, rows)
        if value > best or (value == best and stop - start > width):
            best, width, move = value, stop - start, middle
    return best, move


def slow_climb(
    matrix: Floats,
    spread: Floats,
    beta: Floats,
    rows: Labelled,
    limits: Limits,
    penalty: float = 0.0,
    max_iter: int = 100,
    tol: float = 1e-6,
) -> tuple[Floats, list[float]]:
    """Coordinate ascent; return coefficients, and KS at the start and after each sweep."""

    def state(beta: Floats) -> tuple[Floats, float, float]:
        say = float(np.abs(beta * spread).max(initial=0.0))
        beta = np.ldexp(beta, -int(np.frexp(say)[1]))
        return beta, *slow_cut(matrix @ beta, rows, limits.min_gap)

    def objective(beta: Floats, value: float) -> float:
        return value - penalty * np.count_nonzero(beta)

    def values(j: int) -> list[float]:
        unit = 1.0 / spread[j]
        if not beta.any():
            return [unit, -unit]
        ends = -limits.widest * unit - beta[j], limits.widest * unit - beta[j]
        value, move = slow_move(
            matrix @ beta, threshold, matrix[:, j], rows, *ends, unit, limits.clearance
        )
        better = [beta[j] + move] if value > best + EQUAL else []
        return better + ([0.0] if penalty > 0 and beta[j] != 0 else [])

    beta, best, threshold = state(beta)
    path = [best]
    for _ in range(max_iter):
        before = objective(beta, best)
        for j in range(matrix.shape[1]):
            for value in values(j):
                trial = beta.copy()
                trial[j] = value
                moved = state(trial)
                if objective(moved[0], moved[1]) > objective(beta, best) + EQUAL:
                    beta, best, threshold = moved
        path.append(best)
        if objective(beta, best) - before < tol:
            break
    return beta, path
