"""Pairs of features: the cell of a table over both that each row falls into, and sums by cell."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


@kernel
def pair_cells(
    first: npt.NDArray[Any],
    second: npt.NDArray[Any],
    groups_first: npt.NDArray[np.uint16],
    groups_second: npt.NDArray[np.uint16],
    side: int,
    out: npt.NDArray[np.uint16],
) -> None:
    """The cell group_first * side + group_second of each row, from its two codes."""
    for i in range(len(first)):
        out[i] = groups_first[first[i]] * side + groups_second[second[i]]


@kernel
def count_pair(
    first: npt.NDArray[np.uint8],
    second: npt.NDArray[np.uint8],
    slopes: npt.NDArray[np.int64],
    weight: npt.NDArray[np.uint32],
    start: int,
    stop: int,
    slope_sums: npt.NDArray[np.int64],
    weight_sums: npt.NDArray[np.int64],
) -> None:
    """Sum whole slopes and weights of rows start..stop by the groups of two features."""
    for i in range(start, stop):
        a, b = first[i], second[i]
        slope_sums[a, b] += slopes[i]
        weight_sums[a, b] += np.int64(weight[i])
