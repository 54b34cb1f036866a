"""RankBoost for two classes (Freund, Iyer, Schapire & Singer 2003, section 3.2).

The distribution over pairs is a product of two distributions over rows: D(x0, x1) =
d-(x0) d+(x1). A round picks the stump h in {0, 1} with the largest |r|, where

    r = sum_{x1} d+(x1) h(x1) - sum_{x0} d-(x0) h(x0),

adds alpha h to the score, alpha = 1/2 ln((1 + r) / (1 - r)), and multiplies d+ by exp(-alpha h) and
d- by exp(alpha h). Z is the sum of the product before both are divided by their sums. The product
of all Z is an upper bound on the fraction of misranked pairs (their Theorem 1).
"""

from dataclasses import dataclass, field
from functools import partial
from math import exp, isfinite, log, log1p, prod
from typing import NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._text import count
from auctor._typing import Floats
from auctor.data import RankingData, Workers
from auctor.learners.boosting.held_out import HeldOutRows
from auctor.learners.boosting.row_weights import Reweighting, RowWeights
from auctor.learners.boosting.sparse_weights import stump_search
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.early_stopping import EarlyStopping
from auctor.learners.common.finish import TrainingOrder, fill_missing, finish_additive
from auctor.learners.common.rounding import ROUNDING
from auctor.models import AdditiveModel, on_grid
from auctor.weak.stump import Stump, StumpSearch

# A stump without errors would have an infinite weight.
_MAX_ALPHA = 16.0


@dataclass(frozen=True)
class RankBoostSettings:
    """Settings of a fit."""

    n_estimators: int = 500
    learning_rate: float = 1.0
    n_jobs: int | None = None
    n_iter_no_change: int = 10
    tol: float = 1e-4
    verbose: bool | int = False


@dataclass(frozen=True)
class Round:
    """One round: the stump, its r and alpha, and Z, the factor by which the bound decreased."""

    stump: Stump
    r: float
    alpha: float
    z: float


class KnownRound(NamedTuple):
    """A round and what it did to the weights of the rows."""

    step: Round
    weights: Reweighting

    def check(self, data: RankingData) -> None:
        """Raise an error if the round cannot be one of these data."""
        stump, factors = self.step.stump, (*self.weights.divisors, *self.weights.scales)
        is_positive = min(self.weights.divisors) > 0 and self.step.z > 0
        if not 0 <= stump.feature < data.n_features:
            raise ValueError(f"has the feature {stump.feature} of {data.n_features}")
        if any(not 0 <= code < data.n_codes for code in stump.categories or ()):
            raise ValueError(f"has a category that is not one of {data.n_codes}")
        if not (abs(self.step.alpha) <= _MAX_ALPHA and isfinite(sum(factors)) and is_positive):
            raise ValueError("has numbers that no round has")


@dataclass
class RankBoostHistory:
    """All rounds of a fit, why it stopped, and the AUC on held-out rows if there are any."""

    rounds: list[Round] = field(default_factory=list)
    validation_auc: list[float] = field(default_factory=list)
    stopped_by: str = "n_estimators"

    @property
    def bound(self) -> float:
        """The product of the Z_t."""
        return prod((step.z for step in self.rounds), start=1.0)


def fit_rankboost(
    data: RankingData,
    settings: RankBoostSettings,
    validation: RankingData | None = None,
    journal: Journal = NO_JOURNAL,
) -> tuple[AdditiveModel, RankBoostHistory, Certificate]:
    """Boost stumps on ``data``; stop when the AUC on ``validation``, if given, stops improving.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_rankboost(data, RankBoostSettings(n_estimators=3))
    >>> print(certificate)
    0.25 of the training pairs are misranked, where ties count as misranked. This fraction cannot
    exceed 0.5494, the product of Z over 3 rounds of RankBoost.
    """
    with Workers(settings.n_jobs) as workers:
        weights = RowWeights(data, workers)
        first = weights.histogram()
        history = boost(data, weights, settings, validation, journal)
    del weights  # frees the memory for the scores
    tables = step_tables(data, history.rounds)
    fill_missing(first, tables)
    model, order = finish_additive(data, tables)
    return model, history, _certify(history, order)


def boost(
    data: RankingData,
    weights: RowWeights,
    settings: RankBoostSettings,
    validation: RankingData | None,
    journal: Journal,
    name: str = "RankBoost",
) -> RankBoostHistory:
    """Make rounds until there is a reason to stop.

    ``weights`` may be a subclass that restricts the weights of the rows.
    """
    history = RankBoostHistory()
    search = stump_search(data)
    held_out = HeldOutRows(validation) if validation is not None else None
    stopping = EarlyStopping(settings.n_iter_no_change, settings.tol)
    log = journal.log("rounds", KnownRound, lambda known: known.check(data))
    aucs = journal.log("aucs", float)
    progress = Progress(settings.n_estimators, name, settings.verbose, resumed=len(log.known))
    product = 1.0
    while len(history.rounds) < settings.n_estimators:
        data.group.begin_round(len(history.rounds) + 1, log.is_known)
        known = log.next(
            partial(_next_round, weights, search, settings.learning_rate),
            partial(_repeat, weights, data.n_codes),
        )
        if known is None:
            history.stopped_by = "no stump is better than chance"
            break
        step = known.step
        history.rounds.append(step)
        product *= step.z
        progress.step(f"product of Z {product:.4g}")
        if abs(step.r) > 1.0 - ROUNDING:
            # The stump separates the classes: the next round would have the same weights.
            history.stopped_by = "the last stump makes no error"
            break
        if held_out is not None:
            held_out.add(step.stump, step.alpha)
            if stopping.stop_after(aucs.next(held_out.auc)):
                history.stopped_by = "early stopping"
                break
    progress.close(history.stopped_by)
    if held_out is not None:
        history.validation_auc = stopping.aucs
        del history.rounds[stopping.best_round :]
    return history


def _next_round(
    weights: RowWeights, search: StumpSearch, learning_rate: float
) -> KnownRound | None:
    """Find the best stump and update the row weights; None if no stump is better than chance."""
    best = best_edge(weights, search)
    if best is None:
        return None
    stump, r = best
    alpha = float(on_grid(np.array(learning_rate * _alpha(r))))
    if alpha == 0.0:
        return None
    change = _change(stump, alpha, weights.histogram().shape[2])
    z_neg, z_pos = weights.multiply(stump.feature, change)
    return KnownRound(Round(stump, r, alpha, z_neg * z_pos), weights.last)


def _repeat(weights: RowWeights, n_codes: int, known: KnownRound) -> None:
    """Update the row weights as in a round that is known."""
    stump, alpha = known.step.stump, known.step.alpha
    weights.repeat(stump.feature, _change(stump, alpha, n_codes), known.weights)


def _change(stump: Stump, alpha: float, n_codes: int) -> Floats:
    """The factor of the weights of each class and code of the stump's feature."""
    return np.where(stump.above(n_codes), np.array([[exp(alpha)], [exp(-alpha)]]), 1.0)


def best_edge(weights: RowWeights, search: StumpSearch) -> tuple[Stump, float] | None:
    """The stump with the largest |r| under the weights, and its r; None if all |r| are 0."""
    stump = search.best(weights.histogram())
    if stump is None:
        return None
    neg, pos = weights.fractions(stump.feature)
    above = stump.above(len(pos))
    return stump, float(pos[above].sum() - neg[above].sum())


def _alpha(r: float) -> float:
    if abs(r) > 1.0 - ROUNDING:
        return float(np.copysign(_MAX_ALPHA, r))
    return float(np.clip((log1p(r) - log1p(-r)) / 2, -_MAX_ALPHA, _MAX_ALPHA))


def step_tables(data: RankingData, rounds: list[Round]) -> list[Floats]:
    """The sum of all rounds: what each code of each feature adds to the score."""
    flat = np.zeros(data.n_codes)  # shared by all features without a stump, which may be many
    tables = [flat] * data.n_features
    for step in rounds:
        j = step.stump.feature
        if tables[j] is flat:
            tables[j] = np.zeros(data.n_codes)
        tables[j] += step.alpha * step.stump.above(data.n_codes)
    flat.flags.writeable = False
    return tables


def _certify(history: RankBoostHistory, order: TrainingOrder) -> Certificate:
    n_rounds = len(history.rounds)
    statement = (
        f"{order.misranked:.4g} of the training pairs are misranked, where ties count as "
        f"misranked. This fraction cannot exceed {history.bound:.4g}, the product of Z over "
        f"{count(n_rounds, 'round')} of RankBoost."
    )
    values = {
        "bound": history.bound,
        "misranked": order.misranked,
        "auc": order.auc,
        "n_rounds": n_rounds,
        "log_bound": sum(log(step.z) for step in history.rounds),
    }
    return Certificate(statement, values)
