"""Weak rankers: what a booster picks from in each round."""

from auctor.weak.feature import RANKINGS, CodeRanker, FeatureRanking, StumpRanking
from auctor.weak.feature_hypotheses import FeatureHypotheses
from auctor.weak.hypotheses import (
    DirectedHypotheses,
    Hypotheses,
    MatrixHypotheses,
    StumpHypotheses,
)
from auctor.weak.stump import Stump, StumpSearch
from auctor.weak.two_sided import (
    Sides,
    TwoSided,
    two_sided,
    two_sided_from_scores,
    two_sided_lines,
)

__all__ = [
    "RANKINGS",
    "CodeRanker",
    "DirectedHypotheses",
    "FeatureHypotheses",
    "FeatureRanking",
    "Hypotheses",
    "MatrixHypotheses",
    "Sides",
    "Stump",
    "StumpHypotheses",
    "StumpRanking",
    "StumpSearch",
    "TwoSided",
    "two_sided",
    "two_sided_from_scores",
    "two_sided_lines",
]
