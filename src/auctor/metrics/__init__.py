"""Metrics of binary scores with confidence intervals and tests.

ROC curves and their areas, partial AUC, KS, precision at k, lift, thresholds and calibration.
"""

from auctor.metrics.area import auc, margin_auc, partial_auc
from auctor.metrics.area_interval import partial_auc_ci
from auctor.metrics.band import RocBand, roc_band
from auctor.metrics.by_group import by_group
from auctor.metrics.calibration import CalibrationTable, calibration_table
from auctor.metrics.comparison import AucComparison, compare_auc
from auctor.metrics.curve import OperatingPoint, RocCurve, roc_curve
from auctor.metrics.curve_intervals import MetricInterval, ks_ci, precision_at_k_ci
from auctor.metrics.folds import fold_instability
from auctor.metrics.gain import GainCurve, gain_curve
from auctor.metrics.group_table import GroupEstimate, GroupRow, GroupTable, GroupTest
from auctor.metrics.histogram import ScoreHistogram, score_histogram
from auctor.metrics.intervals import AucInterval, auc_ci
from auctor.metrics.metric_comparison import MetricComparison, compare_metric
from auctor.metrics.scorers import ks_scorer, partial_auc_scorer, precision_at_k_scorer
from auctor.metrics.separation import RocDistance, ks, roc_distance
from auctor.metrics.sorted_scores import roc_curve_of_batches
from auctor.metrics.stability import PsiTest, psi, psi_test
from auctor.metrics.threshold_table import ThresholdRow, ThresholdTable, threshold_table
from auctor.metrics.thresholds import Threshold, threshold_at
from auctor.metrics.top import lift, precision_at_k, recall_at_k

__all__ = [
    "AucComparison",
    "AucInterval",
    "CalibrationTable",
    "GainCurve",
    "GroupEstimate",
    "GroupRow",
    "GroupTable",
    "GroupTest",
    "MetricComparison",
    "MetricInterval",
    "OperatingPoint",
    "PsiTest",
    "RocBand",
    "RocCurve",
    "RocDistance",
    "ScoreHistogram",
    "Threshold",
    "ThresholdRow",
    "ThresholdTable",
    "auc",
    "auc_ci",
    "by_group",
    "calibration_table",
    "compare_auc",
    "compare_metric",
    "fold_instability",
    "gain_curve",
    "ks",
    "ks_ci",
    "ks_scorer",
    "lift",
    "margin_auc",
    "partial_auc",
    "partial_auc_ci",
    "partial_auc_scorer",
    "precision_at_k",
    "precision_at_k_ci",
    "precision_at_k_scorer",
    "psi",
    "psi_test",
    "recall_at_k",
    "roc_band",
    "roc_curve",
    "roc_curve_of_batches",
    "roc_distance",
    "score_histogram",
    "threshold_at",
    "threshold_table",
]
