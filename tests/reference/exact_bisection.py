"""ExactBoost as published (Csillag et al. 2021): bisection of three numbers, with sorting.

Algorithm 2 halves the intervals of xi, a and b all at once and follows the best of the 8 cells;
Algorithm 1 adds the stumps. There are no bins, no integers and no stored order: the learner is
compared with this version in time and in loss. It is compiled so that the times are comparable.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.int64]

AUC, KS = 0, 1
METRICS = {"auc": AUC, "ks": KS}
N_HALVINGS = 20  # c of the paper


class Cell(NamedTuple):
    """Intervals of xi, a and b; a single stump if the ends of each interval are equal."""

    xi_low: float
    xi_high: float
    a_low: float
    a_high: float
    b_low: float
    b_high: float


class Steps(NamedTuple):
    """The step of each round of a run; ``feature`` is -1 if the step was rejected."""

    feature: Whole
    numbers: Floats  # (round, 5): xi, a, b, then least and range of the scores
    losses: Floats


@dataclass
class PlainScorer:
    """The mean of all runs."""

    runs: list[Steps]

    @property
    def mean_losses(self) -> Floats:
        """Margin loss on all training rows after each round, as the mean of the runs."""
        return np.mean([run.losses for run in self.runs], axis=0)

    @property
    def loss(self) -> float:
        """The mean training margin loss of the finished runs."""
        return float(self.mean_losses[-1])

    def decision_function(self, X: npt.ArrayLike) -> Floats:
        """Score each row by repeating the steps of every run."""
        columns = np.asarray(X, dtype=np.float64).T
        return np.mean([replay(columns, run) for run in self.runs], axis=0)


def fit_plain(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    metric: str = "auc",
    theta: float = 0.05,
    n_runs: int = 250,
    n_rounds: int = 50,
    subsample: float = 0.2,
    seed: int = 0,
    n_jobs: int = 1,
) -> PlainScorer:
    """Algorithm 1: runs on threads, each with its own random numbers.

    ``X`` holds numbers without missing values, ``y`` is 0 or 1.
    """
    positive = np.asarray(y) == 1
    rows = np.asarray(X, dtype=np.float64)
    columns = np.ascontiguousarray(np.vstack([rows[positive], rows[~positive]]).T)
    n_pos = int(positive.sum())
    n_drawn = min(round(subsample * len(rows) / 2), n_pos, len(rows) - n_pos)

    def run(number: int) -> Steps:
        rng = np.random.default_rng([seed, number])
        return Steps(*plain_run(METRICS[metric], columns, n_pos, n_drawn, theta, n_rounds, rng))

    with ThreadPoolExecutor(n_jobs) as pool:
        runs: Iterable[Steps] = pool.map(run, range(n_runs))
        return PlainScorer(list(runs))


def replay(columns: Floats, run: Steps) -> Floats:
    """The scores of a run on any rows."""
    scores = np.zeros(columns.shape[1])
    for feature, (xi, a, b, low, reach) in zip(run.feature, run.numbers, strict=True):
        if feature >= 0:
            scores += np.where(columns[feature] <= xi, a, b)
            scores = (scores - low) / reach
    return scores


@kernel
def sorted_loss(metric: int, pos: Floats, neg: Floats) -> float:
    """Equation (1) or (2) for sorted scores; the margin is subtracted from those of positives."""
    if metric == AUC:
        won, j = 0, 0
        for i in range(len(pos)):
            while j < len(neg) and neg[j] < pos[i]:
                j += 1
            won += j
        return 1.0 - won / (len(pos) * len(neg))
    gap, i = 0.0, 0
    for j in range(len(neg)):
        while i < len(pos) and pos[i] <= neg[j]:
            i += 1
        gap = max(gap, (j + 1) / len(neg) - i / len(pos))
    return 1.0 - gap


@kernel
def margin_loss(metric: int, scores: Floats, n_pos: int, margin: float) -> float:
    """The margin loss (6); the first ``n_pos`` rows are the positive ones."""
    return float(sorted_loss(metric, np.sort(scores[:n_pos] - margin), np.sort(scores[n_pos:])))


@kernel
def cell_loss(metric: int, x: Floats, s: Floats, n_pos: int, cell: Cell, theta: float) -> float:
    """Lower bound (7) on the loss of all stumps in a cell; for a single stump, its loss.

    Positives get the upper ends of their interval scores and negatives the lower ends.
    """
    ends = np.empty(len(s))
    for i in range(len(s)):
        is_pos = i < n_pos
        a = cell.a_high if is_pos else cell.a_low
        b = cell.b_high if is_pos else cell.b_low
        if x[i] <= cell.xi_low:
            ends[i] = s[i] + a
        elif x[i] > cell.xi_high:
            ends[i] = s[i] + b
        else:
            ends[i] = s[i] + (max(a, b) if is_pos else min(a, b))
    least = max(0.0, cell.a_low - cell.b_high, cell.b_low - cell.a_high)
    return float(margin_loss(metric, ends, n_pos, (1.0 + least / 2.0) * theta))


@kernel
def half(low: float, high: float, upper: int) -> tuple[float, float]:
    """The lower or upper half of an interval."""
    middle = (low + high) / 2.0
    return (middle, high) if upper else (low, middle)


@kernel
def part_of(cell: Cell, part: int) -> Cell:
    """Part 0 .. 7 of a cell: each bit selects the half of an interval."""
    xi_low, xi_high = half(cell.xi_low, cell.xi_high, part & 1)
    a_low, a_high = half(cell.a_low, cell.a_high, part & 2)
    b_low, b_high = half(cell.b_low, cell.b_high, part & 4)
    return Cell(xi_low, xi_high, a_low, a_high, b_low, b_high)


@kernel
def bisect_plain(
    metric: int, x: Floats, s: Floats, n_pos: int, theta: float, rng: Any
) -> tuple[float, float, float, float]:
    """Algorithm 2 on one feature: (loss, xi, a, b).

    Wide cells often all have loss 0. The paper does not say which of them to follow; one is drawn
    at random.
    """
    cell = Cell(x.min(), x.max(), -1.0, 1.0, -1.0, 1.0)
    for _ in range(N_HALVINGS):
        best, n_best, chosen = np.inf, 0, cell
        for k in range(8):
            part = part_of(cell, k)
            loss = cell_loss(metric, x, s, n_pos, part, theta)
            if loss < best:
                best, n_best, chosen = loss, 1, part
            elif loss == best:
                n_best += 1
                if rng.random() * n_best < 1.0:
                    chosen = part
        cell = chosen
    xi, a, b = (cell[0] + cell[1]) / 2.0, (cell[2] + cell[3]) / 2.0, (cell[4] + cell[5]) / 2.0
    return cell_loss(metric, x, s, n_pos, Cell(xi, xi, a, a, b, b), theta), xi, a, b


@kernel
def draw(first: int, last: int, rng: Any, rows: Whole) -> None:
    """Fill ``rows`` with a sample of first .. last - 1 without replacement."""
    all_rows = np.arange(first, last)
    for i in range(len(rows)):
        pick = i + int(rng.random() * (len(all_rows) - i))
        all_rows[i], all_rows[pick] = all_rows[pick], all_rows[i]
        rows[i] = all_rows[i]


@kernel
def plain_run(
    metric: int, columns: Floats, n_pos: int, n_drawn: int, theta: float, n_rounds: int, rng: Any
) -> tuple[Whole, Floats, Floats]:
    """One run of Algorithm 1, positives first in ``columns``; see ``Steps``."""
    n_features, n_rows = columns.shape
    features = np.full(n_rounds, -1)
    numbers, losses = np.zeros((n_rounds, 5)), np.zeros(n_rounds)
    scores = np.zeros(n_rows)
    loss = margin_loss(metric, scores, n_pos, theta)
    rows = np.empty(2 * n_drawn, dtype=np.int64)
    for t in range(n_rounds):
        draw(0, n_pos, rng, rows[:n_drawn])
        draw(n_pos, n_rows, rng, rows[n_drawn:])
        best, feature, xi, a, b = np.inf, 0, 0.0, 0.0, 0.0
        for j in range(n_features):
            result = bisect_plain(metric, columns[j][rows], scores[rows], n_drawn, theta, rng)
            if result[0] < best:
                best, xi, a, b = result
                feature = j
        new = scores + np.where(columns[feature] <= xi, a, b)
        low, reach = new.min(), new.max() - new.min()
        if reach > 0.0 and margin_loss(metric, new, n_pos, theta) <= loss:
            scores = (new - low) / reach
            loss = margin_loss(metric, scores, n_pos, theta)
            features[t] = feature
            numbers[t] = np.array([xi, a, b, low, reach])
        losses[t] = loss
    return features, numbers, losses
