"""The history of a fit of SmoothAUCBoost."""

from dataclasses import dataclass, field, replace

import numpy as np

from auctor._typing import Floats, Indices
from auctor.learners.smooth.penalty import Adapted
from auctor.learners.smooth.screening import spread_out
from auctor.learners.smooth.settings import Amounts
from auctor.learners.smooth.stagewise import Round


@dataclass
class SmoothHistory:
    """What happened in each iteration of a fit of SmoothAUCBoost.

    Attributes
    ----------
    amounts : Amounts
        The weights of the penalties.
    adapted : Adapted or None
        Each feature's own multiples of these weights; None without ``adaptive``.
    objective, smoothed_auc : list of float
        The objective and the smoothed AUC after each iteration. The iterations of the joint fit
        with surfaces follow those of the additive fit. With monotone features the objective
        includes the barrier that keeps them monotone, whose weight is reduced in stages.
    validation_auc : list of float
        The AUC of the held-out rows after each iteration; empty without early stopping.
    gain_left : float
        What the next step would gain, to second order; NaN after early stopping.
    n_evaluations : int
        Number of evaluations of the objective.
    stopped_by : str
        Why the fit ended: "converged" at a maximum.
    importances : ndarray of shape (n_features,)
        Each feature's fraction of the spread of the scores.
    pairs : list of (int, int)
        The indices of the two features of each surface.
    usefulness : list of float
        The gain that the search for pairs expected of each surface.
    rounds : list of Round
        The rounds of the stagewise solver.
    """

    amounts: Amounts
    adapted: Adapted | None = None
    objective: list[float] = field(default_factory=list)
    smoothed_auc: list[float] = field(default_factory=list)
    validation_auc: list[float] = field(default_factory=list)
    gain_left: float = np.inf
    n_evaluations: int = 0
    stopped_by: str = "max_iter"
    importances: Floats = field(default_factory=lambda: np.empty(0))
    pairs: list[tuple[int, int]] = field(default_factory=list)
    usefulness: list[float] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)


def widen_history(history: SmoothHistory, kept: Indices, n_features: int) -> SmoothHistory:
    """The history of a fit to the features ``kept``, with entries for all ``n_features``."""
    adapted = history.adapted
    if adapted is not None:
        bend, slope = (spread_out(v, kept, n_features, 1.0) for v in (adapted.bend, adapted.slope))
        adapted = Adapted(bend, slope, spread_out(adapted.loose, kept, n_features, np.inf))
    return replace(
        history,
        adapted=adapted,
        importances=spread_out(history.importances, kept, n_features),
        pairs=[(int(kept[a]), int(kept[b])) for a, b in history.pairs],
    )
