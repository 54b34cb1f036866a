"""The certificate of ExactBoost: the margin loss of the training rows, and bounds for new rows.

The theorems of Csillag et al. (2021) hold for convex combinations of stumps with values -1 and 1.
The mean of the runs, S, is one after division by its total weight W = sum |d| / 2, where the stumps
are chosen to add up to the same steps with the smallest W. A margin theta for S / W is theta W for
S.

Theorem 1 (AUC) and Theorem 2 (KS) are those of the paper, which treats precision at k only in its
supplement; the bound here is derived as follows. Lower the scores of the training positives by
theta and let t be the threshold that cuts off the k highest scores, A of them positive and B
negative, A + B <= k. Let t* = t + theta / 2. With ramps of slope 2 / theta on both sides of t*, at
least a fraction A / n - e of new rows are positives above t*, and at most B / n + e are negatives
above t*, for all S and t simultaneously, with probability 1 - delta, where

    e = 4 / theta (R_n(H) + n^(-1/2)) + sqrt(log(2 / delta) / (2 n)).

If less than a fraction k / n of the new rows lies above t*, the top holds all of these; otherwise
at most B / n + e of the rows in the top are negative. In both cases positives in the top make up at
least A / n - e of the rows, so the precision is at least A / k - e n / k.
"""

from collections.abc import Sequence
from math import inf, log, sqrt
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats
from auctor.data import Feature, RankingData
from auctor.kernels.exact.sample import AUC, KS
from auctor.learners.certificate import Certificate
from auctor.learners.common.finish import score_rows, sorted_class
from auctor.learners.exact.run import Plan
from auctor.learners.exact.table import ExactTable
from auctor.models.additive import GRID

# Margins that are tried besides the given one; each gets an equal part of delta.
_MARGINS = tuple(2.0**-k for k in range(10))
_THEOREMS = {AUC: "Theorem 1", KS: "Theorem 2"}


def certify(
    table: ExactTable,
    plan: Plan,
    delta: float,
    data: RankingData,
    tables: list[Floats],
    added: Sequence[Floats],
) -> Certificate:
    """The margin loss of the finished model, and a bound for new rows."""
    losses = _Losses(table, plan, data, tables, added)
    title, theta = plan.judge.title, plan.theta
    values: dict[str, Any] = {
        "loss": losses.at(0.0),
        "margin": theta,
        "margin_loss": losses.at(theta),
        "total_weight": losses.weight,
        "delta": delta,
        "bound": None,
        "best_bound": None,
        "best_margin": None,
    }
    statement = (
        f"The {title} loss of the training rows is {values['loss']:.4g}; with the margin {theta:g} "
        f"(for a total weight of 1) it is {values['margin_loss']:.4g}"
    )
    reason = _no_bound(table, plan, losses, added)
    if reason:
        return Certificate(
            f"{statement}. There is no bound for new rows, because {reason}.", values
        )
    values["bound"] = _bound(table, plan, data, theta, values["margin_loss"], delta)
    margins = (theta, *_MARGINS)
    bounds = [
        (_bound(table, plan, data, margin, losses.at(margin), delta / len(margins)), margin)
        for margin in margins
    ]
    values["best_bound"], values["best_margin"] = min(bounds)
    return Certificate(f"{statement}. {_bound_sentence(plan, values)}", values)


def _bound_sentence(plan: Plan, values: dict[str, Any]) -> str:
    source = _THEOREMS.get(plan.judge.number, "the analogue of Theorem 2")
    source = f"{source} of Csillag et al. 2021"
    best = values["best_bound"]
    if best >= 1.0:
        return f"The bound for new rows from the same distribution is above 1 ({source})."
    return (
        f"For new rows from the same distribution it is at most {best:.4g} with probability "
        f"{1 - values['delta']:g} ({source}, at margin {values['best_margin']:g}, the best of "
        f"{1 + len(_MARGINS)})."
    )


def _no_bound(table: ExactTable, plan: Plan, losses: "_Losses", added: Sequence[Floats]) -> str:
    """Why the theorems do not apply; empty if they do."""
    if plan.judge.custom is not None:
        return "the metric is user-defined"
    if len(added) > 0:
        return "the initial scores are not a sum of stumps"
    if table.is_weighted:
        return "the rows have different weights"
    return "" if losses.weight > 0.0 else "the score is constant"


class _Losses:
    """Losses of the finished model at any margin."""

    def __init__(
        self,
        table: ExactTable,
        plan: Plan,
        data: RankingData,
        tables: list[Floats],
        added: Sequence[Floats],
    ) -> None:
        scores = [score_rows(part, tables) for part in data.partitions]
        for score, more in zip(scores, added, strict=len(added) > 0):
            score += more
        self._judge = plan.judge
        (pos, weight_pos), (neg, weight_neg) = (sorted_class(data, scores, k) for k in (1, 0))
        # Steps are multiples of GRID: in this unit scores are whole, and equal ones stay equal.
        self._pos, self._neg = (np.rint(s / GRID).astype(np.int64) for s in (pos, neg))
        self._weight = np.concatenate([weight_pos, weight_neg])
        self._orders = np.split(np.arange(len(self._weight), dtype=np.uint32), [len(pos)])
        used = [(j, t) for j, t in enumerate(tables) if t.any()]
        seen = {j: table.code_weights(j, data.n_codes).sum(axis=0) > 0 for j, _ in used}
        self.weight = sum(_total_weight(data.features[j], t, seen[j]) for j, t in used)

    def at(self, theta: float) -> float:
        """The loss if positives must lead by more than theta times the total weight."""
        margin = int(theta * self.weight / GRID)
        order_pos, order_neg = self._orders
        return self._judge.loss(self._pos, order_pos, self._neg, order_neg, self._weight, margin)


def _total_weight(feature: Feature, steps: Floats, seen: Bools) -> float:
    """The smallest sum |d| / 2 of stumps that add up to these steps.

    A stump of a category may have any set of categories on each side.
    """
    values = steps[seen]
    if feature.is_category:
        return float(np.ptp(values)) / 2
    if not seen[0]:
        return float(np.abs(np.diff(values)).sum()) / 2
    # Each cut may have the missing values on either side. So their value can be anything between
    # the first known step minus all decreases and plus all increases; beyond this range they need
    # a stump of their own.
    missing, known = values[0], values[1:]
    changes = np.diff(known)
    reach = missing - known[0] if len(known) else 0.0
    beyond = max(0.0, reach - changes[changes > 0].sum(), changes[changes < 0].sum() - reach)
    return float(np.abs(changes).sum() + beyond) / 2


def rademacher(data: RankingData, n_rows: int) -> float:
    """Massart's bound on the Rademacher complexity of the stumps of a table, on n rows.

    sqrt(2 log N / n), where N is the number of ways in which stumps can split n rows: for a number
    n + 1 cuts, two signs and two sides for missing values; for a category all sets of the
    categories in the training rows.
    """
    ways = 0.0
    for feature in data.features:
        if feature.is_category:
            ways += 2.0 ** min(feature.n_bins + 1, n_rows)
        else:
            ways += 4.0 * (n_rows + 1)
    return sqrt(2.0 * log(max(ways, 2.0)) / n_rows)


def _bound(
    table: ExactTable, plan: Plan, data: RankingData, theta: float, loss: float, delta: float
) -> float:
    """The right-hand side of the metric's theorem at margin theta."""
    if theta == 0.0:
        return inf
    n_pos, n_neg = table.n_pos, table.n_neg

    def complexity(n_rows: int) -> float:
        return rademacher(data, n_rows)

    if plan.judge.number == AUC:
        fewest = min(n_pos, n_neg)
        return loss + 8 / theta * complexity(fewest) + sqrt(2 * log(1 / delta) / fewest)
    if plan.judge.number == KS:
        roots = n_pos**-0.5 + n_neg**-0.5
        zeta = complexity(n_pos) + complexity(n_neg) + roots
        return loss + 8 / theta * zeta + sqrt(log(2 / delta) / 2) * roots
    n_rows = table.n_rows
    fraction = plan.judge.top / float(table.weight.sum(dtype=np.int64))
    spread = 4 / theta * (complexity(n_rows) + n_rows**-0.5) + sqrt(log(2 / delta) / (2 * n_rows))
    return loss + spread / fraction
