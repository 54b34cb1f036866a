"""scikit-learn classifiers, thin, over the learners."""

from auctor.estimators.crossval import CrossValidation, cross_validate
from auctor.estimators.rankboost import RankBoost

__all__ = ["CrossValidation", "RankBoost", "cross_validate"]
