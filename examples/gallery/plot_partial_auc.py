"""
Train on the part of the ROC curve that is used
===============================================

A screening test must not flag more than 10 % of the healthy. Only the left end of the ROC curve
matters, and a score that is trained there can be better there, although its AUC is lower.

Two kinds of cases: some differ from the healthy a little in ``x0``, and some strongly in ``x1``,
which most healthy rows vary in too.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import SmoothAUCBoost
from auctor.metrics import auc, partial_auc_ci, roc_curve


def draw(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Half of the positives stand out in x1, the others are shifted in x0."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.4).astype(int)
    stands_out = (y == 1) & (rng.random(n) < 0.5)
    x0 = rng.normal(1.2 * (y == 1) * ~stands_out, 1)
    x1 = np.where(stands_out, rng.normal(2.2, 0.4, n), rng.normal(0, 1.2, n))
    return np.column_stack([x0, x1]), y


X, y = draw(4000, seed=0)
X_new, y_new = draw(20_000, seed=1)
figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for name, fpr_range in (("AUC", None), ("partial AUC", (0.0, 0.1))):
    scores = SmoothAUCBoost(fpr_range=fpr_range).fit(X, y).decision_function(X_new)
    curve = roc_curve(y_new, scores)
    ax.plot(curve.fpr, curve.tpr, label=f"trained on the {name}, AUC {auc(y_new, scores):.3f}")
    print(f"{name}: {partial_auc_ci(y_new, scores, fpr_range=(0, 0.1), scaled=True)}")
ax.axvspan(0, 0.1, color="0.9", zorder=0)
ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 1), ylim=(0, 1))
_ = ax.legend(frameon=False, loc="lower right")
