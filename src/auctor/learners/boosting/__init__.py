"""Boosting of weak rankers: RankBoost, SoftRankBoost and AUCBoost."""
