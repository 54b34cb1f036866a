"""The effect of weights and copies of rows on a fit: AUC on unseen rows of real tables.

Equal weights, and a table with every row three times, contain no information about which ranking is
best: the AUC should be that of the plain fit. Random log-normal weights, like survey weights, leave
fewer effective rows and may lower the AUC a little.

The tables are CSV files with a 0/1 column ``target`` in the folder AUCTOR_DATA. Run as
``python benchmarks/weights.py [n_samples] [table ...]``.
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from auctor import SmoothAUCBoostCV, TreeRank, TreeRankForest
from auctor.metrics import auc

TABLES = ("taiwan", "gmsc", "adult")
N_TRAIN, N_TEST = 3_000, 20_000
LEARNERS = {
    "SmoothAUCBoostCV": lambda: SmoothAUCBoostCV(),
    "TreeRank, pruned": lambda: TreeRank(pruning="cv"),
    "TreeRankForest": lambda: TreeRankForest(n_estimators=50, random_state=0),
}


def samples(n_rows: int, rng: np.random.Generator) -> dict[str, tuple[Any, Any]]:
    """Return training rows and weights for each kind of sample."""
    rows, uneven = np.arange(n_rows), rng.lognormal(sigma=1.0, size=n_rows)
    return {
        "plain": (rows, None),
        "all weights 3": (rows, np.full(n_rows, 3.0)),
        "all weights 10": (rows, np.full(n_rows, 10.0)),
        "log-normal weights": (rows, uneven),
        "log-normal weights times 1000": (rows, 1000.0 * uneven),
        "each row three times": (np.repeat(rows, 3), None),
    }


def read(name: str) -> tuple[pd.DataFrame, npt.NDArray[np.int64]]:
    """Read features and labels of a table; text columns become categories."""
    folder = Path(os.environ["AUCTOR_DATA"])
    paths = (folder / f"{name}.csv", folder / f"{name}.csv.gz")
    table = pd.read_csv(next(path for path in paths if path.exists()))
    return table.drop(columns="target"), table["target"].to_numpy()


def measure(name: str, learner: str, seed: int) -> dict[str, tuple[float, float]]:
    """Return the AUC on unseen and on training rows for each kind of sample."""
    X, y = read(name)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train, test = order[:N_TRAIN], order[N_TRAIN : N_TRAIN + N_TEST]
    out = {}
    for kind, (rows, weights) in samples(N_TRAIN, rng).items():
        own = train[rows]
        model = LEARNERS[learner]().fit(X.iloc[own], y[own], sample_weight=weights)
        scores = model.decision_function(X.iloc[test])
        out[kind] = auc(y[test], scores), model.score(X.iloc[train], y[train])
    return out


def main(arguments: list[str]) -> int:
    """Print a row of Markdown for each table, learner and kind of sample."""
    n_samples = int(arguments[0]) if arguments else 3
    tables = arguments[1:] or TABLES
    print("| table | learner | rows | AUC, unseen rows | AUC, training rows |")
    print("|---|---|---|---|---|")
    for name in tables:
        for learner in LEARNERS:
            results = [measure(name, learner, seed) for seed in range(n_samples)]
            for kind in results[0]:
                unseen, seen = np.mean([each[kind] for each in results], axis=0)
                print(f"| {name} | {learner} | {kind} | {unseen:.4f} | {seen:.4f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
