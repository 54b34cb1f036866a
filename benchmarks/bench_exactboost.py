"""ExactBoost against the plain bisection of its paper, on a large table, and against n and p.

The part "cv" times ExactBoostCV against SmoothAUCBoostCV, the default learner, on 30,000 x 20.

The race needs the paper's tables in the folder AUCTOR_DATA; without it only generated data are
used. Runs whose results are stored in ``--keep FILE`` are not repeated.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from math import log
from pathlib import Path
from statistics import median
from typing import Any

import checkout  # noqa: F401 - for papers and tests
import numpy as np
from kept import keep, print_row, read_kept
from timing import Row, print_table, race, seconds

from auctor import ExactBoost, ExactBoostCV, SmoothAUCBoostCV
from auctor.datasets import make_gaussian_pair
from papers.tables import missing_files, read_rows
from tests.reference.exact_bisection import fit_plain

METRICS = ["auc", "ks"]
GROWTH = [
    *METRICS,
    "precision_at_k",
]  # for rows and columns; the bisection knows only the first two
PART_METRICS = {"rows": GROWTH, "columns": GROWTH, "cv": ["ks", "precision_at_k"]}
RACES = ["heart", "german", "ionosphere"]
N_ROWS = [1000, 10_000, 100_000]
N_FEATURES = [5, 20, 80]
KEY = "ExactBoost"  # key of the stored results
N_ROUNDS = 50
N_TIMED = 5
LIGHT_RUNS = 10  # in ``make bench``; the script itself makes the paper's 250

Table = tuple[np.ndarray, np.ndarray]
Case = tuple[str, Callable[[], Row]]


def make_table(n_rows: int, n_features: int) -> Table:
    """Draw the four Gaussian features of Komori (2010), section 4.2, and columns of noise."""
    sample = make_gaussian_pair(n_rows // 2, n_rows // 2, random_state=0)
    noise = np.random.default_rng(1).normal(size=(n_rows, n_features - sample.X.shape[1]))
    return np.hstack([sample.X, noise]), sample.y


def alone(name: str, value: float, target: str = "", unit: str = "s", spread: str = "") -> Row:
    """Return a row of the table without another library."""
    row = {"name": name, "ours": value, "peer": None, "ratio": None, "spread": spread}
    return row | {"target": target, "unit": unit}


def against_plain(table: Table, name: str, metric: str, n_runs: int) -> Row:
    """Compare time and training margin loss with those of the plain bisection."""
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
    """Time one whole fit on gmsc."""
    ExactBoost(metric, n_runs=1, n_estimators=1).fit(table[0][:1000], table[1][:1000])
    shape = f"{len(table[1])} x {table[0].shape[1]}"
    taken = seconds(lambda: ExactBoost(metric, n_jobs=2).fit(*table))
    return alone(f"ExactBoost {metric}, gmsc, {shape}, 2 threads", taken, "under 300")


def time_round(n_rows: int, n_features: int, metric: str, n_runs: int = 10) -> Row:
    """Return the seconds of one round, from whole fits on one thread."""
    table = make_table(n_rows, n_features)
    ExactBoost(metric, n_runs=1, n_estimators=1).fit(*table)
    times = sorted(seconds(lambda: ExactBoost(metric, n_runs=n_runs).fit(*table)) for _ in range(3))
    per_round = [t / n_runs / N_ROUNDS for t in times]
    spread = f"{per_round[0]:.4f}..{per_round[-1]:.4f}"
    title = f"ExactBoost {metric}, a round, {n_rows:.0e} x {n_features}, 1 thread"
    return alone(title, median(per_round), "O(p n log n)", spread=spread)


def time_wide(metric: str, n_runs: int) -> Row:
    """Time a fit on a table of the size of gisette."""
    table = make_table(6000, 5000)
    ExactBoost(metric, n_runs=1, n_estimators=1).fit(*make_table(1000, 10))
    taken = seconds(lambda: ExactBoost(metric, n_runs=n_runs, n_jobs=2).fit(*table))
    return alone(f"ExactBoost {metric}, 6000 x 5000, {n_runs} runs, 2 threads", taken)


def against_default(table: Table, metric: str, k: int) -> Row:
    """Time fits of ExactBoostCV and of the default learner in turns, as a ratio."""
    X, y = table[0][:, :20], table[1]

    def ours() -> None:
        ExactBoostCV(metric, k=k).fit(X, y)

    def default() -> None:
        SmoothAUCBoostCV().fit(X, y)

    row = race("", default, ours, "at most 3", n_rounds=N_TIMED)  # the ratio is ours / default
    row["ours"], row["peer"] = row["peer"], row["ours"]
    name = f"ExactBoostCV {metric}" + ("" if metric == "ks" else f" {k}")
    row["name"] = f"{name} over the default, {len(y)} x {X.shape[1]}"
    return row


def cases(parts: list[str], n_runs: int) -> Iterator[Case]:
    """Return the cases of the selected parts: name and function."""
    for part in parts:
        for metric in PART_METRICS.get(part, METRICS):
            for name, run in CASES[part](metric, n_runs):
                yield f"{part} {metric} {name}".strip(), run


def real(names: list[str]) -> Iterator[tuple[str, Table]]:
    """Read the named tables that exist."""
    for name in names:
        if not missing_files([name]):
            yield name, read_rows(name)


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


def cv_cases(metric: str, _: int) -> Iterator[Case]:
    for name, table in real(["taiwan"]):
        yield name, partial(against_default, table, metric, 500)


def large_cases(metric: str, n_runs: int) -> Iterator[Case]:
    yield f"{n_runs}", partial(time_wide, metric, n_runs)


CASES: dict[str, Callable[[str, int], Iterator[Case]]] = {
    "race": race_cases,
    "gmsc": gmsc_cases,
    "rows": row_cases,
    "columns": column_cases,
    "cv": cv_cases,
    "large": large_cases,
}


def run_cases(parts: list[str], n_runs: int, path: Path | None, again: bool) -> dict[str, Row]:
    """Run the cases without stored results, or all of them again."""
    kept = read_kept(path)
    for name, run_case in cases(parts, n_runs):
        if again or name not in kept.get(KEY, {}):
            row = run_case()
            keep(path, kept, KEY, name, row)
            print(f"{name}: {row['ours']:.4f}", file=sys.stderr, flush=True)
    return kept.get(KEY, {})


def exponents(rows: dict[str, Row], part: str, metric: str, sizes: list[int]) -> str:
    """Return the power by which the time of a round grows, for each step of the size."""
    times = [rows.get(f"{part} {metric} {size}", {}).get("ours") for size in sizes]
    steps = []
    for k in range(1, len(sizes)):
        if times[k - 1] and times[k]:
            power = log(times[k] / times[k - 1]) / log(sizes[k] / sizes[k - 1])
            steps.append(f"{power:.2f} from {sizes[k - 1]} to {sizes[k]}")
    return "; ".join(steps)


def print_growth(rows: dict[str, Row]) -> None:
    """Print the powers of n and p."""
    for part, sizes in {"rows": N_ROWS, "columns": N_FEATURES}.items():
        for metric in GROWTH:
            powers = exponents(rows, part, metric, sizes)
            if powers:
                print(f"ExactBoost {metric}: power of the time of a round in {part}: {powers}")


def of_part(rows: dict[str, Row], part: str) -> list[tuple[str, Row]]:
    """Return the rows of one part, named by metric and table."""
    return [(k.removeprefix(f"{part} "), row) for k, row in rows.items() if k.split()[0] == part]


def print_races(rows: dict[str, Row]) -> None:
    """Print time and loss beside those of the plain bisection."""
    print("\n| metric, table, runs | ours, s | plain, s | ratio | spread | our loss | plain loss |")
    print("|---" * 7 + "|")
    for name, row in of_part(rows, "race"):
        times = [f"{row[key]:.2f}" for key in ("ours", "peer", "ratio")]
        losses = [f"{row[key]:.4f}" for key in ("our_loss", "peer_loss")]
        print_row([name, *times, row["spread"], *losses])


def report(rows: dict[str, Row]) -> None:
    """Print the stored results as tables."""
    print_growth(rows)
    if of_part(rows, "race"):
        print_races(rows)


def run() -> list[Row]:
    """Run the cases of ``make bench``, with fewer runs in the race."""
    rows = run_cases(["race", "gmsc", "rows", "columns", "cv"], LIGHT_RUNS, None, False)
    report(rows)
    return list(rows.values())


def main() -> int:
    parts = [part for part in CASES if part != "large"]
    parser = argparse.ArgumentParser()
    parser.add_argument("--parts", nargs="+", choices=CASES, default=parts, metavar="PART")
    parser.add_argument("--large", action="store_true", help="also a table of gisette's size")
    parser.add_argument("--runs", type=int, default=250, help="runs in the race and for --large")
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="JSON file in which results are stored"
    )
    parser.add_argument("--again", action="store_true", help="also repeat runs with stored results")
    parser.add_argument(
        "--report", action="store_true", help="run nothing, report the stored results"
    )
    options = parser.parse_args()
    if options.report:
        rows = read_kept(options.keep).get(KEY, {})
    else:
        parts = options.parts + ["large"] * options.large
        rows = run_cases(parts, options.runs, options.keep, options.again)
    print_table(list(rows.values()))
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
