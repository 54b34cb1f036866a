"""Settings of the boosted trees."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TreeBoostSettings:
    """Settings of a fit."""

    n_estimators: int = 500
    learning_rate: float = 0.1
    loss: str = "logistic"  # over pairs; "auc": Komori's smoothed AUC; "log": of single rows
    fpr_range: tuple[float, float] | None = None  # for the smoothed partial AUC
    max_depth: int = 6
    subsample: float = 0.6  # fraction of the rows drawn for each tree
    max_features: Any = 0.4  # drawn for each node
    l2_regularization: float = 1.0  # in effective rows of curvature
    signs: tuple[int, ...] = ()  # of features in which the score must be monotone
    groups: tuple[tuple[int, ...], ...] = ()  # features that may be tested on one path
    n_iter_no_change: int = 60
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = False
