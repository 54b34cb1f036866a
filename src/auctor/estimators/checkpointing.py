"""Which estimators can be fitted with a checkpoint, and with which parameters."""

import os
from typing import Any

from auctor.learners.checkpoint.checkpoint import Checkpoint

# Estimators whose learners note their steps in a journal.
WITH_CHECKPOINT = (
    "RankBoost",
    "SoftRankBoost",
    "AUCBoost",
    "MartiRank",
    "TreeRank",
    "SmoothAUCBoost",
    "SmoothAUCBoostCV",
    "SmoothTreeBoost",
    "ExactBoost",
)
# Weak rankers of AUCBoost and MartiRank whose rounds can be noted; others are objects of any kind.
_NOTED = ("feature", "stump")


def read_checkpoint(checkpoint: Any, estimator: Any) -> Checkpoint | None:
    """The checkpoint of a fit, from a folder or a Checkpoint; errors about the estimator first."""
    if checkpoint is None:
        return None
    name = type(estimator).__name__
    if not isinstance(checkpoint, (str, os.PathLike, Checkpoint)):
        raise ValueError(
            f"checkpoint is of type {type(checkpoint).__name__}; give the name of a folder, or a "
            "Checkpoint"
        )
    if name not in WITH_CHECKPOINT:
        raise TypeError(
            f"{name} does not support checkpoints; leave out checkpoint, or use one of "
            f"{', '.join(WITH_CHECKPOINT)}"
        )
    parameters = estimator.get_params(deep=False)
    weak = parameters.get("estimator", _NOTED[0])
    if not (isinstance(weak, str) and weak in _NOTED):
        raise ValueError(
            f"{name} with estimator={weak!r} does not support checkpoints; leave out checkpoint, "
            "or give estimator='feature' or 'stump'"
        )
    if parameters.get("random_state", 0) is None:
        raise ValueError(
            "random_state is None, with which a fit that goes on would make other random choices; "
            "give a number"
        )
    return checkpoint if isinstance(checkpoint, Checkpoint) else Checkpoint(checkpoint)
