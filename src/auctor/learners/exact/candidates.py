"""What the inner folds of ExactBoostCV tried and chose, as data and in words."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auctor._text import count
from auctor.learners.exact.paired_metric import Gain
from auctor.learners.exact.run import RunHistory
from auctor.learners.smooth.history import SmoothHistory

# A candidate must gain more than so many standard errors, as penalties of SmoothAUCBoostCV must.
SURE = 2.0


@dataclass(frozen=True)
class Candidate:
    """A model that the folds tried: where it starts, its rounds, and the metric of every fold.

    ``gain`` is over the candidate that it was compared with: the smooth AUC model for other starts,
    the start itself for rounds.
    """

    start: str  # "auc" or "partial_auc"
    n_rounds: int
    factor: float
    values: tuple[float, ...]
    gain: Gain

    @property
    def mean(self) -> float:
        return float(np.mean(self.values)) if self.values else float("nan")


@dataclass
class History:
    """The smooth fit, what the inner folds tried and chose, and the runs on all rows."""

    smooth: SmoothHistory
    candidates: list[Candidate] = field(default_factory=list)
    chosen: Candidate | None = None
    runs: list[RunHistory] = field(default_factory=list)
    obstacle: str = ""  # why no rounds were tried

    @property
    def smoothed_auc(self) -> list[float]:
        """Of the smooth fit, after each iteration."""
        return self.smooth.smoothed_auc


def chosen_values(found: History) -> dict[str, Any]:
    """What was chosen and the inner folds' figures for it, as plain values."""
    chosen, usual = found.chosen, found.candidates[0] if found.candidates else None
    if chosen is None or usual is None:
        return {"chosen": "auc", "n_rounds": 0, "factor": 0.0}
    return {
        "chosen": chosen.start,
        "n_rounds": chosen.n_rounds,
        "factor": chosen.factor,
        "smooth_mean": usual.mean,
        "chosen_mean": chosen.mean,
        "gain": chosen.gain.value,
        "gain_error": chosen.gain.error,
    }


def tell(title: str, found: History) -> str:
    """What was chosen and why, in a sentence or two."""
    if found.chosen is None:
        return "There are too few rows for inner folds: the smooth AUC model stays."
    usual, others = found.candidates[0], found.candidates[1:]
    begin = f"Within the inner folds the smooth AUC model has a mean {title} of {usual.mean:.4f}"
    if title == "KS":
        begin += " (too large, as the largest of many differences in a few rows is)"
    if found.chosen is usual:
        return f"{begin}; {_why_not(others, found.obstacle)}, so it stays."
    words = [_describe(c) for c in _steps_to(found)]
    return f"{begin}; {'; '.join(words)}. The gain is larger than chance, so that model is taken."


def _steps_to(found: History) -> list[Candidate]:
    """The candidates on the way to the chosen one: its start, if that is not the usual, then it."""
    chosen = found.chosen
    assert chosen is not None, "told only where something was chosen"
    starts = [c for c in found.candidates[1:] if c.n_rounds == 0 and c.start == chosen.start]
    return [*starts, *([chosen] if chosen.n_rounds else [])]


def _describe(candidate: Candidate) -> str:
    """A candidate, its mean and its gain."""
    name = "a start trained on the partial AUC of the top"
    if candidate.n_rounds:
        name = f"{candidate.factor:g} times {candidate.n_rounds} rounds of ExactBoost on top"
    gain = f"{candidate.gain.value:+.4f}, standard error {candidate.gain.error:.4f}"
    return f"with {name} it is {candidate.mean:.4f} (gain {gain})"


def _why_not(others: list[Candidate], reason: str) -> str:
    """Why no other candidate was taken."""
    if not others:
        return f"no rounds were tried ({reason})"
    best = max(others, key=lambda c: c.gain.sure(SURE))
    told = f"none of {count(len(others), 'other candidate')} gains more than chance"
    more = f"; no rounds were tried ({reason})" if reason else ""
    gain = f"{best.gain.value:+.4f}, standard error {best.gain.error:.4f}"
    return f"{told}, {SURE:g} standard errors and a row (the surest gains {gain}){more}"
