"""How often `auctor` warns of nothing: codes of missing values, and rows unlike the training rows.

    python benchmarks/false_alarms.py [--tables 300] [--splits 10] [--seed 0]

Tables of unremarkable columns are simulated; a warning about any of them is a false alarm.

- Codes (``cli.missing``): in tables of twelve columns; in tables in which four columns end in a
  frequent -1 that continues their trend, as a floor does; and, where a warning is wanted, in tables
  with a -9 for missing values, at random or depending on the label.
- New rows (``models.new_rows``): the training rows and the new rows are of one population. With
  AUCTOR_DATA also random halves, fifths and four fifths of real tables (cut to 20,000 rows). New
  categories are left out: that they are new is a fact.
"""

import argparse
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from auctor import RankBoost
from auctor.cli.missing import sentinel_warning
from auctor.models import compare_rows, make_record

MOST_ROWS = 20_000
Column = Callable[[np.random.Generator, int], Any]

COLUMNS: list[Column] = [
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.normal(50, 15, size=n).round(),
    lambda rng, n: rng.exponential(size=n),
    lambda rng, n: rng.lognormal(8, 1, size=n).round(2),
    lambda rng, n: rng.poisson(rng.choice([0.3, 2.0, 8.0]), size=n),
    lambda rng, n: rng.geometric(0.4, size=n),
    lambda rng, n: rng.integers(1, 6, size=n),
    lambda rng, n: rng.integers(18, 90, size=n),
    lambda rng, n: rng.beta(2, 5, size=n).round(3),
    lambda rng, n: rng.standard_t(3, size=n),
    lambda rng, n: rng.gamma(2, 3, size=n).round(1),
    lambda rng, n: np.where(rng.random(n) < 0.6, 0, rng.lognormal(6, 1, size=n).round()),
]


def draw_label(score: Any, rng: np.random.Generator) -> Any:
    """Labels that rise with a score, with a rate of positives between 5 and 50 %."""
    ranks = np.argsort(np.argsort(score)) / len(score)
    noisy = ranks + rng.normal(0, rng.choice([0.2, 0.5, 2.0]), size=len(score))
    return noisy >= np.quantile(noisy, 1 - rng.uniform(0.05, 0.5))


def plain_table(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Twelve unremarkable columns (n, 12), and a label that depends on two of them."""
    X = np.column_stack([column(rng, n) for column in COLUMNS]).astype(float)
    first, second = rng.choice(12, 2, replace=False)
    score = np.argsort(np.argsort(X[:, first])) + np.argsort(np.argsort(X[:, second]))
    return X, draw_label(score, rng)


def with_floor(rng: np.random.Generator, n: int) -> tuple[Any, Any]:
    """Four columns end in a frequent -1, and the label depends on one of them."""
    X, _ = plain_table(rng, n)
    for j in (2, 4, 8, 10):
        X[:, j] = np.where(rng.random(n) < rng.uniform(0.02, 0.3), -1, X[:, j])
    return X, draw_label(X[:, rng.choice([2, 4, 8, 10])], rng)


def with_code(rng: np.random.Generator, n: int, depends: bool) -> tuple[Any, Any]:
    """A column of ages in which -9 stands for missing values."""
    X, y = plain_table(rng, n)
    rate = np.where(y, 0.2, 0.05) if depends else 0.1
    X[:, 7] = np.where(rng.random(n) < rate, -9, X[:, 7])
    return X, y


def warns_of_codes(X: Any, y: Any) -> bool:
    """Whether `auctor fit` warns of any column."""
    n_columns = X.shape[1]
    return any(sentinel_warning("x", X[:, j], y, n_columns) for j in range(n_columns))


def count_codes(name: str, make: Callable[[Any, int], tuple[Any, Any]], seeds: range) -> None:
    n_warned = 0
    for seed in seeds:
        rng = np.random.default_rng([1, seed])
        n_warned += warns_of_codes(*make(rng, int(rng.choice([200, 1000, 5000]))))
    print(f"codes, {name:<45} {n_warned:4} of {len(seeds)}", flush=True)


def unlike(train: Any, y: Any, new: Any) -> bool:
    """Whether new rows are reported, apart from new categories."""
    model = RankBoost(n_estimators=1).fit(train, y).model_
    object.__setattr__(model, "training", make_record(model, train, np.asarray(y)))
    return any(finding.kind != "unseen category" for finding in compare_rows(model, new))


def simulated(seed: int) -> bool:
    """Training and new rows of one simulated population, some of whose values are missing."""
    rng = np.random.default_rng([2, seed])
    n, n_new = (int(rng.choice([50, 200, 1000, 5000])) for _ in range(2))
    X, y = plain_table(rng, n + n_new)
    X[:, ::3] = np.where(rng.random((n + n_new, 4)) < rng.uniform(0, 0.2, 4), np.nan, X[:, ::3])
    y[:2] = True, False
    return unlike(X[:n], y[:n], X[n:])


def splits_of(path: Path, n_splits: int) -> Iterator[bool]:
    """Random parts of a real table."""
    frame = pd.read_csv(path, nrows=MOST_ROWS)
    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].astype("category")
    X, y = frame.drop(columns=frame.columns[-1]), frame.iloc[:, -1].to_numpy() == 1
    for seed in range(n_splits):
        for fraction in (0.2, 0.5, 0.8):
            chosen = np.random.default_rng([3, seed]).random(len(y)) < fraction
            if 0 < y[chosen].sum() < chosen.sum():
                yield unlike(X[chosen], y[chosen], X[~chosen])


def main() -> None:
    parser = argparse.ArgumentParser(description="Rates of false alarms.")
    parser.add_argument("--tables", type=int, default=300)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="another number draws other tables")
    args = parser.parse_args()
    first = args.seed * 1_000_000
    seeds = range(first, first + args.tables)
    count_codes("unremarkable columns", plain_table, seeds)
    count_codes("a floor of -1 that continues a trend", with_floor, seeds)
    for depends, words in ((False, "at random"), (True, "depending on the label")):
        count_codes(
            f"-9 for missing ages, {words} (wanted)",
            lambda rng, n, depends=depends: with_code(rng, n, depends),
            seeds,
        )
    n_warned = sum(map(simulated, range(first, first + 2 * args.tables)))
    print(f"new rows, {'simulated tables':<42} {n_warned:4} of {2 * args.tables}", flush=True)
    if folder := os.environ.get("AUCTOR_DATA"):
        for path in sorted(Path(folder).glob("*.csv*")):
            found = list(splits_of(path, args.splits))
            print(
                f"new rows, {path.name.partition('.')[0]:<42} {sum(found):4} of {len(found)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
