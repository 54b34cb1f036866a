"""Row weights as whole numbers, so that sums over rows are exact."""

import numpy as np
import numpy.typing as npt

# With at most 2^31 for a row and 2^40 in all, a weight times a boosting factor of
# 20 bits still adds up in an int64.
_ROW_BITS = 31
_TOTAL_BITS = 40


def whole_weights(
    weight: npt.NDArray[np.float64] | None, n_rows: int
) -> tuple[npt.NDArray[np.uint32], float]:
    """Weights as multiples of a unit, a power of two; returns (multiples, unit).

    Whole weights are kept as they are, and so is every fraction that binary numbers
    hold within 31 bits of the largest weight; others are rounded to such a fraction.

    Examples
    --------
    >>> whole, unit = whole_weights(np.array([1.0, 2.5, 0.25]), 3)
    >>> whole.tolist(), unit
    ([4, 10, 1], 0.25)
    """
    if weight is None:
        return np.ones(n_rows, dtype=np.uint32), 1.0
    finest = int(np.frexp(weight.max())[1]) - _ROW_BITS
    multiples = _multiples(weight, finest)
    # The total is added up in whole numbers: the order of the rows must not show.
    excess = int(multiples.sum()).bit_length() - _TOTAL_BITS
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
