"""AUC and KS of RankEnsemble by combiner, beside its members: 3-fold, at most 2,000 rows.

The tables are those of quality.py, in the folder AUCTOR_DATA. The members are fitted once for each
fold; every combiner gets the same held-out scores.
"""

import sys
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from quality import each_table, print_head
from sklearn.model_selection import StratifiedKFold

from auctor import RankEnsemble
from auctor.data import read_table
from auctor.estimators.combiners import CombinerSettings, combine
from auctor.estimators.ensemble_model import held_out_rows
from auctor.estimators.fit_input import FitInput
from auctor.estimators.members import FoldMember
from auctor.learners.ensemble.held_out import HeldOut, Target
from auctor.metrics import auc, ks

TABLES = ["german_uci", "diabetes", "phoneme", "mammography", "sick-euthyroid", "taiwan"]
KS_TABLES = ["german_uci", "taiwan"]
MEMBERS = ["smooth", "mixture", "trees"]
COMBINERS = {
    "auc": ["weights", "equal", "margin"],
    "ks": ["weights", "equal", "exactboost", "dmks"],
}
MOST_ROWS = 2_000


class Scored(NamedTuple):
    """Held-out scores of the members, and their scores (rows, members) of new rows."""

    rows: HeldOut
    bagged: np.ndarray  # means over the models of the folds
    refitted: np.ndarray  # models of all training rows
    y: np.ndarray


def score_members(X: pd.DataFrame, y: np.ndarray, train: Any, test: Any) -> Scored:
    """Fit the default members to the training rows."""
    given = FitInput(read_table(X.iloc[train]), X.iloc[train], y[train])
    fitted = RankEnsemble(refit=True)._fit_members(given)

    def score(models: list[FoldMember]) -> np.ndarray:
        return np.mean([m.scale.apply(m(X.iloc[test])) for m in models], axis=0)

    bagged = np.column_stack([score(member.models) for member in fitted.members])
    refitted = np.column_stack([score(member.final) for member in fitted.members])
    return Scored(held_out_rows(fitted, len(train)), bagged, refitted, y[test])


def values(scored: Scored, metric: str, refit: bool) -> list[float]:
    """The metric on new rows, of the members and of the combiners."""
    measure = auc if metric == "auc" else ks
    members = scored.refitted if refit else scored.bagged
    columns = list(members.T)
    for combiner in COMBINERS[metric]:
        settings = CombinerSettings(combiner, Target(metric), False, 0, None)
        columns.append(combine(scored.rows, settings).scores(members))
    return [measure(scored.y, column) for column in columns]


def print_row(name: str, results: list[list[float]]) -> None:
    """Print the means over the folds as a row of a table."""
    means = np.mean(results, axis=0)
    print(f"| {name} | " + " | ".join(f"{value:.4f}" for value in means) + " |", flush=True)


def measure_table(X: pd.DataFrame, y: np.ndarray) -> list[Scored]:
    """The members on three folds of at most 2,000 rows."""
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
    X, y = X.iloc[chosen].reset_index(drop=True), y[chosen]
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    return [score_members(X, y, *fold) for fold in splitter.split(X, y)]


def print_table(metric: str, refit: bool, scored: dict[str, list[Scored]]) -> None:
    """Print one metric for all tables."""
    print(f"{metric.upper()}, {'refitted to all rows' if refit else 'means over the folds'}:\n")
    print_head([*MEMBERS, *COMBINERS[metric]])
    results = {
        name: [values(fold, metric, refit) for fold in folds] for name, folds in scored.items()
    }
    for name, folds in results.items():
        print_row(name, folds)
    print_row("mean", [fold for folds in results.values() for fold in folds])
    print()


def main() -> int:
    scored = {name: measure_table(X, y) for name, X, y in each_table(TABLES)}
    for metric, tables in (("auc", TABLES), ("ks", KS_TABLES)):
        for refit in (False, True):
            print_table(metric, refit, {name: scored[name] for name in tables if name in scored})
    return 0


if __name__ == "__main__":
    sys.exit(main())
