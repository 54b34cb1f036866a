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

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats
from auctor.learners.common.calibration import N_CELLS, platt_targets
from auctor.metrics import RocCurve
from auctor.metrics.curve_blocks import segments
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
    count = np.ones(len(scores)) if weight is None else weight
    sizes = kish(count[~positive]), kish(count[positive])
    present = scores[count > 0]
    block = ScoreBlock(scores, np.where(positive, count, 0.0), np.where(positive, 0.0, count))
    ends = float(present.min()), float(present.max())
    return _warning(model, sha256, ScoreBlocks(lambda: [block], sizes, ends))


def seen_by_curve(model: Model, curve: RocCurve, sha256: str | None) -> list[str]:
    """The warning for rows without weights, of which only the curve is known."""

    def steps() -> Iterator[ScoreBlock]:
        for part in segments(len(curve.thresholds)):
            counts = (np.diff(c[part]) for c in (curve.true_positives, curve.false_positives))
            yield ScoreBlock(curve.thresholds[part][1:], *counts)

    ends = float(curve.thresholds[-1]), float(curve.thresholds[1])
    sizes = float(curve.n_neg), float(curve.n_pos)
    return _warning(model, sha256, ScoreBlocks(steps, sizes, ends))


class ScoreBlock(NamedTuple):
    """Some scores, with the weight of the positive and of the negative rows that have each."""

    scores: Floats
    weight_pos: Floats
    weight_neg: Floats


class ScoreBlocks(NamedTuple):
    """All scores of a table, in blocks that can be read several times."""

    read: Callable[[], Iterable[ScoreBlock]]
    sizes: tuple[float, float]  # effective numbers of negatives and of positives
    ends: tuple[float, float]  # the smallest and the largest score


def _warning(model: Model, sha256: str | None, scores: ScoreBlocks) -> list[str]:
    if sha256 is not None and is_training_table(model, sha256):
        known = "this is the table that the model was fitted to"
    elif _meets_equations(model, scores):
        known = "these look like the rows that the model was fitted to"
    else:
        return []
    return [
        f"{known}, so that the results are too "
        "optimistic; evaluate on other rows, or use the cross-validation that auctor fit prints"
    ]


def _meets_equations(model: Model, scores: ScoreBlocks) -> bool:
    """Whether both score equations of the calibration hold."""
    targets = platt_targets(*scores.sizes)
    # The sums of the variances, and of variance times score, give the centre of the scores.
    sums = np.zeros(2)
    for x, _, variance in _terms(model, scores, targets):
        sums += variance.sum(), (variance * x).sum()
    if not 0 < sums[0] < np.inf:
        return False
    centre = float(sums[1] / sums[0])
    residuals, spreads = np.zeros(2), np.zeros(2)
    for x, residual, variance in _terms(model, scores, targets):
        for k, factor in enumerate((np.ones(len(x)), x - centre)):
            residuals[k] += (residual * factor).sum()
            spreads[k] += (variance * factor**2).sum()
    return bool((np.abs(residuals) < _TOLERANCE * np.sqrt(spreads)).all())


def _terms(
    model: Model, scores: ScoreBlocks, targets: Floats
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """For each block: the scores as calibration sees them, residuals and variances."""
    for block in scores.read():
        x = _cell_middles(scores.ends, block.scores)
        probability = model.probabilities(x)[:, 1]
        residual = block.weight_pos * (probability - targets[1])
        residual += block.weight_neg * (probability - targets[0])
        weight = block.weight_pos + block.weight_neg
        yield x, residual, weight * probability * (1 - probability)


def _cell_middles(ends: tuple[float, float], scores: Floats) -> Floats:
    """Scores as ``calibrate`` sees them: the middles of cells of equal width."""
    low = ends[0]
    width = (ends[1] - low) / N_CELLS
    if not 0 < width < np.inf:
        return scores
    cell = np.clip(np.floor((scores - low) / width), 0, N_CELLS - 1)
    return np.asarray(low + (cell + 0.5) * width)
