"""The argument ``max_features`` of forests and of ExactBoost."""

from math import ceil, log2, sqrt
from typing import Any

import numpy as np

# A fraction of the features is rounded up, but not for the last bits of the product.
_LAST_BITS = 1e-9


def number_of_features(max_features: Any, n_features: int) -> int:
    """The number of features that ``max_features`` stands for; a fraction is rounded up.

    Examples
    --------
    >>> [number_of_features(asked, 20) for asked in ("sqrt", "log2", None, 0.3, 7)]
    [5, 5, 20, 6, 7]
    """
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return ceil(sqrt(n_features))
    if max_features == "log2":
        return max(1, ceil(log2(n_features)))
    if isinstance(max_features, (int, np.integer)) and not isinstance(max_features, bool):
        if not 1 <= max_features <= n_features:
            raise ValueError(
                f"max_features is {max_features}, but X has {n_features} features; give a number "
                f"from 1 to {n_features}, a fraction, 'sqrt', 'log2' or None for all"
            )
        return int(max_features)
    if isinstance(max_features, (float, np.floating)) and 0.0 < max_features <= 1.0:
        return ceil(max_features * n_features - _LAST_BITS)
    raise ValueError(
        f"max_features is {max_features!r}; give a number of features, a fraction above 0 and up "
        "to 1, 'sqrt', 'log2' or None for all"
    )
