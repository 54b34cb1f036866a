"""Bins in the terms of an analyst: intervals with the shortest decimals that are still exact."""

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal
from itertools import pairwise
from typing import Literal, NamedTuple

from auctor._typing import Floats
from auctor.data import Category

MISSING = "missing"
OTHER = "missing or other"


def decimal_text(number: float) -> str:
    """The shortest decimal that stands for this float and no other.

    Examples
    --------
    >>> decimal_text(25.0), decimal_text(0.1), decimal_text(-0.0), decimal_text(1e22)
    ('25', '0.1', '0', '1e+22')
    """
    text = repr(number + 0.0)
    return text.removesuffix(".0")


class Ends(NamedTuple):
    """The numbers between intervals, and which end of an interval belongs to it."""

    numbers: tuple[float, ...]
    closed: Literal["left", "right"]


def interval_ends(cuts: Floats) -> Ends:
    """The ends of the bins between cuts, with as few digits as possible.

    A value equal to a cut is in the bin below it. "Up to the cut" and "below the next larger float"
    mean the same for every float; all bins are written in the way that needs fewer digits.

    Examples
    --------
    >>> import numpy as np
    >>> interval_ends(np.array([24.5, 39.5]))
    Ends(numbers=(24.5, 39.5), closed='right')
    >>> interval_ends(np.nextafter([25.0, 40.0], 0))
    Ends(numbers=(25.0, 40.0), closed='left')
    """
    ends = tuple(cuts.tolist())
    tops = tuple(math.nextafter(cut, math.inf) for cut in ends)
    lengths = [sum(len(decimal_text(number)) for number in own) for own in (tops, ends)]
    is_left = bool(tops) and math.isfinite(tops[-1]) and lengths[0] < lengths[1]
    return Ends(tops, "left") if is_left else Ends(ends, "right")


def interval_texts(cuts: Floats) -> list[str]:
    """The bins between cuts as text.

    Examples
    --------
    >>> import numpy as np
    >>> interval_texts(np.array([24.5, 39.5]))
    ['<= 24.5', '(24.5, 39.5]', '> 39.5']
    >>> interval_texts(np.nextafter([25.0, 40.0], 0))
    ['< 25', '[25, 40)', '>= 40']
    >>> interval_texts(np.array([]))
    ['any']
    """
    numbers, closed = interval_ends(cuts)
    texts = [decimal_text(number) for number in numbers]
    if not texts:
        return ["any"]
    if closed == "left":
        middle = [f"[{low}, {high})" for low, high in pairwise(texts)]
        return [f"< {texts[0]}", *middle, f">= {texts[-1]}"]
    middle = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *middle, f"> {texts[-1]}"]


def group_text(categories: Sequence[Category], most: int = 0) -> str:
    """The categories of a group as text; with ``most`` only the first of a long list.

    Examples
    --------
    >>> group_text(["car", "boat"]), group_text([]), group_text(["", "a", "b"], most=2)
    ('car, boat', 'none', '(empty text), a and 1 more')
    """
    names = [category_text(category) for category in categories]
    if most and len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return ", ".join(names) or "none"


def category_text(category: Category) -> str:
    """A category as text."""
    if isinstance(category, float):
        return decimal_text(category)
    return str(category) or "(empty text)"


def short_cut(below: float, above: float) -> float:
    """The cut between two numbers that can be written with the fewest digits, as "< 25".

    Every number up to ``below`` stays below the cut, and every number from ``above`` on above it.

    Examples
    --------
    >>> import numpy as np
    >>> interval_texts(np.array([short_cut(0.123, 0.124), short_cut(38, 42)]))
    ['< 0.124', '[0.124, 40)', '>= 40']
    """
    low, high = Decimal(repr(float(below))), Decimal(repr(float(above)))
    last = int(high.as_tuple().exponent)
    first = max(low.adjusted(), high.adjusted(), last) + 1
    for exponent in range(first, last - 1, -1):
        unit = Decimal(1).scaleb(exponent)
        # to_integral_value has no limit of digits, unlike quantize.
        end = float((high / unit).to_integral_value(rounding=ROUND_FLOOR) * unit)
        if below < end <= above:
            return math.nextafter(end, -math.inf)
    return math.nextafter(above, -math.inf)
