"""Rules that turn intervals into verdicts, the same for all papers."""

from collections.abc import Collection, Sequence
from math import inf, isnan

from papers.page import Verdict
from papers.statistics import Estimate, t_interval

_HOLDS = (Verdict.REPRODUCED, Verdict.BETTER)
# An interval that is wider than this fraction of the range of a quantity decides nothing.
TELLING = 0.05
# Of several rows that agree with a claim, this fraction may contradict it by chance.
_BY_CHANCE = 0.1


def by_interval(estimate: Estimate) -> Verdict:
    """Judge the claim that a difference is above 0; undecided if its interval contains 0."""
    if estimate.low > 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if estimate.high < 0 else Verdict.UNDECIDED


def distance(
    values: Sequence[float],
    figure: float,
    *,
    rounding: float,
    n_theirs: float = inf,
    overlap: float = 0.0,
) -> Estimate:
    """Our mean minus a figure of the paper, with the 95 % interval of that difference.

    The figure is a mean over ``n_theirs`` repetitions of the same kind as our values, printed to
    ± ``rounding``. Folds of the same rows have an ``overlap`` in place of a sampling error.
    """
    ours = t_interval(values, overlap + 1 / n_theirs)
    ends = (ours.low - figure - rounding, ours.high - figure + rounding)
    return Estimate(ours.value - figure, *ends)


def by_distance(difference: Estimate, is_proposed: bool, value_range: float = 1.0) -> Verdict:
    """Judge a figure by its distance from ours, which is positive where ours is better.

    Only for a method that the paper proposes is a better figure called better.
    """
    if isnan(difference.low):
        return Verdict.UNDECIDED
    if difference.low > 0:
        return Verdict.BETTER if is_proposed else Verdict.NOT_REPRODUCED
    if difference.high < 0:
        return Verdict.NOT_REPRODUCED
    is_telling = difference.high - difference.low <= 2 * TELLING * value_range
    return Verdict.REPRODUCED if is_telling else Verdict.UNDECIDED


def over_rows(verdicts: Collection[Verdict]) -> Verdict:
    """Judge a claim about several rows of a table by the verdicts on the rows."""
    known = [verdict for verdict in verdicts if verdict != Verdict.NOT_RUN]
    if not known:
        return Verdict.NOT_RUN
    n_hold = sum(verdict in _HOLDS for verdict in known)
    n_against = sum(verdict == Verdict.NOT_REPRODUCED for verdict in known)
    if n_hold == n_against == 0:
        return Verdict.UNDECIDED
    if n_against <= _BY_CHANCE * len(known) and 2 * n_hold > len(known):
        return Verdict.REPRODUCED
    return Verdict.PARTLY if n_hold > n_against else Verdict.NOT_REPRODUCED


def counted(n_agreeing: int, n_all: int) -> Verdict:
    """Judge a claim about several rows, each of which agrees with it or contradicts it."""
    against = [Verdict.NOT_REPRODUCED] * (n_all - n_agreeing)
    return over_rows([Verdict.REPRODUCED] * n_agreeing + against)


def together(verdicts: Collection[Verdict]) -> Verdict:
    """Judge a claim with several parts: "in part" if some parts hold and others do not."""
    distinct = set(verdicts)
    if not distinct or Verdict.NOT_RUN in distinct:
        return Verdict.NOT_RUN
    if len(distinct) == 1:
        return distinct.pop()
    if Verdict.PARTLY in distinct:
        return Verdict.PARTLY
    if any(verdict in _HOLDS for verdict in distinct):
        return Verdict.REPRODUCED if distinct <= set(_HOLDS) else Verdict.PARTLY
    return Verdict.NOT_REPRODUCED  # some parts fail, and none holds
