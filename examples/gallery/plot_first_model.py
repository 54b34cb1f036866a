"""
A first model
=============

Fit the default learner to a table with categories and missing values, measure it on rows that it
has not seen, and draw its ROC curve with a confidence band.
"""

from auctor import SmoothAUCBoostCV
from auctor.datasets import make_loans
from auctor.display import ROCDisplay
from auctor.metrics import auc_ci

X_train, y_train = make_loans(3000, random_state=0)
X_test, y_test = make_loans(2000, random_state=1)

ranker = SmoothAUCBoostCV().fit(X_train, y_train)
print(auc_ci(y_test, ranker.decision_function(X_test)))

# %%
# The ring marks the lowest threshold that flags at most a tenth of the loans that were paid back.
display = ROCDisplay.from_estimator(ranker, X_test, y_test, fpr=0.1)

# %%
# What the fit guarantees, with numbers from the training rows:
print(ranker.certificate_.statement)
