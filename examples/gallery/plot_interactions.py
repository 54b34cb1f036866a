"""
Features that act together
==========================

Where the effect of one feature depends on another, a sum of curves is not enough.
``SmoothAUCBoostCV`` adds surfaces of pairs if held-out rows gain by them, and draws them beside
the curves.
"""

import numpy as np
import pandas as pd

from auctor import SmoothAUCBoost, SmoothAUCBoostCV
from auctor.display import ScorePlotDisplay
from auctor.metrics import compare_auc


def draw(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """A drug that helps the young and harms the old, at any dose."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"age": rng.uniform(20, 80, n), "dose": rng.uniform(0, 10, n)})
    log_odds = 0.03 * (X["age"] - 50) + 0.012 * (X["age"] - 50) * (X["dose"] - 5)
    return X, (rng.random(n) < 1 / (1 + np.exp(-log_odds))).astype(int)


X, y = draw(2000, seed=0)
X_new, y_new = draw(5000, seed=1)
ranker = SmoothAUCBoostCV().fit(X, y)
curves_only = SmoothAUCBoost().fit(X, y)
_ = ScorePlotDisplay.from_model(ranker.model_, X, y).plot()

# %%
# With the surface (A) and without it (B), on new rows:
a, b = ranker.decision_function(X_new), curves_only.decision_function(X_new)
print(compare_auc(y_new, a, b))
