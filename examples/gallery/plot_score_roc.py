"""
How much each feature's curve ranks on its own
==============================================

The score ROC curve of a feature is that of its curve F_k alone. Next to it stands the AUC with its
interval: a feature whose interval contains 0.5 has shown no effect of its own on these rows.
"""

from auctor import SmoothAUCBoostCV
from auctor.datasets import make_loans
from auctor.display import ScoreROCDisplay

X, y = make_loans(2000)
X_test, y_test = make_loans(2000, random_state=1)
ranker = SmoothAUCBoostCV(interactions=0).fit(X, y)
ScoreROCDisplay.from_estimator(ranker, X_test, y_test, max_curves=4)

# %%
# The same as a table:
print(ranker.score_table(X_test, y_test))
