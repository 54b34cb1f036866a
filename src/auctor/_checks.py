"""Checks of plain arguments: each returns the checked value or raises a ValueError.

All messages have one form: "<name> is <what was given>; give <what is accepted>".
"""

import math
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_number(value: Any, name: str) -> float:
    """Return a real number that is not NaN as a float.

    Examples
    --------
    >>> check_number("high", "cost")
    Traceback (most recent call last):
        ...
    ValueError: cost is 'high'; give a number
    """
    if not _is_real(value) or math.isnan(value):
        raise ValueError(f"{name} is {value!r}; give a number")
    return float(value)


def check_finite(value: Any, name: str) -> float:
    """Return a number that is neither NaN nor infinite as a float."""
    if not _is_real(value) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}; give a finite number")
    return float(value)


def check_positive(value: Any, name: str) -> float:
    """Return a finite number above 0 as a float."""
    if not _is_real(value) or not 0 < value < math.inf:
        raise ValueError(f"{name} is {value!r}; give a finite number above 0")
    return float(value)


def check_whole(value: Any, name: str, *, minimum: int = 1) -> int:
    """Return a whole number of at least ``minimum`` as an int.

    Examples
    --------
    >>> check_whole(0, "n_bins")
    Traceback (most recent call last):
        ...
    ValueError: n_bins is 0; give a whole number of at least 1
    """
    if not is_whole(value) or value < minimum:
        raise ValueError(f"{name} is {value!r}; give a whole number of at least {minimum}")
    return int(value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number of Python or NumPy; True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_level(level: Any, name: str = "level") -> float:
    """Return a confidence level strictly between 0 and 1.

    Examples
    --------
    >>> check_level(1.2)
    Traceback (most recent call last):
        ...
    ValueError: level is 1.2; give a number between 0 and 1, such as 0.95
    """
    if not _is_real(level) or not 0 < level < 1:
        raise ValueError(f"{name} is {level!r}; give a number between 0 and 1, such as 0.95")
    return float(level)


def check_rate(value: Any, name: str) -> float:
    """Return a rate from 0 to 1, both ends included."""
    if not _is_real(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} is {value!r}; give a number from 0 to 1")
    return float(value)


def check_fraction(value: Any, name: str) -> float:
    """Return a fraction strictly between 0 and 1."""
    if not _is_real(value) or not 0 < value < 1:
        raise ValueError(f"{name} is {value!r}; give a fraction strictly between 0 and 1")
    return float(value)


def check_region(region: Any, name: str) -> tuple[float, float]:
    """Return a pair (low, high) with 0 <= low < high <= 1.

    Examples
    --------
    >>> check_region(0.1, "fpr_range")
    Traceback (most recent call last):
        ...
    ValueError: fpr_range is 0.1; give a pair (low, high) with 0 <= low < high <= 1, ...
    """
    is_pair = isinstance(region, Iterable) and not isinstance(region, str)
    ends = tuple(region) if is_pair else ()
    if len(ends) != 2 or not all(map(_is_real, ends)) or not 0 <= ends[0] < ends[1] <= 1:
        raise ValueError(
            f"{name} is {region!r}; give a pair (low, high) with 0 <= low < high <= 1, "
            "such as (0, 0.1)"
        )
    return float(ends[0]), float(ends[1])


def check_one(**choices: Any) -> tuple[str, Any]:
    """Return the name and the value of the only argument that is not None.

    Examples
    --------
    >>> check_one(fpr=0.1, tpr=None)
    ('fpr', 0.1)
    >>> check_one(fpr=0.1, tpr=0.9)
    Traceback (most recent call last):
        ...
    ValueError: fpr and tpr are given; give exactly one of fpr, tpr
    """
    given = [(name, value) for name, value in choices.items() if value is not None]
    if len(given) != 1:
        names = " and ".join(name for name, _ in given)
        if not given:
            raise ValueError(f"none of {', '.join(choices)} is given; give exactly one of them")
        raise ValueError(f"{names} are given; give exactly one of {', '.join(choices)}")
    return given[0]


def check_choice(value: Any, choices: Sequence[str], name: str = "method") -> str:
    """Return one of the names in ``choices``.

    Examples
    --------
    >>> check_choice("exact", ("wilson", "bootstrap"))
    Traceback (most recent call last):
        ...
    ValueError: method is 'exact'; give 'wilson' or 'bootstrap'
    """
    if not isinstance(value, str) or value not in choices:
        *first, last = map(repr, choices)
        raise ValueError(f"{name} is {value!r}; give {', '.join(first)} or {last}")
    return value


def check_top(k: Any, total: float, name: str = "k", *, minimum: int = 1) -> float:
    """Return a number of rows, given as a count or as a fraction of ``total`` rows.

    Examples
    --------
    >>> check_top(20, 200), check_top(0.05, 200)
    (20.0, 10.0)
    """
    if is_whole(k) and k >= minimum:
        return float(k)
    if is_whole(k) or not _is_real(k) or not 0 < k < 1:
        raise ValueError(
            f"{name} is {k!r}; give a whole number of at least {minimum} or a fraction strictly "
            "between 0 and 1"
        )
    return float(k) * total


def check_top_within(k: Any, total: float, name: str = "k") -> float:
    """Return a number of rows as ``check_top`` does; more than ``total`` is an error.

    Examples
    --------
    >>> check_top_within(500, 200)
    Traceback (most recent call last):
        ...
    ValueError: k is 500, but there are 200 rows (or units of weight); give a smaller k
    """
    top = check_top(k, total, name)
    if top > total:
        raise ValueError(
            f"{name} is {k!r}, but there are {total:g} rows (or units of weight); "
            f"give a smaller {name}"
        )
    return top


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
