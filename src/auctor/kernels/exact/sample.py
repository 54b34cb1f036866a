"""What every search of ExactBoost is about: the rows of a round, and the margin of a step."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.kernels.jit import kernel

Places = npt.NDArray[np.uint32]

AUC, KS, TOP = 0, 1, 2  # metrics by number: a function as an argument would never be cached


class Sample(NamedTuple):
    """The drawn rows of a round, each class in the order of its scores."""

    pos: Ints
    neg: Ints
    weight_pos: float  # rows of the table that a drawn row stands for
    weight_neg: float
    top: float  # k of the precision at k, in rows of the table
    theta: float
    scale: float  # what the range of all scores is in units


class Views(NamedTuple):
    """The drawn rows by rank in each view of a feature: their places, and the sorted ranks."""

    order_pos: Places
    rank_pos: Places
    order_neg: Places
    rank_neg: Places


@kernel
def margin_of(sample: Sample, step: int) -> int:
    """The margin (1 + |d| / 2) theta of (7) in units; scores are whole, so its floor will do."""
    return int(np.floor(sample.theta * sample.scale + sample.theta * abs(step) / 2))


@kernel
def nearest_to_zero(low: int, high: int) -> int:
    """The step of least size, where the margin is least."""
    return max(low, 0) if low + high > 0 else min(high, 0)
