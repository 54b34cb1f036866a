"""
An exported scorecard
=====================

An additive model can be written as a table of points that are added by hand. Merging bins costs a
little AUC, which is measured.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import SmoothAUCBoostCV
from auctor.datasets import make_loans
from auctor.metrics import auc

X, y = make_loans(3000)
X_test, y_test = make_loans(2000, random_state=1)
model = SmoothAUCBoostCV(interactions=0).fit(X, y).model_
card = model.to_scorecard(max_bins=4, cuts="short", X=X, y=y)
print(card)

# %%
# Points fall as the risk rises, and 20 points double the odds. ``card.to_html("card.html")`` writes
# a form to print.
points = card.score(X_test)
print(f"AUC of the model {auc(y_test, model.decision_function(X_test)):.3f}, "
      f"of the card {auc(y_test, -points):.3f}")  # fmt: skip
edges = np.arange(380, 700, 20)
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for label, name in ((0, "paid back"), (1, "not paid back")):
    ax.hist(points[y_test == label], edges, density=True, alpha=0.6, label=name)
ax.set(xlabel="points", ylabel="fraction of the class, by point")
_ = ax.legend(frameon=False)
