"""Checks of arguments that several generators share."""

from typing import Any

import numpy as np

from auctor._checks import check_finite
from auctor._typing import Floats

RandomState = int | np.random.Generator | None


def check_noise(noise: Any) -> float:
    """Return a probability of a flip below one half, at which labels carry no information."""
    probability = check_finite(noise, "noise")
    if not 0 <= probability < 0.5:
        raise ValueError(f"noise is {noise!r}; give a probability of at least 0 and below 0.5")
    return probability


def check_random_state(random_state: Any) -> np.random.Generator:
    """Return a Generator; a given Generator is returned itself and its state advances."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state is {random_state!r}; give an int of at least 0, a numpy Generator or "
            "None"
        ) from error


def check_rows(X: Any, n_features: int) -> Floats:
    """Return rows of ``n_features`` numbers."""
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != n_features:
        raise ValueError(f"X has shape {rows.shape}; give shape (n_rows, {n_features})")
    return rows
