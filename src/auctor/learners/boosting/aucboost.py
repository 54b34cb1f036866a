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
from functools import partial
from math import isfinite, log, prod
from typing import Any, NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._text import count
from auctor._typing import Floats
from auctor.data import RankingData, Workers
from auctor.kernels.linear import exp_each
from auctor.learners.boosting.row_weights import Reweighting, RowWeights
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.finish import TrainingOrder, fill_missing, finish_additive
from auctor.learners.common.rounding import ROUNDING
from auctor.models import AdditiveModel, on_grid
from auctor.weak.feature import RANKINGS, FeatureRanking, StumpRanking
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


class KnownRound(NamedTuple):
    """A round and what it did to the weights of the rows."""

    step: Round
    weights: Reweighting

    def check(self, data: RankingData) -> None:
        """Raise an error if the round cannot be one of these data."""
        step, weights = self.step, self.weights
        if not 0 <= step.feature < data.n_features:
            raise ValueError(f"has the feature {step.feature} of {data.n_features}")
        if step.steps.shape != (data.n_codes,):
            raise ValueError(f"has steps for {step.steps.shape} codes instead of {data.n_codes}")
        # NaN is not below any number.
        if not (np.abs(step.steps).max() <= _MAX_ALPHA and isfinite(sum(weights.divisors))):
            raise ValueError("has numbers that no round has")
        if not (min(*weights.sums, *weights.divisors) > 0 and step.z > 0):
            raise ValueError("has numbers that no round has")


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
    data: RankingData, settings: AUCBoostSettings, journal: Journal = NO_JOURNAL
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
        history = _run(data, weights, settings, journal)
    del weights  # frees the memory for the scores
    tables = [np.zeros(data.n_codes) for _ in data.features]
    for step in history.rounds:
        tables[step.feature] += step.steps
    fill_missing(first, tables)
    model, order = finish_additive(data, tables)
    return model, history, certify(history, order)


def _run(
    data: RankingData, weights: RowWeights, settings: AUCBoostSettings, journal: Journal
) -> AUCBoostHistory:
    """Make rounds until there is a reason to stop."""
    history = AUCBoostHistory()
    ranking = RANKINGS[settings.estimator](data.features)
    log = journal.log("rounds", KnownRound, lambda known: known.check(data))
    progress = Progress(settings.n_estimators, "AUCBoost", settings.verbose, resumed=len(log.known))
    fractions = np.array([0.5, 0.5])  # of the two classes in D_t
    bound = 1.0
    while len(history.rounds) < settings.n_estimators:
        data.group.begin_round(len(history.rounds) + 1, log.is_known)
        known = log.next(
            partial(_next_round, ranking, weights, fractions), partial(_repeat, weights)
        )
        if known is None:
            history.stopped_by = "no ranker is better than chance"
            break
        step = known.step
        fractions *= np.array(known.weights.sums) / step.z
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


def _next_round(
    ranking: FeatureRanking | StumpRanking, weights: RowWeights, fractions: Floats
) -> KnownRound | None:
    """Make the best ranker two-sided and update the row weights.

    Returns None if there is no ranker, or if its steps round to 0.
    """
    ranker = ranking.best(weights.histogram())
    if ranker is None:
        return None
    neg, pos = weights.fractions(ranker.feature)
    n_ranks = int(ranker.ranks.max()) + 1
    side = two_sided(
        np.bincount(ranker.ranks, neg, n_ranks), np.bincount(ranker.ranks, pos, n_ranks)
    )
    alpha = weight_of(side.epsilon)
    steps = on_grid(alpha * side.values(n_ranks))[ranker.ranks]
    if not steps.any():
        return None
    sums = weights.multiply(ranker.feature, _change(steps))
    z = float((fractions * sums).sum())
    step = Round(ranker.feature, steps, ranker.auc - 0.5, side.epsilon, alpha, z)
    return KnownRound(step, weights.last)


def _repeat(weights: RowWeights, known: KnownRound) -> None:
    """Update the row weights as in a round that is known."""
    weights.repeat(known.step.feature, _change(known.step.steps), known.weights)


def _change(steps: Floats) -> Floats:
    """The factor of the weights of each class and code of the feature."""
    return np.array([exp_each(steps), exp_each(-steps)])


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
