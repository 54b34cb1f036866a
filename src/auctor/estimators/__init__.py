"""scikit-learn classifiers, thin, over the learners."""

from auctor.estimators.aucboost import AUCBoost
from auctor.estimators.cross_validation import CrossValidation, cross_validate
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

__all__ = [
    "DMKS",
    "AUCBoost",
    "CrossValidation",
    "ExactBoost",
    "ExactBoostCV",
    "MarginRanker",
    "MarginRankerCV",
    "MartiRank",
    "RankBoost",
    "SamplingMartiRank",
    "SmoothAUCBoost",
    "SmoothAUCBoostCV",
    "SoftRankBoost",
    "TreeRank",
    "TreeRankForest",
    "cross_validate",
]
