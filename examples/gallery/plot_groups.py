"""
Is the score as good for every group?
=====================================

:func:`auctor.metrics.by_group` measures each group with intervals and tests it against the others,
corrected for the number of tests. The groups need not be a feature: here the region of a loan, in
one of which the data are bad.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import SmoothAUCBoost
from auctor.datasets import make_loans
from auctor.metrics import by_group

X, y = make_loans(3000)
X_test, y_test = make_loans(4000, random_state=1)
rng = np.random.default_rng(0)
region = rng.choice(["north", "south", "east", "west"], len(y_test))
is_wrong = (region == "east") & (rng.random(len(y_test)) < 0.15)  # outcomes entered at random
y_test = np.where(is_wrong, rng.random(len(y_test)) < 0.5, y_test).astype(int)

ranker = SmoothAUCBoost().fit(X, y)
table = by_group(y_test, ranker.decision_function(X_test), region, threshold=ranker.threshold_)
for sentence in table.sentences():
    print(sentence)

# %%
figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
for position, row in enumerate(table.groups):
    ax.plot([row.auc.low, row.auc.high], [position, position], lw=2, color="#0072B2")
    ax.plot(row.auc.value, position, "o", color="#0072B2")
ax.axvline(table.overall.auc.value, color="0.6", lw=1, label="all rows")
ax.set_yticks(range(len(table.groups)), [row.name for row in table.groups])
ax.set(xlabel="AUC, with its 95 % interval")
_ = ax.legend(frameon=False)
