"""How the tables print a cell, and how verdicts are found."""

from collections.abc import Sequence
from statistics import mean

from auctor.papers.page import Verdict
from auctor.papers.statistics import Estimate, standard_error

MISSING = "–"


def cell(values: Sequence[float], paper: float | None) -> str:
    """``0.9313 ± 0.0021 (0.9384)``: mean, standard error, and the paper's figure."""
    ours = MISSING if not values else f"{mean(values):.4f}"
    if len(values) > 1:
        ours += f" ± {standard_error(values):.4f}"
    return ours if paper is None else f"{ours} ({paper:.4g})"


def direction(estimate: Estimate) -> Verdict:
    """Of a difference that the paper has above 0: an interval above, below, or around it."""
    if estimate.low > 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if estimate.high < 0 else Verdict.PARTLY


def share_verdict(n_agreeing: int, n_all: int) -> Verdict:
    """Of a claim made of several rows: nearly all of them, most of them, or not."""
    if n_all == 0:
        return Verdict.NOT_RUN
    if n_agreeing >= 0.8 * n_all:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if n_agreeing >= 0.4 * n_all else Verdict.NOT_REPRODUCED
