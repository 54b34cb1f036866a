"""
An ensemble of several rankers
==============================

:class:`auctor.RankEnsemble` fits its members without each of five folds and chooses their weights
by the metric of the held-out rows. Its out-of-fold AUC comes with an interval. Here two features
act together, which a forest can see, and four act alone, which curves follow better.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import RankBoost, RankEnsemble, SmoothAUCBoost, TreeRankForest
from auctor.metrics import auc_ci


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The product of two features, and the sum of four."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    log_odds = 1.2 * X[:, 0] * X[:, 1] + X[:, 2:].sum(axis=1) / 2
    return X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)


X, y = draw(1000, seed=0)
X_new, y_new = draw(8000, seed=1)
members = [
    ("stumps", RankBoost(100, learning_rate=0.3)),
    ("curves", SmoothAUCBoost()),
    ("forest", TreeRankForest(50)),
]
ensemble = RankEnsemble(members).fit(X, y)
print(ensemble.oof_auc_)
print({name: round(weight, 3) for name, weight in ensemble.weights_.items()})

# %%
# Each member alone and the ensemble, on 8,000 new rows:
scores = {name: ranker.fit(X, y).decision_function(X_new) for name, ranker in members}
scores["ensemble"] = ensemble.decision_function(X_new)
results = {name: auc_ci(y_new, score) for name, score in scores.items()}
figure, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
for position, result in enumerate(results.values()):
    ax.plot([result.low, result.high], [position, position], lw=2, color="#0072B2")
    ax.plot(result.value, position, "o", color="#0072B2")
ax.set_yticks(range(len(results)), list(results))
ax.set(xlabel="AUC, with its 95 % interval")
ax.invert_yaxis()
