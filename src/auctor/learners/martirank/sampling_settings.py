"""Settings and history of SamplingMartiRank."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from auctor.learners.martirank.program import Node

# Why a node was frozen: too small a fraction of a class, too few draws, or no ranker above chance.
Why = Literal["rare", "short", "no edge"]


@dataclass(frozen=True)
class SamplingMartiRankSettings:
    """Settings of a fit."""

    estimator: str = "feature"
    n_layers: int = 40
    target_error: float = 0.1
    noise_rate: float | None = None
    positive_rate: float | None = None
    output: str = "position"
    min_samples_leaf: float = 10.0
    max_draws: int | None = 100_000
    sample_size: int = 20_000
    batch_size: int = 10_000
    seed: int = 0
    n_jobs: int | None = None
    verbose: bool | int = False

    @property
    def least_fraction(self) -> float:
        """A node with less of a class than this is frozen: target_error / (4 T (T + 1))."""
        T = self.n_layers
        return self.target_error / (4 * T * (T + 1))


class Frozen(NamedTuple):
    """A node that was frozen: its vote, the fraction of each class that reaches it, and why."""

    layer: int
    node: int
    label: int  # 1, -1, or 0 if no ranker was better than chance
    fraction_neg: float  # of all negatives, estimated
    fraction_pos: float
    why: Why


@dataclass
class SamplingMartiRankHistory:
    """The nodes and the number of draws of each layer, and the nodes that were frozen."""

    layers: list[list[Node]] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)  # of each layer
    frozen: list[Frozen] = field(default_factory=list)
    n_draws: int = 0  # in total, with those for threshold, calibration and certificate
    noise_rate: float = 0.0
    positive_rate: float = 0.5
    guesses: dict[float, float | None] = field(default_factory=dict)
    """AUC of each guessed noise rate on new noisy draws; None if the draws refuted it. Guesses that
    were given up for larger ones are not included."""

    @property
    def n_frozen(self) -> int:
        return len(self.frozen)
