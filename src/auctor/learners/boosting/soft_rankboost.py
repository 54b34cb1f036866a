"""SoftRankBoost: RankBoost in which no row may weigh too much (paper 001, problem (7)).

Moribe, Hatano, Takimoto & Takeda ("Smooth boosting for margin-based ranking", 2008) are cited
by paper 001 as [15]. Their text was not at hand: this is RankBoost kept inside the constraints
of problem (7), d+ <= 1/nu+ and d- <= 1/nu-, and what it guarantees is derived here.

A round finds the stump h in {0, 1} with the largest |r|, r = d+.h - d-.h, adds alpha h to the
score, alpha = 1/2 ln((1 + r) / (1 - r)), multiplies d+ by exp(-alpha h) and d- by exp(alpha h),
and divides each by its sum; Z is the product of the two sums. Then each d is projected: of all
distributions under the cap the one nearest to it in relative entropy is taken
(``boosting/row_weights.py``). A row of weight w counts as w rows and may hold w / nu.

What it guarantees. Take any pair u = (u+, u-) of distributions under the caps, and write r_t(u)
for the edge of the t-th stump under it. Before the projection, a round changes the relative
entropy of u to d, summed over both classes, by

    KL(u || d_t) - KL(u || changed d_t) = -alpha_t r_t(u) - ln Z_t,

and the projection onto a convex set that holds u only brings d nearer to u (the Pythagorean
inequality), so that KL(u || d_t+1) <= KL(u || changed d_t). Summed over all rounds, with
KL >= 0 at the end,

    sum_t alpha_t r_t(u) >= -sum_t ln Z_t - KL(u || d_1).

Under the caps KL(u || d_1) = sum u ln(u p / w) is at most ln(p / nu+) + ln(n / nu-), p and n the
weights of the classes: ln(1 / epsilon) for nu+ = sqrt(epsilon) p and nu- = sqrt(epsilon) n, the
choice of Corollary 4. The u that makes the left side least puts all it may on the lowest
positives and on the highest negatives. So with A = sum |alpha_t| and f = sum alpha_t h_t / A (a
stump of negative alpha counts as its negation, which differs by a constant),

    soft margin of f = mean of the nu+ lowest positives - mean of the nu- highest negatives
                    >= (-sum_t ln Z_t - ln(p / nu+) - ln(n / nu-)) / A.

That mean difference is what problem (8) maximises, with rho and b at their best for f; the
paper's h' in [-1, 1] is 2h - 1, so that (h'(x+) - h'(x-)) / 2 = h(x+) - h(x-). From above, a
combination of stumps has no larger soft margin than edge under any one pair of capped
distributions: none exceeds the least of the |r_t|. Between the two bounds lies the optimum of
(7) and (8).

Theorem 3 counts pairs: all but less than nu+ of the positives score at least as high as the
nu+-th lowest, and likewise for the negatives, so that (p - nu+)(n - nu-) pairs or more have the
margin rho = nu+-th lowest positive - nu--th highest negative, which the soft margin does not
exceed.

How near the lower bound comes to the optimum g, where g > 0. No edge is below g, and Z is at
most sqrt(1 - r^2), so that with ``learning_rate=1`` the lower bound tends to -ln(1 - g^2) /
ln((1 + g) / (1 - g)) or more, which is g / 2 at least. With a smaller rate -ln Z / alpha comes
nearer to r, and so does the limit to g; but more rounds are needed to make up for ln(1 / epsilon).

Measured on six tables of 200 to 1000 rows with epsilon = 0.2, 0.05 and 0.01, against the least
upper bound of any run: with ``learning_rate=1`` the soft margin reached 0.94 to 1.00 of it in 3000
rounds in the eight cases where it was above 0.09, and was still far from it in the ten where it
was below 0.03. Rates of 0.3 and 0.1 did not come nearer in as many rounds, but for one case, by
0.01; what they raised was the guarantee, once it was near its limit (from 0.79 to 0.95 of the
upper bound on a table of credit card holders).
"""

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Workers
from auctor.learners.boosting.rankboost import (
    RankBoostHistory,
    RankBoostSettings,
    best_edge,
    boost,
    step_tables,
)
from auctor.learners.boosting.row_weights import CappedWeights
from auctor.learners.boosting.sparse_weights import stump_search
from auctor.learners.certificate import Certificate
from auctor.learners.common.finish import fill_missing, finish_additive, score_rows, sorted_class
from auctor.models import GRID, AdditiveModel

# Whole weights of a class add up to 40 bits; products of two classes are summed in two parts.
_LOW_BITS = 22


class ClassScores(NamedTuple):
    """Distinct scores of a class, ascending, and the weight at each: the order of rows is gone."""

    values: Floats
    weight: Ints

    @property
    def negated(self) -> "ClassScores":
        """The scores with their sign turned, ascending again."""
        return ClassScores(-self.values[::-1], self.weight[::-1])


def class_scores(data: RankingData, scores: list[Floats], label: int) -> ClassScores:
    """Scores of one class (0 negative, 1 positive), from scores beside the partitions."""
    values, weight = sorted_class(data, scores, label)
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return ClassScores(values[first], np.add.reduceat(weight.astype(np.int64), first))


def mean_of_lowest(scores: ClassScores, nu: float) -> float:
    """Mean of the lowest scores that weigh ``nu`` together.

    That is the least that a distribution with no row above its weight / nu can make of the
    scores.

    Examples
    --------
    >>> scores = ClassScores(np.array([1.0, 2.0, 5.0]), np.array([1, 1, 2]))
    >>> mean_of_lowest(scores, 2.5)
    2.2
    """
    below = np.cumsum(scores.weight) - scores.weight
    taken = np.clip(nu - below, 0.0, scores.weight)
    return float((taken * scores.values).sum() / taken.sum())


def lowest_at(scores: ClassScores, nu: float) -> float:
    """The nu-th lowest score: less than ``nu`` of the weight lies below it.

    Examples
    --------
    >>> scores = ClassScores(np.array([1.0, 2.0, 5.0]), np.array([1, 1, 2]))
    >>> lowest_at(scores, 2.0), lowest_at(scores, 2.5)
    (2.0, 5.0)
    """
    at = int(np.searchsorted(np.cumsum(scores.weight), nu))
    return float(scores.values[min(at, len(scores.values) - 1)])


def share_with_margin(positive: ClassScores, negative: ClassScores, margin: float) -> float:
    """Share of the pairs whose scores, multiples of GRID, differ by ``margin`` or more.

    Examples
    --------
    >>> positive = ClassScores(np.array([1.0, 3.0]), np.array([1, 1]))
    >>> negative = ClassScores(np.array([0.0, 2.0]), np.array([1, 1]))
    >>> share_with_margin(positive, negative, 1.0)
    0.75
    """
    # Differences lie on the grid as the scores do: the margin moved up to it asks for the same
    # pairs, and can be taken from a score without rounding.
    step = ceil(margin / GRID) * GRID
    reached = np.searchsorted(negative.values, positive.values - step, side="right")
    below = np.concatenate([[0], np.cumsum(negative.weight)])[reached]
    low = below & ((1 << _LOW_BITS) - 1)
    count = int(positive.weight @ low) + (int(positive.weight @ (below >> _LOW_BITS)) << _LOW_BITS)
    return count / (int(positive.weight.sum()) * int(negative.weight.sum()))


# nu may be the weight of the class, as far as two ways to add it up agree.
_ROUNDING = 1.0 + 2.0**-40


@dataclass(frozen=True)
class SoftRankBoostSettings(RankBoostSettings):
    """What a fit can be told beside what RankBoost can."""

    epsilon: float = 0.2
    nu_pos: float | None = None
    nu_neg: float | None = None


def fit_soft_rankboost(
    data: RankingData, settings: SoftRankBoostSettings, validation: RankingData | None = None
) -> tuple[AdditiveModel, RankBoostHistory, Certificate]:
    """Boost stumps on ``data``; with ``validation`` stop when its AUC no longer grows.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> settings = SoftRankBoostSettings(n_estimators=30, epsilon=0.5)
    >>> _, _, certificate = fit_soft_rankboost(data, settings)
    >>> print(certificate)
    The soft margin is 0.329: the mean of the 1.414 lowest positive scores minus that of the 1.414
    highest negative ones, scores divided by the sum of |alpha|. 30 rounds of SoftRankBoost
    guarantee 0.2868, and no combination of stumps exceeds 0.366. Of all training pairs 0.25 have
    a margin of 0.4043 or more (guaranteed: 0.08579), 0.75 the soft margin or more; the AUC is 1.
    """
    nus = _nu(data, settings, 0), _nu(data, settings, 1)
    with Workers(settings.n_jobs) as workers:
        weights = CappedWeights(data, workers, nus)
        first = weights.histogram()
        history = boost(data, weights, settings, validation, "SoftRankBoost")
        # The distributions after the last round are under the caps, and bound the optimum too.
        last = best_edge(weights, stump_search(data))
    del weights  # makes room for the scores
    tables = step_tables(data, history.rounds)
    fill_missing(first, tables)
    model, order = finish_additive(data, tables)
    edges = [abs(step.r) for step in history.rounds] + [abs(last[1]) if last else 0.0]
    values = {
        **_margins(data, tables, history, nus),
        "upper_bound": min(edges),
        "auc": order.auc,
        "n_rounds": len(history.rounds),
        "nu_pos": nus[1] * data.row_units[1],
        "nu_neg": nus[0] * data.row_units[0],
    }
    return model, history, Certificate(_state(values), values)


def _nu(data: RankingData, settings: SoftRankBoostSettings, label: int) -> float:
    """nu of a class (0 negative, 1 positive) in units of weight."""
    weight = data.class_weights[label]
    if not 0.0 < settings.epsilon <= 1.0:
        raise ValueError(
            f"epsilon is {settings.epsilon}; give a number above 0 and at most 1: nu is "
            "sqrt(epsilon) times the weight of a class"
        )
    nu = settings.nu_pos if label else settings.nu_neg
    if nu is None:
        return sqrt(settings.epsilon) * weight  # Corollary 4
    rows = data.effective_rows[label]
    if not 1.0 <= nu <= rows * _ROUNDING:
        name, rows_of = ("nu_pos", "positive") if label else ("nu_neg", "negative")
        advice = f"from 1 to {rows:g}, or None" if rows >= 1.0 else "None"
        raise ValueError(
            f"{name} is {nu:g}, and the {rows_of} rows are {rows:g} (effective number); {name} "
            f"must be {advice} for sqrt(epsilon) times their weight"
        )
    return min(nu / data.row_units[label], float(weight))


def _margins(
    data: RankingData,
    tables: list[Floats],
    history: RankBoostHistory,
    nus: tuple[float, float],
) -> dict[str, float]:
    """The soft margin, what is guaranteed of it, rho, and the shares of pairs that reach them."""
    scores = [score_rows(part, tables) for part in data.partitions]
    negative, positive = (class_scores(data, scores, label) for label in (0, 1))
    nu_neg, nu_pos = nus
    soft = mean_of_lowest(positive, nu_pos) + mean_of_lowest(negative.negated, nu_neg)
    rho = lowest_at(positive, nu_pos) + lowest_at(negative.negated, nu_neg)
    soft = min(soft, rho)  # a mean of equal scores may be rounded up
    held = [nu / weight for nu, weight in zip(nus, data.class_weights, strict=True)]
    fall = -sum(log(step.z) for step in history.rounds)
    size = sum(abs(step.alpha) for step in history.rounds) or 1.0
    return {
        "soft_margin": soft / size,
        # No margin is below -1, where the formula begins: a few rounds guarantee nothing.
        "bound": max(-1.0, (fall + log(held[0]) + log(held[1])) / size),
        "rho": rho / size,
        "share_rho": share_with_margin(positive, negative, rho),
        "share_soft": share_with_margin(positive, negative, soft),
        "share_guaranteed": (1.0 - held[0]) * (1.0 - held[1]),
    }


def _state(values: dict[str, float]) -> str:
    return (
        f"The soft margin is {values['soft_margin']:.4g}: the mean of the {values['nu_pos']:.4g} "
        f"lowest positive scores minus that of the {values['nu_neg']:.4g} highest negative ones, "
        f"scores divided by the sum of |alpha|. {values['n_rounds']} rounds of SoftRankBoost "
        f"guarantee {values['bound']:.4g}, and no combination of stumps exceeds "
        f"{values['upper_bound']:.4g}. Of all training pairs {values['share_rho']:.4g} have a "
        f"margin of {values['rho']:.4g} or more (guaranteed: {values['share_guaranteed']:.4g}), "
        f"{values['share_soft']:.4g} the soft margin or more; the AUC is {values['auc']:.4g}."
    )
