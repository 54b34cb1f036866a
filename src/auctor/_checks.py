"""Checks of the plain arguments that several metrics share."""

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np


def check_number(value: Any, name: str) -> float:
    """A real number that is not NaN, as a float."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or math.isnan(value):
        raise ValueError(f"{name} must be a number, got {value!r}")
    return float(value)


def check_level(level: Any) -> float:
    """A confidence level strictly between 0 and 1."""
    number = check_number(level, "level")
    if not 0 < number < 1:
        raise ValueError(f"level must lie between 0 and 1, such as 0.95, got {level!r}")
    return number


def check_rate(value: Any, name: str) -> float:
    """A rate in [0, 1]."""
    number = check_number(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must lie in [0, 1], got {value!r}")
    return number


def check_region(region: Any, name: str) -> tuple[float, float]:
    """A pair (a, b) with 0 <= a < b <= 1."""
    is_pair = isinstance(region, Iterable) and not isinstance(region, str)
    ends = tuple(region) if is_pair else ()
    if len(ends) != 2:
        raise ValueError(f"{name} must be a pair such as (0, 0.1), got {region!r}")
    low, high = (check_rate(end, f"each end of {name}") for end in ends)
    if not low < high:
        raise ValueError(f"{name} must rise, such as (0, 0.1), got {region!r}")
    return low, high


def check_one(**choices: Any) -> tuple[str, Any]:
    """The one argument that was given, with its name."""
    given = [(name, value) for name, value in choices.items() if value is not None]
    if len(given) != 1:
        found = ", ".join(name for name, _ in given) or "none"
        raise ValueError(f"give exactly one of {', '.join(choices)}; got {found}")
    return given[0]


def check_method(method: Any, choices: tuple[str, ...]) -> str:
    """One of the names in ``choices``."""
    if method not in choices:
        raise ValueError(f"method must be one of {', '.join(choices)}; got {method!r}")
    return str(method)


def check_resamples(n_resamples: Any) -> int:
    """A whole number of resamples, two or more."""
    is_whole = isinstance(n_resamples, Integral) and not isinstance(n_resamples, bool)
    if not is_whole or n_resamples < 2:
        raise ValueError(f"n_resamples must be a whole number, 2 or more, got {n_resamples!r}")
    return int(n_resamples)


def check_top(k: Any, total: float, name: str = "k", least: int = 1) -> float:
    """How much of the list is its top: a whole number, or a share of ``total``."""
    number = check_number(k, name)
    if isinstance(k, Integral):
        if number < least:
            raise ValueError(f"{name} must be at least {least}, got {k!r}")
        return number
    if not 0 < number < 1:
        raise ValueError(
            f"{name} must be a whole number or a share strictly between 0 and 1, got {k!r}"
        )
    return number * total
