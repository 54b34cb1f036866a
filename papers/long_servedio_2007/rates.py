"""Powers fitted to measurements, bounds of the paper with their constants, and verdicts."""

from collections.abc import Sequence
from math import ceil, log

from papers.page import Verdict
from papers.statistics import Estimate, log_slope


def fit_power(x: Sequence[float], y: Sequence[float]) -> Estimate | None:
    """The power of x with which y grows, with a 95 % interval, by regression of the logarithms."""
    if len(set(x)) < 2 or len(x) < 3:
        return None
    return log_slope(x, y).interval()


def at_most(estimate: Estimate | None, limit: float) -> Verdict:
    """Judge whether an estimate is below a limit, by its whole interval."""
    if estimate is None:
        return Verdict.NOT_RUN
    if estimate.high <= limit:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if estimate.low > limit else Verdict.UNDECIDED


def of_all(holds: Sequence[bool]) -> Verdict:
    """Judge by whether all, some or none of the cases hold."""
    if not holds:
        return Verdict.NOT_RUN
    if all(holds):
        return Verdict.REPRODUCED
    return Verdict.PARTLY if any(holds) else Verdict.NOT_REPRODUCED


def theorem2_bound(edge: float, n_rounds: int) -> float:
    """(1 - gamma^2 / 4)^(T / 2): AdaBoost's product of 2 sqrt(e (1 - e)) at e = 1/2 - gamma / 4."""
    return float((1.0 - edge**2 / 4.0) ** (n_rounds / 2.0))


def theorem2_rounds(epsilon: float, edge: float) -> int:
    """8 ln(1 / epsilon) / gamma^2: where exp(-gamma^2 T / 8), above that product, is epsilon."""
    return ceil(8.0 * log(1.0 / epsilon) / edge**2)


def theorem9_layers(epsilon: float, advantage: float) -> int:
    """ln(2 / epsilon) / (2 advantage^2): where Azuma's exp(-2 advantage^2 T) is epsilon / 2."""
    return ceil(log(2.0 / epsilon) / (2.0 * advantage**2))


def ranker_draws(n_layers: int, min_class: float, epsilon: float, fraction: float) -> float:
    """The m_A T^4 / (epsilon p) of section 5 with its constants: 2 T^2 (T + 1)^2.

    T (T + 1) / 2 nodes, each of which waits for m_A rows of a class at 4 T (T + 1) / (epsilon p)
    draws a row, as the rule for freezing with estimates has it.
    """
    T = n_layers
    return 2.0 * T**2 * (T + 1) ** 2 * min_class / (epsilon * fraction)


def interval(estimate: Estimate | None) -> str:
    """``2.0 (1.9, 2.1)``, for powers."""
    return (
        "–"
        if estimate is None
        else f"{estimate.value:.2f} ({estimate.low:.2f}, {estimate.high:.2f})"
    )
