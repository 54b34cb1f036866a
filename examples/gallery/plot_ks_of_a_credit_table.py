"""
KS of a credit table
====================

KS is the largest distance between the distributions of the scores of the two classes. The KS of a
sample is too large on average, because it is the largest of many differences; the interval of
:func:`auctor.metrics.ks_ci` lies around the KS without that bias.
"""

from auctor import SmoothAUCBoostCV
from auctor.datasets import make_loans
from auctor.display import KSDisplay
from auctor.metrics import ks, ks_ci

X, y = make_loans(2000)
X_test, y_test = make_loans(1000, random_state=1)
scores = SmoothAUCBoostCV().fit(X, y).decision_function(X_test)

KSDisplay.from_predictions(y_test, scores, name="1,000 new loans")

# %%
print(f"KS of these rows: {ks(y_test, scores):.3f}")
print(ks_ci(y_test, scores))
