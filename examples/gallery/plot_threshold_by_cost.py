"""
A threshold by cost
===================

A loan that is not paid back costs as much as eight good loans that are refused. The threshold of
least cost has an interval, because it was chosen on a sample. Between the ends of the interval the
rows do not tell which threshold is cheapest.
"""

import matplotlib.pyplot as plt

from auctor import SmoothAUCBoost
from auctor.datasets import make_loans
from auctor.metrics import roc_curve, threshold_at

COST = 8
X, y = make_loans(2000)
X_test, y_test = make_loans(2000, random_state=1)
ranker = SmoothAUCBoost().fit(X, y)
scores = ranker.decision_function(X_test)

chosen = threshold_at(y_test, scores, cost=COST)
print(chosen)

# %%
curve = roc_curve(y_test, scores)
missed = curve.true_positives[-1] - curve.true_positives
cost = (COST * missed + curve.false_positives) / len(y_test)
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(curve.thresholds[1:], cost[1:])
ax.axvspan(chosen.low, chosen.high, color="0.88", label="95 % interval of the best threshold")
ax.axvline(chosen.value, color="#D55E00", label="chosen threshold")
ax.set(xlabel="threshold", ylabel="cost for each loan, in refused good loans", ylim=(0, None))
_ = ax.legend(frameon=False)

# %%
# A model that predicts by this threshold, for saving and scoring:
model = ranker.model_.with_threshold(chosen.value)
print(f"{model.predict(X_test).mean():.1%} of the loans are flagged")
