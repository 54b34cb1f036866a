"""Metrics of a score of two classes: the ROC curve, areas, the top, and how sure they are."""

from typing import TYPE_CHECKING, Any

from auctor.metrics.area import auc, margin_auc, partial_auc
from auctor.metrics.comparison import AucComparison, compare_auc
from auctor.metrics.curve import OperatingPoint, RocCurve, roc_curve
from auctor.metrics.intervals import AucInterval, auc_ci
from auctor.metrics.separation import RocDistance, ks, roc_distance
from auctor.metrics.top import lift, precision_at_k, recall_at_k

if TYPE_CHECKING:
    from auctor.metrics.scorers import ks_scorer, partial_auc_scorer, precision_at_k_scorer

__all__ = [
    "AucComparison",
    "AucInterval",
    "OperatingPoint",
    "RocCurve",
    "RocDistance",
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
]

# The scorers need scikit-learn, which is not loaded until one of them is.
_SCORERS = ("ks_scorer", "partial_auc_scorer", "precision_at_k_scorer")


def __getattr__(name: str) -> Any:
    if name in _SCORERS:
        from auctor.metrics import scorers

        return getattr(scorers, name)
    raise AttributeError(f"module 'auctor.metrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
