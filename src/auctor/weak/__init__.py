"""Weak rankers: what a booster picks from in each round."""

from auctor.weak.feature import RANKINGS, CodeRanker, FeatureRanking, StumpRanking
from auctor.weak.stump import Stump, StumpSearch
from auctor.weak.two_sided import TwoSided, two_sided, two_sided_from_scores

__all__ = [
    "RANKINGS",
    "CodeRanker",
    "FeatureRanking",
    "Stump",
    "StumpRanking",
    "StumpSearch",
    "TwoSided",
    "two_sided",
    "two_sided_from_scores",
]
