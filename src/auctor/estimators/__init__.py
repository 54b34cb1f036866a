"""scikit-learn classifiers, thin, over the learners."""

from auctor.estimators.aucboost import AUCBoost
from auctor.estimators.crossval import CrossValidation, cross_validate
from auctor.estimators.martirank import MartiRank
from auctor.estimators.rankboost import RankBoost
from auctor.estimators.sampling_martirank import SamplingMartiRank

__all__ = [
    "AUCBoost",
    "CrossValidation",
    "MartiRank",
    "RankBoost",
    "SamplingMartiRank",
    "cross_validate",
]
