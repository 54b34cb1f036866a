"""Cross-validated AUC of SmoothTreeBoost, RankEnsemble and other methods, all at their defaults.

The tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA, cut to 15,000 rows.
All methods have the same folds: 5, or 3 where a table has more than 5,000 rows. Seconds are those
of the processor, because the machine may be shared. Every finished run (a table and a method) is
stored in ``--keep FILE`` at once and not repeated, so a stopped benchmark can be continued, and
methods can be run one at a time or side by side; ``--report`` prints what is stored, and
``python benchmarks/pages.py`` writes it into the page.
"""

import argparse
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from catboost import CatBoostClassifier
from interpret.glassbox import ExplainableBoostingClassifier
from kept import Kept, keep, read_kept
from quality import each_table
from result_tables import differences, quality_table
from sklearn.model_selection import StratifiedKFold
from smooth_quality import METHODS as OTHERS
from smooth_quality import NAMES, score

from auctor import SmoothTreeBoost
from auctor.metrics import auc, partial_auc, precision_at_k

# No table twice: german is german_uci without names, a1a is a part of adult.
# fmt: off
TABLES = [
    "heart_cleveland", "australian", "german_uci", "diabetes", "liver", "ionosphere", "sonar",
    "splice", "svmguide1", "banknote", "hypothyroid", "sick-euthyroid", "spambase", "kr-vs-kp",
    "w1a", "mammography", "phoneme", "higgs-lightgbm", "taiwan", "adult", "gmsc", "nycflights13",
    "cover-anomaly",
]
# fmt: on
MOST_ROWS, FEW_ROWS = 15_000, 5_000
FPR = 0.05


class CatBoost(CatBoostClassifier):
    """CatBoost with text columns as categories, which it takes without missing values."""

    def fit(self, X: pd.DataFrame, y: np.ndarray) -> Any:
        texts = list(X.select_dtypes(exclude="number"))
        return super().fit(self._texts(X), y, cat_features=texts)

    def decision_function(self, X: pd.DataFrame) -> np.ndarray:
        """Return the log odds."""
        return np.asarray(self.predict(self._texts(X), prediction_type="RawFormulaVal"))

    @staticmethod
    def _texts(X: pd.DataFrame) -> pd.DataFrame:
        texts = list(X.select_dtypes(exclude="number"))
        return X.assign(**{name: X[name].fillna("missing").astype(str) for name in texts})


def ensemble() -> Any:
    """Make the ensemble; imported here so that other methods run without it."""
    from auctor import RankEnsemble

    return RankEnsemble(n_jobs=2)


METHODS: dict[str, Callable[[], Any]] = {
    "SmoothTreeBoost": lambda: SmoothTreeBoost(n_jobs=2),
    "trees alone": lambda: SmoothTreeBoost(init=None, n_jobs=2),
    "RankEnsemble": ensemble,
    "CatBoost": lambda: CatBoost(
        verbose=0, random_seed=0, thread_count=2, allow_writing_files=False
    ),
    **{name: make for name, make in OTHERS.items() if name != "EBM, no interactions"},
    # One job, since the processor time of its worker processes would not be counted.
    "EBM": lambda: ExplainableBoostingClassifier(random_state=0, n_jobs=1),
}


def cpu_seconds() -> float:
    """Processor time of this process and of the processes that it has waited for."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def cross_validate(method: str, X: pd.DataFrame, y: np.ndarray) -> dict[str, list[float]]:
    """Return AUC, partial AUC, precision in the top 1 % and seconds for every fold."""
    names = ("auc", "partial", "top", "seconds")
    results: dict[str, list[float]] = {name: [] for name in names}
    folds = StratifiedKFold(5 if len(y) <= FEW_ROWS else 3, shuffle=True, random_state=0)
    for train, test in folds.split(X, y):
        model = METHODS[method]()
        start = cpu_seconds()
        model.fit(X.iloc[train], y[train])
        results["seconds"].append(cpu_seconds() - start)
        scores = score(model, X.iloc[test])
        results["auc"].append(float(auc(y[test], scores)))
        results["partial"].append(float(partial_auc(y[test], scores, fpr_range=(0, FPR))) / FPR)
        results["top"].append(float(precision_at_k(y[test], scores, k=0.01)))
    return results


def run(tables: list[str], methods: list[str], path: Path | None, again: bool) -> Kept:
    """Run the cases without stored results, or all of them again."""
    kept = read_kept(path)
    for table, X, y in each_table(tables):
        X = X.iloc[:MOST_ROWS].astype(dict.fromkeys(NAMES.get(table, []), str))
        for method in methods:
            kept |= read_kept(path)  # another run may have added results
            if again or method not in kept.get(table, {}):
                results = cross_validate(method, X, y[:MOST_ROWS])
                keep(path, kept, table, method, results)
                note = f"{mean(results['auc']):.4f}, {sum(results['seconds']):.1f} s"
                print(f"{table}, {method}: {note}", file=sys.stderr, flush=True)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--keep", type=Path, help="file of stored results")
    parser.add_argument("--again", action="store_true", help="repeat runs that are stored")
    parser.add_argument("--report", action="store_true", help="run nothing, print stored results")
    options = parser.parse_args()
    if options.report:
        kept = read_kept(options.keep)
    else:
        kept = run(options.tables, options.methods, options.keep, options.again)
    kept = {table: kept[table] for table in options.tables if table in kept}
    lines = [*quality_table(kept, options.methods), ""]
    for ours in ("SmoothTreeBoost", "RankEnsemble"):
        if ours in options.methods:
            lines += differences(kept, ours, [m for m in options.methods if m != ours])
    print("\n".join(lines))


if __name__ == "__main__":
    main()
