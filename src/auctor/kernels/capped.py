"""Row weights under a cap: what a projection reads and writes, for a block of rows of one class."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel

# A factor never falls below this: one that has reached 0 could not be raised again, and
# numbers near the end of the range are slow to work with.
LEAST_FACTOR = 2.0**-900


@kernel
def change_factors(
    line: npt.NDArray[Any],
    factor: npt.NDArray[np.float64],
    change: npt.NDArray[np.float64],
    start: int,
    stop: int,
) -> None:
    """Multiply each row's factor by the change of its code in ``line``."""
    for i in range(start, stop):
        factor[i] = max(factor[i] * change[line[i]], LEAST_FACTOR)


@kernel
def weigh_around_cap(
    weight: npt.NDArray[np.uint32],
    factor: npt.NDArray[np.float64],
    c: float,
    cap: float,
    scale: float,
    start: int,
    stop: int,
) -> tuple[np.int64, np.int64, float]:
    """Weight of the rows with c * factor above the cap; of the others, mass and largest factor.

    The mass of a row is weight * round(factor * scale), a whole number: neither the order of
    the rows nor their cut into blocks shows in a sum.
    """
    capped, mass, largest = np.int64(0), np.int64(0), 0.0
    for i in range(start, stop):
        # Which side a row is on cannot be guessed: choosing between two numbers takes a third
        # of the time of a branch (measured with half of the rows above).
        above = c * factor[i] > cap
        below = 0.0 if above else factor[i]
        capped += np.int64(weight[i]) if above else np.int64(0)
        mass += np.int64(weight[i]) * np.int64(below * scale + 0.5)
        largest = max(largest, below)
    return capped, mass, largest


@kernel
def cut_at_cap(
    factor: npt.NDArray[np.float64], c: float, cap: float, start: int, stop: int
) -> None:
    """factor <- min(c * factor, cap)."""
    for i in range(start, stop):
        factor[i] = min(c * factor[i], cap)
