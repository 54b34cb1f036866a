"""SmoothTreeBoost beside LightGBM and XGBoost at the same number of trees and leaves.

Every fit includes binning. The last part fits a distribution in which features interact, and prints
the AUC on new rows beside the seconds; the largest possible AUC is that of the true probability.
"""

import argparse
import os
from statistics import median

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from catboost import CatBoostClassifier
from timing import Row, print_table, seconds

from auctor import SmoothTreeBoost
from auctor.metrics import auc

# Threads of OpenMP that spin while they wait slow down whatever is timed next.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

N_ROWS, N_FEATURES, N_TREES, DEPTH = 1_000_000, 20, 100, 6
N_LEAVES = 2**DEPTH


def make_table(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal features, some of which act alone and some in pairs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    z = X[:, 0] * X[:, 1] + X[:, 2] + np.sin(2 * X[:, 3]) + 2 * (X[:, 4] > 0) * (X[:, 5] > 0)
    return X, (z + rng.logistic(size=n_rows) > 1).astype(np.int64)


def ours(n_jobs: int) -> SmoothTreeBoost:
    """Trees alone, on all rows and features, as the peers grow them."""
    return SmoothTreeBoost(
        N_TREES,
        init=None,
        max_depth=DEPTH,
        early_stopping=False,
        subsample=1.0,
        max_features=None,
        n_jobs=n_jobs,
    )


def lightgbm(n_jobs: int) -> lgb.LGBMClassifier:
    """LightGBM with the same number of trees and leaves."""
    return lgb.LGBMClassifier(n_estimators=N_TREES, num_leaves=N_LEAVES, n_jobs=n_jobs, verbose=-1)


def xgboost(n_jobs: int) -> xgb.XGBClassifier:
    """XGBoost with the same number of trees and depth."""
    return xgb.XGBClassifier(
        n_estimators=N_TREES, max_depth=DEPTH, tree_method="hist", n_jobs=n_jobs
    )


def against_peers(n_jobs: int, n_rounds: int = 5) -> list[Row]:
    """Time whole fits of all libraries in turns, so that a busy machine slows all of them."""
    X, y = make_table(N_ROWS, N_FEATURES)
    libraries = {"ours": ours, "LightGBM": lightgbm, "XGBoost": xgboost}
    for make in libraries.values():
        make(n_jobs).fit(X[:300_000], y[:300_000])
    rounds = [
        {
            name: seconds(lambda make=make: make(n_jobs).fit(X, y))
            for name, make in libraries.items()
        }
        for _ in range(n_rounds)
    ]
    return [_compare(rounds, peer, n_jobs) for peer in ("LightGBM", "XGBoost")]


def _compare(rounds: list[dict[str, float]], peer: str, n_jobs: int) -> Row:
    """The medians of our seconds and a peer's, and of their ratio."""
    ratios = [times[peer] / times["ours"] for times in rounds]
    return {
        "name": f"100 trees of 64 leaves, 1e6 x 20, {n_jobs} thread(s), {peer}",
        "ours": median(times["ours"] for times in rounds),
        "peer": median(times[peer] for times in rounds),
        "ratio": median(ratios),
        "spread": f"{min(ratios):.2f}..{max(ratios):.2f}",
        "target": "at least 1.25",
    }


def time_against_n(n_rows: int, n_jobs: int) -> Row:
    """Seconds of a fit, of a million rows."""
    X, y = make_table(n_rows, N_FEATURES)
    time = seconds(lambda: ours(n_jobs).fit(X, y))
    return {
        "name": f"100 trees, {n_rows:.0e} x 20, {n_jobs} thread(s), seconds for 1e6 rows",
        "ours": time * 1e6 / n_rows,
        "peer": None,
        "ratio": None,
        "spread": "",
        "target": "flat",
    }


def interacting(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw 28 features with products and a hidden exclusive-or; also the true log odds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 28))
    z = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] * X[:, 4] + 2.0 * ((X[:, 5] > 0) != (X[:, 6] > 0))
    z += 0.5 * X[:, 7] + np.abs(X[:, 8]) * X[:, 9] - 1.0
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-z))).astype(np.int64), z


def print_interacting(n_rows: int) -> None:
    """AUC on new rows and seconds of each library at its defaults."""
    X, y, _ = interacting(n_rows, 0)
    X_new, y_new, z_new = interacting(200_000, 1)
    print(f"\n{n_rows} x 28, features interact; largest possible AUC {auc(y_new, z_new):.4f}")
    methods = {
        "SmoothTreeBoost": SmoothTreeBoost(n_jobs=2),
        "LightGBM": lgb.LGBMClassifier(n_jobs=2, verbose=-1),
        "XGBoost": xgb.XGBClassifier(n_jobs=2),
        "CatBoost": CatBoostClassifier(verbose=0, thread_count=2, allow_writing_files=False),
    }
    for name, model in methods.items():
        time = seconds(lambda model=model: model.fit(X, y))
        area = auc(y_new, model.predict_proba(X_new)[:, 1])
        print(f"{name:16} AUC {area:.4f} in {time:6.1f} s")


def run() -> list[Row]:
    """Return one row for each comparison."""
    return [row for n_jobs in (2, 1) for row in against_peers(n_jobs)] + growth()


def growth() -> list[Row]:
    """Seconds against the number of rows."""
    return [time_against_n(n_rows, 2) for n_rows in (10_000, 100_000, 1_000_000, 10_000_000)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parts = ["peers", "growth", "interacting"]
    parser.add_argument("--parts", nargs="+", default=parts, choices=parts)
    parser.add_argument("--jobs", type=int, nargs="+", default=[2, 1], help="numbers of threads")
    options = parser.parse_args()
    if "peers" in options.parts:
        print_table([row for n_jobs in options.jobs for row in against_peers(n_jobs)])
    if "growth" in options.parts:
        print_table(growth())
    if "interacting" in options.parts:
        print_interacting(1_000_000)


if __name__ == "__main__":
    main()
