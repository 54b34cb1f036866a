"""Cross-validated KS and precision at k of SmoothAUCBoostCV, ExactBoost and ExactBoostCV.

The tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA; large ones are cut
to MOST_ROWS random rows. All methods use the same outer folds. Runs whose results are stored in
``--keep FILE`` are not repeated. ``--runs`` is the number of runs of the plain ExactBoost (default
250).
"""

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pandas as pd
from kept import interval, keep, print_row, read_kept, signed
from sklearn.model_selection import StratifiedKFold

from auctor import ExactBoost, ExactBoostCV, SmoothAUCBoostCV
from auctor.metrics import ks, precision_at_k

# fmt: off
TABLES = [
    "diabetes", "german_uci", "phoneme", "mammography", "spambase", "taiwan", "adult", "gmsc",
]
# fmt: on
MOST_ROWS = 5000
N_FOLDS = 5
SMOOTH, PLAIN, CV = "SmoothAUCBoostCV", "ExactBoost", "ExactBoostCV"
# Name of the metric, the estimators' name for it, and its k.
METRICS = {
    "KS": ("ks", 0.1),
    "P@10%": ("precision_at_k", 0.1),
    "P@2%": ("precision_at_k", 0.02),
}
Judge = Callable[[np.ndarray, np.ndarray], float]


def read(name: str) -> tuple[pd.DataFrame, np.ndarray] | None:
    """Read a table and its labels, cut to MOST_ROWS; None if there is no such file."""
    folder = Path(os.environ["AUCTOR_DATA"])
    paths = [p for end in ("csv", "csv.gz") if (p := folder / f"{name}.{end}").exists()]
    if not paths:
        print(f"{name} is not in {folder}", file=sys.stderr)
        return None
    frame = pd.read_csv(paths[0]).sample(frac=1.0, random_state=0)[:MOST_ROWS]
    return frame.drop(columns="target"), frame["target"].to_numpy()


def judges() -> dict[str, Judge]:
    """Each metric as a function of labels and scores."""
    tops = {name: k for name, (metric, k) in METRICS.items() if metric != "ks"}
    return {"KS": ks} | {name: partial(_precision, k=k) for name, k in tops.items()}


def _precision(y: np.ndarray, scores: np.ndarray, k: float) -> float:
    return precision_at_k(y, scores, k=k)


def makers(n_runs: int) -> dict[str, Callable[[], Any]]:
    """Return every method; methods that train on a metric, once for each metric."""
    makers_by_name: dict[str, Callable[[], Any]] = {SMOOTH: SmoothAUCBoostCV}
    for name, (metric, k) in METRICS.items():
        makers_by_name[f"{CV} {name}"] = partial(ExactBoostCV, metric, k=k)
    for name, (metric, k) in METRICS.items():
        makers_by_name[f"{PLAIN} {name}"] = partial(ExactBoost, metric, k=k, n_runs=n_runs)
    return makers_by_name


def cross_validate(make: Callable[[], Any], X: pd.DataFrame, y: np.ndarray) -> dict[str, list]:
    """Return every metric, CPU seconds and the choice of ExactBoostCV for every fold."""
    values: dict[str, list] = {name: [] for name in [*METRICS, "seconds", "chosen"]}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        start = time.process_time()
        model = make().fit(X.iloc[train], y[train])
        values["seconds"].append(time.process_time() - start)
        scores = model.decision_function(X.iloc[test])
        for name, judge in judges().items():
            values[name].append(float(judge(y[test], scores)))
        values["chosen"].append(_chosen(model))
    return values


def _chosen(model: Any) -> str:
    if not isinstance(model, ExactBoostCV):
        return ""
    rounds = f", {model.factor_:g} x {model.n_rounds_} rounds" if model.n_rounds_ else ""
    return f"{model.start_}{rounds}"


def run(tables: list[str], methods: list[str], options: argparse.Namespace) -> dict[str, Any]:
    """Run the cases without stored results, or all of them again."""
    kept = read_kept(options.keep)
    known = makers(options.runs)
    for table in tables:
        rows = read(table)
        for method in methods if rows is not None else []:
            if not options.again and method in kept.get(table, {}):
                continue
            try:
                result = cross_validate(known[method], *rows)
            except ValueError as error:  # the top is too small for ExactBoost's samples
                print(f"{table}, {method}: {error}", file=sys.stderr, flush=True)
                continue
            keep(options.keep, kept, table, method, result)
            means = ", ".join(f"{name} {mean(result[name]):.4f}" for name in METRICS)
            taken = sum(result["seconds"])
            print(f"{table}, {method}: {means}, {taken:.1f} s", file=sys.stderr, flush=True)
    return kept


def report(kept: dict[str, Any]) -> None:
    """For each metric the mean and spread of the methods, and the gain over the smooth model."""
    for name in METRICS:
        print(f"\n{name}: mean ± standard deviation over the {N_FOLDS} folds; differences with the")
        print("95 % corrected resampled t interval; how often something was added\n")
        print_row(["table", SMOOTH, f"{PLAIN} {name}", f"{CV} {name}", "new - smooth", "added"])
        print("|---" * 6 + "|")
        for table, by_method in kept.items():
            print_row([table, *cells(by_method, name)])
        print_means(kept, name)


def cells(by_method: dict[str, Any], name: str) -> list[str]:
    """A table's row for one metric."""
    methods = [SMOOTH, f"{PLAIN} {name}", f"{CV} {name}"]
    shown = [
        f"{mean(by_method[m][name]):.4f} ± {stdev(by_method[m][name]):.4f}"
        if m in by_method
        else "–"
        for m in methods
    ]
    if SMOOTH not in by_method or methods[2] not in by_method:
        return [*shown, "–", "–"]
    pairs = zip(by_method[methods[2]][name], by_method[SMOOTH][name], strict=True)
    difference = signed(interval([a - b for a, b in pairs], 1 / (N_FOLDS - 1)))
    added = sum(chosen != "auc" for chosen in by_method[methods[2]]["chosen"])
    return [*shown, difference, f"{added} of {N_FOLDS}"]


def print_means(kept: dict[str, Any], name: str) -> None:
    """Print means over the tables on which all methods were run, and CPU seconds of a fit."""
    methods = [SMOOTH, f"{PLAIN} {name}", f"{CV} {name}"]
    full = [by_method for by_method in kept.values() if all(m in by_method for m in methods)]
    if full:
        means = [f"{mean(mean(by_method[m][name]) for by_method in full):.4f}" for m in methods]
        seconds = [
            f"{mean(mean(by_method[m]['seconds']) for by_method in full):.1f}" for m in methods
        ]
        print_row(["mean", *means, "", ""])
        print_row(["seconds of CPU", *seconds, "", ""])


def main() -> int:
    known = list(makers(1))
    parser = argparse.ArgumentParser()
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=TABLES, metavar="NAME")
    parser.add_argument("--methods", nargs="+", choices=known, default=known, metavar="METHOD")
    parser.add_argument("--runs", type=int, default=250, help="runs of the plain ExactBoost")
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="JSON file in which results are stored"
    )
    parser.add_argument("--again", action="store_true", help="also repeat runs with stored results")
    parser.add_argument(
        "--report", action="store_true", help="run nothing, report the stored results"
    )
    options = parser.parse_args()
    if options.report:
        kept = read_kept(options.keep)
    else:
        kept = run(options.tables, options.methods, options)
    report({table: kept[table] for table in options.tables if table in kept})
    return 0


if __name__ == "__main__":
    sys.exit(main())
