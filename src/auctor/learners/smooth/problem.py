"""One data set made ready for SmoothAUCBoost: its sums over pairs, its roughness, its penalties."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.data import RankingData, Workers
from auctor.learners.common.histogram import class_histogram
from auctor.learners.smooth.newton import Iterations, Patience, maximise
from auctor.learners.smooth.objective import Barrier, Objective, Point
from auctor.learners.smooth.penalty import Adapted, Penalty, Roughness
from auctor.learners.smooth.smoothed_auc import SmoothedAUC
from auctor.learners.smooth.spikes import find_loose
from auctor.learners.smooth.uneven import entry_rows

Amount = float | Literal["auto"]

# The automatic penalties, times the harmonic mean of the class weights: the more rows, the less
# noise there is to be held down.
_AUTO = 0.1
# Categories, which have no neighbours to learn from, are held more firmly. Of 0.3 to 30, by
# cross-validation on five tables, 3 or 10 was best on four.
_CATEGORIES = 3.0
# The best lambda of the paper's Figure 2.
_PAPERS_PENALTY = 0.01
# A scale of normal scores is about this long: what is automatic there, for bins that are 1 apart.
_USUAL_LENGTH = 5.0
# The pilot fit only weighs the features against each other.
_PILOT_TOL = 1e-4
# Slope, on the scale of the bins, that monotone features start with.
_FIRST_SLOPE = 0.01


@dataclass(frozen=True)
class Settings:
    """What a fit can be told; the names are those of the estimator."""

    penalty: Amount = "auto"
    shrinkage: Amount = "auto"
    ridge: Amount = "auto"
    roughness: str = "curvature"
    scale: str = "normal"
    adaptive: bool = True
    solver: str = "newton"
    n_estimators: int = 500
    max_iter: int = 500
    tol: float = 1e-8
    n_iter_no_change: int = 10
    signs: tuple[int, ...] = ()  # of monotone features; empty: none
    interactions: int = 0
    max_features: int | None = None  # that take part; of more, the most telling (smooth_screening)
    fpr_range: tuple[float, float] | None = None
    loose: Floats | None = None  # Adapted.loose where it is known; else it is looked for
    offset: Floats | None = None  # a score to start from, by the row's place in the table
    n_jobs: int | None = None
    verbose: bool | int = False


class Amounts(NamedTuple):
    """The weights of curvature, of slope, and of distance from the mean."""

    penalty: float
    shrinkage: float
    ridge: float


class Problem:
    """All that a fit needs and that does not change while it climbs."""

    def __init__(self, data: RankingData, settings: Settings, workers: Workers) -> None:
        self.data, self.settings, self.workers = data, settings, workers
        self.histogram = class_histogram(data, workers)
        shares = self.histogram / self.histogram.sum(axis=2, keepdims=True)
        scale = settings.scale if settings.roughness == "curvature" else "bins"
        self.roughness = Roughness(data, shares.mean(axis=0), scale)
        self.sums = self.pair_sums()
        self.signs = _increment_signs(data, settings.signs)
        self._pilot: Floats | None = None

    def pair_sums(self, lines: list[npt.NDArray[Any]] | None = None) -> SmoothedAUC:
        """The smoothed AUC of the data, with further lines of codes where they are given."""
        settings = self.settings
        return SmoothedAUC(
            self.data,
            self.workers,
            lines=lines,
            fpr_range=settings.fpr_range,
            offset=settings.offset,
        )

    @property
    def auto(self) -> Amounts:
        """What "auto" stands for."""
        return auto_amounts(self.data, self.settings)

    @property
    def amounts(self) -> Amounts:
        """The settings' amounts, numbers in place of "auto"."""
        auto, told = self.auto, self.settings
        penalty = auto.penalty if told.penalty == "auto" else told.penalty
        shrinkage = auto.shrinkage if told.shrinkage == "auto" else told.shrinkage
        ridge = auto.ridge if told.ridge == "auto" else told.ridge
        return Amounts(penalty, shrinkage, ridge)

    def adapted(self) -> Adapted | None:
        """Each feature's own multiples, from a pilot fit with automatic penalties.

        Stumps have none: the paper's penalty is the same for all features.
        """
        if not self.settings.adaptive or self.settings.solver == "stagewise":
            return None
        pilot = self.roughness.weigh(*self.auto)
        point, _ = self.climb(pilot, patience=Patience(_PILOT_TOL, self.settings.max_iter))
        self._pilot = point.x
        tables = point.x.reshape(pilot.shape)
        loose = self.settings.loose
        if loose is None and self.settings.roughness == "curvature":
            gradient = point.gradient.reshape(pilot.shape) + pilot.gradient(tables)
            n_rows, uneven = entry_rows(self.data, self.histogram, self.workers)
            noise = self._noise(point)
            loose = find_loose(self.roughness, point, gradient, n_rows, noise, uneven)
            loose[self.signs.any(axis=1)] = np.inf  # a line between bounds
        return self.roughness.adapt(tables, loose)

    def _noise(self, point: Point) -> float:
        """The variance of the gradient at a table's entry, over the entry's share of the rows."""
        n_rows = self.data.effective_rows
        return sum(square / n for square, n in zip(point.squares, n_rows, strict=True))

    def climb(
        self, penalty: Penalty, start: Floats | None = None, patience: Patience | None = None
    ) -> tuple[Point, Iterations]:
        """The maximum under a penalty, from a start that must be monotone where it is asked."""
        barrier = Barrier(self.signs) if self.signs.any() else None
        objective = Objective(self.sums, (penalty,), barrier)
        start = self.start() if start is None else start
        patience = patience or Patience(self.settings.tol, self.settings.max_iter)
        return maximise(objective, start, patience)

    def evaluate(self, penalty: Penalty, x: Floats) -> Point:
        """The objective at some tables, without the barrier of monotone features."""
        point = Objective(self.sums, (penalty,)).at(x)
        assert point is not None, "a climb only visits points where the objective is defined"
        return point

    def start(self) -> Floats:
        """Where the pilot fit ended; without one zero, and a gentle slope for monotone features.

        Those must start well inside their bounds, which no fit ends.
        """
        if self._pilot is not None and not self.signs.any():
            return self._pilot
        tables = np.zeros((self.data.n_features, self.data.n_codes))
        rises = _FIRST_SLOPE * self.signs * self.roughness.gaps
        tables[:, 1:] = np.cumsum(rises, axis=1)[:, :-1]
        return tables.ravel()


def auto_amounts(data: RankingData, settings: Settings) -> Amounts:
    """What "auto" stands for: for stumps the paper's, which has no shrinkage."""
    n_neg, n_pos = data.effective_rows
    amount = _AUTO * (1 / n_neg + 1 / n_pos) / 2
    if settings.solver == "stagewise":
        return Amounts(_PAPERS_PENALTY, 0.0, _CATEGORIES * amount)
    if settings.roughness == "curvature":
        return Amounts(amount, amount, _CATEGORIES * amount)
    stretch = max(1.0, (data.n_codes - 1) / _USUAL_LENGTH)
    # Ends that are repeated hold down the slope there: a tenth of the curvature's is enough.
    return Amounts(amount * stretch**3 / 10, amount * stretch, _CATEGORIES * amount)


def _increment_signs(data: RankingData, signs: tuple[int, ...]) -> npt.NDArray[np.int8]:
    """For each feature and code the sign that the increment to the next code must have, or 0."""
    out = np.zeros((data.n_features, data.n_codes), dtype=np.int8)
    for j, (feature, sign) in enumerate(zip(data.features, signs, strict=False)):
        out[j, 1 : feature.n_bins] = sign
    return out
