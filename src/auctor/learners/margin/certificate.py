"""What is known of the margins of a fit: counted on the data, and bounded by duality."""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.kernels.pairs import nth_difference, weight_up_to
from auctor.learners.certificate import Certificate
from auctor.learners.margin.fit import MarginFit, MarginSettings
from auctor.learners.margin.problems import MarginProblem, RowScores


class _Pairs:
    """Differences of scores, positive less negative, over all pairs."""

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
        """Weight of the pairs whose scores differ by that much or more."""
        below = float(np.nextafter(difference, -np.inf))
        lists = self.pos, self.weight_pos, self.neg, self._above
        return self.total - weight_up_to(*lists, below)

    def nth(self, nu: float) -> float:
        """The nu-th smallest difference."""
        lists = self.pos, self.weight_pos, self.neg, self._above
        return float(nth_difference(*lists, min(nu, self.total), 0.0))

    def auc(self) -> float:
        """Pairs in order, ties counted half."""
        return (self.at_least(0.0) + self.at_least(float(np.nextafter(0.0, 1.0)))) / 2 / self.total


class _Margin(NamedTuple):
    """The margin rho, twice over as a difference, and the weight of pairs that must hold it."""

    difference: float
    guaranteed: float
    source: str


def certify_margin(problem: MarginProblem, fit: MarginFit, settings: MarginSettings) -> Certificate:
    """The margins held, counted on the training pairs, against what the paper proves.

    The scores are the model's own: what is counted is what its user can count.
    """
    pairs = _Pairs(problem.scores(fit.beta))
    margin = _margin(pairs, fit, settings)
    rho, gamma = margin.difference / 2.0, fit.value
    holding = pairs.at_least(margin.difference)
    # gamma is a mean of margins up to rho: above it only by rounding.
    holding_gamma = pairs.at_least(2.0 * min(gamma, rho))
    values: dict[str, Any] = {
        "rho": rho,
        "gamma": gamma,
        "upper_bound": fit.bound,
        "gap": fit.gap,
        "n_pairs": pairs.total,
        "pairs_rho": holding,
        "fraction_rho": holding / pairs.total,
        "pairs_gamma": holding_gamma,
        "fraction_gamma": holding_gamma / pairs.total,
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

    Whatever the weights, fewer than nu pairs lie below the nu-th smallest margin, and fewer
    than nu+ and nu- rows beyond the scores that make rho of problem (8): the counts hold for
    the weights at hand, not only for the optimum.
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
    """The score that the weight from below reaches ``nu`` at."""
    place = int(np.searchsorted(np.cumsum(weight), nu))
    return float(scores[min(place, len(scores) - 1)])


def _statement(values: dict[str, Any], source: str, settings: MarginSettings) -> str:
    kind = "soft" if settings.soft_margin else "hard"
    if kind == "hard" and values["gamma"] < 0.0:
        return (
            "No weights separate the classes. With every hypothesis in the direction of its "
            f"difference of means the least margin of a pair is {values['gamma']:.6g}, and none of "
            f"these weights have one above {values['upper_bound']:.6g} (by duality)."
        )
    return (
        f"{values['fraction_rho']:.4g} of the {values['n_pairs']:.6g} training pairs have a margin of "
        f"at least rho = {values['rho']:.4g} (at least {values['fraction_guaranteed']:.4g} must, "
        f"{source}). The {kind} margin is {values['gamma']:.6g}, and no other weights have one "
        f"above {values['upper_bound']:.6g} (relative gap {values['gap']:.2g}, by duality). "
        f"{values['n_nonzero']} of {values['n_hypotheses']} hypotheses have weight."
    )
