"""Score functions on bootstrap samples, by a refit on each of them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Indices
from auctor.data import Feature, RankingData, Workers, number_feature
from auctor.learners.common.blocks import class_histogram
from auctor.learners.common.finish import codes_in, fill_missing
from auctor.learners.smooth.fit import climb, fit_smooth
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.settings import SmoothSettings
from auctor.models import AdditiveModel


class Resample(NamedTuple):
    """Drawn rows, without the bins that are empty among them.

    ``new_code`` (features, codes) is the code of the resample for each code of the original rows.
    """

    data: RankingData
    new_code: Indices


class Refits:
    """The fit to all rows, and refits on drawn rows with the same amounts of penalty."""

    def __init__(
        self,
        data: RankingData,
        settings: SmoothSettings,
        validation: RankingData | None,
        workers: Workers,
    ) -> None:
        problem = Problem(data, settings, workers)
        self._data, self._validation = data, validation
        self.fraction = problem.roughness.fraction
        fixed = replace(settings, **problem.amounts._asdict(), n_jobs=1, verbose=False)
        self.tables = _fit(data, fixed, validation)
        if (adapted := problem.adapted()) is not None:
            # Not estimated anew: rows that are drawn twice would make any value stand out.
            fixed = replace(fixed, loose=adapted.loose)
        self._settings = fixed

    def drawn(self, seed: np.random.SeedSequence) -> Floats:
        """The tables (features, codes) of a refit on drawn rows."""
        rng = np.random.default_rng(seed)
        drawn, held_out = drop_empty_bins(draw_rows(self._data, rng)), None
        if self._validation is not None:
            held_out = recode(draw_rows(self._validation, rng), drawn)
        tables = _fit(drawn.data, self._settings, held_out, _start(self.tables, drawn))
        return np.take_along_axis(tables, drawn.new_code, axis=1)


def steps_by_code(model: AdditiveModel, data: RankingData) -> Floats:
    """The steps of a model as tables (features, codes) over the finer bins of the data."""
    tables = np.zeros((data.n_features, data.n_codes))
    for j, feature in enumerate(data.features):
        steps = model.steps[j][codes_in(feature, model.features[j])]
        tables[j, : len(steps)] = steps
    return tables


def draw_rows(data: RankingData, rng: np.random.Generator) -> RankingData:
    """A bootstrap sample of each class: the weight of a row times how often it was drawn."""
    times = np.zeros(1 + max(int(rows[-1]) for rows in data.class_rows), dtype=np.uint64)
    for rows in data.class_rows:
        draws = rng.integers(len(rows), size=len(rows))
        times[rows] = np.bincount(draws, minlength=len(rows))
    weights = [part.weight * times[part.rows] for part in data.partitions]
    # The product may exceed 32 bits; then the weights get a coarser unit.
    largest = max(int(weight.max(initial=1)) for weight in weights)
    excess = max(0, largest.bit_length() - 32)
    weights = [np.where(w > 0, np.maximum(w >> np.uint64(excess), 1), 0) for w in weights]
    parts = tuple(
        replace(part, weight=weight.astype(np.uint32)).take(weight > 0)
        for part, weight in zip(data.partitions, weights, strict=True)
    )
    # The effective number of rows stays the same: Kish's formula would treat the counts of draws
    # as weights and halve it.
    negative, positive = (unit * 2.0**excess for unit in data.row_units)
    return replace(data, partitions=parts, rows_per_unit=(negative, positive))


def drop_empty_bins(data: RankingData) -> Resample:
    """The rows without the empty bins of numbers, as if these rows alone had been binned."""
    filled = class_histogram(data, Workers(1)).sum(axis=0) > 0
    features = tuple(
        feature if feature.is_category else _filled_bins(feature, own[1 : feature.n_bins + 1])
        for feature, own in zip(data.features, filled, strict=True)
    )
    new_code = np.zeros(filled.shape, dtype=np.intp)
    for j, (old, new) in enumerate(zip(data.features, features, strict=True)):
        bins = np.arange(old.n_bins) if old.is_category else np.searchsorted(new.cuts, old.centres)
        new_code[j, 1 : old.n_bins + 1] = 1 + bins
    resample = Resample(replace(data, features=features), new_code)
    return resample._replace(data=recode(data, resample))


def recode(data: RankingData, resample: Resample) -> RankingData:
    """The rows of ``data`` with the codes of the resample."""
    feature = np.arange(data.n_features)[:, None]
    parts = tuple(
        replace(
            part, codes=resample.new_code.astype(part.dense_codes.dtype)[feature, part.dense_codes]
        )
        for part in data.partitions
    )
    return replace(data, features=resample.data.features, partitions=parts)


def _filled_bins(feature: Feature, filled: Bools) -> Feature:
    """A number without its empty bins.

    Where bins were removed, the cut is halfway between the neighbouring centres, as it would be if
    the drawn rows had been binned.
    """
    if filled.all():
        return feature
    kept = np.flatnonzero(filled) if filled.any() else np.array([0])
    centres = feature.centres[kept]
    below, above = feature.cuts[kept[:-1]], feature.cuts[kept[1:] - 1]
    cuts = np.clip(centres[:-1] + np.diff(centres) / 2, below, above)
    return number_feature(feature.name, cuts, centres)


def _start(whole: Floats, drawn: Resample) -> Floats:
    """The tables of the fit to all rows, for the codes of a resample."""
    start = np.zeros((drawn.data.n_features, drawn.data.n_codes))
    np.put_along_axis(start, drawn.new_code[:, ::-1], whole[:, ::-1], axis=1)
    for j, feature in enumerate(drawn.data.features):
        start[j, 0] = whole[j, 0]
        start[j, feature.n_bins + 1 :] = 0.0
    return start


def _fit(
    data: RankingData,
    settings: SmoothSettings,
    validation: RankingData | None,
    start: Floats | None = None,
) -> Floats:
    """Tables (features, codes) of a fit, with missing values filled as in the finished model."""
    if settings.solver != "newton" or settings.interactions > 0:
        return steps_by_code(fit_smooth(data, settings, validation)[0], data)
    problem = Problem(data, settings, Workers(1))
    if start is not None:  # strictly monotone where required, as ``problem.start`` is
        start = start.ravel() + problem.start()
    # Early stopping depends on the path of the iterations, so it starts from the beginning.
    start = start if validation is None else None
    point, _ = climb(problem, problem.amounts, problem.adapted(), validation, start)
    tables = point.x[: data.n_features * data.n_codes].reshape(data.n_features, -1).copy()
    fill_missing(problem.histogram, list(tables))
    return tables
