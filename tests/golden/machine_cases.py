"""More fits that must not depend on the processor; their models are not stored."""

import numpy as np

from auctor import (
    DMKS,
    MarginRanker,
    RankBoost,
    SmoothAUCBoost,
    SmoothAUCBoostCV,
    SmoothTreeBoost,
    SoftRankBoost,
    TreeRankForest,
)
from auctor.models import Model, to_json


def table() -> tuple[np.ndarray, np.ndarray]:
    """300 rows: ties, missing values, a bend and a product of two columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    X[:, 3] = np.round(X[:, 3])
    X[::9, 2] = np.nan
    score = X[:, 0] + X[:, 1] ** 2 - X[:, 3] + X[:, 4] * X[:, 5]
    return X, (score + rng.logistic(size=300) > 1).astype(int)


def fits() -> dict[str, Model]:
    """A model of each learner that adds up floating-point numbers."""
    X, y = table()
    rankers = {
        "dmks from logistic regression": DMKS(),
        "margin of stumps": MarginRanker(epsilon=0.3, hypotheses="stumps", max_bins=16),
        "margin, reduced": MarginRanker("reduced", epsilon=0.3),
        "margin, heuristic": MarginRanker("heuristic", epsilon=0.3),
        "rankboost": RankBoost(n_estimators=50),
        "smooth, cross-validated": SmoothAUCBoostCV(cv=3),
        "smooth, pairs": SmoothAUCBoost(interactions=3),
        "smooth, partial": SmoothAUCBoost(fpr_range=(0, 0.2)),
        "smooth, monotone": SmoothAUCBoost(monotonic_cst=[1, 0, 0, -1, 0, 0]),
        "smooth, stagewise": SmoothAUCBoost(solver="stagewise", n_estimators=30),
        "smooth, screened": SmoothAUCBoost(max_features=3),
        "tree boost": SmoothTreeBoost(n_estimators=20, cv=3),
        "tree boost, smoothed AUC": SmoothTreeBoost(n_estimators=10, loss="auc", init=None, cv=3),
        "tree boost, partial": SmoothTreeBoost(
            n_estimators=10, fpr_range=(0, 0.2), early_stopping=False
        ),
        "soft rankboost": SoftRankBoost(n_estimators=50, epsilon=0.1),
        "forest": TreeRankForest(n_estimators=4),
    }
    return {name: ranker.fit(X, y).model_ for name, ranker in rankers.items()}


def texts() -> dict[str, str]:
    """The text of each model's file."""
    return {name: to_json(model) for name, model in fits().items()}
