"""Hashes of rows, computed column by column."""

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel

_SIGN = np.uint64(1 << 63)
_INFINITY = np.uint64(0x7FF0000000000000)
_NAN = np.uint64(0x7FF8000000000000)


@kernel
def mix_column(bits: npt.NDArray[np.uint64], salt: np.uint64, out: npt.NDArray[np.uint64]) -> None:
    """Add the hash of the value in one column (splitmix64) to the hash of each row.

    ``bits`` are the bits of float64 numbers. All NaN have the same hash, and so have -0 and 0.
    """
    for i in range(len(bits)):
        x = bits[i]
        if x & ~_SIGN > _INFINITY:
            x = _NAN
        elif x == _SIGN:
            x = np.uint64(0)
        x ^= salt
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        out[i] += x ^ (x >> np.uint64(31))
