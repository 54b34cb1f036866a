"""AUCBoost (Long & Servedio 2007, Theorem 2): AdaBoost on half D+ plus half D-.

The weak ranker of each round becomes a two-sided classifier h with values in [-1, 1] (Lemma 4),
whose error rate epsilon is the same on both classes, whatever the proportion of their weights. With
alpha = 1/2 ln((1 - epsilon) / epsilon), alpha h is added to the score and the row weights are
multiplied by exp(-y alpha h). Z is the sum of the weights before they are divided by it.

The product of the Z_t is an upper bound on 1 - AUC of the score F: with A = E+[exp(-F)] and
B = E-[exp(F)], 1 - AUC <= E+[exp(-F/2)] E-[exp(F/2)] <= sqrt(A B) <= (A + B) / 2, which is that
product.
"""

from dataclasses import dataclass, field
from math import log, prod
from typing import Any

import numpy as np

from auctor._progress import Progress
from auctor._text import count
from auctor._typing import Floats
from auctor.data import RankingData, Workers
from auctor.kernels.linear import exp_each
from auctor.learners.boosting.row_weights import RowWeights
from auctor.learners.certificate import Certificate
from auctor.learners.common.finish import TrainingOrder, fill_missing, finish_additive
from auctor.learners.common.rounding import ROUNDING
from auctor.models import AdditiveModel, on_grid
from auctor.weak.feature import RANKINGS, CodeRanker
from auctor.weak.two_sided import two_sided

# A classifier without errors would have an infinite weight.
_MAX_ALPHA = 16.0


@dataclass(frozen=True)
class AUCBoostSettings:
    """Settings of a fit."""

    estimator: Any = "feature"  # a name in RANKINGS, "tree", or a scikit-learn estimator
    max_depth: int = 3  # of the trees of estimator="tree"
    n_estimators: int = 200
    target_loss: float | None = None
    seed: int = 0  # of copies of a scikit-learn estimator; nothing else is random
    n_jobs: int | None = None
    verbose: bool | int = False


@dataclass(frozen=True, eq=False)
class Round:
    """One round: the feature, what each of its codes adds to the score, the edge, and Z."""

    feature: int
    steps: Floats
    edge: float  # gamma_t: AUC - 1/2 of the ranker under the weights of the round
    epsilon: float  # error rate of the two-sided classifier
    alpha: float
    z: float


@dataclass
class AUCBoostHistory:
    """All rounds of a fit, and why it stopped."""

    rounds: list[Round] = field(default_factory=list)
    stopped_by: str = "n_estimators"

    @property
    def bound(self) -> float:
        """The product of the Z_t."""
        return prod((step.z for step in self.rounds), start=1.0)


def fit_aucboost(
    data: RankingData, settings: AUCBoostSettings
) -> tuple[AdditiveModel, AUCBoostHistory, Certificate]:
    """Boost rankers of one feature.

    The fit stops after ``n_estimators`` rounds, when the bound reaches ``target_loss``, when no
    ranker is better than chance, or when the last one makes no error.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_aucboost(data, AUCBoostSettings(n_estimators=3))
    >>> len(history.rounds), certificate.values["auc"]
    (3, 0.875)
    """
    with Workers(settings.n_jobs) as workers:
        weights = RowWeights(data, workers)
        first = weights.histogram()
        history = _run(data, weights, settings)
    del weights  # frees the memory for the scores
    tables = [np.zeros(data.n_codes) for _ in data.features]
    for step in history.rounds:
        tables[step.feature] += step.steps
    fill_missing(first, tables)
    model, order = finish_additive(data, tables)
    return model, history, certify(history, order)


def _run(data: RankingData, weights: RowWeights, settings: AUCBoostSettings) -> AUCBoostHistory:
    """Make rounds until there is a reason to stop."""
    history = AUCBoostHistory()
    ranking = RANKINGS[settings.estimator](data.features)
    progress = Progress(settings.n_estimators, "AUCBoost", settings.verbose)
    fractions = np.array([0.5, 0.5])  # of the two classes in D_t
    bound = 1.0
    while len(history.rounds) < settings.n_estimators:
        data.group.begin_round(len(history.rounds) + 1)
        ranker = ranking.best(weights.histogram())
        step = _weigh(ranker, weights, fractions) if ranker is not None else None
        if step is None:
            history.stopped_by = "no ranker is better than chance"
            break
        history.rounds.append(step)
        bound *= step.z
        progress.step(f"bound {bound:.4g}")
        if step.epsilon < ROUNDING:
            history.stopped_by = "the last ranker makes no error"
            break
        if settings.target_loss is not None and bound <= settings.target_loss:
            history.stopped_by = "the bound has reached target_loss"
            break
    progress.close(history.stopped_by)
    return history


def _weigh(ranker: CodeRanker, weights: RowWeights, fractions: Floats) -> Round | None:
    """Make a ranker two-sided and update the row weights and the class fractions in place.

    Returns None if the steps of the ranker round to 0.
    """
    neg, pos = weights.fractions(ranker.feature)
    n_ranks = int(ranker.ranks.max()) + 1
    side = two_sided(
        np.bincount(ranker.ranks, neg, n_ranks), np.bincount(ranker.ranks, pos, n_ranks)
    )
    alpha = weight_of(side.epsilon)
    steps = on_grid(alpha * side.values(n_ranks))[ranker.ranks]
    if not steps.any():
        return None
    sums = weights.multiply(ranker.feature, np.array([exp_each(steps), exp_each(-steps)]))
    z = float((fractions * sums).sum())
    fractions *= np.array(sums) / z
    return Round(ranker.feature, steps, ranker.auc - 0.5, side.epsilon, alpha, z)


def weight_of(epsilon: float) -> float:
    """The weight alpha of a two-sided classifier with error rate ``epsilon``."""
    if epsilon < ROUNDING:
        return _MAX_ALPHA
    return min(_MAX_ALPHA, log((1.0 - epsilon) / epsilon) / 2)


def certify(history: AUCBoostHistory, order: TrainingOrder) -> Certificate:
    """1 - AUC on the training rows, and the bound from the Z_t."""
    missed = 1.0 - order.auc
    statement = (
        f"1 - AUC on the training rows is {missed:.4g}. It cannot exceed {history.bound:.4g}, the "
        f"product of Z over {count(len(history.rounds), 'round')} of AUCBoost (Long & Servedio). "
        f"Reason for stopping: {history.stopped_by}."
    )
    values = {
        "bound": history.bound,
        "auc": order.auc,
        "edges": [step.edge for step in history.rounds],
        "log_bound": sum(log(step.z) for step in history.rounds),
        "n_rounds": len(history.rounds),
        "stopped_by": history.stopped_by,
    }
    return Certificate(statement, values)
