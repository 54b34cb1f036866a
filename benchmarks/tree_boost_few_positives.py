"""Which loss should trees have where there are few positives: pairs, log loss, or both?

Few positives, beside as many negatives or 1,500, are drawn from each of several larger tables of
the folder AUCTOR_DATA, the model is fitted to them, and its AUC is that of the remaining rows (at
most 10,000). "both" adds the slopes and the curvatures of the two losses with equal weight, on the
scale on which they are equal before the first tree. Trees alone and trees beside the smooth model
are compared. Every finished run is stored in ``--keep FILE`` at once and not repeated.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import pandas as pd
from kept import Kept, interval, keep, print_row, read_kept, signed
from quality import each_table
from tree_boost_quality import METHODS as OTHERS
from tree_boost_quality import score

from auctor import SmoothTreeBoost
from auctor.learners.tree_boost import pair_slopes
from auctor.metrics import auc

# fmt: off
TABLES = [
    "adult", "spambase", "taiwan", "phoneme", "gmsc", "nycflights13", "higgs-lightgbm",
    "cover-anomaly",
]
# fmt: on
COUNTS = (50, 100, 200)  # positives
MANY = 1_500  # negatives, if they are not as many as positives
N_DRAWS, MOST_TEST = 3, 10_000


@contextmanager
def part_log_loss(part: float) -> Iterator[None]:
    """Let the log loss of single rows have a part in the loss over pairs."""
    plain = pair_slopes.PairSlopes.at

    def at(self: Any, scores: list[np.ndarray]) -> pair_slopes.Line:
        line = plain(self, scores)
        rows = np.array(self._data.effective_rows)
        # At a score of 0 for all rows, both losses then have the same slopes and curvatures.
        units = (1 / rows).mean() * rows
        single = self._log_loss(line.low, len(line.nodes[0]))
        pairs = zip(line.nodes, units, single, strict=True)
        nodes = [(1 - part) * own + part * unit * other for own, unit, other in pairs]
        fractions = self._spread(scores, *pair_slopes._ends(scores))
        totals = self._data.class_weights
        sums = [t * (f @ n) for t, f, n in zip(totals, fractions, nodes, strict=True)]
        return line._replace(nodes=(nodes[0], nodes[1]), sums=np.array(sums))

    pair_slopes.PairSlopes.at = at  # type: ignore[method-assign]
    try:
        yield
    finally:
        pair_slopes.PairSlopes.at = plain  # type: ignore[method-assign]


def maker(init: str | None, loss: str) -> Callable[[], Any]:
    """A function that makes the estimator."""
    return lambda: SmoothTreeBoost(init=init, loss=loss, n_jobs=2)


METHODS: dict[str, Callable[[], Any]] = {}
for _name, _init in (("trees", None), ("mixed", "smooth")):
    METHODS[f"{_name}, pairs"] = METHODS[f"{_name}, both"] = maker(_init, "logistic")
    METHODS[f"{_name}, log loss"] = maker(_init, "log")
METHODS["CatBoost"] = OTHERS["CatBoost"]


def draw(y: np.ndarray, n_pos: int, n_neg: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the rows to train on, and of the others."""
    order = np.random.default_rng(seed).permutation(len(y))
    positive, negative = order[y[order] == 1], order[y[order] == 0]
    train = np.sort(np.concatenate([positive[:n_pos], negative[:n_neg]]))
    rest = np.setdiff1d(order, train)
    return train, np.random.default_rng(seed).permutation(rest)[:MOST_TEST]


def measure(method: str, X: pd.DataFrame, y: np.ndarray, n_pos: int, n_neg: int) -> list[float]:
    """The AUC of the remaining rows for each draw."""
    results = []
    for seed in range(N_DRAWS):
        train, test = draw(y, n_pos, n_neg, seed)
        with part_log_loss(0.5) if method.endswith("both") else nullcontext():
            model = METHODS[method]().fit(X.iloc[train], y[train])
        results.append(float(auc(y[test], score(model, X.iloc[test]))))
    return results


def run(tables: list[str], methods: list[str], path: Path | None) -> Kept:
    """Run the cases without stored results."""
    kept: Kept = {}
    for table, X, y in each_table(tables):
        for n_pos in COUNTS:
            for n_neg in (n_pos, MANY):
                key = f"{table}, {n_pos} + {n_neg}"
                for method in methods:
                    kept |= read_kept(path)
                    if method not in kept.get(key, {}):
                        results = measure(method, X, y, n_pos, n_neg)
                        keep(path, kept, key, method, {"auc": results})
                        print(f"{key}, {method}: {mean(results):.4f}", file=sys.stderr, flush=True)
    return kept


def print_tables(kept: Kept, tables: list[str], methods: list[str]) -> None:
    """Mean AUC over tables and draws by number of rows, and differences to the loss over pairs."""
    print_row(["positives + negatives", "tables", *methods])
    print_row(["---"] * (len(methods) + 2))
    for n_pos in COUNTS:
        for n_neg in (n_pos, MANY):
            cells = [kept.get(f"{table}, {n_pos} + {n_neg}", {}) for table in tables]
            full = [c for c in cells if all(m in c for m in methods)]
            if full:
                means = [mean(mean(c[m]["auc"]) for c in full) for m in methods]
                counts = [f"{n_pos} + {n_neg}", str(len(full))]
                print_row([*counts, *(f"{x:.4f}" for x in means)])
    print()
    for method in methods:
        pairs = f"{method.split(',')[0]}, pairs"
        if method != pairs and pairs in methods:
            for is_even, name in ((True, "as many negatives"), (False, f"{MANY} negatives")):
                gaps = _gaps(kept, tables, method, pairs, is_even)
                print(f"- {method} minus {pairs}, {name}: {signed(interval(gaps))}")


def print_by_table(kept: Kept, tables: list[str], methods: list[str]) -> None:
    """Differences to the loss over pairs by table, over all numbers of rows that were run."""
    others = [m for m in methods if m.split(",")[0] in ("trees", "mixed") and "pairs" not in m]
    print_row(["table", "AUC, pairs", *(f"{m} minus pairs" for m in others)])
    print_row(["---"] * (len(others) + 2))
    for table in tables:
        cells = [c for key, c in kept.items() if key.startswith(f"{table},")]
        full = [c for c in cells if all(m in c for m in methods)]
        if full:
            area = {m: mean(mean(c[m]["auc"]) for c in full) for m in methods}
            pairs = {m: area[f"{m.split(',')[0]}, pairs"] for m in others}
            gaps = [f"{area[m] - pairs[m]:+.4f}" for m in others]
            print_row([table, f"{area[methods[0]]:.4f}", *gaps])


def _gaps(kept: Kept, tables: list[str], one: str, other: str, is_even: bool) -> list[float]:
    """The mean difference of two methods for each table."""
    gaps = []
    for table in tables:
        keys = [f"{table}, {n} + {n if is_even else MANY}" for n in COUNTS]
        cells = [kept[key] for key in keys if one in kept.get(key, {}) and other in kept[key]]
        if cells:
            gaps.append(mean(mean(c[one]["auc"]) - mean(c[other]["auc"]) for c in cells))
    return gaps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--keep", type=Path, help="file of stored results")
    parser.add_argument("--report", action="store_true", help="run nothing, print stored results")
    options = parser.parse_args()
    if options.report:
        kept = read_kept(options.keep)
    else:
        kept = run(options.tables, options.methods, options.keep)
    print_tables(kept, options.tables, options.methods)
    print()
    print_by_table(kept, options.tables, options.methods)


if __name__ == "__main__":
    main()
