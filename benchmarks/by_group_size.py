"""Error rate, coverage and power of `auctor.metrics.by_group`, by simulation.

    python benchmarks/by_group_size.py

Scores are normal, those of the positives shifted by 1; the fraction of positives differs between
groups, and the probabilities are the true ones of each group. No group then differs from another in
AUC, calibration, true or false positive rate. Five tables are printed:

- how often any test of a table rejects at 5 %, before and after Holm's correction,
- how often the 95 % interval of a group holds the true value, by the size of the group,
- how often a group whose positives are shifted less is found,
- how often the AUC of a group is rejected where the other four groups have the same customers,
- the processor time for 300 groups.
"""

import argparse
import time
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from auctor.metrics import by_group

SHIFT, THRESHOLD = 1.0, 0.8
MEASURES = "auc", "calibration", "flagged", "tpr", "fpr"
# Groups of a table, rows of each, fraction of positives of the first and of the last group.
TABLES = (
    (2, 100, 0.3, 0.3),
    (4, 60, 0.3, 0.3),
    (4, 300, 0.1, 0.4),
    (20, 100, 0.2, 0.5),
    (20, 400, 0.05, 0.2),
    (100, 100, 0.2, 0.5),
)
GROUPS = ((20, 0.3), (40, 0.3), (100, 0.1), (100, 0.3), (400, 0.1), (400, 0.3))
LOST = (0.0, 0.25, 0.5)  # of the shift, in the group that differs


class Draw(NamedTuple):
    """Rows of several groups."""

    y: Any
    scores: Any
    groups: Any
    probability: Any


def draw(rng: Any, rates: Any, n_rows: int, shifts: Any) -> Draw:
    """Draw ``n_rows`` of each group, with both classes in the table."""
    groups = np.repeat(np.arange(len(rates)), n_rows)
    while True:
        y = rng.random(len(groups)) < rates[groups]
        if y.any() and not y.all():
            break
    scores = rng.normal(size=len(y)) + shifts[groups] * y
    odds = np.log(rates / (1 - rates))[groups]
    likelihood = SHIFT * scores - SHIFT**2 / 2
    return Draw(y, scores, groups, expit(odds + likelihood))


def table_of(drawn: Draw, weights: Any = None, **more: Any) -> Any:
    """The table of groups, named so that many of them are not cut into bins."""
    return by_group(
        drawn.y,
        drawn.scores,
        [f"g{group}" for group in drawn.groups],
        threshold=THRESHOLD,
        probability=drawn.probability,
        sample_weight=weights,
        **more,
    )


def size(repetitions: int) -> None:
    """Print how often unchanged tables are rejected."""
    print("tables  groups  rows of each  positives  compared     weights  any p < 0.05  after Holm")
    for k, n_rows, low, high in TABLES:
        rates, shifts = np.linspace(low, high, k), np.full(k, SHIFT)
        for compare, weighted in (("rest", False), ("rest", True), ("pairs", False)):
            if compare == "pairs" and k != 4:
                continue
            rejected, n = np.zeros(2), max(repetitions // max(k // 10, 1), 1)  # many groups: slow
            for seed in range(n):
                rng = np.random.default_rng([seed, k, n_rows])
                drawn = draw(rng, rates, n_rows, shifts)
                weights = rng.exponential(size=len(drawn.y)) if weighted else None
                tests = table_of(drawn, weights, compare=compare).tests
                for j, name in enumerate(("p_value", "p_adjusted")):
                    rejected[j] += any(getattr(test, name) < 0.05 for test in tests)
            raw, corrected = rejected / n
            print(
                f"{n:6} {k:7} {n_rows:13} {f'{low:g} to {high:g}':>10} {compare:>9} "
                f"{'exponential' if weighted else 'none':>11} {raw:13.3f} {corrected:11.3f}",
                flush=True,
            )


def truths(rate: float) -> dict[str, float]:
    """The true values of a group."""
    tpr, fpr = float(ndtr(SHIFT - THRESHOLD)), float(ndtr(-THRESHOLD))
    return {
        "auc": float(ndtr(SHIFT / np.sqrt(2))),
        "calibration": 0.0,
        "flagged": rate * tpr + (1 - rate) * fpr,
        "tpr": tpr,
        "fpr": fpr,
    }


def coverage(repetitions: int) -> None:
    """Print how often intervals of a group hold the true value, and how wide they are."""
    print("\nrows  positives  " + "  ".join(f"{name:>20}" for name in MEASURES))
    for n_rows, rate in GROUPS:
        truth = truths(rate)
        held: dict[str, list[bool]] = {name: [] for name in MEASURES}
        widths: dict[str, list[float]] = {name: [] for name in MEASURES}
        for seed in range(repetitions):
            rng = np.random.default_rng([seed, n_rows])
            drawn = draw(rng, np.array([rate, rate]), n_rows, np.full(2, SHIFT))
            group = table_of(drawn, min_rows=1e9).groups[0]
            for name in MEASURES:
                estimate = getattr(group, name)
                if np.isfinite(estimate.low):
                    held[name].append(estimate.low <= truth[name] <= estimate.high)
                    widths[name].append(estimate.high - estimate.low)
        cells = (f"{np.mean(held[m]):.3f} (width {np.median(widths[m]):.2f})" for m in MEASURES)
        print(f"{n_rows:4} {rate:10g}  " + "  ".join(f"{cell:>20}" for cell in cells), flush=True)


def power(repetitions: int) -> None:
    """Print how often the group that differs is found, with Holm's correction."""
    print(
        "\nrows of each of 5 groups  AUC of one group, of the others  found in AUC  in any measure"
    )
    rates = np.full(5, 0.3)
    for n_rows in (100, 300, 1000):
        for lost in LOST[1:]:
            shifts = np.full(5, SHIFT)
            shifts[0] -= lost * SHIFT
            found = np.zeros(2)
            for seed in range(repetitions):
                drawn = draw(np.random.default_rng([seed, n_rows]), rates, n_rows, shifts)
                named = [test for test in table_of(drawn).differing if test.group == "g0"]
                found += [any(test.measure == "auc" for test in named), bool(named)]
            areas = "{:.3f}, {:.3f}".format(*ndtr(np.array([shifts[0], SHIFT]) / np.sqrt(2)))
            in_auc, in_any = found / repetitions
            print(
                f"{n_rows:24} {areas:>22} {in_auc:13.2f} {in_any:15.2f}",
                flush=True,
            )


def clusters(repetitions: int) -> None:
    """Print how often the AUC of a group is rejected where the others share their customers."""
    rejected = {"customers in several groups": 0, "customers in one group": 0}
    for name in rejected:
        shared = name == "customers in several groups"
        for seed in range(repetitions):
            rng = np.random.default_rng([seed, shared])
            groups = np.repeat(np.arange(5), 120)
            own = np.tile(np.repeat(np.arange(60), 2), 5)  # 60 customers, two rows in each group
            customer = np.where((groups == 4) | (not shared), 60 * groups + own, own)
            y = rng.random(300)[customer] < 0.4
            scores = rng.normal(size=300)[customer] + 0.5 * rng.normal(size=600) + y
            drawn = Draw(y, scores, groups, np.full(600, 0.4))
            tests = table_of(drawn, clusters=customer).tests
            rejected[name] += any(
                test.p_value < 0.05
                for test in tests
                if test.group == "g4" and test.measure == "auc"
            )
    print(f"AUC of the fifth group, p < 0.05, in {repetitions} tables")
    for name, count in rejected.items():
        print(f"{name:30} {count / repetitions:.3f}", flush=True)


def seconds(repetitions: int) -> None:
    """Print the processor time of a table of many groups."""
    k, n_rows = 300, 667
    drawn = draw(np.random.default_rng(0), np.linspace(0.1, 0.4, k), n_rows, np.full(k, SHIFT))
    rng = np.random.default_rng(1)
    weights, customers = rng.exponential(size=len(drawn.y)), rng.integers(0, 50_000, len(drawn.y))
    cases: dict[str, dict[str, Any]] = {
        "no weights": {},
        "weights": {"weights": weights},
        "weights and clusters": {"weights": weights, "clusters": customers},
    }
    print(f"\n{k} groups, {len(drawn.y):,} rows: seconds of one core, the least of five")
    for name, options in cases.items():
        times = []
        for _ in range(min(repetitions, 5)):
            start = time.process_time()
            table_of(drawn, **options)
            times.append(time.process_time() - start)
        print(f"{name:22} {min(times):.2f}", flush=True)


PARTS = {
    "size": size,
    "coverage": coverage,
    "power": power,
    "clusters": clusters,
    "seconds": seconds,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Error rate, coverage and power of by_group.")
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--part", choices=tuple(PARTS), action="append")
    args = parser.parse_args()
    for name, function in PARTS.items():
        if not args.part or name in args.part:
            function(args.repetitions)


if __name__ == "__main__":
    main()
