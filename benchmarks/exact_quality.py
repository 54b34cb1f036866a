"""Tables 2, 3 and 4 of the ExactBoost paper (Csillag et al. 2021), every method at its defaults.

Table 2 compares optimisers of a metric on the data, Tables 3 (AUC) and 4 (KS) as ensemblers of six
base models. Figures are test losses over 5 folds, the same for all methods, the paper's beside
them in brackets. The tables of data are CSV files with a 0/1 column ``target``, in the folder that
AUCTOR_DATA names. What ``--keep FILE`` has kept is not run again; the predictions of the base
models are kept in the folder FILE.base.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from smooth_quality import N_FOLDS, arguments, interval, keep, print_row, read_kept, signed
from xgboost import XGBClassifier

from auctor import DMKS, ExactBoost, RankBoost
from auctor.metrics import auc, ks, precision_at_k

Make = Callable[[int], Any]  # from a number of threads to a model
TABLES = ["a1a", "german", "gmsc", "heart", "ionosphere", "liver"]
OURS = "ExactBoost"
SHARE = 0.1  # k of the precision at k, of the test rows
MOST_ROWS = 20_000  # of a table in an ensemble, unless --whole is given

LOSSES: dict[str, Callable[[Any, Any], float]] = {
    "AUC": lambda y, s: 1.0 - auc(y, s),
    "KS": lambda y, s: 1.0 - ks(y, s),
    "P@k": lambda y, s: 1.0 - precision_at_k(y, s, SHARE),
}


class Fold(NamedTuple):
    """Training and test rows of one fold."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def filled(model: Any) -> Any:
    """A model that cannot take missing values, behind the median of each column."""
    return make_pipeline(SimpleImputer(strategy="median"), model)


def scaled(model: Any) -> Any:
    """A model that minds the scale of its columns, or would not converge."""
    return make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), model)


def logistic(_: int) -> Any:
    return scaled(LogisticRegression(max_iter=2000))


def rankboost(n_jobs: int) -> Any:
    return RankBoost(n_jobs=n_jobs)


def xgboost(n_jobs: int) -> Any:
    return XGBClassifier(n_jobs=n_jobs)


BASES: dict[str, Make] = {
    "AdaBoost": lambda _: filled(AdaBoostClassifier(random_state=0)),
    "neighbours": lambda _: filled(KNeighborsClassifier()),
    "logistic": logistic,
    "neural net": lambda _: scaled(MLPClassifier((100,) * 4, random_state=0)),
    "forest": lambda n_jobs: RandomForestClassifier(random_state=0, n_jobs=n_jobs),
    "XGBoost": xgboost,
}
SURROGATES: dict[str, Make] = {
    "AdaBoost": lambda _: AdaBoostClassifier(random_state=0),
    "logistic": logistic,
    "XGBoost": xgboost,
}
FOR_AUC: dict[str, Make] = {
    OURS: lambda n_jobs: ExactBoost("auc", n_jobs=n_jobs),
    "RankBoost": rankboost,
}
FOR_KS: dict[str, Make] = {
    OURS: lambda n_jobs: ExactBoost("ks", n_jobs=n_jobs),
    "DMKS": lambda _: DMKS(),
}
FOR_TOP: dict[str, Make] = {
    OURS: lambda n_jobs: ExactBoost("precision_at_k", k=SHARE, n_jobs=n_jobs),
    "logistic": logistic,
    "RankBoost": rankboost,
}
# Table of the paper, then metric, then methods.
STUDIES: dict[str, dict[str, dict[str, Make]]] = {
    "table2": {"AUC": FOR_AUC, "KS": FOR_KS, "P@k": FOR_TOP},
    "table3": {"AUC": FOR_AUC | SURROGATES},
    "table4": {"KS": FOR_KS | SURROGATES},
}
# The paper's losses, in the order of TABLES.
PAPER: dict[tuple[str, str], dict[str, list[float]]] = {
    ("table2", "AUC"): {
        OURS: [0.11, 0.23, 0.21, 0.09, 0.04, 0.22],
        "RankBoost": [0.13, 0.24, 0.07, 0.13, 0.04, 0.32],
    },
    ("table2", "KS"): {
        OURS: [0.37, 0.53, 0.44, 0.30, 0.13, 0.45],
        "DMKS": [0.37, 0.55, 0.45, 0.28, 0.28, 0.50],
    },
    ("table3", "AUC"): {
        OURS: [0.13, 0.23, 0.15, 0.12, 0.04, 0.30],
        "AdaBoost": [0.17, 0.32, 0.14, 0.18, 0.05, 0.34],
        "logistic": [0.14, 0.24, 0.31, 0.12, 0.07, 0.34],
        "XGBoost": [0.28, 0.35, 0.41, 0.23, 0.09, 0.38],
        "RankBoost": [0.16, 0.30, 0.15, 0.15, 0.05, 0.38],
    },
    ("table4", "KS"): {
        OURS: [0.37, 0.50, 0.43, 0.34, 0.13, 0.53],
        "AdaBoost": [0.44, 0.68, 0.44, 0.38, 0.18, 0.60],
        "logistic": [0.40, 0.53, 0.73, 0.37, 0.18, 0.59],
        "XGBoost": [0.57, 0.69, 0.83, 0.46, 0.19, 0.76],
        "DMKS": [0.49, 0.53, 0.46, 0.40, 0.27, 0.60],
    },
}


def read_whole(name: str) -> tuple[np.ndarray, np.ndarray] | None:
    """All rows of a table of numbers in random order; None where the file is not there."""
    files = sorted(Path(os.environ.get("AUCTOR_DATA", "")).glob(f"{name}.csv*"))
    if not files:
        return None
    frame = pd.read_csv(files[0]).sample(frac=1, random_state=0)
    y = frame.pop("target").to_numpy()
    return frame.to_numpy(dtype=np.float64), y


def folds_of(X: np.ndarray, y: np.ndarray) -> list[Fold]:
    """The folds that every method is given."""
    splits = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0).split(X, y)
    return [Fold(X[train], y[train], X[test], y[test]) for train, test in splits]


def score(model: Any, X: np.ndarray) -> np.ndarray:
    """The score that the model ranks by; log odds where there are any, as they do not saturate."""
    if isinstance(model, XGBClassifier):
        return np.asarray(model.predict(X, output_margin=True))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X)[:, 1])


def stacked(fold: Fold, n_jobs: int) -> Fold:
    """The base models' predictions in the place of the columns, as StackingClassifier makes them.

    Those of the training rows are out of fold; those of the test rows come from models of all
    training rows. Done here once, for every ensembler is given the same.
    """
    train, test = [], []
    for make in BASES.values():
        inner = cross_val_predict(make(n_jobs), fold.X, fold.y, cv=5, method="predict_proba")
        train.append(inner[:, 1])
        test.append(make(n_jobs).fit(fold.X, fold.y).predict_proba(fold.X_test)[:, 1])
    return Fold(np.column_stack(train), fold.y, np.column_stack(test), fold.y_test)


def kept_stacked(fold: Fold, n_jobs: int, path: Path | None) -> Fold:
    """``stacked`` from the file, or made and put there."""
    if path is not None and path.exists():
        with np.load(path) as arrays:
            return Fold(*(arrays[name] for name in Fold._fields))
    start = time.perf_counter()
    made = stacked(fold, n_jobs)
    if path is not None:
        path.parent.mkdir(exist_ok=True)
        aside = path.with_name(f"{os.getpid()}-{path.name}")
        np.savez(aside, **made._asdict())
        aside.replace(path)
        note = f"{path.stem}: base models, {time.perf_counter() - start:.1f} s"
        print(note, file=sys.stderr, flush=True)
    return made


def warm_up() -> None:
    """Compile what is going to be timed."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.arange(60) % 2
    for metric in ("auc", "ks", "precision_at_k"):
        ExactBoost(metric, n_runs=1, n_estimators=2).fit(X, y)
    RankBoost(2).fit(X, y)
    DMKS(max_iter=1).fit(X, y)


class Bench:
    """One table of the paper: what to run, where it is kept, how it is reported."""

    def __init__(self, study: str, options: Any) -> None:
        self.study, self.options = study, options
        self.kept = read_kept(options.keep)

    def place(self, metric: str, table: str) -> str:
        """Under which name results are kept."""
        return f"{self.study}, {metric}, {self.label(table)}"

    def label(self, table: str) -> str:
        """The table, with its number of rows where that was cut."""
        if table == "gmsc" and self.study != "table2" and not self.options.whole:
            return f"gmsc ({MOST_ROWS} rows)"
        return table

    def run(self) -> None:
        """Run what is not kept yet, or all of it again."""
        for table in self.options.tables:
            wanted = list(self.wanted(table))
            folds = self.folds(table) if wanted else []
            for metric, method in wanted if folds else []:
                found = self.losses(metric, method, folds)
                keep(self.options.keep, self.kept, self.place(metric, table), method, found)
                note = f"{mean(found['loss']):.4f}, {sum(found['seconds']):.1f} s"
                print(f"{self.place(metric, table)}, {method}: {note}", file=sys.stderr, flush=True)

    def wanted(self, table: str) -> Iterator[tuple[str, str]]:
        """Metrics and methods that are asked for and not kept."""
        for metric, methods in STUDIES[self.study].items():
            done = self.kept.get(self.place(metric, table), {})
            for method in methods:
                if method in self.options.methods and (self.options.again or method not in done):
                    yield metric, method

    def folds(self, table: str) -> list[Fold]:
        """The folds of a table, with base predictions for columns where the study wants them."""
        read = read_whole(table)
        if read is None:
            print(f"{table} is not in AUCTOR_DATA", file=sys.stderr)
            return []
        X, y = read
        if self.study == "table2":
            return folds_of(X, y)
        if len(y) > MOST_ROWS and not self.options.whole:
            X, _, y, _ = train_test_split(X, y, train_size=MOST_ROWS, stratify=y, random_state=0)
        return [
            kept_stacked(fold, self.options.n_jobs, self.base_file(table, number))
            for number, fold in enumerate(folds_of(X, y))
        ]

    def base_file(self, table: str, number: int) -> Path | None:
        """Where the base predictions of a fold are kept."""
        if self.options.keep is None:
            return None
        folder = self.options.keep.with_name(f"{self.options.keep.name}.base")
        return folder / f"{self.label(table)}, fold {number}.npz"

    def losses(self, metric: str, method: str, folds: list[Fold]) -> dict[str, list[float]]:
        """Test loss and seconds of the fit on every fold."""
        found: dict[str, list[float]] = {"loss": [], "seconds": []}
        for fold in folds:
            model = STUDIES[self.study][metric][method](self.options.n_jobs)
            start = time.perf_counter()
            model.fit(fold.X, fold.y)
            found["seconds"].append(time.perf_counter() - start)
            loss = LOSSES[metric](fold.y_test, score(model, fold.X_test))
            found["loss"].append(float(loss))
        return found

    def report(self) -> None:
        """A table of losses, one of differences and one of seconds for each metric."""
        for metric, methods in STUDIES[self.study].items():
            names = [m for m in methods if m in self.options.methods]
            print(f"\n{self.study}, {metric}: test loss, mean ± sd over folds (the paper's)\n")
            self.print_cells(metric, names, self.loss_cell)
            peers = [m for m in names if m != OURS]
            if OURS in names and peers:
                print(f"\nLoss of a peer less that of {OURS} (95 % corrected resampled t):\n")
                self.print_cells(metric, peers, self.difference_cell)
            print("\nSeconds of a fit, mean over folds:\n")
            self.print_cells(metric, names, self.seconds_cell)

    def print_cells(
        self, metric: str, names: list[str], cell: Callable[[str, str, str], str]
    ) -> None:
        """A table in Markdown, with a row for each table of data that was run."""
        print_row(["table", *names])
        print("|---" * (len(names) + 1) + "|")
        for table in self.options.tables:
            if self.place(metric, table) in self.kept:
                print_row([self.label(table), *(cell(metric, table, name) for name in names)])

    def figures(self, metric: str, table: str, method: str, key: str = "loss") -> list[float]:
        """What is kept; nothing where it was not run."""
        return self.kept[self.place(metric, table)].get(method, {}).get(key, [])

    def loss_cell(self, metric: str, table: str, method: str) -> str:
        losses = self.figures(metric, table, method)
        published = PAPER.get((self.study, metric), {}).get(method)
        theirs = f" ({published[TABLES.index(table)]:.2f})" if published else ""
        return (f"{mean(losses):.3f} ± {stdev(losses):.3f}" if losses else "–") + theirs

    def difference_cell(self, metric: str, table: str, method: str) -> str:
        pairs = zip(
            self.figures(metric, table, method), self.figures(metric, table, OURS), strict=False
        )
        differences = [theirs - ours for theirs, ours in pairs]
        # Test rows over training rows are 1 to N_FOLDS - 1.
        return signed(interval(differences, 1 / (N_FOLDS - 1))) if differences else "–"

    def seconds_cell(self, metric: str, table: str, method: str) -> str:
        seconds = self.figures(metric, table, method, "seconds")
        return f"{mean(seconds):.2f}" if seconds else "–"


def main() -> int:
    methods = list(FOR_TOP | FOR_KS | SURROGATES)
    parser = arguments("tables", TABLES, methods)
    parser.add_argument("study", nargs="?", choices=STUDIES, help="all of them unless given")
    parser.add_argument("--n-jobs", type=int, default=2)
    parser.add_argument("--whole", action="store_true", help="all rows also in Tables 3 and 4")
    options = parser.parse_args()
    if not options.report and not os.environ.get("AUCTOR_DATA"):
        sys.exit("set AUCTOR_DATA to a folder of CSV tables with a 0/1 column 'target'")
    warnings.simplefilter("ignore")  # the peers' advice on convergence: they run at defaults
    benches = [Bench(study, options) for study in STUDIES if options.study in (study, None)]
    if not options.report:
        warm_up()
        for bench in benches:
            bench.run()
    for bench in benches:
        bench.report()
    return 0


if __name__ == "__main__":
    sys.exit(main())
