"""5-fold AUC by the order of a tree's leaves, and by the depth of a weak ranker.

The tables are those of quality.py, in the folder AUCTOR_DATA.
"""

import sys
from collections.abc import Callable
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from quality import each_table, print_head
from sklearn.model_selection import StratifiedKFold

from auctor import AUCBoost, TreeRank

# fmt: off
TABLES = [
    "heart_cleveland", "australian", "german_uci", "diabetes", "ionosphere", "sonar", "spambase",
    "kr-vs-kp", "hypothyroid", "phoneme", "mammography", "a1a", "svmguide1", "banknote",
    "higgs-lightgbm",
]
# fmt: on
INTERACTIONS = ["kr-vs-kp", "phoneme"]

Methods = dict[str, Callable[[], Any]]
ORDERS: Methods = {
    f"{order}, leaves of {least}": (
        lambda order=order, least=least: TreeRank(order=order, min_samples_leaf=least)
    )
    for least in (5, 25)
    for order in ("tree", "rate")
}
DEPTHS: Methods = {
    "stump": lambda: AUCBoost("stump", n_estimators=50),
    **{
        f"depth {d}": lambda d=d: AUCBoost("tree", n_estimators=50, max_depth=d)  # type: ignore[misc]
        for d in (1, 2, 3, 4)
    },
}


def print_row(methods: Methods, name: str, X: pd.DataFrame, y: np.ndarray) -> list[float]:
    """Print the mean AUC of every method as a row of the table."""
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    results = [
        mean(make().fit(X.iloc[a], y[a]).score(X.iloc[b], y[b]) for a, b in folds)
        for make in methods.values()
    ]
    print(f"| {name} | " + " | ".join(f"{area:.4f}" for area in results) + " |", flush=True)
    return results


def product() -> tuple[pd.DataFrame, np.ndarray]:
    """Draw rows whose class is the sign of a noisy product: no single feature is informative."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 4))
    y = X[:, 0] * X[:, 1] + rng.normal(size=4000) / 2 > 0
    return pd.DataFrame(X), y.astype(int)


def main() -> int:
    print_head(ORDERS)
    results = [print_row(ORDERS, *table) for table in each_table(TABLES)]
    print("| mean | " + " | ".join(f"{area:.4f}" for area in np.mean(results, axis=0)) + " |\n")
    print_head(DEPTHS)
    print_row(DEPTHS, "x0 x1", *product())
    for table in each_table(INTERACTIONS):
        print_row(DEPTHS, *table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
