"""Learners by the name that the command line knows them by."""

from auctor.estimators.base import RankingEstimator
from auctor.estimators.rankboost import RankBoost

LEARNERS: dict[str, type[RankingEstimator]] = {"rankboost": RankBoost}
