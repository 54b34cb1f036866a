"""Coverage of the intervals of one sample: AUC, partial AUC, KS, precision at k.

    python benchmarks/coverage_samples.py                     # every part
    python benchmarks/coverage_samples.py --part auc --repetitions 2000

A cell is a distribution of the scores, an AUC and the number of rows of each class. Distributions:
"normal" (equal variances), "wide" and "narrow" (the standard deviation of the positives is twice
or half that of the negatives), "exponential", "five values" and "two values" (ties), "weights"
(normal, with lognormal weights), "5 + 5 groups" (each of one class) and "10 mixed groups" (normal,
with an intraclass correlation of 0.5).
"""

import argparse
import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from auctor.metrics import auc_ci, ks_ci, partial_auc_ci, precision_at_k_ci

Floats = npt.NDArray[np.float64]

AUCS = (0.5, 0.6, 0.75, 0.9, 0.97, 0.99)
SIZES = (
    *((5, 5), (5, 30), (5, 1000), (10, 10), (10, 200)),
    *((30, 30), (30, 300), (200, 200), (1000, 1000)),
)
FEW_SIZES = ((5, 5), (5, 200), (10, 20), (10, 200), (30, 30), (200, 200))
GROUP_SIZE = 6


class Draw(NamedTuple):
    """One sample, with everything that an interval needs."""

    y: npt.NDArray[np.int64]
    scores: Floats
    options: dict[str, Any]
    seed: int = 0  # seed of its resamples, different for each sample so that errors do not add up


class Result(NamedTuple):
    """The coverage and the width of an interval in one cell."""

    part: str
    cell: str
    covered: float
    error: float  # standard error of the simulation
    width: float
    repetitions: int

    def __str__(self) -> str:
        return (
            f"{self.part:28} {self.cell:42} {self.covered:.3f} +- {self.error:.3f}  "
            f"width {self.width:.3f}  ({self.repetitions})"
        )


def shift_of(auc: float, spread: float = 1.0) -> float:
    """Return the shift between two normal classes that gives an AUC."""
    return math.sqrt(1 + spread**2) * float(ndtri(auc))


def draw(distribution: str, auc: float, n_pos: int, n_neg: int, rng: np.random.Generator) -> Draw:
    """Draw a sample, positives first."""
    y = np.repeat([1, 0], [n_pos, n_neg])
    if distribution == "exponential":
        return Draw(y, rng.exponential(np.where(y == 1, auc / (1 - auc), 1.0)), {})
    if distribution == "two values":
        return Draw(y, (rng.random(len(y)) < np.where(y == 1, auc, 1 - auc)).astype(float), {})
    spread = {"wide": 2.0, "narrow": 0.5}.get(distribution, 1.0)
    scores = rng.normal(size=len(y)) * np.where(y == 1, spread, 1.0) + shift_of(auc, spread) * y
    if distribution == "five values":
        scores = np.searchsorted(five_cuts(auc), scores).astype(float)
    options = {"sample_weight": rng.lognormal(size=len(y))} if distribution == "weights" else {}
    return Draw(y, scores, options)


def draw_groups(mixed: bool, n_groups: int, auc: float, rng: np.random.Generator) -> Draw:
    """Draw groups with intraclass correlation 0.5, each of one class or of both."""
    groups = np.repeat(np.arange(n_groups), GROUP_SIZE)
    y = np.arange(len(groups)) % 2 if mixed else (groups < n_groups // 2).astype(int)
    shared, own = rng.normal(size=n_groups)[groups], rng.normal(size=len(groups))
    scores = shift_of(auc) * y + math.sqrt(0.5) * (shared + own)
    return Draw(y, scores, {"groups": groups})


def five_cuts(auc: float) -> Floats:
    """Return the quintiles of the mixture of two normal classes."""
    shift = shift_of(auc)
    grid = np.linspace(-6, 6 + shift, 20_001)
    return np.interp([0.2, 0.4, 0.6, 0.8], (ndtr(grid) + ndtr(grid - shift)) / 2, grid)


def true_auc(distribution: str, auc: float) -> float:
    """Return the true AUC, given the AUC of the continuous scores."""
    if distribution != "five values":
        return auc  # two values: (1 + tpr - fpr) / 2 with tpr = 1 - fpr = auc
    cuts, shift = five_cuts(auc), shift_of(auc)
    pos = np.diff(np.concatenate(([0.0], ndtr(cuts - shift), [1.0])))
    neg = np.diff(np.concatenate(([0.0], ndtr(cuts), [1.0])))
    below = np.concatenate(([0.0], np.cumsum(neg)[:-1]))
    return float((pos * (below + neg / 2)).sum())


def true_partial(auc: float, high: float) -> float:
    fpr = (np.arange(20_000) + 0.5) / 20_000 * high
    return high * float(ndtr(shift_of(auc) + ndtri(fpr)).mean())


def true_precision(auc: float, fraction: float, n_pos: int, n_neg: int) -> float:
    """Return the precision in the top of a population with the sample's fraction of positives."""
    rate, shift = n_pos / (n_pos + n_neg), shift_of(auc)

    def excess(cut: float) -> float:
        return float(rate * ndtr(shift - cut) + (1 - rate) * ndtr(-cut) - fraction)

    return float(rate * ndtr(shift - brentq(excess, -10, 20)) / fraction)


def measure(
    part: str,
    cell: str,
    truth: float,
    sample: Callable[[np.random.Generator], Draw],
    interval: Callable[[Draw], Any],
    repetitions: int,
) -> Result:
    """Draw samples and count covered ones; the seed depends only on the cell."""
    rng = np.random.default_rng(zlib.crc32(f"{part} {cell}".encode()))
    held, width = 0, 0.0
    for _ in range(repetitions):
        limits = interval(sample(rng)._replace(seed=int(rng.integers(2**31))))
        held += limits.low - 1e-12 <= truth <= limits.high + 1e-12
        width += limits.high - limits.low
    fraction = held / repetitions
    error = math.sqrt(max(fraction * (1 - fraction), 0.5 / repetitions) / repetitions)
    return Result(part, cell, fraction, error, width / repetitions, repetitions)


def of_auc(repetitions: int, method: str = "wilson", **options: Any) -> Iterator[Result]:
    """Every distribution, AUC and size; older methods only for normal scores."""
    distributions = (
        "normal",
        "wide",
        "narrow",
        "exponential",
        "five values",
        "two values",
        "weights",
    )
    name = f"AUC, {method}"
    for distribution in distributions if method == "wilson" else ("normal",):
        for auc in AUCS:
            for n_pos, n_neg in SIZES:
                yield measure(
                    name,
                    f"{distribution}, AUC {auc:g}, {n_pos} + {n_neg}",
                    true_auc(distribution, auc),
                    lambda rng, cell=(distribution, auc, n_pos, n_neg): draw(*cell, rng),
                    lambda one: auc_ci(one.y, one.scores, method=method, **options, **one.options),
                    repetitions,
                )


def of_groups(repetitions: int) -> Iterator[Result]:
    for mixed, n_groups in ((False, 10), (False, 30), (True, 10), (True, 30)):
        kind = f"{n_groups} mixed groups" if mixed else f"{n_groups // 2} + {n_groups // 2} groups"
        for auc in AUCS:
            yield measure(
                "AUC, wilson",
                f"{kind} of {GROUP_SIZE}, AUC {auc:g}",
                auc,
                lambda rng, cell=(mixed, n_groups, auc): draw_groups(*cell, rng),
                lambda one: auc_ci(one.y, one.scores, **one.options),
                repetitions,
            )


def of_partial(repetitions: int) -> Iterator[Result]:
    for high in (0.1, 0.3):
        for auc in AUCS:
            for n_pos, n_neg in FEW_SIZES:
                yield measure(
                    f"partial AUC, FPR to {high:g}",
                    f"normal, AUC {auc:g}, {n_pos} + {n_neg}",
                    true_partial(auc, high),
                    lambda rng, cell=("normal", auc, n_pos, n_neg): draw(*cell, rng),
                    lambda one, high=high: partial_auc_ci(one.y, one.scores, fpr_range=(0, high)),
                    repetitions,
                )


def of_ks(repetitions: int) -> Iterator[Result]:
    for auc in AUCS:
        for n_pos, n_neg in FEW_SIZES:
            yield measure(
                "KS",
                f"normal, AUC {auc:g}, {n_pos} + {n_neg}",
                2 * float(ndtr(shift_of(auc) / 2)) - 1,
                lambda rng, cell=("normal", auc, n_pos, n_neg): draw(*cell, rng),
                lambda one: ks_ci(one.y, one.scores, n_resamples=100, random_state=one.seed),
                max(repetitions // 4, 1),
            )


def of_precision(repetitions: int) -> Iterator[Result]:
    for fraction in (0.05, 0.2):
        for auc in AUCS:
            for n_pos, n_neg in FEW_SIZES:
                if fraction * (n_pos + n_neg) >= 1:
                    yield measure(
                        f"precision in the top {fraction:.0%}",
                        f"normal, AUC {auc:g}, {n_pos} + {n_neg}",
                        true_precision(auc, fraction, n_pos, n_neg),
                        lambda rng, cell=("normal", auc, n_pos, n_neg): draw(*cell, rng),
                        lambda one, fraction=fraction: precision_at_k_ci(
                            one.y, one.scores, k=fraction, n_resamples=100, random_state=one.seed
                        ),
                        max(repetitions // 4, 1),
                    )


PARTS: dict[str, Callable[[int], Iterator[Result]]] = {
    "auc": of_auc,
    "delong": lambda n: of_auc(n, "delong"),
    "groups": of_groups,
    "partial": of_partial,
    "ks": of_ks,
    "precision": of_precision,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--part", choices=PARTS, action="append")
    args = parser.parse_args()
    for part in args.part or PARTS:
        for row in PARTS[part](args.repetitions):
            print(row, flush=True)


if __name__ == "__main__":
    main()
