"""SamplingMartiRankSettings and history of SamplingMartiRank."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from auctor.learners.martirank.program import Node

Why = Literal["rare", "short", "no edge"]


@dataclass(frozen=True)
class SamplingMartiRankSettings:
    """What a fit can be told."""

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
    def share(self) -> float:
        """The share of a class below which a node is frozen: target_error / (4 T (T + 1))."""
        T = self.n_layers
        return self.target_error / (4 * T * (T + 1))


class Frozen(NamedTuple):
    """A node that was frozen: which class was scarce at it, and why it was given up."""

    layer: int
    node: int
    label: int  # 1, -1, or 0 where no ranker had an edge
    share_neg: float  # of all negatives that reach it, estimated
    share_pos: float
    why: Why


@dataclass
class SamplingMartiRankHistory:
    """The nodes of each layer, the draws it took, and the nodes that were frozen."""

    layers: list[list[Node]] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)  # of each layer
    frozen: list[Frozen] = field(default_factory=list)
    n_draws: int = 0  # in all, with those for threshold, calibration and certificate
    noise_rate: float = 0.0
    positive_rate: float = 0.5
    guesses: dict[float, float | None] = field(default_factory=dict)
    """AUC of each guessed noise rate on fresh noisy draws; None where the data refuted it.
    Guesses that made room for larger ones are not among them."""

    @property
    def n_frozen(self) -> int:
        return len(self.frozen)
