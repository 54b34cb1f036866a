"""Tables with many more columns than rows: time of ``auctor fit`` and AUC on unseen rows.

Simulated gene tables: 20 of the columns differ between the classes, blocks of 20 columns share a
factor. Real tables are those of ``AUCTOR_DATA`` with 50 columns or more; on them every learner is
cross-validated on the same five folds. The peers choose their penalty by cross-validation.

    python benchmarks/bench_wide.py            # simulated: AUC and CPU time of one fit
    python benchmarks/bench_wide.py --command  # the whole command on 50 x 3,000 and 100 x 20,000
    python benchmarks/bench_wide.py --real     # the wide tables of AUCTOR_DATA
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auctor import SmoothAUCBoostCV
from auctor.metrics import auc

INFORMATIVE, BLOCK, N_TEST = 20, 20, 2000
# Rows, columns, and the shift between the classes in an informative column (standard deviations).
DISTRIBUTIONS = ((100, 2_000, 0.8), (200, 2_000, 0.5), (100, 20_000, 0.8), (200, 20_000, 0.6))
REAL = ("sonar", "splice", "spambase", "a1a", "w1a")
MOST_ROWS = 2_000


def make_genes(n_rows: int, n_columns: int, shift: float, seed: int) -> tuple[Any, ...]:
    """Draw training and test rows of one simulated table."""
    rng = np.random.default_rng(seed)
    informative = rng.choice(n_columns, INFORMATIVE, replace=False)
    shifts = rng.choice([-shift, shift], INFORMATIVE)
    out = []
    for n in (n_rows, N_TEST):
        y = np.arange(n) % 2
        factors = np.repeat(rng.normal(size=(n, n_columns // BLOCK)), BLOCK, axis=1)
        X = np.sqrt(0.7) * rng.normal(size=(n, n_columns)) + np.sqrt(0.3) * factors
        X[:, informative] += np.outer(y, shifts)
        out += [X, y]
    return tuple(out)


def logistic(ratio: float) -> Any:
    """Logistic regression on standardised columns: l1 for a ratio of 1, l2 for 0."""
    solver = {1.0: "liblinear", 0.0: "lbfgs"}[ratio]
    penalty = {1.0: "l1", 0.0: "l2"}[ratio]
    regression = LogisticRegressionCV(
        Cs=6, cv=5, penalty=penalty, solver=solver, scoring="roc_auc", max_iter=500
    )
    return make_pipeline(StandardScaler(), regression)


MODELS: dict[str, Callable[[], Any]] = {
    "SmoothAUCBoostCV": SmoothAUCBoostCV,
    "logistic l1": lambda: logistic(1.0),
    "logistic l2": lambda: logistic(0.0),
}


def simulated(n_seeds: int) -> None:
    """Print the mean AUC on new rows and the CPU time of a fit for each kind of table."""
    print("rows x columns, shift | " + " | ".join(f"{name}: AUC, CPU s" for name in MODELS))
    for n_rows, n_columns, shift in DISTRIBUTIONS:
        cells = []
        tables = [make_genes(n_rows, n_columns, shift, seed) for seed in range(n_seeds)]
        for make in MODELS.values():
            aucs, start = [], time.process_time()
            for X, y, X_test, y_test in tables:
                aucs.append(auc(y_test, make().fit(X, y).decision_function(X_test)))
            spent = (time.process_time() - start) / n_seeds
            cells.append(f"{np.mean(aucs):.3f}, {spent:.1f}")
        print(f"{n_rows} x {n_columns}, {shift} | " + " | ".join(cells), flush=True)


def real(folder: Path) -> None:
    """Print the cross-validated AUC on tables with many columns."""
    print("table | " + " | ".join(MODELS))
    for name in REAL:
        table = pd.read_csv(folder / f"{name}.csv")
        table = table.sample(min(len(table), MOST_ROWS), random_state=0)
        X, y = table.drop(columns="target").to_numpy(float), table["target"].to_numpy()
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        cells = []
        for make in MODELS.values():
            scores = cross_val_predict(make(), X, y, cv=folds, method="decision_function")
            aucs = [auc(y[test], scores[test]) for _, test in folds.split(X, y)]
            cells.append(f"{np.mean(aucs):.4f}")
        print(f"{name} {X.shape[0]} x {X.shape[1]} | " + " | ".join(cells), flush=True)


def command() -> None:
    """Time ``auctor fit`` with its folds and baseline, from the CSV file to the model."""
    for n_rows, n_columns in ((50, 3_000), (100, 20_000)):
        X, y, *_ = make_genes(n_rows, n_columns, 0.8, 0)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "genes.csv"
            frame = pd.DataFrame(X.round(4), columns=[f"gene{j}" for j in range(n_columns)])
            frame.assign(target=y).to_csv(path, index=False)
            options = ["--target", "target", "--out", str(path.with_suffix(".json")), "--quiet"]
            before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            subprocess.run([sys.executable, "-m", "auctor", "fit", str(path), *options], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            wall = time.perf_counter() - start
            print(f"auctor fit, {n_rows} x {n_columns}: {wall:.1f} s, {cpu:.1f} s of CPU")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", action="store_true", help="time the whole command")
    parser.add_argument("--real", action="store_true", help="tables of AUCTOR_DATA")
    parser.add_argument("--seeds", type=int, default=3, help="simulated tables of each kind")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.command:
        command()
    elif args.real:
        real(Path(os.environ["AUCTOR_DATA"]))
    else:
        simulated(args.seeds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
