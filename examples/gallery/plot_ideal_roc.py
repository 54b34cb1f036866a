"""
The ideal ROC curve
===================

For a known distribution no score has a higher ROC curve than the likelihood ratio.
:mod:`auctor.datasets` knows such curves, so that a learner can be measured against what is
possible (Clémençon and Vayatis 2009).
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import SmoothAUCBoost, TreeRank
from auctor.datasets import gaussian_pair_roc, make_gaussian_pair
from auctor.metrics import auc, roc_curve

ideal = gaussian_pair_roc()
train = make_gaussian_pair(1000, 1000, random_state=0)
new = make_gaussian_pair(20_000, 20_000, random_state=1)

figure, ax = plt.subplots(figsize=(5.6, 5.2), layout="constrained")
fpr = np.linspace(0, 1, 201)
ax.plot(fpr, ideal.tpr(fpr), "k", lw=2, label=f"best possible, AUC {ideal.optimal_auc:.3f}")
for ranker in (SmoothAUCBoost(), TreeRank(max_depth=5)):
    scores = ranker.fit(train.X, train.y).decision_function(new.X)
    curve = roc_curve(new.y, scores)
    name = f"{type(ranker).__name__}, AUC {auc(new.y, scores):.3f}"
    ax.plot(curve.fpr, curve.tpr, lw=1.3, label=name)
ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(0, 1), ylim=(0, 1))
_ = ax.legend(frameon=False, loc="lower right")
