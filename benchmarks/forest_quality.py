"""Cross-validated AUC of forests and single trees on real tables, the same folds for each method.

The tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA.
"""

import sys
import time
from collections.abc import Callable
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from quality import TABLES, each_table, print_head
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from auctor import TreeRank, TreeRankForest
from auctor.metrics import auc

N_FOLDS, N_TREES = 5, 200


def random_forest() -> Any:
    """scikit-learn's forest with medians for missing values and one-hot encoded categories."""
    columns = make_column_transformer(
        (SimpleImputer(strategy="median"), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, RandomForestClassifier(N_TREES, random_state=0, n_jobs=2))


METHODS: dict[str, Callable[[], Any]] = {
    "TreeRankForest": lambda: TreeRankForest(N_TREES, n_jobs=2),
    "TreeRank, pruned": lambda: TreeRank(pruning="cv", n_jobs=2),
    "TreeRank": lambda: TreeRank(n_jobs=2),
    "RandomForest": random_forest,
}


def score(model: Any, X: pd.DataFrame) -> np.ndarray:
    """Return the score by which the model ranks."""
    if isinstance(model, (TreeRank, TreeRankForest)):
        return model.decision_function(X)
    return np.asarray(model.predict_proba(X)[:, 1])


def cross_validate(X: pd.DataFrame, y: np.ndarray) -> dict[str, tuple[float, float]]:
    """Return the mean AUC over the folds and the seconds of every method."""
    folds = list(StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y))
    results = {}
    for name, make in METHODS.items():
        start = time.perf_counter()
        aucs = [
            auc(y[test], score(make().fit(X.iloc[train], y[train]), X.iloc[test]))
            for train, test in folds
        ]
        results[name] = mean(aucs), time.perf_counter() - start
    return results


def main() -> int:
    print_head(METHODS)
    for name, X, y in each_table(sys.argv[1:] or TABLES):
        results = cross_validate(X, y)
        cells = [f"{area:.4f} ({seconds:.0f} s)" for area, seconds in results.values()]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
