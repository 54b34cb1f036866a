"""Whether a distance goes to zero as the sample grows, by intervals."""

from collections.abc import Sequence
from math import log10, sqrt

from scipy.stats import t

from papers.page import Verdict
from papers.statistics import Estimate, standard_error

# A distance that falls by less than a fifth over tenfold rows has stopped falling.
LEAST_FALL = 0.1


def step_exponent(few: Sequence[float], many: Sequence[float], tenfolds: float = 1.0) -> Estimate:
    """The power of n over one step of sizes: difference of mean logs, with its 95% interval."""
    logs = [[log10(value) for value in values] for values in (few, many)]
    middle = (sum(logs[1]) / len(logs[1]) - sum(logs[0]) / len(logs[0])) / tenfolds
    least = min(len(one) for one in logs)
    if least < 2:
        return Estimate(middle, float("nan"), float("nan"))
    # Degrees of freedom of the smaller sample, which makes the interval a little too wide.
    half = float(t.ppf(0.975, least - 1)) * sqrt(sum(standard_error(one) ** 2 for one in logs))
    return Estimate(middle, middle - half / tenfolds, middle + half / tenfolds)


def judge_fall(steps: Sequence[Estimate]) -> Verdict:
    """Judge whether it goes to zero: falls beyond chance at each step, last by at least a fifth."""
    if not steps:
        return Verdict.NOT_RUN
    if all(step.high < 0 for step in steps) and steps[-1].high < -LEAST_FALL:
        return Verdict.REPRODUCED
    # It has stopped or rises at the last step.
    if steps[-1].low > -LEAST_FALL:
        return Verdict.NOT_REPRODUCED
    has_fallen, has_risen = steps[-1].high < -LEAST_FALL, any(step.low > 0 for step in steps)
    return Verdict.PARTLY if has_fallen and has_risen else Verdict.UNDECIDED


def join(verdicts: Sequence[Verdict]) -> Verdict:
    """Combine the verdicts of several distributions; "in part" if it holds only on some."""
    ran = {verdict for verdict in verdicts if verdict != Verdict.NOT_RUN}
    if not ran:
        return Verdict.NOT_RUN
    if len(ran) == 1:
        return ran.pop()
    if ran & {Verdict.REPRODUCED, Verdict.PARTLY}:
        return Verdict.PARTLY
    return Verdict.NOT_REPRODUCED  # beyond chance on some, undecided on the others


def judge_depth(values: Sequence[float], n_levels: int = 3) -> Verdict:
    """Judge a distance by depth: it must fall by at least a tenth over the last levels."""
    if len(values) <= n_levels:
        return Verdict.NOT_RUN
    left = values[-1] / values[-1 - n_levels]
    if left < 0.5:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if left > 0.9 else Verdict.PARTLY


def judge_floor(excess: Estimate, fraction: float = 0.1) -> Verdict:
    """Judge whether a distance stops at a floor; ``excess`` is relative to the floor."""
    if -fraction < excess.low and excess.high < fraction:
        return Verdict.REPRODUCED
    is_off = excess.low > fraction or excess.high < -fraction
    return Verdict.NOT_REPRODUCED if is_off else Verdict.UNDECIDED
