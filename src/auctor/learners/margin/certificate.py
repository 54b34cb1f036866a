"""The certificate of a margin: counted on the training pairs, and bounded by duality."""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.kernels.pairs import nth_difference, weight_up_to
from auctor.learners.certificate import Certificate
from auctor.learners.margin.problems import MarginProblem, RowScores
from auctor.learners.margin.settings import MarginFit, MarginSettings


class _Pairs:
    """Differences of scores, positive minus negative, over all pairs."""

    def __init__(self, rows: RowScores) -> None:
        order_neg, order_pos = (
            np.argsort(rows.neg, kind="stable"),
            np.argsort(rows.pos, kind="stable"),
        )
        self.neg, self.pos = rows.neg[order_neg], rows.pos[order_pos]
        self.weight_neg, self.weight_pos = rows.weight_neg[order_neg], rows.weight_pos[order_pos]
        self._above = np.append(np.cumsum(self.weight_neg[::-1])[::-1], 0.0)
        self.total = float(self.weight_neg.sum() * self.weight_pos.sum())

    def at_least(self, difference: float) -> float:
        """Weight of the pairs whose scores differ by at least ``difference``."""
        below = float(np.nextafter(difference, -np.inf))
        lists = self.pos, self.weight_pos, self.neg, self._above
        return self.total - weight_up_to(*lists, below)

    def nth(self, nu: float) -> float:
        """The nu-th smallest difference."""
        lists = self.pos, self.weight_pos, self.neg, self._above
        return float(nth_difference(*lists, min(nu, self.total), 0.0))

    def auc(self) -> float:
        """Fraction of the pairs in the right order, ties counted half."""
        return (self.at_least(0.0) + self.at_least(float(np.nextafter(0.0, 1.0)))) / 2 / self.total


class _Margin(NamedTuple):
    """2 rho, as a difference of scores, and the weight of the pairs that must have it."""

    difference: float
    guaranteed: float
    source: str


def certify_margin(problem: MarginProblem, fit: MarginFit, settings: MarginSettings) -> Certificate:
    """The margins counted on the training pairs, and those that Suehiro et al. prove.

    The scores are those of the model, so that a user can reproduce the counts.
    """
    pairs = _Pairs(problem.scores(fit.beta))
    margin = _margin(pairs, fit, settings)
    rho, gamma = margin.difference / 2.0, fit.value
    weight_rho = pairs.at_least(margin.difference)
    # gamma is a mean of margins up to rho and exceeds it only by rounding.
    weight_gamma = pairs.at_least(2.0 * min(gamma, rho))
    values: dict[str, Any] = {
        "rho": rho,
        "gamma": gamma,
        "upper_bound": fit.bound,
        "gap": fit.gap,
        "n_pairs": pairs.total,
        "pairs_rho": weight_rho,
        "fraction_rho": weight_rho / pairs.total,
        "pairs_gamma": weight_gamma,
        "fraction_gamma": weight_gamma / pairs.total,
        "fraction_guaranteed": margin.guaranteed / pairs.total,
        "auc_rho": pairs.at_least(rho) / pairs.total,  # AUC_{S,rho}: differences, not halved
        "auc": pairs.auc(),
        "epsilon": fit.epsilon,
        "nu": fit.nu.pairs,
        "nu_pos": fit.nu.pos,
        "nu_neg": fit.nu.neg,
        "n_nonzero": int(np.count_nonzero(fit.beta)),
        "n_hypotheses": problem.hypotheses.count,
        "stopped_by": fit.stopped_by,
    }
    return Certificate(_statement(values, margin.source, settings), values)


def _margin(pairs: _Pairs, fit: MarginFit, settings: MarginSettings) -> _Margin:
    """rho, and how many pairs are proven to have it.

    For any weights, fewer than nu pairs are below the nu-th smallest margin, and fewer than nu+ and
    nu- rows are beyond the scores that define rho in problem (8). So the numbers hold for these
    weights, not only for the optimum.
    """
    if not settings.soft_margin:
        return _Margin(float(pairs.pos[0] - pairs.neg[-1]), pairs.total, "problem (4), Theorem 2")
    if settings.method == "pairs":
        return _Margin(pairs.nth(fit.nu.pairs), pairs.total - fit.nu.pairs, "problem (2)")
    low = _nth_lowest(pairs.pos, pairs.weight_pos, fit.nu.pos)
    high = -_nth_lowest(-pairs.neg[::-1], pairs.weight_neg[::-1], fit.nu.neg)
    rest_pos = max(float(pairs.weight_pos.sum()) - fit.nu.pos, 0.0)
    rest_neg = max(float(pairs.weight_neg.sum()) - fit.nu.neg, 0.0)
    return _Margin(low - high, rest_pos * rest_neg, "problem (7), Theorem 3")


def _nth_lowest(scores: Floats, weight: Floats, nu: float) -> float:
    """The score at which the cumulative weight, from the lowest score, reaches ``nu``."""
    position = int(np.searchsorted(np.cumsum(weight), nu))
    return float(scores[min(position, len(scores) - 1)])


def _statement(values: dict[str, Any], source: str, settings: MarginSettings) -> str:
    kind = "soft" if settings.soft_margin else "hard"
    if kind == "hard" and values["gamma"] < 0.0:
        return (
            "No weights separate the classes. If each hypothesis has the sign of its difference of "
            f"means, the smallest margin of a pair is {values['gamma']:.6g}, and no such weights "
            f"have more than {values['upper_bound']:.6g} (by duality)."
        )
    return (
        f"{values['fraction_rho']:.4g} of the {values['n_pairs']:.6g} training pairs have a margin "
        f"of at least rho = {values['rho']:.4g}; at least {values['fraction_guaranteed']:.4g} are "
        f"guaranteed ({source} of Suehiro et al.). The {kind} margin is {values['gamma']:.6g}, and "
        f"no weights have a {kind} margin above {values['upper_bound']:.6g} (by duality; relative "
        f"gap {values['gap']:.2g}). {values['n_nonzero']} of {values['n_hypotheses']} hypotheses "
        "have nonzero weight."
    )
