"""Coverage of the intervals and guarantees of `threshold_at`, by simulation.

    python benchmarks/coverage_thresholds.py
    python benchmarks/coverage_thresholds.py --repetitions 200   # a quick look

Four questions, each in many cells (a distribution of the scores, a size, a criterion):

* threshold: does the interval contain the threshold that meets the criterion in the population?
* rates: do the intervals of tpr, fpr and precision contain the rates of new rows?
* promise: with ``confidence=0.95``, do new rows meet the criterion?
* weights and groups: the first two again, for weighted or dependent rows.
"""

import argparse
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from auctor.metrics import threshold_at

Floats = npt.NDArray[np.float64]


class Rows(NamedTuple):
    """A sample: labels, scores, and weights and groups if there are any."""

    y: npt.NDArray[np.int64]
    scores: Floats
    weight: Floats | None = None
    groups: npt.NDArray[np.int64] | None = None


class Distribution(NamedTuple):
    """How scores are drawn, and the fraction of each class at or above a threshold."""

    draw: Callable[[np.random.Generator, int, int], Rows]
    above_pos: Callable[[Floats], Floats]
    above_neg: Callable[[Floats], Floats]
    candidates: Floats  # candidates for the true thresholds, decreasing


class Cell(NamedTuple):
    """A question, a distribution, numbers of rows and a criterion."""

    question: str
    distribution: str
    n_pos: int
    n_neg: int
    criterion: str
    value: float


class Coverage(NamedTuple):
    """The coverage and the width of the interval."""

    covered: float
    width: float  # median; infinite where half of the intervals are
    n: int

    @property
    def error(self) -> float:
        """Standard error of the simulation."""
        proportion = min(max(self.covered, 1 / self.n), 1 - 1 / self.n)
        return float(np.sqrt(proportion * (1 - proportion) / self.n))


def _labels(n_pos: int, n_neg: int) -> npt.NDArray[np.int64]:
    return np.repeat([1, 0], [n_pos, n_neg])


def _normal(rng: np.random.Generator, n_pos: int, n_neg: int) -> Rows:
    y = _labels(n_pos, n_neg)
    return Rows(y, rng.normal(size=len(y)) + y)


def _skewed(rng: np.random.Generator, n_pos: int, n_neg: int) -> Rows:
    y = _labels(n_pos, n_neg)
    return Rows(y, rng.exponential(size=len(y)) * (1 + 2 * y))


def _tied(rng: np.random.Generator, n_pos: int, n_neg: int) -> Rows:
    rows = _normal(rng, n_pos, n_neg)
    return rows._replace(scores=np.floor(2 * rows.scores) / 2)


def _weighted(rng: np.random.Generator, n_pos: int, n_neg: int) -> Rows:
    """Keep one in four of the rows below 0.5, with weight 4."""
    parts = []
    for shift, n in ((1.0, n_pos), (0.0, n_neg)):
        many = rng.normal(shift, size=40 * n + 40)
        kept = many[(many >= 0.5) | (rng.random(len(many)) < 0.25)][:n]
        parts.append(kept)
    scores = np.concatenate(parts)
    return Rows(_labels(n_pos, n_neg), scores, np.where(scores < 0.5, 4.0, 1.0))


def _grouped(rng: np.random.Generator, n_pos: int, n_neg: int) -> Rows:
    """Draw groups of five rows of one class with intraclass correlation 0.5."""
    y = _labels(n_pos, n_neg)
    groups = np.concatenate([np.arange(n_pos) // 5, np.arange(n_neg) // 5 + n_pos])
    shared = rng.normal(size=groups.max() + 1)[groups]
    return Rows(y, np.sqrt(0.5) * (shared + rng.normal(size=len(y))) + y, groups=groups)


def _normal_above(shift: float) -> Callable[[Floats], Floats]:
    return lambda t: np.asarray(ndtr(shift - t))


def _exponential_above(mean: float) -> Callable[[Floats], Floats]:
    return lambda t: np.exp(-np.maximum(t, 0.0) / mean)


def _tied_above(shift: float) -> Callable[[Floats], Floats]:
    return lambda t: np.asarray(ndtr(shift - np.ceil(2 * t) / 2))


_FINE = np.linspace(8, -8, 160_001)
_NORMAL = _normal_above(1.0), _normal_above(0.0), _FINE
DISTRIBUTIONS = {
    "normal": Distribution(_normal, *_NORMAL),
    "skewed": Distribution(
        _skewed, _exponential_above(3.0), _exponential_above(1.0), np.linspace(40, 0, 400_001)
    ),
    "ties": Distribution(_tied, _tied_above(1.0), _tied_above(0.0), np.arange(16, -17, -1) / 2),
    "weights": Distribution(_weighted, *_NORMAL),
    "groups of 5": Distribution(_grouped, *_NORMAL),
}


def target_fraction(cell: Cell) -> float:
    """Return the fraction of positives in the population (weighted if rows have weights)."""
    odds = cell.n_pos / cell.n_neg
    if cell.distribution == "weights":
        kept = [ndtr(shift - 0.5) + 0.25 * ndtr(0.5 - shift) for shift in (1.0, 0.0)]
        odds *= kept[1] / kept[0]
    return float(odds / (1 + odds))


def true_threshold(cell: Cell) -> float:
    """The threshold that meets the criterion in the population."""
    distribution, fraction = DISTRIBUTIONS[cell.distribution], target_fraction(cell)
    tpr, fpr = (
        distribution.above_pos(distribution.candidates),
        distribution.above_neg(distribution.candidates),
    )
    tolerance = 1e-12
    if cell.criterion == "tpr":
        return float(distribution.candidates[np.argmax(tpr >= cell.value - tolerance)])
    if cell.criterion == "cost":
        return float(
            distribution.candidates[
                np.argmin((1 - fraction) * fpr + cell.value * fraction * (1 - tpr))
            ]
        )
    rate = fpr if cell.criterion == "fpr" else fraction * tpr + (1 - fraction) * fpr
    return float(distribution.candidates[np.count_nonzero(rate <= cell.value + tolerance) - 1])


def _draw(cell: Cell, seed: int) -> Rows:
    rng = np.random.default_rng([seed, zlib.crc32(repr(cell).encode())])  # cells are independent
    n_pos, n_neg = cell.n_pos, cell.n_neg
    if cell.criterion == "budget":  # a fraction of all rows
        n_pos = int(rng.binomial(n_pos + n_neg, n_pos / (n_pos + n_neg)))
        n_pos = min(max(n_pos, 1), cell.n_pos + cell.n_neg - 1)
        n_neg = cell.n_pos + cell.n_neg - n_pos
    return DISTRIBUTIONS[cell.distribution].draw(rng, n_pos, n_neg)


def _estimate(cell: Cell, rows: Rows, **more: Any) -> Any:
    options = {"sample_weight": rows.weight, "groups": rows.groups, cell.criterion: cell.value}
    return threshold_at(rows.y, rows.scores, **options, **more)


def _threshold(cell: Cell, seed: int, truth: float) -> list[tuple[bool, float]]:
    threshold = _estimate(cell, _draw(cell, seed))
    return [(threshold.low <= truth <= threshold.high, threshold.high - threshold.low)]


def _rates(cell: Cell, seed: int, truth: float) -> list[tuple[bool, float]]:
    """Return tpr, fpr and precision of new rows with the cell's fraction of positives."""
    threshold = _estimate(cell, _draw(cell, seed))
    distribution, fraction = DISTRIBUTIONS[cell.distribution], target_fraction(cell)
    where = np.array([threshold.value])
    tpr, fpr = float(distribution.above_pos(where)[0]), float(distribution.above_neg(where)[0])
    if not np.isfinite(threshold.value):
        return []  # nothing flagged
    precision = fraction * tpr / (fraction * tpr + (1 - fraction) * fpr)
    pairs = ((threshold.tpr, tpr), (threshold.fpr, fpr), (threshold.precision, precision))
    return [(ends.low <= rate <= ends.high, ends.high - ends.low) for ends, rate in pairs]


def _promise(cell: Cell, seed: int, truth: float) -> list[tuple[bool, float]]:
    threshold = _estimate(cell, _draw(cell, seed), confidence=0.95)
    distribution, fraction = DISTRIBUTIONS[cell.distribution], target_fraction(cell)
    where = np.array([threshold.value])
    tpr, fpr = float(distribution.above_pos(where)[0]), float(distribution.above_neg(where)[0])
    if cell.criterion == "tpr":
        return [(tpr >= cell.value, tpr)]
    rate = fpr if cell.criterion == "fpr" else fraction * tpr + (1 - fraction) * fpr
    return [(rate <= cell.value, rate)]


_ASK = {"threshold": _threshold, "rates": _rates, "promise": _promise}


def measure(cell: Cell, repetitions: int) -> list[Coverage]:
    """Return the coverage in one cell: one figure, or three for tpr, fpr and precision."""
    truth = true_threshold(cell)
    answers = [_ASK[cell.question](cell, seed, truth) for seed in range(repetitions)]
    answers = [answer for answer in answers if answer]
    columns = zip(*answers, strict=True)
    return [
        Coverage(
            float(np.mean([held for held, _ in column])),
            float(np.median([width for _, width in column])),
            len(column),
        )
        for column in columns
    ]


def cells() -> Iterator[Cell]:
    """All cells of the table."""
    sizes = ((5, 5), (20, 20), (20, 200), (50, 500), (10, 1000), (1000, 1000))
    for distribution in ("normal", "skewed", "ties"):
        for n_pos, n_neg in sizes:
            for rate in (0.01, 0.1, 0.5):
                yield Cell("threshold", distribution, n_pos, n_neg, "fpr", rate)
            for rate in (0.5, 0.9, 0.99):
                yield Cell("threshold", distribution, n_pos, n_neg, "tpr", rate)
            yield Cell("threshold", distribution, n_pos, n_neg, "budget", 0.1)
            for cost in (1, 5):
                yield Cell("threshold", distribution, n_pos, n_neg, "cost", cost * n_neg / n_pos)
    for distribution in ("weights", "groups of 5"):
        for n_pos, n_neg in ((50, 50), (50, 500), (300, 300)):
            for criterion, value in (("fpr", 0.1), ("tpr", 0.9), ("budget", 0.2), ("cost", 1.0)):
                usual = value * n_neg / n_pos if criterion == "cost" else value
                yield Cell("threshold", distribution, n_pos, n_neg, criterion, usual)
    for distribution in ("normal", "skewed", "ties", "weights", "groups of 5"):
        # A sample of 20 often contains no row of weight 4 and has no information about such rows.
        small = (
            ((50, 500), (300, 300))
            if distribution == "weights"
            else ((20, 20), (50, 500), (10, 1000))
        )
        for n_pos, n_neg in small:
            for criterion, value in (("fpr", 0.1), ("tpr", 0.9), ("budget", 0.1), ("cost", 1.0)):
                usual = value * n_neg / n_pos if criterion == "cost" else value
                yield Cell("rates", distribution, n_pos, n_neg, criterion, usual)
        for n_pos, n_neg in ((200, 200), (1000, 1000)):
            for criterion, value in (("fpr", 0.1), ("fpr", 0.5), ("tpr", 0.9), ("budget", 0.1)):
                yield Cell("promise", distribution, n_pos, n_neg, criterion, value)


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the intervals of thresholds.")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--only", default="", help="a regular expression that a row must match")
    args = parser.parse_args()
    for cell in cells():
        name = (
            f"{cell.question:9} {cell.distribution:11} {f'{cell.n_pos} + {cell.n_neg}':>11} "
            f"{cell.criterion:>6} {cell.value:<6g}"
        )
        if not re.search(args.only, name):
            continue
        # Comparing all pairs of thresholds takes as long as some 20 order statistics.
        few = cell.criterion == "cost"
        results = measure(cell, max(args.repetitions // 4, 1) if few else args.repetitions)
        text = "   ".join(
            f"{one.covered:.3f} +- {one.error:.3f} {one.width:8.3f}" for one in results
        )
        print(f"{name} {text}", flush=True)


if __name__ == "__main__":
    main()
