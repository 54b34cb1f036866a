"""Binning, rounds and memory of RankBoost on 1e6 x 20 against LightGBM."""

import tracemalloc

import lightgbm as lgb
import numpy as np
from timing import Row, print_table, race

from auctor.data import prepare
from auctor.learners.boosting.rankboost import RankBoostSettings, fit_rankboost

N_ROWS, N_FEATURES, N_ROUNDS = 1_000_000, 20, 30


def make_table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features, of which the first three are informative."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N_ROWS) > 0
    return X, y.astype(np.int64)


def lightgbm_dataset(X: np.ndarray, y: np.ndarray, n_jobs: int) -> lgb.Dataset:
    """Bin with LightGBM, with the same number of bins."""
    parameters = {"verbose": -1, "num_threads": n_jobs, "max_bin": 255}
    return lgb.Dataset(X, y, params=parameters).construct()


def binning(X: np.ndarray, y: np.ndarray, n_jobs: int) -> Row:
    """Time the binning of the array."""
    return race(
        f"binning 1e6 x 20, {n_jobs} thread(s), against LightGBM's Dataset",
        lambda: prepare(X, y, n_jobs=n_jobs),
        lambda: lightgbm_dataset(X, y, n_jobs),
        "at least 1 on 2 threads",
        n_rounds=5,
    )


def rounds(X: np.ndarray, y: np.ndarray, n_jobs: int) -> Row:
    """Time stumps on binned data; both fits include N_ROUNDS rounds and their own overhead."""
    data = prepare(X, y, n_jobs=2)
    dataset = lightgbm_dataset(X, y, n_jobs)
    settings = RankBoostSettings(N_ROUNDS, n_jobs=n_jobs)
    parameters = {
        "objective": "binary",
        "num_leaves": 2,
        "verbose": -1,
        "num_threads": n_jobs,
        "max_bin": 255,
    }
    return race(
        f"a RankBoost round, {n_jobs} thread(s), against a LightGBM stump",
        lambda: fit_rankboost(data, settings),
        lambda: lgb.train(parameters, dataset, N_ROUNDS),
        "at least 2",
        per=N_ROUNDS,
    )


def memory(X: np.ndarray, y: np.ndarray) -> Row:
    """Return the peak memory in addition to the input and the codes, in bytes per row."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    fit_rankboost(prepare(X, y, n_jobs=2), RankBoostSettings(20, n_jobs=2))
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return {
        "name": "peak memory of prepare and fit above input and codes, per row",
        "ours": peak / N_ROWS - N_FEATURES,
        "peer": None,
        "ratio": None,
        "spread": "",
        "target": "at most 40 bytes",
        "unit": "B",
    }


def run() -> list[Row]:
    """Every case, one row each."""
    X, y = make_table()
    return [
        binning(X, y, 1),
        binning(X, y, 2),
        rounds(X, y, 1),
        rounds(X, y, 2),
        memory(X, y),
    ]


if __name__ == "__main__":
    print_table(run())
