"""KS distance of the two classes, and distances of two ROC curves."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Indices
from auctor.metrics.curve import RocCurve, roc_curve


class RocDistance(NamedTuple):
    """L1 and supremum distance of two ROC curves as functions of the false positive rate.

    Examples
    --------
    >>> from auctor.metrics import roc_curve, roc_distance
    >>> a, b = roc_curve([0, 1, 0, 1], [1, 2, 3, 4]), roc_curve([0, 1, 0, 1], [1, 3, 2, 4])
    >>> roc_distance(a, b)
    RocDistance(l1=0.25, sup=0.5)
    """

    l1: float
    sup: float


def ks(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Kolmogorov-Smirnov distance of the two classes: the largest ``tpr - fpr``.

    The distance is one-sided (Csillag et al. 2021): it lies in [0, 1], and is 0 if the ROC curve
    nowhere lies above the diagonal.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.

    Returns
    -------
    float

    Examples
    --------
    >>> from auctor.metrics import ks
    >>> ks([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.5
    """
    return roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label).ks()


def roc_distance(
    curve_a: RocCurve | tuple[npt.ArrayLike, npt.ArrayLike],
    curve_b: RocCurve | tuple[npt.ArrayLike, npt.ArrayLike],
) -> RocDistance:
    """L1 and supremum distance of two ROC curves (Clemencon and Vayatis 2009).

    Parameters
    ----------
    curve_a, curve_b : RocCurve or pair (fpr, tpr)
        A ROC curve, or a pair of arrays from (0, 0) to (1, 1) that are joined by straight lines,
        such as the known optimal curve of a simulation.

    Returns
    -------
    RocDistance
        Named tuple ``(l1, sup)`` of floats. Both are exact and not computed on a grid.

    Examples
    --------
    >>> from auctor.metrics import roc_curve, roc_distance
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    >>> roc_distance(curve, ([0, 1], [0, 1]))
    RocDistance(l1=0.375, sup=0.5)
    """
    first, second = _pieces(curve_a, "curve_a"), _pieces(curve_b, "curve_b")
    knots = np.union1d(first.x, second.x)
    start = first.after(knots[:-1]) - second.after(knots[:-1])
    end = first.before(knots[1:]) - second.before(knots[1:])
    l1 = float(_mean_size(start, end) @ np.diff(knots))
    return RocDistance(l1, float(max(np.abs(start).max(), np.abs(end).max())))


class _Pieces(NamedTuple):
    """A piecewise linear curve; ``low`` and ``high`` are the ends of its jump at each x."""

    x: Floats
    low: Floats
    high: Floats

    def before(self, x: Floats) -> Floats:
        """Limits from the left."""
        return self._on_piece(np.searchsorted(self.x, x, side="left") - 1, x)

    def after(self, x: Floats) -> Floats:
        """Limits from the right."""
        return self._on_piece(np.searchsorted(self.x, x, side="right") - 1, x)

    def _on_piece(self, piece: Indices, x: Floats) -> Floats:
        """Values at x on the given pieces."""
        part = (x - self.x[piece]) / (self.x[piece + 1] - self.x[piece])
        return (1 - part) * self.high[piece] + part * self.low[piece + 1]


def _pieces(curve: Any, name: str) -> _Pieces:
    """The pieces of a curve; only the first and the last of several points at one x are kept."""
    fpr, tpr = (curve.fpr, curve.tpr) if isinstance(curve, RocCurve) else _read_pair(curve, name)
    x, first = np.unique(fpr, return_index=True)
    last = np.append(first[1:], len(fpr)) - 1
    return _Pieces(x, tpr[first], tpr[last])


def _read_pair(pair: Any, name: str) -> tuple[Floats, Floats]:
    """Validate arrays (fpr, tpr) that rise from (0, 0) to (1, 1)."""
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        kind = type(pair).__name__
        raise ValueError(f"{name} is a {kind}; give a RocCurve or a pair (fpr, tpr) of arrays")
    fpr, tpr = (np.asarray(axis, dtype=np.float64) for axis in pair)
    if fpr.ndim != 1 or fpr.shape != tpr.shape or len(fpr) < 2:
        raise ValueError(
            f"{name} has arrays of shapes {fpr.shape} and {tpr.shape}; give fpr and tpr of equal "
            "length with at least two points"
        )
    for axis in (fpr, tpr):
        if axis[0] != 0 or axis[-1] != 1 or not (np.diff(axis) >= 0).all():
            raise ValueError(
                f"{name} is not a ROC curve; give rates that rise from (0, 0) to (1, 1)"
            )
    return fpr, tpr


def _mean_size(start: Floats, end: Floats) -> Floats:
    """Mean absolute value of linear functions from ``start`` to ``end``."""
    size = np.abs(start) + np.abs(end)
    # A linear function that crosses zero makes two triangles.
    crossing = np.divide(start**2 + end**2, size, out=np.zeros_like(size), where=size > 0)
    return np.where(start * end < 0, crossing, size) / 2
