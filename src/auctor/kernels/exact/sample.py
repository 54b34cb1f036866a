"""The sample of rows in which ExactBoost searches for a stump, and the margin of a step."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.kernels.jit import kernel

Positions = npt.NDArray[np.uint32]

AUC, KS, TOP = 0, 1, 2  # metrics are numbers: a kernel with a function as argument is not cached


class Sample(NamedTuple):
    """The scores of the drawn rows of a round, sorted within each class."""

    pos: Ints
    neg: Ints
    weight_pos: float  # number of rows of the table that a drawn row counts for
    weight_neg: float
    top: float  # k of the precision at k, in rows of the table
    theta: float
    scale: float  # the range of all scores, in units


class Views(NamedTuple):
    """The drawn rows sorted by rank in each view of a feature: their positions and their ranks."""

    order_pos: Positions
    rank_pos: Positions
    order_neg: Positions
    rank_neg: Positions


@kernel
def margin_of(sample: Sample, step: int) -> int:
    """The margin (1 + |d| / 2) theta in units (Csillag et al. 2021, equation 7).

    It is rounded down, which changes no comparison of whole scores.
    """
    return int(np.floor(sample.theta * sample.scale + sample.theta * abs(step) / 2))


@kernel
def nearest_to_zero(low: int, high: int) -> int:
    """The step of smallest size between low and high, which has the smallest margin."""
    return max(low, 0) if low + high > 0 else min(high, 0)
