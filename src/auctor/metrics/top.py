"""Precision, recall and lift among the rows with the highest scores."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import check_top_within
from auctor.metrics.curve import RocCurve, roc_curve


def precision_at_k(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    k: float,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Fraction of positives among the ``k`` rows with the highest scores.

    If rows are tied at the end of the top, the value is the expectation over a random order of
    the tied rows.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    k : int or float
        A whole number of rows (of weight, with ``sample_weight``), or a fraction of all rows
        strictly between 0 and 1. If the fraction is not a whole number of rows, the last row
        counts in part.

    Returns
    -------
    float

    Examples
    --------
    >>> from auctor.metrics import precision_at_k
    >>> precision_at_k([1, 0, 1, 0], [0.9, 0.5, 0.5, 0.1], k=2)
    0.75
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    top, positives = _top(curve, k)
    return positives / top


def recall_at_k(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    k: float,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Fraction of all positives that are among the ``k`` rows with the highest scores.

    Parameters
    ----------
    y_true, y_score, k, sample_weight, pos_label
        As in :func:`precision_at_k`.

    Returns
    -------
    float

    Examples
    --------
    >>> from auctor.metrics import recall_at_k
    >>> recall_at_k([1, 0, 1, 0, 1], [0.9, 0.5, 0.4, 0.3, 0.1], k=3)
    0.6666666666666666
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    _, positives = _top(curve, k)
    return positives / float(curve.true_positives[-1])


def lift(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    k: float,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Precision among the ``k`` rows with the highest scores, relative to random rows.

    The lift is the precision at ``k`` divided by the fraction of positives among all rows.

    Parameters
    ----------
    y_true, y_score, k, sample_weight, pos_label
        As in :func:`precision_at_k`.

    Returns
    -------
    float

    Examples
    --------
    >>> from auctor.metrics import lift
    >>> lift([1, 0, 0, 0, 1, 0, 0, 0], [8, 7, 6, 5, 4, 3, 2, 1], k=0.25)
    2.0
    """
    curve = roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    top, positives = _top(curve, k)
    prevalence = float(curve.true_positives[-1] / curve.flagged[-1])
    return positives / top / prevalence


def _top(curve: RocCurve, k: float) -> tuple[float, float]:
    """The number of rows in the top and the expected number of positives among them."""
    flagged = curve.flagged
    total = float(flagged[-1])
    top = check_top_within(k, total)
    # In a random order of tied rows, the expected number of positives grows linearly.
    return top, float(np.interp(top, flagged, curve.true_positives))
