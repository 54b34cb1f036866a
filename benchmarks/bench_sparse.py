"""RankBoost on a wide sparse 0/1 table: 10,000 rounds, and a round against dense codes."""

import csv
import os
import tracemalloc
from pathlib import Path

import numpy as np
from scipy import sparse
from timing import Row, print_table, race, seconds

from auctor.data import RankingData, prepare
from auctor.learners.boosting.rankboost import RankBoostSettings, fit_rankboost

N_LONG, N_SHORT = 10_000, 100
DENSE_SHAPE = 5000, 5000  # 25 MB of dense codes, which a dense round reads completely


def make_words(n_rows: int = 11_000, n_words: int = 30_000) -> tuple[sparse.csr_array, np.ndarray]:
    """Draw texts of 100 words by Zipf's law; the topic changes some of the common words."""
    rng = np.random.default_rng(0)
    fraction = 1.0 / np.arange(10, n_words + 10)
    words = rng.choice(n_words, size=(n_rows, 100), p=fraction / fraction.sum())
    starts = np.arange(0, words.size + 1, 100)
    counts = sparse.csr_array((np.ones(words.size), words.ravel(), starts), (n_rows, n_words))
    counts.sum_duplicates()
    counts.data[:] = 1.0
    y = counts[:, 20:220:4].sum(axis=1) + rng.normal(size=n_rows) > 8
    return counts, y


def read_reuters(folder: Path) -> tuple[sparse.csr_array, np.ndarray]:
    """Read the words of news texts, and which texts are about acquisitions."""
    with (folder / "labels.csv").open(encoding="utf-8") as lines:
        y = np.array([row["acq"] == "1" for row in csv.DictReader(lines)])
    return sparse.csr_array(sparse.load_npz(folder / "X_words_binary.npz")), y


def keep(X: sparse.csr_array, y: np.ndarray) -> RankingData:
    """Bin the table into sparse codes."""
    return prepare(X, y, accept_sparse=True, keep_sparse=True)


def long_fit(name: str, X: sparse.csr_array, y: np.ndarray, n_jobs: int) -> Row:
    """Time a fit of N_LONG rounds, including binning."""
    settings = RankBoostSettings(N_LONG, n_jobs=n_jobs)
    return {
        "name": f"{N_LONG} rounds on {name}, {n_jobs} thread(s)",
        "ours": seconds(lambda: fit_rankboost(keep(X, y), settings)),
        "peer": None,
        "ratio": None,
        "spread": "",
        "target": "at most 60 s",
    }


def rounds(X: sparse.csr_array, y: np.ndarray) -> Row:
    """Compare a round on sparse codes with one on dense codes of the same table."""
    n_rows, n_columns = DENSE_SHAPE
    X, y = X[:n_rows, :n_columns], y[:n_rows]
    kept, dense = keep(X, y), prepare(X, y, accept_sparse=True)
    return race(
        f"a round on {n_rows} x {n_columns}, against our dense codes",
        lambda: fit_rankboost(kept, RankBoostSettings(N_SHORT)),
        lambda: fit_rankboost(dense, RankBoostSettings(N_SHORT)),
        "at least 10",
        n_rounds=3,
        per=N_SHORT,
    )


def memory(name: str, X: sparse.csr_array, y: np.ndarray) -> Row:
    """Compare peak memory in addition to the input with one byte per value of the table."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    fit_rankboost(keep(X, y), RankBoostSettings(N_SHORT))
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    cells = X.shape[0] * X.shape[1]
    return {
        "name": f"peak memory of prepare and fit on {name}",
        "ours": peak / 1e6,
        "peer": cells / 1e6,
        "ratio": cells / peak,
        "spread": "",
        "target": "at least 2",
        "unit": "M",
    }


def run() -> list[Row]:
    """Every case, one row each; on real texts if AUCTOR_DATA has them."""
    folder = Path(os.environ.get("AUCTOR_DATA", "")) / "reuters"
    if folder.is_dir():
        X, y = read_reuters(folder)
        name = f"Reuters, {X.shape[0]} x {X.shape[1]}"
    else:
        X, y = make_words()
        name = f"drawn words, {X.shape[0]} x {X.shape[1]}"
    return [
        rounds(X, y),
        long_fit(name, X, y, 1),
        long_fit(name, X, y, 2),
        memory(name, X, y),
    ]


if __name__ == "__main__":
    print_table(run())
