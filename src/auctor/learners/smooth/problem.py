"""One data set prepared for SmoothAUCBoost: its smoothed AUC, its roughness, its penalties.

Single values of a feature may stand out, such as codes, round amounts, or 999 for unknown. A smooth
curve cannot follow such values. At the maximum of a smooth fit the remaining gradients of
neighbouring bins differ by noise alone, unless their values have an effect of their own. How much
more they differ shows how far bins are from the curve, and so how large the penalty on leaving the
curve should be.
"""

import numpy as np
import numpy.typing as npt

from auctor._typing import DenseCodes, Floats
from auctor.data import RankingData, Workers
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.blocks import class_histogram
from auctor.learners.smooth.histograms import code_fractions, entry_rows
from auctor.learners.smooth.newton import Iterations, Patience, maximise, maximise_with_barrier
from auctor.learners.smooth.objective import Barrier, Objective, Point, Quadratic
from auctor.learners.smooth.penalty import CURVATURE, Adapted, Penalty, Roughness
from auctor.learners.smooth.settings import Amounts, SmoothSettings, auto_amounts, resolve_amounts
from auctor.learners.smooth.smoothed_auc import SmoothedAUC

# The excess must be this many standard deviations of what noise does.
_SURE = 6.0
# Bins with fewer rows are ignored: the effect of a single row on a gradient is far from normal.
_FEWEST_ROWS = 5
FEWEST_BINS = 8


def find_loose(
    roughness: Roughness,
    point: Point,
    gradient: Floats,
    n_rows: Floats,
    noise: float,
    variance_ratio: Floats | None = None,
) -> Floats:
    """The penalty on leaving the smooth curve for each feature, infinite where nothing stands out.

    ``gradient`` is that of the smoothed AUC by table entry, ``n_rows`` the number of rows of each
    entry. The variance of an entry is its fraction of the rows times ``noise``, and times
    ``variance_ratio`` where rows have different weights.
    """
    shape = roughness.fraction.shape
    mass = point.mass[0].reshape(shape)
    loose = np.full(len(gradient), np.inf)
    for j in np.flatnonzero(roughness.can_be_loose):
        held = 1 + np.flatnonzero(n_rows[j, 1:] >= _FEWEST_ROWS)
        if len(held) >= FEWEST_BINS:
            fraction = roughness.fraction[j, held]
            ratio = np.ones(len(held)) if variance_ratio is None else variance_ratio[j, held]
            loose[j] = spike_cost(gradient[j, held], fraction, mass[j, held], noise, ratio)
    return loose


def spike_cost(
    gradient: Floats, fraction: Floats, mass: Floats, noise: float, ratio: Floats
) -> float:
    """The penalty, from differences of neighbours: the curve explains slow changes between bins."""
    per_row = gradient / fraction
    alone = ratio / fraction
    spread = noise * (alone[1:] + alone[:-1])  # variance of a difference, by noise alone
    ratios = np.diff(per_row) ** 2 / spread
    excess = float((ratios - 1).sum())
    # If all is noise, each ratio has the variance 2, and the covariance of neighbouring ratios,
    # which share a bin, adds 1 for each.
    if excess <= _SURE * np.sqrt(3 * len(ratios)):
        return np.inf
    curvature = CURVATURE * mass / fraction
    expected = float(((curvature[1:] ** 2 + curvature[:-1] ** 2) / spread).sum())
    variance = excess / expected  # of a bin's distance from the curve
    # The best linear predictor of a distance d from a gradient g = curvature d + noise.
    typical = float(np.einsum("i,i->", fraction, curvature) / fraction.sum())
    return noise / (2 * typical * variance)


# The pilot fit only compares the features with each other, so it need not be precise.
_PILOT_TOL = 1e-4
# The slope, on the scale of the bins, that monotone features start with.
_FIRST_SLOPE = 0.01


class Problem:
    """Everything that a fit needs and that does not change during its iterations."""

    def __init__(
        self,
        data: RankingData,
        settings: SmoothSettings,
        workers: Workers,
        journal: Journal = NO_JOURNAL,
    ) -> None:
        self.data, self.settings, self.workers = data, settings, workers
        self.journal = journal  # of the climbs
        self.histogram = class_histogram(data, workers)
        scale = settings.scale if settings.roughness == "curvature" else "bins"
        self.roughness = Roughness(data, code_fractions(self.histogram), scale)
        self.sums = self.pair_sums()
        self.signs = _increment_signs(data, settings.signs)
        self.pilot: Floats | None = None  # the end of the pilot fit, if there was one

    def pair_sums(self, cells: list[DenseCodes] | None = None) -> SmoothedAUC:
        """The smoothed AUC of the data; ``cells`` are the codes of surfaces, if there are any."""
        settings = self.settings
        return SmoothedAUC(
            self.data,
            self.workers,
            cells=cells,
            fpr_range=settings.fpr_range,
            offset=settings.offset,
        )

    @property
    def auto(self) -> Amounts:
        """The amounts that "auto" stands for."""
        return auto_amounts(self.data, self.settings)

    @property
    def amounts(self) -> Amounts:
        """The amounts of the settings, with numbers in place of "auto"."""
        return resolve_amounts(self.data, self.settings)

    def adapted(self) -> Adapted | None:
        """Each feature's own multiples of the penalties, from a pilot fit with automatic amounts.

        None for the stagewise solver: Komori's penalty is the same for all features.
        """
        if not self.settings.adaptive or self.settings.solver == "stagewise":
            return None
        pilot = self.roughness.weigh(*self.auto)
        patience = Patience(_PILOT_TOL, self.settings.max_iter, journal=self.journal.part("pilot"))
        point, _ = self.climb(pilot, patience=patience)
        self.pilot = point.x
        loose = self.settings.loose
        if loose is None and self.settings.roughness == "curvature":
            loose = self._find_loose(pilot, point)
        return self.roughness.adapt(point.x.reshape(pilot.shape), loose)

    def _find_loose(self, pilot: Penalty, point: Point) -> Floats:
        """The cost of leaving the smooth curve, for each feature, at the end of the pilot fit."""
        penalty_gradient = pilot.gradient(point.x.reshape(pilot.shape))
        gradient = point.gradient.reshape(pilot.shape) + penalty_gradient
        n_rows, ratio = entry_rows(self.data, self.histogram, self.workers)
        loose = find_loose(self.roughness, point, gradient, n_rows, self._noise(point), ratio)
        loose[self.signs.any(axis=1)] = np.inf  # monotone features stay on their curve
        return loose

    def _noise(self, point: Point) -> float:
        """The variance of the gradient at a table entry, divided by its fraction of the rows."""
        n_rows = self.data.effective_rows
        return sum(square / n for square, n in zip(point.squares, n_rows, strict=True))

    def climb(
        self, penalty: Penalty, start: Floats | None = None, patience: Patience | None = None
    ) -> tuple[Point, Iterations]:
        """The maximum under a penalty.

        ``start`` must be strictly monotone in the features that have to be monotone.
        """
        objective = self.objective(self.sums, (penalty,))
        patience = patience or Patience(self.settings.tol, self.settings.max_iter)
        if start is None:
            return self.maximise(objective, self.start(), patience)
        return self.maximise(objective, start, patience, is_near=True)

    def objective(self, sums: SmoothedAUC, penalties: tuple[Quadratic, ...]) -> Objective:
        """The smoothed AUC minus the penalties, with a barrier if some features are monotone."""
        return Objective(sums, penalties, Barrier(self.signs) if self.signs.any() else None)

    def maximise(
        self, objective: Objective, start: Floats, patience: Patience, *, is_near: bool = False
    ) -> tuple[Point, Iterations]:
        """The maximum of an objective of this problem, with monotone features kept monotone.

        ``is_near`` says that the start is the maximum of a similar objective.
        """
        if self.signs.any():
            return maximise_with_barrier(objective, start, patience, is_near=is_near)
        return maximise(objective, start, patience)

    def evaluate(self, penalty: Penalty, x: Floats) -> Point:
        """The objective at some tables, without the barrier of monotone features."""
        return Objective(self.sums, (penalty,)).defined_at(x)

    def start(self) -> Floats:
        """The end of the pilot fit; without one, zeros, and a small slope for monotone features.

        Monotone features must start strictly inside their bounds, where no fit ends.
        """
        if self.pilot is not None and not self.signs.any():
            return self.pilot
        tables = np.zeros((self.data.n_features, self.data.n_codes))
        rises = _FIRST_SLOPE * self.signs * self.roughness.gaps
        tables[:, 1:] = np.cumsum(rises, axis=1)[:, :-1]
        return tables.ravel()


def _increment_signs(data: RankingData, signs: tuple[int, ...]) -> npt.NDArray[np.int8]:
    """The sign that the increment from each code to the next must have, or 0 (features, codes)."""
    out = np.zeros((data.n_features, data.n_codes), dtype=np.int8)
    for j, (feature, sign) in enumerate(zip(data.features, signs, strict=False)):
        out[j, 1 : feature.n_bins] = sign
    return out
