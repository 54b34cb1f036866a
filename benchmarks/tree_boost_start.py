"""Trees beside the smooth model, or trees that start from its scores: which ranks new rows better?

Three ways to use both are compared on the tables of the folder AUCTOR_DATA, cut to 2,000 rows, with
the same 3 folds: a mixture of the two (``SmoothTreeBoost``), trees that start from the scores of
the fitted smooth model (``init=model``, the number of trees chosen afterwards on the test rows, in
its favour), and the smooth model or trees alone.
"""

import argparse
from statistics import mean
from typing import Any

import numpy as np
from kept import print_row
from quality import each_table
from sklearn.model_selection import StratifiedKFold

from auctor import SmoothAUCBoost, SmoothTreeBoost
from auctor.metrics import auc

# fmt: off
TABLES = [
    "heart_cleveland", "german_uci", "diabetes", "sonar", "splice", "hypothyroid", "spambase",
    "mammography", "phoneme", "higgs-lightgbm", "taiwan", "adult", "gmsc",
]
# fmt: on
MOST_ROWS, COUNTS = 2_000, (10, 30, 100, 300)


def compare(X: Any, y: np.ndarray) -> list[float]:
    """The mean AUC over folds of each way."""
    results = []
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        rows, new = (X.iloc[train], y[train]), (X.iloc[test], y[test])
        smooth = SmoothAUCBoost().fit(*rows)
        from_smooth = [
            SmoothTreeBoost(n, init=smooth, early_stopping=False).fit(*rows).score(*new)
            for n in COUNTS
        ]
        mixed = SmoothTreeBoost().fit(*rows).decision_function(new[0])
        alone = SmoothTreeBoost(init=None).fit(*rows).score(*new)
        areas = [auc(new[1], mixed), max(from_smooth), smooth.score(*new), alone]
        results.append([float(area) for area in areas])
    return [mean(column) for column in zip(*results, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    options = parser.parse_args()
    print_row(["table", "mixture", "trees from the smooth scores", "smooth alone", "trees alone"])
    print_row(["---"] * 5)
    every = []
    for table, X, y in each_table(options.tables):
        every.append(compare(X.iloc[:MOST_ROWS], y[:MOST_ROWS]))
        print_row([table, *(f"{area:.4f}" for area in every[-1])])
    print_row(["mean", *(f"{mean(column):.4f}" for column in zip(*every, strict=True))])


if __name__ == "__main__":
    main()
