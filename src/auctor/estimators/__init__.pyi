# The public classes and functions of this package, one import in a line. Type checkers read this
# file, and so do ``auctor``, ``auctor.estimators`` and the command line: a new learner is entered
# here and nowhere else. Its name on the command line is that of its module, with "-" for "_".
from auctor.estimators.aucboost import AUCBoost as AUCBoost
from auctor.estimators.cross_validation import CrossValidation as CrossValidation
from auctor.estimators.cross_validation import cross_val_auc as cross_val_auc
from auctor.estimators.dmks import DMKS as DMKS
from auctor.estimators.ensemble import RankEnsemble as RankEnsemble
from auctor.estimators.exactboost import ExactBoost as ExactBoost
from auctor.estimators.exactboost_cv import ExactBoostCV as ExactBoostCV
from auctor.estimators.margin_ranker import MarginRanker as MarginRanker
from auctor.estimators.margin_ranker_cv import MarginRankerCV as MarginRankerCV
from auctor.estimators.martirank import MartiRank as MartiRank
from auctor.estimators.rankboost import RankBoost as RankBoost
from auctor.estimators.sampling_martirank import SamplingMartiRank as SamplingMartiRank
from auctor.estimators.smooth_aucboost import SmoothAUCBoost as SmoothAUCBoost
from auctor.estimators.smooth_aucboost_cv import SmoothAUCBoostCV as SmoothAUCBoostCV
from auctor.estimators.smooth_tree_boost import SmoothTreeBoost as SmoothTreeBoost
from auctor.estimators.soft_rankboost import SoftRankBoost as SoftRankBoost
from auctor.estimators.treerank import TreeRank as TreeRank
from auctor.estimators.treerank_forest import TreeRankForest as TreeRankForest
