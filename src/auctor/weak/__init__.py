"""Weak rankers: the simple scoring rules that a boosting algorithm chooses from in each round."""

from auctor.weak.feature import RANKINGS, CodeRanker, FeatureRanking, StumpRanking
from auctor.weak.stump import Stump, StumpSearch
from auctor.weak.two_sided import (
    Sides,
    TwoSided,
    two_sided,
    two_sided_from_scores,
    two_sided_of_rankers,
)

__all__ = [
    "RANKINGS",
    "CodeRanker",
    "FeatureRanking",
    "Sides",
    "Stump",
    "StumpRanking",
    "StumpSearch",
    "TwoSided",
    "two_sided",
    "two_sided_from_scores",
    "two_sided_of_rankers",
]
