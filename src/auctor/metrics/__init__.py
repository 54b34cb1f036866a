"""Metrics of a score of two classes: the ROC curve, areas, the top, and how sure they are."""

from auctor.metrics.area import auc, margin_auc, partial_auc
from auctor.metrics.comparison import AucComparison, compare_auc
from auctor.metrics.curve import OperatingPoint, RocCurve, roc_curve
from auctor.metrics.intervals import AucInterval, auc_ci
from auctor.metrics.scorers import ks_scorer, partial_auc_scorer, precision_at_k_scorer
from auctor.metrics.separation import RocDistance, ks, roc_distance
from auctor.metrics.thresholds import Threshold, threshold_at
from auctor.metrics.top import lift, precision_at_k, recall_at_k

__all__ = [
    "AucComparison",
    "AucInterval",
    "OperatingPoint",
    "RocCurve",
    "RocDistance",
    "Threshold",
    "auc",
    "auc_ci",
    "compare_auc",
    "ks",
    "ks_scorer",
    "lift",
    "margin_auc",
    "partial_auc",
    "partial_auc_scorer",
    "precision_at_k",
    "precision_at_k_scorer",
    "recall_at_k",
    "roc_curve",
    "roc_distance",
    "threshold_at",
]
