"""
Wrong labels
============

On this distribution of Long and Servedio every booster of a convex loss fails as soon as a tenth
of the labels is wrong, however many rows there are. MartiRank, a branching program, does not. On
other tables boosting tolerates noise well: this is the worst case.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import MartiRank, RankBoost
from auctor.datasets import make_long_servedio
from auctor.metrics import auc

NOISE = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)
new = make_long_servedio(10_000, random_state=1)
rankers = {"RankBoost": RankBoost(200), "MartiRank": MartiRank(n_layers=80)}
curves: dict[str, list[float]] = {name: [] for name in rankers}
for noise in NOISE:
    train = make_long_servedio(10_000, noise=noise, random_state=0)
    for name, ranker in rankers.items():
        scores = ranker.fit(train.X, train.y).decision_function(new.X)
        curves[name].append(auc(new.y_clean, scores))

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, values in curves.items():
    ax.plot(100 * np.array(NOISE), values, "o-", label=name)
ax.set(xlabel="wrong labels among the training rows, %", ylabel="AUC on true labels")
_ = ax.legend(frameon=False)
