"""How far each score function F_k of SmoothAUCBoost may be off: bands from bootstrap refits.

Rows are drawn with replacement within each class, and the fit is made again on each draw, with
the same amounts of penalty and with everything else that a fit finds out for itself. Only
differences of scores count, so that each F_k is compared with its mean over the training rows,
both classes alike, at 0. The bands show how F_k varies with the rows; that the penalty flattens
it, in every refit alike, they do not show. With few rows they are too narrow: simultaneous bands
of 95 % covered 0 at every value of a noise feature in 96 % of 50 samples of 500 rows, but in 80 %
of those of 120 rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from auctor._typing import Bools, Floats, Indices
from auctor.data import Feature, RankingData, Workers, number_feature
from auctor.learners.common.finish import fill_missing
from auctor.learners.common.histogram import class_histogram
from auctor.learners.common.reference import codes_in as codes_in
from auctor.learners.smooth.fit import climb, fit_smooth
from auctor.learners.smooth.problem import Problem, Settings
from auctor.learners.smooth.screening import narrow, screen
from auctor.models import AdditiveModel


@dataclass(frozen=True, eq=False)
class ScoreBand:
    """F_k of one feature with its bands; an entry for each code, 0 is for missing values.

    Bands are NaN at codes that no training row has.

    Attributes
    ----------
    feature : Feature
        With its bins and their centres.
    table : ndarray of shape (n_bins + 1,)
        F_k, its mean over the training rows (both classes alike) at 0.
    standard_error : ndarray
        Standard deviation of F_k over the refits.
    low, high : ndarray
        Pointwise: F_k less and plus the normal quantile times the standard error.
    simultaneous_low, simultaneous_high : ndarray
        The same with ``multiplier`` in place of the normal quantile.
    multiplier : float
        Quantile over the refits of the largest distance from F_k, in standard errors: in that
        share of them the whole function was inside. It is for one feature at a time.
    """

    feature: Feature
    table: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    multiplier: float


@dataclass(frozen=True, eq=False)
class ScoreBands:
    """The bands of all features, in the order of the columns."""

    bands: tuple[ScoreBand, ...]
    level: float
    n_resamples: int

    def __iter__(self) -> Iterator[ScoreBand]:
        return iter(self.bands)

    def __len__(self) -> int:
        return len(self.bands)

    def __getitem__(self, feature: int | str) -> ScoreBand:
        """The band of a feature, by position or name."""
        if isinstance(feature, str):
            names = [band.feature.name for band in self.bands]
            if feature not in names:
                raise KeyError(f"no feature {feature!r}; there are {', '.join(names)}")
            return self.bands[names.index(feature)]
        return self.bands[feature]


class Resample(NamedTuple):
    """Drawn rows, without the bins that none of them is in."""

    data: RankingData
    place: Indices  # (features, codes): where a code of all rows stands among the resample's


def score_bands(
    data: RankingData,
    settings: Settings,
    *,
    validation: RankingData | None = None,
    n_resamples: int = 100,
    level: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> ScoreBands:
    """Bootstrap bands of the score functions that ``fit_smooth`` finds with these settings.

    The amounts of penalty are those of all rows; the features' multiples of them are found anew
    by each refit's pilot. ``validation`` are the rows of early stopping, drawn anew as well. The
    result is the same for any number of threads.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> bands = score_bands(data, Settings(), n_resamples=20)
    >>> bool((bands[0].high[1:] >= bands[0].table[1:]).all())
    True
    """
    check_request(n_resamples, level, random_state)
    kept = screen(data, settings)
    if kept is not None:
        few = score_bands(
            data.take_features(kept),
            narrow(settings, kept),
            validation=None if validation is None else validation.take_features(kept),
            n_resamples=n_resamples,
            level=level,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        return _with_flat_bands(few, data, kept)
    with Workers(n_jobs) as workers:
        problem = Problem(data, settings, workers)
        told = replace(settings, **problem.amounts._asdict(), n_jobs=1, verbose=False)
        whole = _fit(data, told, validation)
        if (adapted := problem.adapted()) is not None:
            # Among rows that are drawn twice, which are no evidence twice, any value stands out.
            told = replace(told, loose=adapted.loose)
        seeds = np.random.SeedSequence(random_state).spawn(n_resamples)

        def refit(seed: np.random.SeedSequence) -> Floats:
            rng = np.random.default_rng(seed)
            drawn = drop_empty_bins(draw_rows(data, rng))
            held_out = None if validation is None else recode(draw_rows(validation, rng), drawn)
            tables = _fit(drawn.data, told, held_out, _start(whole, drawn))
            return np.take_along_axis(tables, drawn.place, axis=1)

        refits = np.array(workers.map(refit, seeds))
    share = problem.roughness.share
    whole = centred(whole, share)
    refits = np.array([centred(tables, share) for tables in refits])
    bands = [
        _band(feature, whole[j], refits[:, j], share[j] > 0, level)
        for j, feature in enumerate(data.features)
    ]
    return ScoreBands(tuple(bands), level, n_resamples)


def _with_flat_bands(few: ScoreBands, data: RankingData, kept: Indices) -> ScoreBands:
    """Bands of all features: those that took no part in the fit are flat, without an error."""
    own = dict(zip(kept.tolist(), few.bands, strict=True))
    bands = []
    for j, feature in enumerate(data.features):
        flat = np.zeros(feature.n_bins + 1)
        bands.append(own.get(j) or ScoreBand(feature, flat, flat, flat, flat, flat, flat, 0.0))
    return replace(few, bands=tuple(bands))


def check_request(n_resamples: Any, level: Any, random_state: Any = 0) -> None:
    """A number of refits that has a spread, a level between 0 and 1, and a seed."""
    if not _is_whole(n_resamples) or n_resamples < 2:
        raise ValueError(f"n_resamples is {n_resamples!r}; give a whole number of 2 or more")
    if isinstance(level, bool) or not isinstance(level, Real) or not 0.0 < float(level) < 1.0:
        raise ValueError(f"level is {level!r}; give a number between 0 and 1")
    if random_state is not None and (not _is_whole(random_state) or random_state < 0):
        raise ValueError(f"random_state is {random_state!r}; give a whole number of 0 or more")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def centred(tables: Floats, share: Floats) -> Floats:
    """Tables (features, codes) less their means over the rows, both classes alike."""
    return np.asarray(tables - np.einsum("jc,jc->j", share, tables)[:, None])


def class_shares(data: RankingData) -> Floats:
    """Weight of each feature's codes, adding up to 1, both classes alike."""
    histogram = class_histogram(data)
    return np.asarray((histogram / histogram.sum(axis=2, keepdims=True)).mean(axis=0))


def steps_by_code(model: AdditiveModel, data: RankingData) -> Floats:
    """The model's steps as tables (features, codes) over the data's own, finer bins."""
    tables = np.zeros((data.n_features, data.n_codes))
    for j, feature in enumerate(data.features):
        steps = model.steps[j][codes_in(feature, model.features[j])]
        tables[j, : len(steps)] = steps
    return tables


def draw_rows(data: RankingData, rng: np.random.Generator) -> RankingData:
    """As many rows of each class as there are, with replacement: weights times the draws."""
    times = np.zeros(1 + max(int(rows[-1]) for rows in data.class_rows), dtype=np.uint64)
    for rows in data.class_rows:
        draws = rng.integers(len(rows), size=len(rows))
        times[rows] = np.bincount(draws, minlength=len(rows))
    weights = [part.weight * times[part.rows] for part in data.partitions]
    # Weights of 31 bits may leave no room for the draws: a coarser unit makes some.
    largest = max(int(weight.max(initial=1)) for weight in weights)
    excess = max(0, largest.bit_length() - 32)
    weights = [np.where(w > 0, np.maximum(w >> np.uint64(excess), 1), 0) for w in weights]
    parts = tuple(
        replace(part, weight=weight.astype(np.uint32)).take(weight > 0)
        for part, weight in zip(data.partitions, weights, strict=True)
    )
    # As many rows as before: Kish's formula would take draws for weights, and count half.
    negative, positive = (unit * 2.0**excess for unit in data.row_units)
    return replace(data, partitions=parts, rows_per_unit=(negative, positive))


def drop_empty_bins(data: RankingData) -> Resample:
    """Without bins of numbers that have no rows, as if the rows had been binned by themselves."""
    filled = class_histogram(data).sum(axis=0) > 0
    features = tuple(
        feature if feature.is_category else _filled_bins(feature, line[1 : feature.n_bins + 1])
        for feature, line in zip(data.features, filled, strict=True)
    )
    place = np.zeros(filled.shape, dtype=np.intp)
    for j, (old, new) in enumerate(zip(data.features, features, strict=True)):
        bins = np.arange(old.n_bins) if old.is_category else np.searchsorted(new.cuts, old.centres)
        place[j, 1 : old.n_bins + 1] = 1 + bins
    found = Resample(replace(data, features=features), place)
    return found._replace(data=recode(data, found))


def recode(data: RankingData, resample: Resample) -> RankingData:
    """Rows of the data that the resample was drawn from, with codes of the resample's bins."""
    lines = np.arange(data.n_features)[:, None]
    parts = tuple(
        replace(part, codes=resample.place.astype(part.dense_codes.dtype)[lines, part.dense_codes])
        for part in data.partitions
    )
    return replace(data, features=resample.data.features, partitions=parts)


def _filled_bins(feature: Feature, filled: Bools) -> Feature:
    """A number with its filled bins only, cut midway between the centres where some are left out.

    A value between them goes where a fit on the drawn rows would have put it.
    """
    if filled.all():
        return feature
    kept = np.flatnonzero(filled) if filled.any() else np.array([0])
    centres = feature.centres[kept]
    below, above = feature.cuts[kept[:-1]], feature.cuts[kept[1:] - 1]
    cuts = np.clip(centres[:-1] + np.diff(centres) / 2, below, above)
    return number_feature(feature.name, cuts, centres)


def _start(whole: Floats, drawn: Resample) -> Floats:
    """The tables of all rows, read off for the codes of a resample."""
    start = np.zeros((drawn.data.n_features, drawn.data.n_codes))
    np.put_along_axis(start, drawn.place[:, ::-1], whole[:, ::-1], axis=1)
    for j, feature in enumerate(drawn.data.features):
        start[j, 0] = whole[j, 0]
        start[j, feature.n_bins + 1 :] = 0.0
    return start


def _fit(
    data: RankingData,
    settings: Settings,
    validation: RankingData | None,
    start: Floats | None = None,
) -> Floats:
    """Tables (features, codes) of a fit; codes of missing values as in the finished model."""
    if settings.solver != "newton" or settings.interactions > 0:
        return steps_by_code(fit_smooth(data, settings, validation)[0], data)
    problem = Problem(data, settings, Workers(1))
    if start is not None:  # strictly monotone where that is asked, as the sum of two that are
        start = start.ravel() + problem.start()
    # The way matters to early stopping: it is gone from the beginning.
    start = start if validation is None else None
    point, _ = climb(problem, problem.amounts, problem.adapted(), validation, start)
    tables = point.x[: data.n_features * data.n_codes].reshape(data.n_features, -1).copy()
    fill_missing(problem.histogram, list(tables))
    return tables


def _band(
    feature: Feature, table: Floats, refits: Floats, filled: Bools, level: float
) -> ScoreBand:
    """The bands of one feature from its tables in all refits."""
    n_codes = feature.n_bins + 1
    table, refits, filled = table[:n_codes], refits[:, :n_codes], filled[:n_codes]
    error = np.where(filled, refits.std(axis=0, ddof=1), np.nan)
    reach = float(ndtri((1 + level) / 2))
    varies = np.flatnonzero(error > 0)
    largest = (np.abs(refits - table)[:, varies] / error[varies]).max(axis=1, initial=0.0)
    # All codes at once need no less than one code does; chance could say otherwise.
    multiplier = max(reach, float(np.quantile(largest, level, method="higher")))
    return ScoreBand(
        feature,
        table,
        error,
        table - reach * error,
        table + reach * error,
        table - multiplier * error,
        table + multiplier * error,
        multiplier,
    )
