"""Scoring functions for two classes, trained on the metric they are judged by.

Public names load on first use, so that ``import auctor`` costs next to nothing:
neither scikit-learn nor Numba is imported until a name needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

# Public name -> the module that defines it.
_MODULES = {
    "AUCBoost": "auctor.estimators",
    "DMKS": "auctor.estimators",
    "ExactBoost": "auctor.estimators",
    "ExactBoostCV": "auctor.estimators",
    "MarginRanker": "auctor.estimators",
    "MarginRankerCV": "auctor.estimators",
    "MartiRank": "auctor.estimators",
    "RankBoost": "auctor.estimators",
    "SamplingMartiRank": "auctor.estimators",
    "SmoothAUCBoost": "auctor.estimators",
    "SmoothAUCBoostCV": "auctor.estimators",
    "SoftRankBoost": "auctor.estimators",
    "TreeRank": "auctor.estimators",
    "TreeRankForest": "auctor.estimators",
    "OracleError": "auctor.exceptions",
    "RankMetric": "auctor.learners.exact.metric",
    "cross_validate": "auctor.estimators",
    "load": "auctor.models",
}
_PACKAGES = (
    "data",
    "datasets",
    "display",
    "estimators",
    "exceptions",
    "learners",
    "metrics",
    "models",
    "report",
    "testing",
    "weak",
)

__all__ = [
    "DMKS",
    "AUCBoost",
    "ExactBoost",
    "ExactBoostCV",
    "MarginRanker",
    "MarginRankerCV",
    "MartiRank",
    "OracleError",
    "RankBoost",
    "RankMetric",
    "SamplingMartiRank",
    "SmoothAUCBoost",
    "SmoothAUCBoostCV",
    "SoftRankBoost",
    "TreeRank",
    "TreeRankForest",
    "__version__",
    "cross_validate",
    "datasets",
    "load",
    "metrics",
]

if TYPE_CHECKING:
    from auctor.estimators import (
        DMKS,
        AUCBoost,
        ExactBoost,
        ExactBoostCV,
        MarginRanker,
        MarginRankerCV,
        MartiRank,
        RankBoost,
        SamplingMartiRank,
        SmoothAUCBoost,
        SmoothAUCBoostCV,
        SoftRankBoost,
        TreeRank,
        TreeRankForest,
        cross_validate,
    )
    from auctor.exceptions import OracleError
    from auctor.learners.exact.metric import RankMetric
    from auctor.models import load


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in _PACKAGES:
        return import_module(f"auctor.{name}")
    raise AttributeError(f"module 'auctor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES, *_PACKAGES})
