"""The algorithms, one folder a family.

Each ``fit_*`` function takes ``RankingData`` and its settings and returns a model, a history of the
fit and a certificate. Import a learner from its own module: importing this package loads none.
"""
