"""The candidates of ExactBoostCV's inner folds and the choice between them, also in words."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from auctor._text import count
from auctor.learners.exact.paired_metric import Gain
from auctor.learners.exact.run import RunHistory
from auctor.learners.smooth.certificate import SmoothHistory

# A candidate must gain more than this many standard errors, as in SmoothAUCBoostCV.
SURE = 2.0


@dataclass(frozen=True)
class Candidate:
    """A model that the folds tried: its initial model, its rounds, and the metric of every fold.

    ``gain`` is that over the smooth AUC model if there are no rounds, and over the initial model
    otherwise. ``start`` is "auc" or "partial_auc", the objective of the initial model.
    """

    start: str
    n_rounds: int
    factor: float
    values: tuple[float, ...]
    gain: Gain

    @property
    def mean(self) -> float:
        """Mean of the metric over the folds."""
        return float(np.mean(self.values)) if self.values else float("nan")


@dataclass
class RefinementHistory:
    """The smooth fit, the candidates of the inner folds, the choice, and the runs on all rows."""

    smooth: SmoothHistory
    candidates: list[Candidate] = field(default_factory=list)
    chosen: Candidate | None = None
    runs: list[RunHistory] = field(default_factory=list)
    obstacle: str = ""  # why no rounds were tried

    @property
    def smoothed_auc(self) -> list[float]:
        """The smoothed AUC of the smooth fit after each iteration."""
        return self.smooth.smoothed_auc


def chosen_values(history: RefinementHistory) -> dict[str, Any]:
    """The choice and its results in the inner folds, for the certificate."""
    chosen, usual = history.chosen, history.candidates[0] if history.candidates else None
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


def describe_choice(title: str, history: RefinementHistory) -> str:
    """The choice and the reason for it, in a sentence or two."""
    if history.chosen is None:
        return "There are too few rows for inner folds, so the smooth AUC model is kept."
    usual, others = history.candidates[0], history.candidates[1:]
    begin = f"In the inner folds the mean {title} of the smooth AUC model is {usual.mean:.4f}"
    if title == "KS":
        begin += " (biased upwards, as a maximum over few rows is)"
    if history.chosen is usual:
        return f"{begin}; {_why_not(others, history.obstacle)}, so it is kept."
    words = [_describe(c) for c in _steps_to(history)]
    return f"{begin}; {'; '.join(words)}. The gain is larger than chance, so this model is chosen."


def _steps_to(history: RefinementHistory) -> list[Candidate]:
    """The chosen candidate, after its initial model if that is not the smooth AUC model."""
    chosen = history.chosen
    assert chosen is not None, "called only if there is a choice"
    starts = [c for c in history.candidates[1:] if c.n_rounds == 0 and c.start == chosen.start]
    return [*starts, *([chosen] if chosen.n_rounds else [])]


def _describe(candidate: Candidate) -> str:
    """A candidate, its mean and its gain."""
    name = "an initial model trained on the partial AUC of the top"
    if candidate.n_rounds:
        name = f"{candidate.factor:g} times {candidate.n_rounds} rounds of ExactBoost added"
    return f"with {name} it is {candidate.mean:.4f} ({_describe_gain(candidate.gain)})"


def _describe_gain(gain: Gain) -> str:
    return f"gain {gain.value:+.4f}, standard error {gain.error:.4f}"


def _why_not(others: list[Candidate], obstacle: str) -> str:
    """Why no other candidate was chosen."""
    if not others:
        return f"no rounds were tried ({obstacle})"
    best = max(others, key=lambda c: c.gain.sure(SURE))
    reason = f"none of {count(len(others), 'other candidate')} gains more than chance"
    more = f"; no rounds were tried ({obstacle})" if obstacle else ""
    return (
        f"{reason}, {SURE:g} standard errors and one row (best: {_describe_gain(best.gain)}){more}"
    )
