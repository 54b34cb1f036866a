"""Whether a model was fitted to the very rows that it is now judged by.

A model keeps no rows. But the probabilities of most learners come from a logistic line through
their training scores, and on these rows, and practically on no others, the line's two equations are
met: the residuals add up to nothing, and so do residuals times scores. Rows that are half known go
unnoticed, and so do those of learners that calibrate otherwise: trees by the shares of their
leaves, forests on rows out of bag, early stopping on what it holds back.
"""

import numpy as np

from auctor._typing import Bools, Floats
from auctor.learners.common.calibration import N_CELLS, platt_targets
from auctor.models import Model

# In standard deviations: rounding is seen in the fifth digit or later, and rows not seen before
# come as near in both equations once in a million tables.
_NEAR = 1e-3


def seen_warning(model: Model, positive: Bools, scores: Floats, weight: Floats | None) -> list[str]:
    """A sentence where the rows are those that the model was fitted to."""
    if not _meets_equations(model, positive, scores, weight):
        return []
    return [
        "these look like the rows that the model was fitted to, on which every model looks too "
        "good; judge it by other rows, or by the cross-validation that auctor fit prints"
    ]


def _meets_equations(model: Model, positive: Bools, scores: Floats, weight: Floats | None) -> bool:
    count = np.ones(len(scores)) if weight is None else weight
    targets = platt_targets(_rows(count[~positive]), _rows(count[positive]))
    x = _cell_middles(scores[count > 0], scores)
    probability = model.probabilities(x)[:, 1]
    residual = count * (probability - targets[positive.astype(np.intp)])
    spread = count * probability * (1 - probability)
    total = float(spread.sum())
    if not 0 < total < np.inf:
        return False
    away = x - float((spread * x).sum()) / total
    return all(
        abs(float((residual * factor).sum())) < _NEAR * float(np.sqrt((spread * factor**2).sum()))
        for factor in (np.ones(len(x)), away)
    )


def _rows(weight: Floats) -> float:
    """The effective number of rows, as ``RankingData.effective_rows`` has it."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def _cell_middles(present: Floats, scores: Floats) -> Floats:
    """Scores as ``calibrate`` sees them: the middles of cells of equal width."""
    low = float(present.min())
    width = (float(present.max()) - low) / N_CELLS
    if not 0 < width < np.inf:
        return scores
    cell = np.clip(np.floor((scores - low) / width), 0, N_CELLS - 1)
    return np.asarray(low + (cell + 0.5) * width)
