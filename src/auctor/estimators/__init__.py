"""scikit-learn classifiers, thin, over the learners."""

from auctor.estimators.rankboost import RankBoost

__all__ = ["RankBoost"]
