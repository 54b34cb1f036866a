"""
Precision at k of a fraud table
===============================

A team can look at 100 payments of 20,000, of which 1 % are fraudulent. What counts is how many of
the 100 are, not the whole ROC curve. Here most fraud comes at night *and* from far away, which
trees can see and a sum of curves cannot.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import SmoothAUCBoost, SmoothTreeBoost
from auctor.display import PrecisionAtKDisplay
from auctor.metrics import compare_metric, precision_at_k_ci


def make_payments(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Amount, hour and distance; fraud comes at night from far away, or with large amounts."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.01).astype(int)
    at_night = (y == 1) & (rng.random(n) < 0.6)
    amount = rng.lognormal(3 + 0.9 * y * ~at_night, 1)
    hour = np.where(at_night, rng.normal(3, 1, n), rng.uniform(0, 24, n)) % 24
    distance = rng.exponential(np.where(at_night, 60, 15))
    return np.column_stack([amount, hour, distance]), y


X, y = make_payments(20_000, seed=0)
X_new, y_new = make_payments(20_000, seed=1)
rankers = {
    "curves, AUC": SmoothAUCBoost(),
    "trees, partial AUC": SmoothTreeBoost(
        60, init=None, early_stopping=False, max_depth=4, fpr_range=(0, 0.02)
    ),
}
scores = {name: each.fit(X, y).decision_function(X_new) for name, each in rankers.items()}
for name, score in scores.items():
    print(f"{name}: {precision_at_k_ci(y_new, score, k=100)}")
print(compare_metric(y_new, *scores.values(), metric="precision_at_k", k=100))

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 5), sharey=True, layout="constrained")
for (name, score), ax in zip(scores.items(), axes, strict=True):
    PrecisionAtKDisplay.from_predictions(y_new, score, k=100, max_k=2000, name=name, ax=ax)
