"""Learners by the name that the command line knows them by."""

from auctor.estimators.aucboost import AUCBoost
from auctor.estimators.base import RankingEstimator
from auctor.estimators.dmks import DMKS
from auctor.estimators.exactboost import ExactBoost
from auctor.estimators.exactboost_cv import ExactBoostCV
from auctor.estimators.margin_ranker import MarginRanker
from auctor.estimators.margin_ranker_cv import MarginRankerCV
from auctor.estimators.martirank import MartiRank
from auctor.estimators.rankboost import RankBoost
from auctor.estimators.sampling_martirank import SamplingMartiRank
from auctor.estimators.smooth_aucboost import SmoothAUCBoost
from auctor.estimators.smooth_aucboost_cv import SmoothAUCBoostCV
from auctor.estimators.soft_rankboost import SoftRankBoost
from auctor.estimators.treerank import TreeRank
from auctor.estimators.treerank_forest import TreeRankForest

LEARNERS: dict[str, type[RankingEstimator]] = {
    "aucboost": AUCBoost,
    "dmks": DMKS,
    "exactboost": ExactBoost,
    "exactboost-cv": ExactBoostCV,
    "margin-ranker": MarginRanker,
    "margin-ranker-cv": MarginRankerCV,
    "martirank": MartiRank,
    "rankboost": RankBoost,
    "sampling-martirank": SamplingMartiRank,
    "treerank": TreeRank,
    "treerank-forest": TreeRankForest,
    "smooth-aucboost": SmoothAUCBoost,
    "smooth-aucboost-cv": SmoothAUCBoostCV,
    "soft-rankboost": SoftRankBoost,
}
