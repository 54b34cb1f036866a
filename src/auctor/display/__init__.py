"""Plots of models and scores; they need matplotlib (the ``plot`` extra).

Every display is a dataclass that holds the computed numbers. Its ``from_...`` class methods compute
them, and ``plot`` draws them on given or new axes.
"""

from auctor.display.calibration import CalibrationDisplay
from auctor.display.distribution import ScoreDistributionDisplay
from auctor.display.forest_tree import ForestTreeDisplay
from auctor.display.gain import CAPDisplay, GainDisplay, LiftDisplay
from auctor.display.ks import KSDisplay
from auctor.display.learning_curve import LearningCurveDisplay
from auctor.display.program import ProgramDisplay
from auctor.display.roc import ROCDisplay
from auctor.display.score_plot import ScorePlotDisplay
from auctor.display.score_roc import ScoreROCDisplay
from auctor.display.threshold_table import ThresholdTableDisplay
from auctor.display.top import PrecisionAtKDisplay
from auctor.display.tree import PartitionDisplay, TreeDisplay

__all__ = [
    "CAPDisplay",
    "CalibrationDisplay",
    "ForestTreeDisplay",
    "GainDisplay",
    "KSDisplay",
    "LearningCurveDisplay",
    "LiftDisplay",
    "PartitionDisplay",
    "PrecisionAtKDisplay",
    "ProgramDisplay",
    "ROCDisplay",
    "ScoreDistributionDisplay",
    "ScorePlotDisplay",
    "ScoreROCDisplay",
    "ThresholdTableDisplay",
    "TreeDisplay",
]
