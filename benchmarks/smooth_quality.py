"""Cross-validated AUC of SmoothAUCBoostCV and other methods, all at their defaults.

The tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA. Runs whose results
are stored in ``--keep FILE`` are not repeated, so methods can be run one at a time.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import numpy as np
import pandas as pd
from interpret.glassbox import ExplainableBoostingClassifier
from kept import Kept, interval, keep, print_row, read_kept, signed
from lightgbm import LGBMClassifier
from quality import each_table, lightgbm, prepared, print_head
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from xgboost import XGBClassifier

from auctor.metrics import auc

# No table twice: german is german_uci without names, a1a is a part of adult.
# fmt: off
TABLES = [
    "heart", "australian", "german_uci", "diabetes", "liver", "hypothyroid", "ionosphere", "sonar",
    "mammography", "phoneme", "adult", "taiwan", "spambase", "kr-vs-kp",
]
# fmt: on
# Categories that are coded as numbers: read as text for every method.
NAMES = {"australian": ["A4", "A5", "A6", "A12"]}
N_FOLDS = 5
OURS = "SmoothAUCBoostCV"


class XGBoost(XGBClassifier):
    """XGBoost with text columns as the categories of the training rows."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Any:
        texts = X.select_dtypes(exclude="number")
        # XGBoost refuses unseen categories; with these types they become missing.
        self.types_ = {j: pd.CategoricalDtype(texts[j].dropna().unique()) for j in texts}
        return super().fit(self._categories(X), y)

    def decision_function(self, X: pd.DataFrame) -> np.ndarray:
        """Return the log odds, because 32-bit probabilities near 1 are tied."""
        return np.asarray(self.predict(self._categories(X), output_margin=True))

    def _categories(self, X: pd.DataFrame) -> pd.DataFrame:
        plain = [f"x{j}" for j in range(X.shape[1])]  # it refuses names with a bracket
        return X.astype(self.types_).set_axis(plain, axis=1)


def ours() -> Any:
    """Make an EBM; imported here so that other methods run without the package."""
    from auctor import SmoothAUCBoostCV

    return SmoothAUCBoostCV(n_jobs=2)


METHODS: dict[str, Callable[[], Any]] = {
    OURS: ours,
    "logistic": lambda: prepared(LogisticRegression(max_iter=2000)),
    "LightGBM": lightgbm,
    "XGBoost": lambda: XGBoost(enable_categorical=True, n_jobs=2),
    "EBM": lambda: ExplainableBoostingClassifier(random_state=0, n_jobs=2),
    "EBM, no interactions": lambda: ExplainableBoostingClassifier(
        interactions=0, random_state=0, n_jobs=2
    ),
}


def score(model: Any, X: pd.DataFrame) -> np.ndarray:
    """Return the score by which the model ranks, log odds if there are any."""
    # LightGBM's wrapper makes categories of text columns in predict_proba alone.
    if hasattr(model, "decision_function") and not isinstance(model, LGBMClassifier):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X)[:, 1])


def cross_validate(method: str, X: pd.DataFrame, y: np.ndarray) -> dict[str, list[float]]:
    """Return AUC and seconds of the fit for every fold."""
    values: dict[str, list[float]] = {"auc": [], "seconds": []}
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        model = METHODS[method]()
        start = time.perf_counter()
        model.fit(X.iloc[train], y[train])
        values["seconds"].append(time.perf_counter() - start)
        values["auc"].append(float(auc(y[test], score(model, X.iloc[test]))))
    return values


def run(tables: list[str], methods: list[str], path: Path | None, again: bool) -> Kept:
    """Run the cases without stored results, or all of them again."""
    kept = read_kept(path)
    for table, X, y in each_table(tables):
        X = X.astype(dict.fromkeys(NAMES.get(table, []), str))
        for method in methods:
            if again or method not in kept.get(table, {}):
                result = cross_validate(method, X, y)
                keep(path, kept, table, method, result)
                note = (
                    f"{table}, {method}: {mean(result['auc']):.4f}, {sum(result['seconds']):.1f} s"
                )
                print(note, file=sys.stderr, flush=True)
    return kept


def print_tables(kept: Kept, methods: list[str]) -> None:
    """Mean AUC and its standard deviation over folds, the best in bold."""
    print_head(methods)
    for table, by_method in kept.items():
        means = {m: mean(by_method[m]["auc"]) for m in methods if m in by_method}
        best = max(means.values())
        cells = {m: f"{means[m]:.4f} ± {stdev(by_method[m]['auc']):.4f}" for m in means}
        cells = {m: f"**{c}**" if means[m] == best else c for m, c in cells.items()}
        print_row([table, *(cells.get(m, "–") for m in methods)])


def print_summary(kept: Kept, methods: list[str]) -> None:
    """Print mean AUC, mean rank and median seconds over the tables on which all were run."""
    full = [by_method for by_method in kept.values() if all(m in by_method for m in methods)]
    if not full:
        print("\nno table has been run by all of these methods")
        return
    means = np.array([[mean(by_method[m]["auc"]) for m in methods] for by_method in full])
    ranks = rankdata(-means, axis=1).mean(axis=0)
    seconds = [median(s for by_method in full for s in by_method[m]["seconds"]) for m in methods]
    print(f"\nOver the {len(full)} tables on which every method was run:\n")
    print("| method | mean AUC | mean rank | median seconds of a fit |\n|---|---|---|---|")
    for method, area, rank, second in zip(methods, means.mean(axis=0), ranks, seconds, strict=True):
        print_row([method, f"{area:.4f}", f"{rank:.2f}", f"{second:.2f}"])


def print_duels(kept: Kept, peers: list[str]) -> None:
    """Print the differences from each method over the tables on which both were run."""
    print(f"\nDifferences ({OURS} - other method) of the mean AUC over tables:\n")
    print(
        "| peer | won | lost | mean difference (95 % t interval over tables) |\n|---|---|---|---|"
    )
    for peer in peers:
        both = [by_method for by_method in kept.values() if OURS in by_method and peer in by_method]
        differences = [
            mean(by_method[OURS]["auc"]) - mean(by_method[peer]["auc"]) for by_method in both
        ]
        if differences:
            won, lost = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
            print_row([peer, str(won), str(lost), signed(interval(differences))])


def print_folds(kept: Kept, peers: list[str]) -> None:
    """Print the differences from each method over the folds of each table."""
    print(f"\n{OURS} less a peer, over the folds of a table (95 % corrected resampled t):\n")
    print_head(peers)
    for table, by_method in kept.items():
        cells = [table]
        for peer in peers if OURS in by_method else []:
            pairs = zip(
                by_method[OURS]["auc"], by_method.get(peer, {}).get("auc", []), strict=False
            )
            differences = [a - b for a, b in pairs]
            # There are N_FOLDS - 1 training rows for each test row.
            cells.append(signed(interval(differences, 1 / (N_FOLDS - 1))) if differences else "–")
        if len(cells) > 1:
            print_row(cells)


def report(kept: Kept) -> None:
    """Print all tables for the methods that were run."""
    methods = [m for m in METHODS if any(m in by_method for by_method in kept.values())]
    print_tables(kept, methods)
    print_summary(kept, methods)
    if OURS in methods:
        print_duels(kept, methods[1:])
        print_folds(kept, methods[1:])


def arguments(option: str, names: Sequence[str], methods: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser of the options."""
    parser = argparse.ArgumentParser()
    parser.add_argument(f"--{option}", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument(
        "--methods", nargs="+", choices=methods, default=methods, help="which to run"
    )
    parser.add_argument(
        "--keep", type=Path, metavar="FILE", help="JSON file in which results are stored"
    )
    parser.add_argument("--again", action="store_true", help="also repeat runs with stored results")
    parser.add_argument(
        "--report", action="store_true", help="run nothing, report the stored results"
    )
    return parser


def main() -> int:
    options = arguments("tables", TABLES, list(METHODS)).parse_args()
    if options.report:
        kept = read_kept(options.keep)
    else:
        kept = run(options.tables, options.methods, options.keep, options.again)
    report({table: kept[table] for table in options.tables if table in kept})
    return 0


if __name__ == "__main__":
    sys.exit(main())
