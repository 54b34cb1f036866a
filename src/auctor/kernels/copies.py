"""A hash of each row, added up column by column."""

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


@kernel
def mix_column(bits: npt.NDArray[np.uint64], salt: np.uint64, out: npt.NDArray[np.uint64]) -> None:
    """Add to each row's hash that of its value in one column (splitmix64)."""
    for i in range(len(bits)):
        x = bits[i] ^ salt
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] += x ^ (x >> np.uint64(31))
