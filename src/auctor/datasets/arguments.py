"""Checks on the arguments of the generators; each error says what was found and what would do."""

import math
from numbers import Integral, Real
from typing import Any

import numpy as np

from auctor._typing import Floats

# What numpy.random.default_rng turns into a generator, of which people use these.
RandomState = int | np.random.Generator | None


def check_whole(name: str, value: Any, *, minimum: int) -> int:
    """A whole number of at least ``minimum``."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    if value < minimum:
        raise ValueError(f"{name}={value} is too small; {minimum} or more will do")
    return int(value)


def check_real(name: str, value: Any) -> float:
    """A finite number."""
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return float(value)


def check_noise(noise: Any) -> float:
    """A probability of a flip below one half: at one half the labels say nothing."""
    share = check_real("noise", noise)
    if not 0 <= share < 0.5:
        raise ValueError(f"noise={noise} is outside [0, 0.5); it is the probability of a flip")
    return share


def check_random_state(random_state: Any) -> np.random.Generator:
    """A generator; one that is passed in is used as it stands, and moves on."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state must be an int of at least 0, a numpy Generator or None, "
            f"got {random_state!r}"
        ) from error


def check_rows(X: Any, n_features: int) -> Floats:
    """Rows that a score function can read: numbers in ``n_features`` columns."""
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(f"X has shape {rows.shape}; this score reads (n_rows, {n_features})")
    return rows
