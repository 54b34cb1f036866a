"""Rules that turn intervals into verdicts, the same for all papers."""

from collections.abc import Collection

from papers.page import Verdict
from papers.statistics import Estimate

_HOLDS = (Verdict.REPRODUCED, Verdict.BETTER)


def by_interval(estimate: Estimate) -> Verdict:
    """Of a claim that a difference is above 0; undecided where its interval contains 0."""
    if estimate.low > 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if estimate.high < 0 else Verdict.UNDECIDED


def together(verdicts: Collection[Verdict]) -> Verdict:
    """Of a claim made of several: in part where some of it holds and some does not, or is open."""
    found = set(verdicts)
    if not found or Verdict.NOT_RUN in found:
        return Verdict.NOT_RUN
    if len(found) == 1:
        return found.pop()
    if Verdict.PARTLY in found:
        return Verdict.PARTLY
    if any(verdict in _HOLDS for verdict in found):
        return Verdict.REPRODUCED if found <= set(_HOLDS) else Verdict.PARTLY
    return Verdict.NOT_REPRODUCED  # some of it fails, and nothing of it holds
