"""RankBoost for two classes (Freund, Iyer, Schapire & Singer 2003, section 3.2).

The distribution over pairs is a product of two distributions over rows: D(x0, x1) =
d-(x0) d+(x1). A round picks the stump h in {0, 1} with the largest |r|, where

    r = sum_{x1} d+(x1) h(x1) - sum_{x0} d-(x0) h(x0),

adds alpha h to the score, alpha = 1/2 ln((1 + r) / (1 - r)), and multiplies d+ by
exp(-alpha h) and d- by exp(alpha h); Z is the sum of the product before it is brought
back to 1. The product of all Z bounds the share of misranked pairs (their Theorem 1).
"""

from dataclasses import dataclass, field
from math import exp, log, log1p, prod

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.data import RankingData, Workers
from auctor.learners.boosting.row_weights import RowWeights
from auctor.learners.boosting.sparse_weights import stump_search
from auctor.learners.certificate import Certificate
from auctor.learners.common.early_stopping import Validation
from auctor.learners.common.finish import TrainingOrder, fill_missing, finish_additive
from auctor.models import AdditiveModel, on_grid
from auctor.weak.stump import Stump, StumpSearch

# A stump without an error would get an infinite weight.
_MAX_ALPHA = 16.0
_ROUNDING = 2.0**-40


@dataclass(frozen=True)
class RankBoostSettings:
    """What a fit can be told."""

    n_estimators: int = 500
    learning_rate: float = 1.0
    n_jobs: int | None = None
    n_iter_no_change: int = 10
    tol: float = 1e-4
    verbose: bool | int = False


@dataclass(frozen=True)
class Round:
    """One round: the stump, its r and alpha, and Z, by which the bound fell."""

    stump: Stump
    r: float
    alpha: float
    z: float


@dataclass
class RankBoostHistory:
    """All rounds of a fit, why it stopped, and the AUC on held-out rows where there are any."""

    rounds: list[Round] = field(default_factory=list)
    validation_auc: list[float] = field(default_factory=list)
    stopped_by: str = "n_estimators"

    @property
    def bound(self) -> float:
        """The product of the Z_t."""
        return prod((step.z for step in self.rounds), start=1.0)


def fit_rankboost(
    data: RankingData, settings: RankBoostSettings, validation: RankingData | None = None
) -> tuple[AdditiveModel, RankBoostHistory, Certificate]:
    """Boost stumps on ``data``; with ``validation`` stop when its AUC no longer grows.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_rankboost(data, RankBoostSettings(n_estimators=3))
    >>> print(certificate)
    Of all training pairs 0.25 are misranked (ties counted as misranked), at most the
    bound 0.5494, the product of Z over 3 rounds of RankBoost.
    """
    with Workers(settings.n_jobs) as workers:
        weights = RowWeights(data, workers)
        first = weights.histogram()
        history = boost(data, weights, settings, validation)
    del weights  # makes room for the scores
    tables = step_tables(data, history.rounds)
    fill_missing(first, tables)
    model, order = finish_additive(data, tables)
    return model, history, _certify(history, order)


def boost(
    data: RankingData,
    weights: RowWeights,
    settings: RankBoostSettings,
    validation: RankingData | None,
    name: str = "RankBoost",
) -> RankBoostHistory:
    """Rounds until one of the reasons to stop; ``weights`` may hold the rows to rules of theirs."""
    history = RankBoostHistory()
    search = stump_search(data)
    held_out = Validation(validation, settings) if validation is not None else None
    progress = Progress(settings.n_estimators, name, settings.verbose)
    product = 1.0
    while len(history.rounds) < settings.n_estimators:
        step = _next_round(weights, search, settings.learning_rate)
        if step is None:
            history.stopped_by = "no stump has an edge"
            break
        history.rounds.append(step)
        product *= step.z
        progress.step(f"product of Z {product:.4g}")
        if abs(step.r) > 1.0 - _ROUNDING:
            # Every row with weight is on its side: the next round would see the same weights.
            history.stopped_by = "the last stump makes no error"
            break
        if held_out is not None and held_out.stop_after(step.stump, step.alpha):
            history.stopped_by = "early stopping"
            break
    progress.close(history.stopped_by)
    if held_out is not None:
        history.validation_auc = held_out.aucs
        del history.rounds[held_out.best_round :]
    return history


def _next_round(weights: RowWeights, search: StumpSearch, learning_rate: float) -> Round | None:
    """Find the best stump, weigh it, and change the row weights; None if none has an edge."""
    best = best_edge(weights, search)
    if best is None:
        return None
    stump, r = best
    alpha = float(on_grid(np.array(learning_rate * _alpha(r))))
    if alpha == 0.0:
        return None
    above = stump.above(weights.histogram().shape[2])
    change = np.where(above, np.array([[exp(alpha)], [exp(-alpha)]]), 1.0)
    z_neg, z_pos = weights.multiply(stump.feature, change)
    return Round(stump, r, alpha, z_neg * z_pos)


def best_edge(weights: RowWeights, search: StumpSearch) -> tuple[Stump, float] | None:
    """The stump with the largest |r| under the weights, and its r; None if none has an edge."""
    stump = search.best(weights.histogram())
    if stump is None:
        return None
    share_neg, share_pos = weights.shares(stump.feature)
    above = stump.above(len(share_pos))
    return stump, float(share_pos[above].sum() - share_neg[above].sum())


def _alpha(r: float) -> float:
    if abs(r) > 1.0 - _ROUNDING:
        return float(np.copysign(_MAX_ALPHA, r))
    return float(np.clip((log1p(r) - log1p(-r)) / 2, -_MAX_ALPHA, _MAX_ALPHA))


def step_tables(data: RankingData, rounds: list[Round]) -> list[Floats]:
    """All rounds collapsed: what each code of each feature adds to the score."""
    flat = np.zeros(data.n_codes)  # of all features without a stump, which may be very many
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
        f"Of all training pairs {order.misranked:.4g} are misranked (ties counted as misranked), "
        f"at most the bound {history.bound:.4g}, the product of Z over {n_rounds} rounds of "
        "RankBoost."
    )
    values = {
        "bound": history.bound,
        "misranked": order.misranked,
        "auc": order.auc,
        "n_rounds": n_rounds,
        "log_bound": sum(log(step.z) for step in history.rounds),
    }
    return Certificate(statement, values)
