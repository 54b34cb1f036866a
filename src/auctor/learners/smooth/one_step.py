"""Score functions on bootstrap samples by one Newton step, in place of a refit for each sample.

A refit climbs to the maximum of the penalised smoothed AUC on the drawn rows. Here the gradient on
the drawn rows at the maximum of all rows, and the curvature there, give the step to that maximum to
second order. The penalties of the drawn rows follow in the same way from a step of the pilot fit,
whose tables decide each feature's multiples of them. Which values may leave the smooth curve, and
which pairs of features have a surface, is not decided anew.
"""

from dataclasses import replace

import numpy as np

from auctor._typing import DenseCodes, Floats
from auctor.data import RankingData, Workers
from auctor.learners.common.finish import fill_missing
from auctor.learners.smooth.fit import climb
from auctor.learners.smooth.interactions import find_pairs
from auctor.learners.smooth.near_maximum import Bounds, NearMaximum
from auctor.learners.smooth.newton import Patience
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.penalty import Adapted, Penalty
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.smooth.smoothed_auc import SmoothedAUC
from auctor.learners.smooth.surfaces import JointProblem, row_cells

# Of a class with more rows, so many drawn at random are enough for the curvature and the variance
# of the gradient. The maximum itself is that of all rows.
_MOST_ROWS = 20_000
_TOL = 1e-6
# A row's weight is multiplied by this, so that numbers of draws need not be whole.
_FINER = 64


def has_one_step(settings: SmoothSettings, validation: RankingData | None) -> bool:
    """Whether the fit ends at a maximum that moves smoothly with the rows.

    Early stopping and the stagewise solver end elsewhere. Monotone features may end at a bound,
    which the step keeps (``NearMaximum``).
    """
    return validation is None and settings.solver == "newton"


class OneStep:
    """The maximum on all rows, and those on drawn rows.

    Attributes
    ----------
    tables, fraction : ndarray of shape (features, codes)
        The tables of the maximum, and the class-balanced fraction of the rows in each code.
    """

    def __init__(
        self,
        data: RankingData,
        settings: SmoothSettings,
        seed: np.random.SeedSequence,
        workers: Workers,
        verbose: bool | int = False,
    ) -> None:
        self._few, self._used = few_rows(data, seed)
        if self._few is not data:  # many rows: a gain below this is far below the errors
            settings = replace(settings, tol=max(settings.tol, _TOL))
        problem = self._problem = Problem(data, settings, workers)
        self.fraction = problem.roughness.fraction
        self._adapted = problem.adapted()
        point, _ = climb(problem, problem.amounts, self._adapted)
        most, self._joint = settings.interactions, None
        self._cells: list[DenseCodes] | None = None
        if pairs := find_pairs(problem, point.x, most) if most > 0 else []:
            self._joint = JointProblem(problem, self._penalty(self._adapted), pairs)
            point, _ = self._joint.climb(point, Patience(settings.tol, settings.max_iter))
            self._cells = [*row_cells(self._few, pairs)]
        self.tables = self._finish(point.x)
        self._pilot = None
        if problem.pilot is not None:
            penalty = self._pilot_penalty
            self._pilot = NearMaximum(
                self._sums(self._few, workers),
                (penalty,),
                problem.pilot,
                bounds=self._bounds(problem.evaluate(penalty, problem.pilot)),
                verbose=verbose,
            )
        self._final = self._near(point, workers, verbose)

    @property
    def _pilot_penalty(self) -> Penalty:
        return self._problem.roughness.weigh(*self._problem.auto)

    def _penalty(self, adapted: Adapted | None) -> Penalty:
        return self._problem.roughness.weigh(*self._problem.amounts, adapted)

    def _bounds(self, point: Point) -> Bounds | None:
        """The bounds of monotone features at a maximum; None if there are no such features."""
        signs = self._problem.signs
        return Bounds(signs, point.gradient) if signs.any() else None

    def _near(self, point: Point, workers: Workers, verbose: bool | int) -> NearMaximum:
        """The objective near its maximum."""
        sums, penalty = self._sums(self._few, workers, self._cells), self._penalty(self._adapted)
        bounds = self._bounds(point)
        if self._joint is None:
            return NearMaximum(sums, (penalty,), point.x, bounds=bounds, verbose=verbose)
        # Surfaces move with the rows like sums of two curves: what is left of them hardly affects
        # the features' own curves, from which it is separated in the end.
        penalties, spans = (penalty, self._joint.surface_penalty), (None, self._joint.main_span)
        return NearMaximum(sums, penalties, point.x, spans, bounds, verbose)

    def drawn(self, seed: np.random.SeedSequence) -> Floats:
        """The tables of the maximum on drawn rows."""
        # Threads share the resamples, not the rows.
        alone, adapted = Workers(1), self._adapted
        data = draw_fractions(self._few, self._used, np.random.default_rng(seed))
        if self._pilot is not None and adapted is not None:
            x = self._pilot.moved(self._sums(data, alone), self._pilot_penalty)
            tables = x.reshape(self.fraction.shape)
            adapted = self._problem.roughness.adapt(tables, adapted.loose)
        sums = self._sums(data, alone, self._cells)
        return self._finish(self._final.moved(sums, self._penalty(adapted)))

    def _sums(
        self, data: RankingData, workers: Workers, cells: list[DenseCodes] | None = None
    ) -> SmoothedAUC:
        """The smoothed AUC of some rows."""
        settings = self._problem.settings
        return SmoothedAUC(
            data, workers, cells=cells, fpr_range=settings.fpr_range, offset=settings.offset
        )

    def _finish(self, x: Floats) -> Floats:
        """The tables of the features, with the means of the surfaces, and missing values filled."""
        shape = self.fraction.shape
        tables = x.reshape(shape).copy() if self._joint is None else self._joint.purified(x)[0]
        fill_missing(self._problem.histogram, list(tables))
        return tables


def few_rows(data: RankingData, seed: np.random.SeedSequence) -> tuple[RankingData, Floats]:
    """At most ``_MOST_ROWS`` rows of each class, and the fraction (negatives, positives) taken."""
    rng = np.random.default_rng(seed)
    chosen = np.zeros(1 + max(int(rows[-1]) for rows in data.class_rows), dtype=bool)
    fraction = np.ones(2)
    for label, rows in enumerate(data.class_rows):
        size = min(_MOST_ROWS, len(rows))
        chosen[rng.choice(rows, size=size, replace=False) if size < len(rows) else rows] = True
        fraction[label] = size / len(rows)
    return (data if (fraction == 1.0).all() else data.take(chosen)), fraction


def draw_fractions(data: RankingData, used: Floats, rng: np.random.Generator) -> RankingData:
    """A bootstrap sample of each class: the weight of a row times how often it was drawn.

    Where the rows are only a fraction ``used`` of the class, the weights vary accordingly less.
    """
    times = np.zeros(1 + max(int(rows[-1]) for rows in data.class_rows))
    for rows, own in zip(data.class_rows, used, strict=True):
        draws = np.bincount(rng.integers(len(rows), size=len(rows)), minlength=len(rows))
        times[rows] = 1 + np.sqrt(own) * (draws - 1.0)
    factors = np.rint(times * _FINER).astype(np.int64)
    weights = [part.weight.astype(np.int64) * factors[part.rows] for part in data.partitions]
    # The product may exceed 32 bits; then the weights get a coarser unit.
    largest = max(int(weight.max(initial=1)) for weight in weights)
    excess = max(0, largest.bit_length() - 32)
    weights = [np.where(w > 0, np.maximum(w >> excess, 1), 0) for w in weights]
    parts = tuple(
        replace(part, weight=weight.astype(np.uint32))
        for part, weight in zip(data.partitions, weights, strict=True)
    )
    return replace(data, partitions=parts)
