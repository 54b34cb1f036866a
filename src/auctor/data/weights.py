"""Row weights as whole numbers, so that sums over rows are exact.

Usually only the proportions of the weights matter: ``relative_weights`` gives the same whole
numbers for weights and for any multiple of them. If weights count copies of a row,
``frequency_weights`` keeps their size. ``effective_rows`` is the effective sample size, for rules
that depend on a number of rows.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import frexp, gcd, lcm

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.data.group import ALONE, Group
from auctor.data.row_arrays import row_blocks

Multiples = npt.NDArray[np.uint32]

# Maximum number of bits of a weight and of the sum. The bits of 60 that the sum leaves are the
# precision of the boosting factor of a row: fractions, which are rounded anyway, leave more of them
# than whole numbers, which are exact.
_BITS_WHOLE = 31, 40
_BITS_FRACTIONS = 24, 36
# Weights are treated as whole multiples of a common unit if they are multiples of it up to this
# fraction of the largest weight (a few rounding errors of float64), and if the largest is at most
# this number of units: with larger numbers some fraction is always close.
_ROUNDING = 2.0**-50
_MAX_PARTS = 2**20
# Weights whose largest value is outside of this range are divided by a power of two.
_USUAL = 2.0**-100, 2.0**100


def relative_weights(weight: Floats | None, n_rows: int, group: Group = ALONE) -> Multiples:
    """Weights as whole numbers, which do not change if all weights are multiplied by a constant.

    Whole weights are divided by their greatest common divisor, and so are weights that are whole
    multiples of some unit up to rounding (0.1, 0.3, 0.7). Other weights, and those of more than
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
    whole = _whole_multiples(weight, group)
    if whole is not None:
        return _within_bits(whole.astype(np.float64), 0, _BITS_WHOLE[1], group)
    relative = weight / _largest(weight, group)
    return _within_bits(relative, -_BITS_FRACTIONS[0], _BITS_FRACTIONS[1], group)


def _largest(weight: Floats, group: Group) -> float:
    """The largest weight of all members of the group."""
    return group.largest(weight.max(initial=0.0))


def _whole_multiples(weight: Floats, group: Group) -> Ints | None:
    """The weights divided by their greatest common divisor; None if they have no common unit."""
    largest = _largest(weight, group)
    if largest < 2.0**53 and not group.any(bool((np.rint(weight) != weight).any())):
        whole = weight.astype(np.int64)
        divisor = gcd(*group.gather(int(np.gcd.reduce(whole))))
        return whole // divisor if int(largest) // divisor <= _MAX_PARTS else None
    relative = weight / largest
    denominator = _common_denominator(relative, group)
    return None if denominator is None else np.rint(relative * denominator).astype(np.int64)


def _common_denominator(relative: Floats, group: Group) -> int | None:
    """The smallest common denominator of numbers from 0 to 1, up to rounding."""
    if group.smallest(relative.min(initial=1.0)) * _MAX_PARTS < 0.5:
        return None
    parts = 1
    while parts <= _MAX_PARTS:
        counts = relative * parts
        off = (np.abs(counts - np.rint(counts)) > _ROUNDING * parts) | (counts < 0.5)
        largest_off = group.largest(relative[off].max(initial=0.0))
        if largest_off == 0.0:
            return parts
        denominator = _denominator(largest_off)
        if denominator is None:
            return None
        parts = lcm(parts, denominator)
    return None


def _denominator(x: float) -> int | None:
    """The denominator of the first convergent (continued fraction) that is x up to rounding."""
    exact = rest = Fraction(x)
    before, now = (0, 1), (1, 0)  # (p, q) of the last two convergents
    while now[1] <= _MAX_PARTS:
        whole = rest.numerator // rest.denominator
        before, now = now, (whole * now[0] + before[0], whole * now[1] + before[1])
        if abs(exact - Fraction(*now)) <= _ROUNDING:
            return now[1] if now[1] <= _MAX_PARTS else None
        rest = 1 / (rest - whole)
    return None


def _within_bits(weight: Floats, finest: int, total_bits: int, group: Group) -> Multiples:
    """Weights in units of 2^finest, or of a larger power of two if the sum had too many bits."""
    multiples = _multiples(weight, finest)
    excess = group.total(multiples.sum()).bit_length() - total_bits
    if excess > 0:
        multiples = _multiples(weight, finest + excess)
    return multiples.astype(np.uint32)


def frequency_weights(
    weight: Floats | None, n_rows: int, group: Group = ALONE
) -> tuple[Multiples, float]:
    """Weights that count copies, as whole multiples of a power of two: (multiples, unit).

    Whole weights of up to 31 bits (40 bits in their sum) are exact, and so are binary fractions
    within 24 bits of the largest weight (36 bits in their sum). Other weights are rounded.

    Examples
    --------
    >>> whole, unit = frequency_weights(np.array([1.0, 2.5, 0.25]), 3)
    >>> whole.tolist(), unit
    ([4, 10, 1], 0.25)
    """
    if weight is None:
        return np.ones(n_rows, dtype=np.uint32), 1.0
    # Large floats are whole anyway, so that this has no meaning beyond 2^31.
    largest = _largest(weight, group)
    is_fraction = group.any(bool((np.rint(weight) != weight).any()))
    is_whole = largest < 2.0**31 and not is_fraction
    row_bits, total_bits = _BITS_WHOLE if is_whole else _BITS_FRACTIONS
    finest = frexp(largest)[1] - row_bits
    multiples = _multiples(weight, finest)
    # The sum is one of whole numbers, so that it does not depend on the order of the rows.
    excess = group.total(multiples.sum()).bit_length() - total_bits
    if excess > 0:
        finest += excess
        multiples = _multiples(weight, finest)
    used_bits = np.bitwise_or.reduce(group.gather(int(np.bitwise_or.reduce(multiples))))
    spare = _trailing_zeros(int(used_bits))
    # The unit is at most 1, so that rows of weight 2 add the same as the rows twice.
    shift = min(spare, max(0, -finest))
    return (multiples >> np.uint64(shift)).astype(np.uint32), float(2.0 ** (finest + shift))


def _multiples(weight: Floats, exponent: int) -> npt.NDArray[np.uint64]:
    """Weights in units of a power of two, rounded to whole numbers of 1 or more."""
    return np.maximum(np.rint(np.ldexp(weight, -exponent)), 1.0).astype(np.uint64)


def _trailing_zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


def effective_rows(weights: Iterable[npt.NDArray[np.integer]], group: Group = ALONE) -> float:
    """Kish's effective number of rows, (sum w)^2 / sum w^2, of whole weights in any blocks.

    The mean of this number of rows of equal weight has the same variance. Sums are exact, so that
    the result does not depend on the order of the rows, on the blocks or on which member of a
    group holds them; for equal weights it is the number of rows.

    Examples
    --------
    >>> effective_rows([np.array([5, 5], dtype=np.uint32), np.array([5], dtype=np.uint32)])
    3.0
    >>> effective_rows([np.array([1, 1, 8], dtype=np.uint32)])
    1.5151515151515151
    """
    total = square = 0
    for weight in (own[rows] for own in weights for rows in row_blocks(len(own))):
        # Weights are split into halves of 16 bits, so that sums of products fit into 64 bits.
        high, low = (weight >> 16).astype(np.uint64), (weight & 0xFFFF).astype(np.uint64)
        total += int(weight.sum(dtype=np.uint64))
        square += (int((high * high).sum()) << 32) + (int((high * low).sum()) << 17)
        square += int((low * low).sum())
    total, square = group.total(total), group.total(square)
    return total * total / square if square else 0.0


def usual_size(weight: Floats, group: Group = ALONE) -> Floats:
    """Weights divided by a power of two if their squares or sums could overflow or underflow.

    Quotients of sums of weights are not changed in any bit. No positive weight becomes 0.

    Examples
    --------
    >>> usual_size(np.array([3.0, 0.5])).tolist(), usual_size(np.array([2.0**600, 0.0])).tolist()
    ([3.0, 0.5], [0.5, 0.0])
    """
    largest = _largest(weight, group)
    if largest == 0.0 or _USUAL[0] <= largest <= _USUAL[1]:
        return weight
    scaled = np.ldexp(weight, -frexp(largest)[1])
    least = np.finfo(np.float64).smallest_subnormal
    return np.asarray(np.where(weight > 0, np.maximum(scaled, least), 0.0))
