"""How much too good the held-out AUC of RankEnsemble is, because the same rows chose the weights.

Tables of 200 rows are drawn from a distribution. The AUC of the held-out rows, with the final
weights and with weights chosen without each fold, is compared with that of the same models of the
folds, weighted in the same way, on 5,000 new rows.
"""

import sys

import numpy as np

from auctor import DMKS, RankBoost, RankEnsemble, SmoothAUCBoost
from auctor.metrics import auc

N_TABLES, N_ROWS, N_NEW = 100, 200, 5_000
MEMBERS = [("stumps", RankBoost(n_estimators=20)), ("smooth", SmoothAUCBoost()), ("dmks", DMKS())]


def draw(rng: np.random.Generator, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of six features, of which three matter."""
    X = rng.normal(size=(n_rows, 6))
    y = X[:, 0] + np.abs(X[:, 1]) + 0.5 * X[:, 2] + 1.5 * rng.normal(size=n_rows) > 0.8
    return X, y.astype(int)


def new_auc(ranker: RankEnsemble, X: np.ndarray, new: np.ndarray, y: np.ndarray) -> float:
    """The mean over folds of the AUC on new rows, with the final weights."""
    aucs = []
    for k, (_, test) in enumerate(ranker.history_.folds):
        total = np.zeros(len(new))
        for name, weight in ranker.weights_.items():
            model = ranker.estimators_[name][k]
            low, high = np.quantile(model.decision_function(X)[test], [0.16, 0.84])
            total += weight * model.decision_function(new) / (high - low)
        aucs.append(auc(y, total))
    return float(np.mean(aucs))


def main() -> int:
    rng = np.random.default_rng(0)
    same, other = [], []
    for _ in range(N_TABLES):
        (X, y), (new, new_y) = draw(rng, N_ROWS), draw(rng, N_NEW)
        ranker = RankEnsemble(MEMBERS).fit(X, y)
        truth, values = new_auc(ranker, X, new, new_y), ranker.certificate_.values
        same.append(values["value"] - truth)
        other.append(values["cross_fitted"] - truth)
    for name, values in (("final weights", same), ("weights chosen without the fold", other)):
        error = np.std(values, ddof=1) / np.sqrt(N_TABLES)
        print(
            f"{name}: AUC of held-out rows minus that of new rows {np.mean(values):+.4f} "
            f"(standard error {error:.4f})"
        )
    error = np.std(np.subtract(same, other), ddof=1) / np.sqrt(N_TABLES)
    print(f"difference {np.mean(same) - np.mean(other):+.4f} (standard error {error:.4f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
