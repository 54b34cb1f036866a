"""Settings, history and result of MarginRanker's learner."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.learners.margin.cutting_planes import Cuts, Solution, relative_gap
from auctor.learners.margin.snap import WEIGHT_GRID

Method = Literal["pairs", "reduced", "heuristic"]


@dataclass(frozen=True)
class MarginSettings:
    """Settings of a fit."""

    method: Method = "pairs"
    soft_margin: bool = True  # False: the hard margin, which no pair may miss
    epsilon: float = 0.2
    nu: float | None = None
    nu_pos: float | None = None
    nu_neg: float | None = None
    negations: bool = True
    constant: bool = True
    relax: bool = True
    gap_tol: float = 1e-6
    max_iter: int = 10_000
    time_limit: float | None = None
    grid: float = WEIGHT_GRID
    verbose: bool | int = False


class Nu(NamedTuple):
    """Number of pairs, and of rows of each class, that may miss the margin."""

    pairs: float
    neg: float
    pos: float


@dataclass(eq=False)
class MarginHistory:
    """The solved problems, the path of the heuristic, and the weights in the end."""

    solutions: list[Solution] = field(default_factory=list)
    gamma_path: list[float] = field(default_factory=list)  # margins of the heuristic
    nu_pos_path: list[float] = field(default_factory=list)
    beta: Floats = field(default_factory=lambda: np.zeros(0))  # weights of the hypotheses
    epsilon: float | None = None  # that was used; None if nu was given, and for the hard margin

    @property
    def n_iter(self) -> int:
        return sum(solution.n_iter for solution in self.solutions)


@dataclass(frozen=True, eq=False)
class MarginFit:
    """The weights of the hypotheses, their margin, and an upper bound on any margin."""

    beta: Floats
    value: float  # gamma, the soft or hard margin
    bound: float  # no weights have a larger margin
    epsilon: float | None  # None if nu was given, and for the hard margin
    nu: Nu
    stopped_by: str
    cuts: Cuts | None = None

    @property
    def gap(self) -> float:
        """How much larger the margin could be, relative to the bound (at least to 0.001)."""
        return relative_gap(self.value, self.bound)
