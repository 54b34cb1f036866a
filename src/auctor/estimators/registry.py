"""Learners by the name that the command line knows them by."""

from auctor.estimators.aucboost import AUCBoost
from auctor.estimators.base import RankingEstimator
from auctor.estimators.martirank import MartiRank
from auctor.estimators.rankboost import RankBoost
from auctor.estimators.sampling_martirank import SamplingMartiRank

LEARNERS: dict[str, type[RankingEstimator]] = {
    "aucboost": AUCBoost,
    "martirank": MartiRank,
    "rankboost": RankBoost,
    "sampling-martirank": SamplingMartiRank,
}
