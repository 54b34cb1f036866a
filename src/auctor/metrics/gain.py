"""Cumulative gain, lift and CAP: fraction of positives found against fraction of rows flagged."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from auctor._checks import check_rate
from auctor._typing import Floats
from auctor.metrics.curve import RocCurve, roc_curve


@dataclass(frozen=True, repr=False, eq=False)
class GainCurve:
    """A cumulative gain curve, returned by :func:`gain_curve`.

    The curve is linear between two thresholds, which is the expectation over a random order of
    tied rows.

    Attributes
    ----------
    flagged_fraction : ndarray
        Fraction of all rows flagged at each threshold, from 0 to 1.
    found_fraction : ndarray
        Fraction of the positives that are among the flagged rows.
    accuracy_ratio : float
        Area between the curve and the diagonal, divided by that of a perfect score: the Gini
        coefficient, ``2 AUC - 1``.
    n_rows : int
        Number of rows, without rows of weight 0.
    positive_fraction : float
        Fraction of positives among all rows; with weights, of their weight.

    Examples
    --------
    >>> from auctor.metrics import gain_curve
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> curve = gain_curve(y, -X[:, 2])
    >>> f"the top 20 % of the children hold {curve.at(0.2):.0%} of the cases"
    'the top 20 % of the children hold 49% of the cases'
    >>> round(curve.accuracy_ratio, 3)
    0.647
    """

    flagged_fraction: Floats
    found_fraction: Floats
    accuracy_ratio: float
    n_rows: int
    positive_fraction: float

    @classmethod
    def from_roc(cls, curve: RocCurve) -> Self:
        """The gain curve at the thresholds of a ROC curve."""
        total = float(curve.flagged[-1])
        return cls(
            curve.flagged / total,
            curve.tpr,
            2 * curve.auc() - 1,
            curve.n_pos + curve.n_neg,
            float(curve.true_positives[-1]) / total,
        )

    @property
    def lift(self) -> Floats:
        """``found_fraction / flagged_fraction`` at each threshold.

        The first value, at which no row is flagged, equals the second.
        """
        with np.errstate(invalid="ignore"):
            lift = self.found_fraction / self.flagged_fraction
        lift[0] = lift[1]
        return lift

    def at(self, fraction: float) -> float:
        """Fraction of the positives found if this fraction of the rows is flagged.

        Examples
        --------
        >>> from auctor.metrics import gain_curve
        >>> gain_curve([1, 0, 0, 1], [4, 3, 2, 1]).at(0.25)
        0.5
        """
        flagged = check_rate(fraction, "fraction")
        return float(np.interp(flagged, self.flagged_fraction, self.found_fraction))

    def __repr__(self) -> str:
        return (
            f"gain curve of {self.n_rows} rows, {100 * self.positive_fraction:.3g}% of them "
            f"positive: accuracy ratio {self.accuracy_ratio:.3f}, "
            f"{100 * self.at(0.1):.1f}% of the positives in the top 10%"
        )


def gain_curve(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> GainCurve:
    """Cumulative gain (CAP) curve of a score, with one point for every distinct score.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.

    Returns
    -------
    GainCurve

    Examples
    --------
    >>> from auctor.metrics import gain_curve
    >>> gain_curve([1, 0, 1, 0, 0, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    gain curve of 10 rows, 20% of them positive: accuracy ratio 0.875,
    50.0% of the positives in the top 10%
    """
    return GainCurve.from_roc(
        roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    )
