"""History of a fit of SmoothTreeBoost."""

from dataclasses import dataclass, field

from auctor._typing import Floats
from auctor.learners.tree_boost.mixture import Mixture


@dataclass
class TreeBoostHistory:
    """What happened in a fit of SmoothTreeBoost.

    Attributes
    ----------
    n_leaves : list of int
        Number of leaves of each tree.
    gains : list of float
        What each tree gained before shrinkage by the learning rate, by the quadratic model of the
        loss on the rows drawn for it: an increase of the mean over all pairs.
    mixture : Mixture or None
        The choice of the number of trees and of their weight on held-out rows; None without it.
    weight : float
        The weight of the trees in the score, from 0 to 1; the rest is that of the smooth model.
    smooth_importances : ndarray or None
        Each feature's fraction of the spread of the smooth model; None without one.
    stopped_by : str
        Why no more trees were added: "n_estimators", "held-out AUC" or "nothing left".
    """

    n_leaves: list[int] = field(default_factory=list)
    gains: list[float] = field(default_factory=list)
    mixture: Mixture | None = None
    weight: float = 1.0
    smooth_importances: Floats | None = None
    stopped_by: str = "n_estimators"
