"""Importances of features."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt


def shares_of_fall(falls: Iterable[tuple[int, float]], n_features: int) -> npt.NDArray[np.float64]:
    """Each feature's share of what all rounds gained, from each round's feature and gain."""
    total = np.zeros(n_features)
    for feature, fall in falls:
        total[feature] += fall
    return total / total.sum() if total.sum() > 0 else total
