"""Row weights as whole numbers, so that sums over rows are exact."""

import numpy as np
import numpy.typing as npt

# Bits of the largest weight and of the sum. What the sum leaves of 60 bits is the precision
# of a row's boosting factor: fractions, which are rounded anyhow, leave more of it than
# whole numbers, which are kept.
_BITS_WHOLE = 31, 40
_BITS_FRACTIONS = 24, 36


def whole_weights(
    weight: npt.NDArray[np.float64] | None, n_rows: int
) -> tuple[npt.NDArray[np.uint32], float]:
    """Weights as multiples of a unit, a power of two; returns (multiples, unit).

    Whole weights are kept as they are (up to 31 bits, and 40 in all), and so is every
    fraction that binary numbers hold within 24 bits of the largest weight (36 bits in all);
    others are rounded to such a fraction.

    Examples
    --------
    >>> whole, unit = whole_weights(np.array([1.0, 2.5, 0.25]), 3)
    >>> whole.tolist(), unit
    ([4, 10, 1], 0.25)
    """
    if weight is None:
        return np.ones(n_rows, dtype=np.uint32), 1.0
    # Beyond 2^31 every float is whole, and that says nothing.
    is_whole = weight.max() < 2.0**31 and (np.rint(weight) == weight).all()
    row_bits, total_bits = _BITS_WHOLE if is_whole else _BITS_FRACTIONS
    finest = int(np.frexp(weight.max())[1]) - row_bits
    multiples = _multiples(weight, finest)
    # The total is added up in whole numbers: the order of the rows must not show.
    excess = int(multiples.sum()).bit_length() - total_bits
    if excess > 0:
        finest += excess
        multiples = _multiples(weight, finest)
    spare = _trailing_zeros(int(np.bitwise_or.reduce(multiples)))
    # Never a unit above 1: rows of weight 2 must add up as the same rows twice do.
    shift = min(spare, max(0, -finest))
    return (multiples >> np.uint64(shift)).astype(np.uint32), float(2.0 ** (finest + shift))


def _multiples(weight: npt.NDArray[np.float64], exponent: int) -> npt.NDArray[np.uint64]:
    """Weights in units of a power of two, rounded, but never to nothing."""
    return np.maximum(np.rint(np.ldexp(weight, -exponent)), 1.0).astype(np.uint64)


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1
