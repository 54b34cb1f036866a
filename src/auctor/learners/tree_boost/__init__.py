"""Gradient boosting of small trees on smoothed AUC, partial AUC or the pairwise logistic loss."""
