"""Rules that turn figures into verdicts."""

from collections.abc import Sequence
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np

from papers.page import Verdict
from papers.statistics import Estimate, standard_error, t_interval
from papers.verdicts import by_distance, by_interval, distance, together

_ROUNDING = 0.0005  # the paper prints three digits
N_REPETITIONS = 1000  # of the paper


class Printed(NamedTuple):
    """A mean of the paper and its 95 % band over repetitions."""

    mean: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Standard error of the mean, from the band of 1,000 repetitions."""
        return (self.high - self.low) / (2 * 1.96) / N_REPETITIONS**0.5

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f}, {self.high:.3f})"


class Finding(NamedTuple):
    """A verdict and its number."""

    verdict: Verdict
    number: str


NOTHING = Finding(Verdict.NOT_RUN, "too few repetitions")
REDUCED = Finding(Verdict.NOT_RUN, "a reduced run has other settings than the paper")


def ahead(differences: Sequence[float], overlap: float = 0.0) -> Finding:
    """Judge whether paired differences are above 0 beyond chance."""
    if len(differences) < 2:
        return NOTHING
    interval = t_interval(differences, overlap)
    return Finding(by_interval(interval), f"{interval}, {len(differences)} repetitions")


def far(values: Sequence[float], printed: Printed) -> float:
    """How many standard errors lie between our mean and the paper's; nan for too few."""
    rounding = _ROUNDING / 3**0.5
    error = (standard_error(values) ** 2 + printed.error**2 + rounding**2) ** 0.5
    return (mean(values) - printed.mean) / error


def same_figure(values: Sequence[float], printed: Printed, is_proposed: bool = False) -> Finding:
    """Judge whether our mean is the paper's."""
    if len(values) < 2:
        return NOTHING
    apart = distance(values, printed.mean, rounding=_ROUNDING, n_theirs=N_REPETITIONS)
    number = f"{mean(values):.4f} for {printed.mean:.3f}, difference {apart}"
    return Finding(by_distance(apart, is_proposed), number)


def all_of(findings: Sequence[Finding], number: str) -> Finding:
    """Combine the findings on the parts of a claim."""
    verdict = together([finding.verdict for finding in findings])
    return NOTHING if verdict == Verdict.NOT_RUN else Finding(verdict, number)


def same_distribution(distances: Sequence[float]) -> Finding:
    """Judge whether the distance from the paper's figures can be due to chance."""
    if not distances:
        return NOTHING
    size = float(np.sqrt(np.mean(np.square(distances))))
    verdict = Verdict.UNDECIDED
    if size < 2:
        verdict = Verdict.REPRODUCED
    elif size > 3:
        verdict = Verdict.NOT_REPRODUCED
    return Finding(verdict, f"root mean square {size:.1f} standard errors, 1 is expected by chance")


def narrower(ours: Sequence[float], theirs: Sequence[float], n_resamples: int = 1000) -> Finding:
    """Judge whether the standard deviation is smaller, by a bootstrap over the repetitions."""
    n = min(len(ours), len(theirs))
    if n < 5:
        return NOTHING
    pairs = np.column_stack([ours[:n], theirs[:n]])
    rows = np.random.default_rng(0).integers(0, n, size=(n_resamples, n))
    spread = pairs[rows].std(axis=1, ddof=1)
    low, high = np.quantile(spread[:, 1] - spread[:, 0], [0.025, 0.975]).tolist()
    mine, other = stdev(ours[:n]), stdev(theirs[:n])
    estimate = Estimate(other - mine, low, high)
    number = (
        f"standard deviations {mine:.4f} and {other:.4f}, difference {estimate}, {n} repetitions"
    )
    return Finding(by_interval(estimate), number)
