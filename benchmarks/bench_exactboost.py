"""ExactBoost against the plain bisection of its paper, on a large table, and against n and p;
how often bisection misses the best stump, and what that costs.

The race and the study of missed stumps want the paper's tables in the folder that AUCTOR_DATA
names; without it only generated data are run. What ``--keep FILE`` has kept is not run again.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import log
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np
from exact_quality import LOSSES, folds_of, read_whole
from smooth_quality import N_FOLDS, interval, keep, print_row, read_kept, signed
from timing import Row, print_table, race, seconds

from auctor import ExactBoost
from auctor.data import prepare
from auctor.datasets import make_gaussian_pair
from auctor.kernels.exact_cells import Cell, cell_bound, make_room
from auctor.learners.exact_run import Found, Run
from auctor.learners.exact_table import gather
from auctor.learners.exactboost import Settings, make_plan
from auctor.testing.reference_exact_bisection import fit_plain

METRICS = ["auc", "ks"]
RACES = ["heart", "german", "ionosphere"]
STUDIED = ["heart", "german", "ionosphere", "liver"]
N_ROWS = [1000, 10_000, 100_000]
N_FEATURES = [5, 20, 80]
PLACE = "ExactBoost"  # among what is kept
N_ROUNDS = 50
N_TIMED = 5
LIGHT_RUNS = 10  # of a race within ``make bench``; the script itself makes the paper's 250

Table = tuple[np.ndarray, np.ndarray]
Case = tuple[str, Callable[[], Row]]


def make_table(n_rows: int, n_features: int) -> Table:
    """The law of Komori's section 4.2, with columns of noise beside its four."""
    sample = make_gaussian_pair(n_rows // 2, n_rows // 2, random_state=0)
    noise = np.random.default_rng(1).normal(size=(n_rows, n_features - sample.X.shape[1]))
    return np.hstack([sample.X, noise]), sample.y


def alone(name: str, value: float, target: str = "", unit: str = "s", spread: str = "") -> Row:
    """A row without a peer."""
    row = {"name": name, "ours": value, "peer": None, "ratio": None, "spread": spread}
    return row | {"target": target, "unit": unit}


def against_plain(table: Table, name: str, metric: str, n_runs: int) -> Row:
    """Time and training margin loss beside those of the plain bisection, the same settings."""
    models: dict[str, Any] = {}

    def ours() -> None:
        models["ours"] = ExactBoost(metric, n_runs=n_runs, n_jobs=2).fit(*table)

    def peer() -> None:
        models["peer"] = fit_plain(*table, metric, n_runs=n_runs, n_rounds=N_ROUNDS, n_jobs=2)

    title = f"ExactBoost {metric}, {name}, {n_runs} runs, against plain bisection"
    row = race(title, ours, peer, "at least 5", n_rounds=N_TIMED)
    row["our_loss"] = float(models["ours"].history_.mean_losses[-1])
    row["peer_loss"] = models["peer"].loss
    return row


def time_large_table(table: Table, metric: str) -> Row:
    """One whole fit of gmsc."""
    ExactBoost(metric, n_runs=1, n_estimators=1).fit(table[0][:1000], table[1][:1000])
    shape = f"{len(table[1])} x {table[0].shape[1]}"
    taken = seconds(lambda: ExactBoost(metric, n_jobs=2).fit(*table))
    return alone(f"ExactBoost {metric}, gmsc, {shape}, 2 threads", taken, "under 300")


def time_round(n_rows: int, n_features: int, metric: str, n_runs: int = 10) -> Row:
    """Seconds for a round, from whole fits on one thread."""
    table = make_table(n_rows, n_features)
    ExactBoost(metric, n_runs=1, n_estimators=1).fit(*table)
    times = sorted(seconds(lambda: ExactBoost(metric, n_runs=n_runs).fit(*table)) for _ in range(3))
    per_round = [t / n_runs / N_ROUNDS for t in times]
    spread = f"{per_round[0]:.4f}..{per_round[-1]:.4f}"
    title = f"ExactBoost {metric}, a round, {n_rows:.0e} x {n_features}, 1 thread"
    return alone(title, median(per_round), "O(p n log n)", spread=spread)


def time_wide(metric: str, n_runs: int) -> Row:
    """A table of the size of gisette."""
    table = make_table(6000, 5000)
    ExactBoost(metric, n_runs=1, n_estimators=1).fit(*make_table(1000, 10))
    taken = seconds(lambda: ExactBoost(metric, n_runs=n_runs, n_jobs=2).fit(*table))
    return alone(f"ExactBoost {metric}, 6000 x 5000, {n_runs} runs, 2 threads", taken)


class Watched(Run):
    """A run that follows the proved best stump, and sees what bisection makes of each round."""

    shortfalls: list[float]

    def _search(self, drawn: Any) -> Found:
        found = super()._search(drawn)
        proved = self._plan
        self._plan = replace(proved, search="bisect")
        try:
            other = super()._search(drawn)
        finally:
            self._plan = proved
        if found.is_proved:
            self.shortfalls.append(self._value(drawn, found) - self._value(drawn, other))
        return found

    def _value(self, drawn: Any, found: Found) -> float:
        """What a stump makes of the metric on the sample, between 0 and 1."""
        sample, rows_pos, rows_neg = drawn
        view = np.array([found.view])
        ranks = [self._ranked_views(view, rows)[0] for rows in (rows_pos, rows_neg)]
        cut, size = np.int64(found.cut), np.int64(found.size)
        room = make_room(len(rows_pos), len(rows_neg))
        cell = Cell(cut, cut, size, size)
        value = cell_bound(self._plan.judge.number, sample, *ranks, cell, room)
        return value / self._plan.judge.largest(len(rows_pos), len(rows_neg), sample.weight_pos)


def count_misses(table: Table, name: str, metric: str, n_runs: int = 10) -> Row:
    """Over the rounds of some runs: how often, and by how much, bisection is below the best."""
    data = prepare(*table)
    exact = gather(data)
    plan = make_plan(exact, Settings(metric=metric, tol=0.0), data.weight_unit)
    shortfalls: list[float] = []
    for number in range(n_runs):
        run = Watched(exact, plan, [0, number], None)
        run.shortfalls = shortfalls
        run.rounds(lambda: False)
    missed = [s for s in shortfalls if s > 0.0]
    row = alone(f"bisection {metric}, {name}: rounds that miss the best stump", 0.0, unit=" ")
    return row | {
        "ours": len(missed) / len(shortfalls),
        "spread": f"{len(shortfalls)} rounds",
        "shortfall": mean(shortfalls),
        "shortfall_missed": mean(missed) if missed else 0.0,
        "largest": max(shortfalls),
    }


def cost_of_misses(table: Table, name: str, metric: str, n_runs: int = 50) -> Row:
    """5-fold test loss with each of the two searches, on the same folds."""
    losses: dict[str, list[float]] = {"exact": [], "bisect": []}
    for fold in folds_of(*table):
        for search, found in losses.items():
            model = ExactBoost(metric, n_runs=n_runs, search=search, n_jobs=2).fit(fold.X, fold.y)
            scores = model.decision_function(fold.X_test)
            found.append(float(LOSSES[metric.upper()](fold.y_test, scores)))
    row = alone(f"ExactBoost {metric}, {name}, test loss, against bisection", 0.0, unit=" ")
    return row | {
        "ours": mean(losses["exact"]),
        "peer": mean(losses["bisect"]),
        "losses": losses,
    }


def cases(parts: list[str], n_runs: int) -> Iterator[Case]:
    """Every case of the parts that are asked for: its name and how to run it."""
    for part in parts:
        for metric in METRICS:
            for name, run in CASES[part](metric, n_runs):
                yield f"{part} {metric} {name}".strip(), run


def real(names: list[str]) -> Iterator[tuple[str, Table]]:
    """The named tables, those that are there."""
    for name in names:
        table = read_whole(name)
        if table is not None:
            yield name, table


def race_cases(metric: str, n_runs: int) -> Iterator[Case]:
    for name, table in real(RACES):
        yield f"{name} {n_runs}", partial(against_plain, table, name, metric, n_runs)


def gmsc_cases(metric: str, _: int) -> Iterator[Case]:
    for _, table in real(["gmsc"]):
        yield "", partial(time_large_table, table, metric)


def row_cases(metric: str, _: int) -> Iterator[Case]:
    for n_rows in N_ROWS:
        yield f"{n_rows}", partial(time_round, n_rows, 10, metric)


def column_cases(metric: str, _: int) -> Iterator[Case]:
    for n_features in N_FEATURES:
        yield f"{n_features}", partial(time_round, 10_000, n_features, metric)


def miss_cases(metric: str, _: int) -> Iterator[Case]:
    for name, table in real(STUDIED):
        yield name, partial(count_misses, table, name, metric)


def cost_cases(metric: str, _: int) -> Iterator[Case]:
    for name, table in real(STUDIED):
        yield name, partial(cost_of_misses, table, name, metric)


def large_cases(metric: str, n_runs: int) -> Iterator[Case]:
    yield f"{n_runs}", partial(time_wide, metric, n_runs)


CASES: dict[str, Callable[[str, int], Iterator[Case]]] = {
    "race": race_cases,
    "gmsc": gmsc_cases,
    "rows": row_cases,
    "columns": column_cases,
    "misses": miss_cases,
    "cost": cost_cases,
    "large": large_cases,
}


def run_cases(parts: list[str], n_runs: int, path: Path | None, again: bool) -> dict[str, Row]:
    """Run what is not kept yet, or all of it again."""
    kept = read_kept(path)
    for name, run_case in cases(parts, n_runs):
        if again or name not in kept.get(PLACE, {}):
            row = run_case()
            keep(path, kept, PLACE, name, row)
            print(f"{name}: {row['ours']:.4f}", file=sys.stderr, flush=True)
    return kept.get(PLACE, {})


def exponents(rows: dict[str, Row], part: str, metric: str, sizes: list[int]) -> str:
    """By which power the time of a round grows, over each step of the size."""
    times = [rows.get(f"{part} {metric} {size}", {}).get("ours") for size in sizes]
    steps = []
    for k in range(1, len(sizes)):
        if times[k - 1] and times[k]:
            power = log(times[k] / times[k - 1]) / log(sizes[k] / sizes[k - 1])
            steps.append(f"{power:.2f} from {sizes[k - 1]} to {sizes[k]}")
    return "; ".join(steps)


def print_growth(rows: dict[str, Row]) -> None:
    """The powers of n and p."""
    for part, sizes in {"rows": N_ROWS, "columns": N_FEATURES}.items():
        for metric in METRICS:
            found = exponents(rows, part, metric, sizes)
            if found:
                print(f"ExactBoost {metric}: power of the time of a round in {part}: {found}")


def of_part(rows: dict[str, Row], part: str) -> list[tuple[str, Row]]:
    """The rows of one part, each with its metric and table as a name."""
    return [(k.removeprefix(f"{part} "), row) for k, row in rows.items() if k.split()[0] == part]


def print_races(rows: dict[str, Row]) -> None:
    """Time and loss beside those of the plain bisection."""
    print("\n| metric, table, runs | ours, s | plain, s | ratio | spread | our loss | plain loss |")
    print("|---" * 7 + "|")
    for name, row in of_part(rows, "race"):
        times = [f"{row[key]:.2f}" for key in ("ours", "peer", "ratio")]
        losses = [f"{row[key]:.4f}" for key in ("our_loss", "peer_loss")]
        print_row([name, *times, row["spread"], *losses])


def print_misses(rows: dict[str, Row]) -> None:
    """How often bisection misses the best stump, and by how much of the metric."""
    print("\n| metric, table | of | missed | mean shortfall | where missed | largest |")
    print("|---" * 6 + "|")
    for name, row in of_part(rows, "misses"):
        cells = [f"{row[key]:.4f}" for key in ("shortfall", "shortfall_missed", "largest")]
        print_row([name, row["spread"], f"{100 * row['ours']:.0f} %", *cells])


def print_costs(rows: dict[str, Row]) -> None:
    """What the misses cost on test rows."""
    print("\n| metric, table | loss, exact | loss, bisect | bisect less exact (95 % t) |")
    print("|---" * 4 + "|")
    for name, row in of_part(rows, "cost"):
        losses = row["losses"]
        pairs = zip(losses["bisect"], losses["exact"], strict=True)
        # Test rows over training rows are 1 to N_FOLDS - 1.
        difference = interval([theirs - ours for theirs, ours in pairs], 1 / (N_FOLDS - 1))
        print_row([name, f"{row['ours']:.4f}", f"{row['peer']:.4f}", signed(difference)])


def report(rows: dict[str, Row]) -> None:
    """What is kept, as tables."""
    print_growth(rows)
    for part, print_part in {
        "race": print_races,
        "misses": print_misses,
        "cost": print_costs,
    }.items():
        if of_part(rows, part):
            print_part(rows)


def run() -> list[Row]:
    """The cases of ``make bench``, one row each, with fewer runs in the race."""
    rows = run_cases(["race", "gmsc", "rows", "columns"], LIGHT_RUNS, None, False)
    report(rows)
    return list(rows.values())


def main() -> int:
    parts = [part for part in CASES if part != "large"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", choices=CASES, default=parts, metavar="PART")
    parser.add_argument("--large", action="store_true", help="also a table of gisette's size")
    parser.add_argument("--runs", type=int, default=250, help="of a race and of --large")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="JSON file that keeps results")
    parser.add_argument("--again", action="store_true", help="run also what is kept")
    parser.add_argument("--report", action="store_true", help="run nothing, report what is kept")
    options = parser.parse_args()
    if options.report:
        rows = read_kept(options.keep).get(PLACE, {})
    else:
        parts = options.parts + ["large"] * options.large
        rows = run_cases(parts, options.runs, options.keep, options.again)
    print_table(list(rows.values()))
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
