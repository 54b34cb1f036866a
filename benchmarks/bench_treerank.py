"""A TreeRank tree of depth 10 against a LightGBM tree of 1024 leaves, and time against n."""

import lightgbm as lgb
import numpy as np
from timing import Row, print_table, race, seconds

from auctor.data import prepare
from auctor.learners.trees.treerank import TreeRankSettings, fit_treerank

N_ROWS, N_FEATURES, DEPTH, LEAST = 1_000_000, 20, 10, 20


def make_table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features, of which the first three are informative."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n_rows) > 0
    return X, y.astype(np.int64)


def settings(n_jobs: int, split: str = "stump") -> TreeRankSettings:
    return TreeRankSettings(max_depth=DEPTH, min_samples_leaf=LEAST, split=split, n_jobs=n_jobs)


def against_lightgbm(X: np.ndarray, y: np.ndarray, n_jobs: int) -> Row:
    """Time one tree of each library on binned data."""
    data = prepare(X, y, n_jobs=2)
    parameters = {
        "objective": "binary",
        "num_leaves": 2**DEPTH,
        "min_data_in_leaf": LEAST,
        "verbose": -1,
        "num_threads": n_jobs,
        "max_bin": 255,
    }
    dataset = lgb.Dataset(X, y, params=parameters).construct()
    return race(
        f"TreeRank of depth 10, 1e6 x 20, {n_jobs} thread(s), against LightGBM",
        lambda: fit_treerank(data, settings(n_jobs)),
        lambda: lgb.train(parameters, dataset, 1),
        "at least 1",
        n_rounds=5,
    )


def unions(X: np.ndarray, y: np.ndarray) -> Row:
    """Compare cells that are unions of boxes with cells of single splits."""
    data = prepare(X, y, n_jobs=2)
    return race(
        "TreeRank of unions (split='tree'), 2 threads, peer: of stumps",
        lambda: fit_treerank(data, settings(2, "tree")),
        lambda: fit_treerank(data, settings(2)),
        "",
        n_rounds=3,
    )


def time_against_n(n_rows: int) -> Row:
    """Time a tree of depth 10 on five features, without binning."""
    X, y = make_table(n_rows, 5)
    data = prepare(X, y, n_jobs=2)
    del X
    fit_treerank(data, settings(2))
    times = [seconds(lambda: fit_treerank(data, settings(2))) for _ in range(3)]
    return {
        "name": f"TreeRank of depth 10, {n_rows:.0e} x 5, 2 threads",
        "ours": sorted(times)[1],
        "peer": None,
        "ratio": None,
        "spread": f"{min(times):.2f}..{max(times):.2f}",
        "target": "",
    }


def run() -> list[Row]:
    """Every case, one row each."""
    X, y = make_table(N_ROWS, N_FEATURES)
    rows = [against_lightgbm(X, y, n_jobs) for n_jobs in (1, 2)]
    rows.append(unions(X, y))
    del X
    return rows + [time_against_n(n_rows) for n_rows in (10_000, 100_000, 1_000_000, 10_000_000)]


if __name__ == "__main__":
    print_table(run())
