"""Drawings over finished numbers; they need matplotlib (the ``plot`` extra)."""

from auctor.display.learning_curve import LearningCurveDisplay
from auctor.display.program import ProgramDisplay
from auctor.display.score_plot import ScorePlotDisplay
from auctor.display.score_roc import ScoreROCDisplay
from auctor.display.tree import PartitionDisplay, TreeDisplay

__all__ = [
    "LearningCurveDisplay",
    "PartitionDisplay",
    "ProgramDisplay",
    "ScorePlotDisplay",
    "ScoreROCDisplay",
    "TreeDisplay",
]
