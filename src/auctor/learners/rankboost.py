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
import numpy.typing as npt

from auctor.data import RankingData, Workers
from auctor.kernels.boosting import reweight_and_count
from auctor.learners.blocks import Block, class_blocks
from auctor.learners.certificate import Certificate
from auctor.learners.finish import TrainingOrder, finish_additive
from auctor.learners.progress import Progress
from auctor.learners.validation import Validation
from auctor.models import AdditiveModel, on_grid
from auctor.weak import Stump, StumpSearch

# The weight of a class adds up to about 2^60 in fixed point. An update multiplies it by
# less than 3 (Z of one class is at most 1 + sqrt(2)), which an int64 still holds.
_SCALE = 2.0**60

# A stump without an error would get an infinite weight.
_MAX_ALPHA = 16.0


@dataclass(frozen=True)
class Settings:
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
class History:
    """All rounds of a fit, why it stopped, and the AUC on held-out rows where there are any."""

    rounds: list[Round] = field(default_factory=list)
    validation_auc: list[float] = field(default_factory=list)
    stopped_by: str = "n_estimators"

    @property
    def bound(self) -> float:
        """The product of the Z_t."""
        return prod((step.z for step in self.rounds), start=1.0)


def fit_rankboost(
    data: RankingData, settings: Settings, validation: RankingData | None = None
) -> tuple[AdditiveModel, History, Certificate]:
    """Boost stumps on ``data``; with ``validation`` stop when its AUC no longer grows.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> model, history, certificate = fit_rankboost(data, Settings(n_estimators=3))
    >>> print(certificate)
    Of all training pairs 0.25 are misranked (ties counted as misranked), at most the
    bound 0.5494, the product of Z over 3 rounds of RankBoost.
    """
    with Workers(settings.n_jobs) as workers:
        booster = _Booster(data, workers)
        history = _run(booster, settings, validation)
    tables = _tables(data, history.rounds)
    _fill_missing(data, booster.first_histogram, tables)
    del booster  # its row weights make room for the scores
    model, order = finish_additive(data, tables)
    return model, history, _certify(history, order)


def _run(booster: "_Booster", settings: Settings, validation: RankingData | None) -> History:
    """Rounds until one of the reasons to stop."""
    history = History()
    held_out = Validation(validation, settings) if validation is not None else None
    progress = Progress(settings.n_estimators, "RankBoost", settings.verbose)
    bound = 1.0
    while len(history.rounds) < settings.n_estimators:
        step = booster.next_round(settings.learning_rate)
        if step is None:
            history.stopped_by = "no stump has an edge"
            break
        history.rounds.append(step)
        bound *= step.z
        progress.step(f"bound {bound:.4g}")
        if abs(step.r) == 1.0:
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


class _Booster:
    """The two row distributions, kept beside the rows, and the histograms over them."""

    def __init__(self, data: RankingData, workers: Workers) -> None:
        self._data, self._workers = data, workers
        self._blocks = class_blocks(data, workers.count)
        self._search = StumpSearch(data.features)
        self._factors = [_equal_shares(part.n_pos, part.n_rows, data) for part in data.partitions]
        self._chosen = 0
        self._change = np.ones((2, data.n_codes))
        self.first_histogram: npt.NDArray[np.int64] | None = None

    def next_round(self, learning_rate: float) -> Round | None:
        """Bring the weights up to date, find the best stump, and weigh it."""
        histogram = self._histogram()
        if self.first_histogram is None:
            self.first_histogram = histogram
        stump = self._search.best(histogram)
        if stump is None:
            return None
        return self._weigh(stump, histogram, learning_rate)

    def _histogram(self) -> npt.NDArray[np.int64]:
        """Weight per class, feature and code, with the change of the last round applied."""
        shape = (2, self._data.n_features, self._data.n_codes)

        def count(blocks: list[Block]) -> npt.NDArray[np.int64]:
            out = np.zeros(shape, dtype=np.int64)
            for k, label, start, stop in blocks:
                part = self._data.partitions[k]
                reweight_and_count(
                    part.codes,
                    part.weight,
                    self._factors[k],
                    self._chosen,
                    self._change[label],
                    _SCALE,
                    start,
                    stop,
                    out[label],
                )
            return out

        results = self._workers.map(count, self._blocks)
        return results[0] if len(results) == 1 else np.sum(results, axis=0)

    def _weigh(
        self, stump: Stump, histogram: npt.NDArray[np.int64], learning_rate: float
    ) -> Round | None:
        """alpha from r, Z from alpha, and the change that the next pass applies."""
        above = stump.above(self._data.n_codes)
        lines = histogram[:, stump.feature]
        totals = [int(line.sum()) for line in lines]
        share_neg, share_pos = (int(lines[c][above].sum()) / totals[c] for c in (0, 1))
        r = share_pos - share_neg
        alpha = float(on_grid(np.array(learning_rate * _alpha(r))))
        if alpha == 0.0:
            return None
        z_neg = 1 - share_neg + share_neg * exp(alpha)
        z_pos = 1 - share_pos + share_pos * exp(-alpha)
        for label, z, sign in ((0, z_neg, 1.0), (1, z_pos, -1.0)):
            # Also brings the sum back to _SCALE, which rounding may have left.
            norm = z * (totals[label] / _SCALE)
            self._change[label] = np.where(above, exp(sign * alpha), 1.0) / norm
        self._chosen = stump.feature
        return Round(stump, r, alpha, z_neg * z_pos)


def _equal_shares(n_pos: int, n_rows: int, data: RankingData) -> npt.NDArray[np.float64]:
    """1 / weight of the class for each row of a partition: times the row's weight, D_1."""
    weight_neg, weight_pos = data.class_weights
    shares = np.full(n_rows, 1.0 / weight_neg)
    shares[:n_pos] = 1.0 / weight_pos
    return shares


def _alpha(r: float) -> float:
    if abs(r) >= 1.0:
        return float(np.copysign(_MAX_ALPHA, r))
    return float(np.clip((log1p(r) - log1p(-r)) / 2, -_MAX_ALPHA, _MAX_ALPHA))


def _tables(data: RankingData, rounds: list[Round]) -> list[npt.NDArray[np.float64]]:
    """All rounds collapsed: what each code of each feature adds to the score."""
    tables = [np.zeros(data.n_codes) for _ in data.features]
    for step in rounds:
        tables[step.stump.feature] += step.alpha * step.stump.above(data.n_codes)
    return tables


def _fill_missing(
    data: RankingData,
    histogram: npt.NDArray[np.int64] | None,
    tables: list[npt.NDArray[np.float64]],
) -> None:
    """Where training had no missing value, a missing one scores as the average row does."""
    if histogram is None:
        return
    shares = (histogram / histogram[:, :1].sum(axis=2, keepdims=True)).mean(axis=0)
    for share, table in zip(shares, tables, strict=True):
        if share[0] == 0.0:
            table[0] = float(on_grid(np.array(share @ table)))


def _certify(history: History, order: TrainingOrder) -> Certificate:
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
        "n_rounds": float(n_rounds),
        "log_bound": sum(log(step.z) for step in history.rounds),
    }
    return Certificate(statement, values)
