"""Bins in the terms of an analyst: intervals with the shortest decimals that are still exact."""

import math
from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal

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


def interval_texts(cuts: Floats) -> list[str]:
    """The bins between cuts as text; a value equal to a cut is in the bin below it.

    An interval can be written with the cut, "<= 24.5", or with the next larger float, "< 25".
    Both mean the same for every float; all bins are written in the way that needs fewer digits.

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
    if not len(cuts):
        return ["any"]
    ends = cuts.tolist()
    closed = [decimal_text(cut) for cut in ends]
    tops = [math.nextafter(cut, math.inf) for cut in ends]
    below = [decimal_text(top) for top in tops]
    if math.isfinite(tops[-1]) and sum(map(len, below)) < sum(map(len, closed)):
        middle = [f"[{a}, {b})" for a, b in zip(below, below[1:], strict=False)]
        return [f"< {below[0]}", *middle, f">= {below[-1]}"]
    middle = [f"({a}, {b}]" for a, b in zip(closed, closed[1:], strict=False)]
    return [f"<= {closed[0]}", *middle, f"> {closed[-1]}"]


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
