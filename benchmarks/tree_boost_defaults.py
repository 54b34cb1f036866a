"""Settings of SmoothTreeBoost around its defaults, one at a time.

The tables of the folder AUCTOR_DATA are cut to 2,000 rows and have the same 3 folds for all
settings. "mixed" has the smooth model beside the trees, "trees" has them alone. Every finished run
(a table and a setting) is stored in ``--keep FILE`` at once and not repeated, so a stopped run can
be continued; ``--report`` prints what is stored. Means are over the tables on which both the
setting and the defaults were run.
"""

import argparse
import sys
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from kept import Kept, keep, read_kept
from quality import each_table
from result_tables import DEFAULT, settings_table
from sklearn.model_selection import StratifiedKFold
from smooth_quality import NAMES
from tree_boost_quality import TABLES, cpu_seconds

from auctor import SmoothTreeBoost
from auctor.metrics import auc

MOST_ROWS, N_FOLDS = 2_000, 3
SETTINGS: dict[str, list[Any]] = {
    "learning_rate": [0.05, 0.2],
    "subsample": [0.4, 0.8, 1.0],
    "max_features": [0.2, 0.7, None],
    "l2_regularization": [0.3, 3.0, 10.0],
    "max_depth": [4, 8],
}
KINDS = ["mixed", "trees"]
CASES: dict[str, dict[str, Any]] = {DEFAULT: {}}
CASES |= {f"{name}={value}": {name: value} for name in SETTINGS for value in SETTINGS[name]}


def measure(X: pd.DataFrame, y: np.ndarray, init: str | None, case: str) -> dict[str, list[float]]:
    """AUC and seconds of the processor for each fold."""
    results: dict[str, list[float]] = {"auc": [], "seconds": []}
    for train, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y):
        start = cpu_seconds()
        model = SmoothTreeBoost(init=init, n_jobs=2, **CASES[case]).fit(X.iloc[train], y[train])
        results["seconds"].append(cpu_seconds() - start)
        results["auc"].append(float(auc(y[test], model.decision_function(X.iloc[test]))))
    return results


def run(tables: list[str], kinds: list[str], cases: list[str], path: Path | None) -> Kept:
    """Run the cases without stored results."""
    kept: Kept = {}
    for table, X, y in each_table(tables):
        X = X.iloc[:MOST_ROWS].astype(dict.fromkeys(NAMES.get(table, []), str))
        for kind in kinds:
            for case in cases:
                kept |= read_kept(path)
                name = f"{kind}, {case}"
                if name not in kept.get(table, {}):
                    init = "smooth" if kind == "mixed" else None
                    results = measure(X, y[:MOST_ROWS], init, case)
                    keep(path, kept, table, name, results)
                    note = f"{mean(results['auc']):.4f}, {sum(results['seconds']):.1f} s"
                    print(f"{table}, {name}: {note}", file=sys.stderr, flush=True)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument(
        "--kinds", nargs="+", default=["mixed", "trees"], choices=["mixed", "trees"]
    )
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--keep", type=Path, help="file of stored results")
    parser.add_argument("--report", action="store_true", help="run nothing, print stored results")
    options = parser.parse_args()
    if options.report:
        kept = read_kept(options.keep)
    else:
        kept = run(options.tables, options.kinds, options.cases, options.keep)
    kept = {table: kept[table] for table in options.tables if table in kept}
    for kind in options.kinds:
        print("\n".join(settings_table(kept, kind, options.cases)), end="\n\n")


if __name__ == "__main__":
    main()
