"""Whether a model was fitted to the very rows that it is now judged by.

A model keeps no rows. But its probabilities come from a logistic line through its training scores,
and on these rows, and practically on no others, the line's two equations are met: the residuals add
up to nothing, and so do residuals times scores. Rows that are half known go unnoticed.
"""

import numpy as np
import numpy.typing as npt

from auctor.models import Model

Floats = npt.NDArray[np.float64]

# In standard deviations. The line is fitted to scores in cells, which is seen in the fourth digit;
# rows not seen before come as near in both equations once in some ten thousand tables.
_NEAR = 0.01


def seen_warning(
    model: Model, positive: npt.NDArray[np.bool_], scores: Floats, weight: Floats | None
) -> list[str]:
    """A sentence where the rows are those that the model was fitted to."""
    if not _meets_equations(model, positive, scores, weight):
        return []
    return [
        "these look like the rows that the model was fitted to, on which every model looks too "
        "good; judge it by other rows, or by the cross-validation that `auctor fit` prints"
    ]


def _meets_equations(
    model: Model, positive: npt.NDArray[np.bool_], scores: Floats, weight: Floats | None
) -> bool:
    count = np.ones(len(scores)) if weight is None else weight * _row_unit(weight)
    total_pos, total_neg = float(count[positive].sum()), float(count[~positive].sum())
    # Platt's smoothed targets, as in learners/calibration.py.
    target = np.where(positive, (total_pos + 1) / (total_pos + 2), 1 / (total_neg + 2))
    probability = model.probabilities(scores)[:, 1]
    residual, spread = count * (probability - target), count * probability * (1 - probability)
    if not spread.sum() > 0:
        return False
    middle = float((spread * scores).sum() / spread.sum())
    return all(
        abs(float((residual * factor).sum())) < _NEAR * float(np.sqrt((spread * factor**2).sum()))
        for factor in (np.ones(len(scores)), scores - middle)
    )


def _row_unit(weight: Floats) -> float:
    """What a weight of 1 is in rows, as ``RankingData.row_unit`` has it."""
    return max(1.0, float(np.count_nonzero(weight) / weight.sum()))
