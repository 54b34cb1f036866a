"""Makes weights equal that should be equal.

An optimum often has equal weights, which a solver returns equal only up to its tolerance. On 0/1 or
+-1 features many rows then have scores that should be tied and are ordered by the rounding errors
of the solver. Therefore weights of nearly equal size get the same size, with the widest tolerance
that keeps the margin close enough to its bound.
"""

from collections.abc import Callable

import numpy as np

from auctor._typing import Floats

# Weights are whole multiples of this, so that their sums over 0/1 and +-1 features are exact.
WEIGHT_GRID = 2.0**-40

_CLOSENESS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)


def snap(
    beta: Floats, value: Callable[[Floats], float], least: float, grid: float = WEIGHT_GRID
) -> Floats:
    """The weights on the grid with the fewest sizes whose ``value`` is not below ``least``.

    Examples
    --------
    >>> beta = np.array([0.5000001, 0.0, -0.4999999, 1e-9])
    >>> snapped = snap(beta, lambda b: -np.abs(b - beta).max(), least=-1e-6)
    >>> snapped[0] == -snapped[2], snapped[[1, 3]].tolist()
    (np.True_, [0.0, 0.0])
    """
    for closeness in _CLOSENESS:
        trial = _on_grid(_one_size(beta, closeness * np.abs(beta).max(initial=0.0)), grid)
        if value(trial) >= least:
            return trial
    return _on_grid(beta, grid)


def _one_size(beta: Floats, closeness: float) -> Floats:
    """Replace sizes that follow each other within ``closeness`` by their mean; 0 is a size, too."""
    size = np.abs(beta)
    order = np.argsort(size, kind="stable")
    ordered = np.append(0.0, size[order])
    group = np.cumsum(np.diff(ordered, prepend=0.0) > closeness)
    mean = np.bincount(group, ordered) / np.bincount(group)
    mean[0] = 0.0  # the group that contains 0
    out = np.empty(len(beta))
    out[order] = mean[group[1:]]
    total = out.sum()
    # The other weights are scaled up so that the sum of the sizes does not change.
    scale = size.sum() / total if total > 0 else 1.0
    return np.sign(beta) * out * scale


def _on_grid(beta: Floats, grid: float) -> Floats:
    return np.trunc(beta / grid) * grid  # towards 0, so that the sum of the sizes does not exceed 1
