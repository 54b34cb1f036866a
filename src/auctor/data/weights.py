"""Row weights as whole numbers, so that sums over rows are exact.

Weights say how much a row matters beside the others: ``relative_weights`` makes the same whole
numbers of weights and of any multiple of them. Where they count copies of a row instead,
``frequency_weights`` keeps their size. ``effective_rows`` says how many rows the weights are
worth where a rule asks for a number of rows.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import frexp, lcm

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints

Multiples = npt.NDArray[np.uint32]

# Bits of the largest weight and of the sum. What the sum leaves of 60 bits is the precision
# of a row's boosting factor: fractions, which are rounded anyhow, leave more of it than
# whole numbers, which are kept.
_BITS_WHOLE = 31, 40
_BITS_FRACTIONS = 24, 36
# Weights are whole multiples of a common unit if they are so up to this part of the largest, a
# few roundings of a float64, and the largest is no more than this many units: of larger numbers
# some fraction is always near.
_ROUNDING = 2.0**-50
_MOST_PARTS = 2**20
# read_weights divides weights of other sizes by a power of two.
_USUAL = 2.0**-100, 2.0**100


def relative_weights(weight: Floats | None, n_rows: int) -> Multiples:
    """Weights as whole numbers that a common factor of all weights does not change.

    Whole weights are divided by their greatest common divisor, and so are weights that are
    whole multiples of some unit up to rounding (0.1, 0.3, 0.7). Others, and those of more than
    2^20 units, are rounded to 24 bits of the largest weight.

    Examples
    --------
    >>> relative_weights(np.array([1.0, 2.5, 0.25]), 3).tolist()
    [4, 10, 1]
    >>> relative_weights(np.array([0.3, 0.7, 0.1]), 3).tolist()
    [3, 7, 1]
    >>> relative_weights(np.array([20.0, 20.0, 20.0]), 3).tolist()
    [1, 1, 1]
    """
    if weight is None:
        return np.ones(n_rows, dtype=np.uint32)
    whole = _whole_multiples(weight)
    if whole is not None:
        return _within_bits(whole.astype(np.float64), 0, _BITS_WHOLE[1])
    share = weight / weight.max()
    return _within_bits(share, -_BITS_FRACTIONS[0], _BITS_FRACTIONS[1])


def _whole_multiples(weight: Floats) -> Ints | None:
    """The weights over their greatest common divisor; None where that has no meaning."""
    largest = float(weight.max())
    if largest < 2.0**53 and bool((np.rint(weight) == weight).all()):
        whole = weight.astype(np.int64)
        whole = np.asarray(whole // np.gcd.reduce(whole))
        return whole if whole.max() <= _MOST_PARTS else None
    share = weight / largest
    parts = _common_parts(share)
    return None if parts is None else np.rint(share * parts).astype(np.int64)


def _common_parts(share: Floats) -> int | None:
    """The least number of parts of 1 such that every share is a whole number of them."""
    if float(share.min()) * _MOST_PARTS < 0.5:
        return None
    parts = 1
    while parts <= _MOST_PARTS:
        counts = share * parts
        off = (np.abs(counts - np.rint(counts)) > _ROUNDING * parts) | (counts < 0.5)
        if not off.any():
            return parts
        denominator = _denominator(float(share[off].max()))
        if denominator is None:
            return None
        parts = lcm(parts, denominator)
    return None


def _denominator(x: float) -> int | None:
    """The least q of the fractions p/q that continue towards x and equal it up to rounding."""
    exact = rest = Fraction(x)
    before, now = (0, 1), (1, 0)  # (p, q) of the last two convergents
    while now[1] <= _MOST_PARTS:
        whole = rest.numerator // rest.denominator
        before, now = now, (whole * now[0] + before[0], whole * now[1] + before[1])
        if abs(exact - Fraction(*now)) <= _ROUNDING:
            return now[1] if now[1] <= _MOST_PARTS else None
        rest = 1 / (rest - whole)
    return None


def _within_bits(weight: Floats, finest: int, total_bits: int) -> Multiples:
    """Weights in units of 2^finest, or coarser where the sum would have too many bits."""
    multiples = _multiples(weight, finest)
    excess = int(multiples.sum()).bit_length() - total_bits
    if excess > 0:
        multiples = _multiples(weight, finest + excess)
    return multiples.astype(np.uint32)


def frequency_weights(weight: Floats | None, n_rows: int) -> tuple[Multiples, float]:
    """Weights that count copies, as multiples of a power of two; returns (multiples, unit).

    Whole weights are kept as they are (up to 31 bits, and 40 in all), and so is every
    fraction that binary numbers hold within 24 bits of the largest weight (36 bits in all);
    others are rounded to such a fraction.

    Examples
    --------
    >>> whole, unit = frequency_weights(np.array([1.0, 2.5, 0.25]), 3)
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


def _multiples(weight: Floats, exponent: int) -> npt.NDArray[np.uint64]:
    """Weights in units of a power of two, rounded, but never to nothing."""
    return np.maximum(np.rint(np.ldexp(weight, -exponent)), 1.0).astype(np.uint64)


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


def effective_rows(weights: Iterable[npt.NDArray[np.integer]]) -> float:
    """Kish's effective number of rows, (sum w)^2 / sum w^2, of whole weights in any blocks.

    So many rows of equal weight have a mean of the same variance. Sums are exact: neither the
    order of the rows nor their blocks show, and equal weights give the number of rows.

    Examples
    --------
    >>> effective_rows([np.array([5, 5], dtype=np.uint32), np.array([5], dtype=np.uint32)])
    3.0
    >>> effective_rows([np.array([1, 1, 8], dtype=np.uint32)])
    1.5151515151515151
    """
    total = square = 0
    for weight in weights:
        # In halves of 16 bits, whose products add up within 64 bits.
        high, low = (weight >> 16).astype(np.uint64), (weight & 0xFFFF).astype(np.uint64)
        total += int(weight.sum(dtype=np.uint64))
        square += (int((high * high).sum()) << 32) + (int((high * low).sum()) << 17)
        square += int((low * low).sum())
    return total * total / square if square else 0.0


def usual_size(weight: Floats) -> Floats:
    """Weights divided by a power of two where their squares or sums might leave a float64.

    Every quotient of sums of weights stays what it was, to the last bit. No weight becomes 0.

    Examples
    --------
    >>> usual_size(np.array([3.0, 0.5])).tolist(), usual_size(np.array([2.0**600, 0.0])).tolist()
    ([3.0, 0.5], [0.5, 0.0])
    """
    largest = float(weight.max(initial=0.0))
    if largest == 0.0 or _USUAL[0] <= largest <= _USUAL[1]:
        return weight
    scaled = np.ldexp(weight, -frexp(largest)[1])
    least = np.finfo(np.float64).smallest_subnormal
    return np.asarray(np.where(weight > 0, np.maximum(scaled, least), 0.0))
