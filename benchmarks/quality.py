"""Cross-validated AUC on real tables, the same folds for every method.

The tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import AdaBoostClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from auctor import RankBoost
from auctor.metrics import auc

# fmt: off
TABLES = [
    "heart_cleveland", "heart", "australian", "german_uci", "diabetes", "liver", "ionosphere",
    "sonar", "spambase", "kr-vs-kp", "hypothyroid", "sick-euthyroid", "phoneme", "mammography",
    "a1a", "svmguide1", "adult", "taiwan",
]
# fmt: on
MOST_ROWS = 20_000
N_FOLDS, N_REPEATS = 5, 2


def prepared(model: Any) -> Any:
    """Impute, scale and one-hot encode for a model that needs numbers."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore")
    columns = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (texts, make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(columns, model)


def lightgbm(**settings: Any) -> Any:
    """LightGBM with text columns as categories."""

    class Booster(lgb.LGBMClassifier):
        def fit(self, X: pd.DataFrame, y: np.ndarray) -> Any:
            return super().fit(self._categories(X), y)

        def predict_proba(self, X: pd.DataFrame) -> Any:
            return super().predict_proba(self._categories(X))

        @staticmethod
        def _categories(X: pd.DataFrame) -> pd.DataFrame:
            texts = X.select_dtypes(exclude="number").columns
            plain = [f"x{j}" for j in range(X.shape[1])]  # it refuses names with a bracket
            return X.astype(dict.fromkeys(texts, "category")).set_axis(plain, axis=1)

    return Booster(verbose=-1, n_jobs=2, **settings)


METHODS: dict[str, Callable[[], Any]] = {
    "RankBoost, rate 1": lambda: RankBoost(500, learning_rate=1.0),
    "RankBoost, rate 0.3": lambda: RankBoost(500, learning_rate=0.3),
    "RankBoost, rate 0.1": lambda: RankBoost(500, learning_rate=0.1),
    "RankBoost, early stop": lambda: RankBoost(
        5000, early_stopping=True, n_iter_no_change=50, random_state=0
    ),
    "AdaBoost stumps": lambda: prepared(AdaBoostClassifier(n_estimators=100)),
    "LightGBM stumps": lambda: lightgbm(n_estimators=500, num_leaves=2),
    "LightGBM": lambda: lightgbm(),
    "logistic": lambda: prepared(LogisticRegression(max_iter=2000)),
}


def read(
    folder: Path, name: str, most_rows: int = MOST_ROWS
) -> tuple[pd.DataFrame, np.ndarray] | None:
    """Read a table in random order, cut to ``most_rows``; None if there is no such file."""
    files = sorted(folder.glob(f"{name}.csv*"))
    if not files:
        return None
    frame = pd.read_csv(files[0]).sample(frac=1, random_state=0).iloc[:most_rows]
    y = frame.pop("target").to_numpy()
    return frame.reset_index(drop=True), y


def score(model: Any, X: pd.DataFrame) -> np.ndarray:
    """Return the score by which the model ranks."""
    if isinstance(model, RankBoost):
        return model.decision_function(X)
    return np.asarray(model.predict_proba(X)[:, 1])


def cross_validate(X: pd.DataFrame, y: np.ndarray) -> dict[str, list[float]]:
    """AUC of every method on every fold."""
    aucs: dict[str, list[float]] = {name: [] for name in METHODS}
    for repeat in range(N_REPEATS):
        folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for train, test in folds.split(X, y):
            for name, make in METHODS.items():
                model = make().fit(X.iloc[train], y[train])
                aucs[name].append(auc(y[test], score(model, X.iloc[test])))
    return aucs


def each_table(
    names: list[str], most_rows: int = MOST_ROWS
) -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """Yield the named tables of AUCTOR_DATA and report missing ones."""
    folder = Path(os.environ.get("AUCTOR_DATA", ""))
    if not os.environ.get("AUCTOR_DATA") or not folder.is_dir():
        sys.exit("set AUCTOR_DATA to a folder of CSV tables with a 0/1 column 'target'")
    warnings.simplefilter("ignore")  # deprecation warnings of other libraries
    for name in names:
        table = read(folder, name, most_rows)
        if table is None:
            print(f"| {name} | not in AUCTOR_DATA |")
        else:
            yield name, *table


def print_head(names: Iterable[str]) -> None:
    """Print the header of a table in Markdown."""
    print("| table | " + " | ".join(names) + " |")
    print("|---" * (len(list(names)) + 1) + "|")


def main() -> int:
    print_head(METHODS)
    for name, X, y in each_table(sys.argv[1:] or TABLES):
        aucs = cross_validate(X, y)
        best = max(mean(values) for values in aucs.values())
        cells = [f"{mean(v):.4f} ± {stdev(v):.4f}" for v in aucs.values()]
        cells = [
            f"**{c}**" if mean(v) == best else c for c, v in zip(cells, aucs.values(), strict=True)
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
