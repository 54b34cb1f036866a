"""How good the top of the list is: precision, recall and lift at k."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import check_top
from auctor.metrics.curve import RocCurve, roc_curve


def precision_at_k(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    k: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Share of positives among the ``k`` rows with the highest scores.

    Where rows are tied at the cut, the value is the expectation over their order.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    k : int or float
        A whole number of rows (of weight, with ``sample_weight``), or a share of
        them strictly between 0 and 1. A share that is not a whole number of rows
        takes a part of the last one.

    Returns
    -------
    float

    Examples
    --------
    >>> precision_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    top, found = _top(curve, k)
    return found / top


def recall_at_k(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    k: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Share of the positives that are among the ``k`` rows with the highest scores.

    Parameters
    ----------
    y_true, y_score, k, sample_weight, pos_label
        As in :func:`precision_at_k`.

    Returns
    -------
    float

    Examples
    --------
    >>> recall_at_k([1, 0, 1, 0, 1], [0.9, 0.5, 0.4, 0.3, 0.1], k=3)
    0.6666666666666666
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    _, found = _top(curve, k)
    return found / float(curve.true_positives[-1])


def lift(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    k: float,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """How many times more positives the top ``k`` rows hold than ``k`` drawn at random.

    Parameters
    ----------
    y_true, y_score, k, sample_weight, pos_label
        As in :func:`precision_at_k`.

    Returns
    -------
    float

    Examples
    --------
    >>> lift([1, 0, 0, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], k=0.25)
    2.0
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    top, found = _top(curve, k)
    prevalence = float(curve.true_positives[-1] / curve.flagged[-1])
    return found / top / prevalence


def _top(curve: RocCurve, k: float) -> tuple[float, float]:
    """The size of the top and the positives to be expected in it."""
    flagged = curve.flagged
    total = float(flagged[-1])
    top = check_top(k, total)
    if top > total:
        raise ValueError(f"k={k!r} is more than the {total:g} rows (or weight) there are")
    # Among tied rows in random order the positives come at an even pace.
    return top, float(np.interp(top, flagged, curve.true_positives))
