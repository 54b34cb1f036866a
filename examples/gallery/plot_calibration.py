"""
Are the probabilities right?
============================

A ranking needs no probabilities, but a price or a reserve does. ``predict_proba`` is calibrated on
the training rows; on new rows the fraction of positives in each tenth of the predictions shows
whether it holds.
"""

from auctor import SmoothAUCBoost
from auctor.datasets import make_loans
from auctor.display import CalibrationDisplay
from auctor.metrics import calibration_table

X, y = make_loans(3000)
X_test, y_test = make_loans(3000, random_state=1)
ranker = SmoothAUCBoost().fit(X, y)
CalibrationDisplay.from_estimator(ranker, X_test, y_test, n_bins=8)

# %%
table = calibration_table(y_test, ranker.predict_proba(X_test)[:, 1])
print(f"Brier score {table.brier:.4f}, mean error of the bins {table.expected_error:.4f}")
