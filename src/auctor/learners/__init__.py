"""The algorithms, one folder a family.

Each ``fit_*`` function takes ``RankingData`` and its settings and returns a model, a history of the
fit and a certificate. Further arguments are rows for early stopping and a model or scores to start
from. Functions that choose settings by cross-validation (``smooth.search.find_amounts``) also take
the folds and return the chosen candidate and all candidates; ``exact.refine.refine`` chooses by
folds and returns a model, a history and a certificate. Import a learner from its own module:
importing this package loads none.
"""
