"""Rules that turn intervals into verdicts, the same for all papers."""

from collections.abc import Collection

from papers.page import Verdict
from papers.statistics import Estimate

_HOLDS = (Verdict.REPRODUCED, Verdict.BETTER)


def by_interval(estimate: Estimate) -> Verdict:
    """Judge the claim that a difference is above 0; undecided if its interval contains 0."""
    if estimate.low > 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if estimate.high < 0 else Verdict.UNDECIDED


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
