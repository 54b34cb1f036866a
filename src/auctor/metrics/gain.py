"""Gain, lift and CAP: what share of the positives a flagged share of all rows holds."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from auctor._checks import check_rate
from auctor._typing import Floats
from auctor.metrics.curve import RocCurve, roc_curve


@dataclass(frozen=True, repr=False, eq=False)
class GainCurve:
    """The positives found against the rows flagged; made by :func:`gain_curve`.

    Between two thresholds the curve is a straight line: tied rows come in random order.

    Attributes
    ----------
    flagged_share : ndarray
        Share of all rows flagged at each threshold, from 0 to 1.
    found_share : ndarray
        Share of the positives among them.
    accuracy_ratio : float
        Area between the curve and the diagonal over that of a perfect score: Gini's coefficient,
        ``2 AUC - 1``.
    n_rows : int
        Number of rows (of weight above zero).
    share_positive : float
        Share of positives among all rows (or in their weight).
    """

    flagged_share: Floats
    found_share: Floats
    accuracy_ratio: float
    n_rows: int
    share_positive: float

    @classmethod
    def from_roc(cls, curve: RocCurve) -> Self:
        """The same thresholds as a ROC curve, on other axes."""
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
        """``found_share / flagged_share`` at each threshold; before the first one, as there."""
        with np.errstate(invalid="ignore"):
            lift = self.found_share / self.flagged_share
        lift[0] = lift[1]
        return lift

    def at(self, share: float) -> float:
        """Share of the positives found when this share of the rows is flagged.

        Examples
        --------
        >>> gain_curve([1, 0, 0, 1], [4, 3, 2, 1]).at(0.25)
        0.5
        """
        return float(np.interp(check_rate(share, "share"), self.flagged_share, self.found_share))

    def __repr__(self) -> str:
        return (
            f"gain curve of {self.n_rows} rows, {100 * self.share_positive:.3g}% of them positive: "
            f"accuracy ratio {self.accuracy_ratio:.3f}, the first tenth holds "
            f"{100 * self.at(0.1):.1f}% of the positives"
        )


def gain_curve(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> GainCurve:
    """The cumulative gain (CAP) curve of a score, with a point for every distinct score.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.

    Returns
    -------
    GainCurve

    Examples
    --------
    >>> gain_curve([1, 0, 1, 0, 0, 0, 0, 0, 0, 0], [9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    gain curve of 10 rows, 20% of them positive: accuracy ratio 0.875, the first tenth holds
    50.0% of the positives
    """
    return GainCurve.from_roc(
        roc_curve(y_true, y_score, sample_weight=sample_weight, pos_label=pos_label)
    )
