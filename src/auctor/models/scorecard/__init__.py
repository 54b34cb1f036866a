"""Scorecards: a model as a table of points, for people and for forms on paper."""

from auctor.models.scorecard.card import Scorecard, load_scorecard
from auctor.models.scorecard.points import PointsPerUnit, PointsTable
from auctor.models.scorecard.quality import CardQuality
from auctor.models.scorecard.scale import PointScale

__all__ = [
    "CardQuality",
    "PointScale",
    "PointsPerUnit",
    "PointsTable",
    "Scorecard",
    "load_scorecard",
]
