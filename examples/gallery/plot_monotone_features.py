"""
Monotone features
=================

A lender may have to show that using less of a credit line never makes the score of risk higher. In
a small table chance can bend a curve the wrong way; ``monotonic_cst`` forbids it.
"""

import matplotlib.pyplot as plt
import numpy as np

from auctor import SmoothAUCBoost
from auctor.datasets import make_loans
from auctor.metrics import auc_ci

X, y = make_loans(1000)
X_test, y_test = make_loans(2000, random_state=1)
signs = {"credit_line_used": 1, "years_in_job": -1}

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for name, monotonic_cst in (("free", None), ("monotone", signs)):
    ranker = SmoothAUCBoost(monotonic_cst=monotonic_cst).fit(X, y)
    print(f"{name:>8}: {auc_ci(y_test, ranker.decision_function(X_test))}")
    model = ranker.model_
    k = model.feature_names.index("credit_line_used")
    cuts = np.r_[0, model.features[k].cuts, 1]
    ax.stairs(model.steps[k][1:], cuts, baseline=None, lw=2, label=name)
ax.set(xlabel="fraction of the credit line that is used", ylabel="what it adds to the score")
_ = ax.legend(frameon=False)
