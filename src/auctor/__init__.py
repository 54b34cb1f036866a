"""Train binary scoring models directly on AUC, partial AUC, KS or precision at k.

Public names load on first use, so that ``import auctor`` takes almost no time:
neither scikit-learn nor Numba is imported until a name needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from auctor._lazy import stub_names

__version__ = "0.1.0"

# Public name -> the module that defines it. The estimators are those of estimators/__init__.pyi.
_MODULES = {
    **stub_names("auctor.estimators"),
    "OracleError": "auctor.exceptions",
    "Checkpoint": "auctor.learners.checkpoint.checkpoint",
    "RankMetric": "auctor.learners.exact.metric",
    "load": "auctor.models",
    "load_scorecard": "auctor.models",
    "Dataset": "auctor.data.stored.dataset",
    "read_dataset": "auctor.data.stored.dataset",
    "score_batches": "auctor.models.batches",
}
_PACKAGES = (
    "dask",
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

__all__ = sorted([*_MODULES, "__version__", "datasets", "metrics"])

if TYPE_CHECKING:
    from auctor.data.stored.dataset import Dataset as Dataset
    from auctor.data.stored.dataset import read_dataset as read_dataset
    from auctor.estimators import *  # noqa: F403
    from auctor.exceptions import OracleError as OracleError
    from auctor.learners.checkpoint.checkpoint import Checkpoint as Checkpoint
    from auctor.learners.exact.metric import RankMetric as RankMetric
    from auctor.models import load as load
    from auctor.models import load_scorecard as load_scorecard
    from auctor.models.batches import score_batches as score_batches


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    if name in _PACKAGES:
        return import_module(f"auctor.{name}")
    raise AttributeError(f"module 'auctor' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
