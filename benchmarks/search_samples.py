"""What SmoothAUCBoostCV loses on new rows if it searches its penalties on a part of the rows.

Real tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA; the others are
drawn from laws with curves and interactions. All fits train on the same random 70 % of the rows,
and are compared on the rest, in several divisions. They differ in ``search_samples``, and numbers
far below its default show where a search has too few rows. Seconds are those of the processor,
because the machine may be shared. Results that ``--keep FILE`` has are not computed again.
"""

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from kept import Kept, interval, keep, print_row, read_kept, signed
from quality import each_table
from sklearn.model_selection import train_test_split

from auctor import SmoothAUCBoostCV
from auctor.metrics import auc

REAL = ["taiwan", "adult", "gmsc", "cover-anomaly", "nycflights13"]
# Strength of the interactions, and the log odds of a row without effects.
LAWS = {"law, 38 % positive": (0.6, -1.5), "law, 6 % positive": (0.15, -4.5)}
N_ROWS, N_FEATURES = 400_000, 20
TRAINED, DIVISIONS = 0.7, 3
SAMPLES = [10_000, 30_000, 100_000]
ALL = "all rows"


def draw_law(
    strength: float, level: float, n_rows: int = N_ROWS
) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows with seven curves and two interactions of that strength."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_FEATURES))
    logit = level + X[:, 0] + 0.8 * np.sin(2 * X[:, 1]) + 0.4 * X[:, 2] ** 2 + 0.1 * X[:, 8]
    logit += 0.5 * np.abs(X[:, 3]) - 0.7 * np.tanh(2 * X[:, 4]) + 0.3 * (X[:, 5] > 1)
    logit += strength * (X[:, 6] * X[:, 7] + (X[:, 0] > 0) * X[:, 9])
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-logit))).astype(int)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(N_FEATURES)]), y


def fit_one(most: int | None, parts: list[Any]) -> dict[str, float]:
    """Fit with a search on at most so many rows; the AUC of new rows, and what was chosen."""
    X_train, X_test, y_train, y_test = parts
    start = time.process_time()
    model = SmoothAUCBoostCV(search_samples=most, n_jobs=2).fit(X_train, y_train)
    return {
        "seconds": time.process_time() - start,
        "auc": float(auc(y_test, model.decision_function(X_test))),
        "penalty": model.penalty_,
        "shrinkage": model.shrinkage_,
        "interactions": model.interactions_,
        "single_values": int(model.single_values_),
    }


def measure(X: pd.DataFrame, y: np.ndarray, most: int | None) -> dict[str, list[float]]:
    """The results of all divisions, by name."""
    results: dict[str, list[float]] = {}
    for seed in range(DIVISIONS):
        parts = train_test_split(X, y, train_size=TRAINED, stratify=y, random_state=seed)
        for name, value in fit_one(most, parts).items():
            results.setdefault(name, []).append(value)
    return results


def run(tables: list[str], path: Path | None) -> Kept:
    """Run what has no stored results; parts that are as large as the table are left out."""
    kept = read_kept(path)
    drawn = ((name, *draw_law(*LAWS[name])) for name in tables if name in LAWS)
    real = each_table([name for name in tables if name not in LAWS], most_rows=sys.maxsize)
    for source in (drawn, real):
        for table, X, y in source:
            fitting = [most for most in SAMPLES if most < TRAINED * len(y)]
            for method, most in [(ALL, None), *((f"{m:,}", m) for m in fitting)]:
                if method not in kept.get(table, {}):
                    keep(path, kept, table, method, measure(X, y, most))
                    print(f"{table}, {method}", file=sys.stderr, flush=True)
    return kept


def print_results(kept: Kept) -> None:
    """The AUC of the search on all rows, and what the others have more, with their seconds."""
    columns = [f"{most:,}" for most in SAMPLES]
    print_row(["table", "AUC, all rows", *columns, "seconds"])
    print_row(["---"] * (len(columns) + 3))
    for table, results in kept.items():
        whole = results[ALL]
        cells = []
        for name in columns:
            part = results.get(name)
            gains = [] if part is None else np.subtract(part["auc"], whole["auc"]).tolist()
            cells.append(signed(interval(gains, overlap=1 / TRAINED - 1)) if gains else "")
        seconds = [f"{np.mean(result['seconds']):.1f}" for result in results.values()]
        print_row([table, f"{np.mean(whole['auc']):.4f}", *cells, ", ".join(seconds)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=[*LAWS, *REAL], metavar="NAME")
    parser.add_argument("--keep", type=Path, metavar="FILE")
    options = parser.parse_args()
    print_results(run(options.tables, options.keep))
