"""Detects that a model is evaluated on the rows that it was fitted to.

A model keeps no rows. `auctor fit` notes the SHA-256 of the training table in it, by which the same
file is recognised. Other files with the same rows are often recognised too: most learners calibrate
their probabilities by a logistic regression on the training scores, and its two score equations
hold on the training rows and on practically no others: the residuals sum to zero, and so do
residuals times scores. A table that only shares some rows with the training data goes unnoticed. So
do the training rows, in another file, of learners that calibrate differently: trees (by the class
fractions of their leaves), forests (on out-of-bag rows), and learners that stop early (on the rows
that they hold out).
"""

import numpy as np

from auctor._typing import Bools, Floats
from auctor.learners.common.calibration import N_CELLS, platt_targets
from auctor.metrics.effective import kish
from auctor.models import Model

# In standard deviations. Rounding errors are below 1e-5; other rows come this close in both
# equations once in a million tables.
_TOLERANCE = 1e-3


def is_training_table(model: Model, sha256: str) -> bool:
    """Whether a file with this SHA-256 is the table that the model was fitted to."""
    return model.training is not None and model.training.origin.sha256 == sha256


def seen_warning(
    model: Model,
    positive: Bools,
    scores: Floats,
    weight: Floats | None,
    sha256: str | None = None,
) -> list[str]:
    """A warning if the rows are those that the model was fitted to, else an empty list.

    ``sha256`` is that of the file of the rows.
    """
    if sha256 is not None and is_training_table(model, sha256):
        known = "this is the table that the model was fitted to"
    elif _meets_equations(model, positive, scores, weight):
        known = "these look like the rows that the model was fitted to"
    else:
        return []
    return [
        f"{known}, so that the results are too "
        "optimistic; evaluate on other rows, or use the cross-validation that auctor fit prints"
    ]


def _meets_equations(model: Model, positive: Bools, scores: Floats, weight: Floats | None) -> bool:
    """Whether both score equations of the calibration hold."""
    count = np.ones(len(scores)) if weight is None else weight
    targets = platt_targets(kish(count[~positive]), kish(count[positive]))
    x = _cell_middles(scores[count > 0], scores)
    probability = model.probabilities(x)[:, 1]
    residual = count * (probability - targets[positive.astype(np.intp)])
    variance = count * probability * (1 - probability)
    total = float(variance.sum())
    if not 0 < total < np.inf:
        return False
    centred = x - float((variance * x).sum()) / total
    return all(
        abs(float((residual * factor).sum()))
        < _TOLERANCE * float(np.sqrt((variance * factor**2).sum()))
        for factor in (np.ones(len(x)), centred)
    )


def _cell_middles(present: Floats, scores: Floats) -> Floats:
    """Scores as ``calibrate`` sees them: the middles of cells of equal width."""
    low = float(present.min())
    width = (float(present.max()) - low) / N_CELLS
    if not 0 < width < np.inf:
        return scores
    cell = np.clip(np.floor((scores - low) / width), 0, N_CELLS - 1)
    return np.asarray(low + (cell + 0.5) * width)
