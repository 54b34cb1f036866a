"""Bootstrap confidence bands of the score functions F_k of SmoothAUCBoost.

Rows are drawn with replacement within each class, and F_k is estimated on each draw with the same
amounts of penalty: by one Newton step from the maximum on all rows (``one_step``), or by a refit
(``refits``). Only differences of scores matter, so each F_k is centred: its class-balanced mean
over the training rows is 0. The bands show how F_k varies with the rows. They do not show the bias
of the penalty, which flattens F_k in every refit. docs/bands.md has measured coverages.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri
from threadpoolctl import threadpool_limits

from auctor._checks import check_level, check_whole
from auctor._progress import Progress
from auctor._text import first_few
from auctor._typing import Bools, Floats
from auctor.data import Feature, RankingData, Workers
from auctor.learners.smooth.one_step import OneStep, has_one_step
from auctor.learners.smooth.refits import Refits
from auctor.learners.smooth.screening import narrow, screen
from auctor.learners.smooth.settings import SmoothSettings

METHODS = ("one-step", "refit")


@dataclass(frozen=True, eq=False)
class ScoreBand:
    """F_k of one feature with its bands; arrays have an entry for each code, 0 for missing values.

    Bands are NaN at codes without training rows.

    Attributes
    ----------
    feature : Feature
        The feature, with its bins and their centres.
    table : ndarray of shape (n_bins + 1,)
        F_k, centred to a class-balanced mean of 0 over the training rows.
    standard_error : ndarray
        Standard deviation of F_k over the resamples.
    low, high : ndarray
        Pointwise band: F_k minus and plus the normal quantile times the standard error.
    simultaneous_low, simultaneous_high : ndarray
        Simultaneous band, with ``multiplier`` in place of the normal quantile.
    multiplier : float
        Quantile over the resamples of the largest distance from F_k, in standard errors: a
        fraction ``level`` of the resamples lies inside the band everywhere. It is for one feature
        at a time.
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
    """The bands of all features, or of those asked for; index by position or name."""

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
                raise KeyError(f"there is no feature {feature!r}; give one of {first_few(names)}")
            return self.bands[names.index(feature)]
        return self.bands[feature]


def score_bands(
    data: RankingData,
    settings: SmoothSettings,
    *,
    validation: RankingData | None = None,
    method: str = "one-step",
    features: Sequence[int] | None = None,
    n_resamples: int = 100,
    level: float = 0.95,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: bool | int = False,
) -> ScoreBands:
    """Bootstrap bands of the score functions of ``fit_smooth`` with these settings.

    The amounts of penalty are those of all rows; the features' own multiples of them, which a
    pilot fit decides, are estimated anew for each draw. The result is the same for any number of
    threads.

    Parameters
    ----------
    data : RankingData
        The training rows.
    settings : SmoothSettings
        The settings of the fit.
    validation : RankingData, optional
        The held-out rows of early stopping, which are resampled as well.
    method : {"one-step", "refit"}, default="one-step"
        One Newton step for each resample, or a whole refit. Early stopping and the stagewise
        solver always have refits: their fits do not end at a maximum.
    features : sequence of int, optional
        Positions of the features whose bands are computed; by default all.
    n_resamples : int, default=100
        Number of bootstrap samples.
    level : float, default=0.95
        Confidence level of the bands.
    random_state : int or None, default=0
        Seed of the resampling; None for a different one in each call.
    n_jobs : int or None, default=None
        Number of threads.
    verbose : bool or int, default=False
        Whether to show a progress bar on stderr.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1])
    >>> bands = score_bands(data, SmoothSettings(), n_resamples=20)
    >>> bands[0].standard_error.shape  # missing values, then the four bins
    (5,)
    """
    check_request(n_resamples, level, random_state, method)
    all_features = data.features
    wanted = range(data.n_features) if features is None else features
    first, *seeds = np.random.SeedSequence(random_state).spawn(1 + n_resamples)
    kept = screen(data, settings)
    fitted = range(data.n_features) if kept is None else kept.tolist()
    settings = replace(settings, n_jobs=n_jobs, verbose=verbose)
    if kept is not None:
        data, settings = data.take_features(kept), narrow(settings, kept)
        validation = None if validation is None else validation.take_features(kept)
    own = [fitted.index(j) for j in wanted if j in fitted]
    # Threads of BLAS beside those of the resamples would wait for each other.
    with Workers(n_jobs) as workers, threadpool_limits(1, user_api="blas"):
        source: OneStep | Refits
        if method == "one-step" and has_one_step(settings, validation):
            source = OneStep(data, settings, first, workers, verbose)
        else:
            source = Refits(data, settings, validation, workers)
        progress = Progress(n_resamples, "confidence bands", verbose)

        def drawn(seed: np.random.SeedSequence) -> Floats:
            tables = centred(source.drawn(seed), source.fraction)[own]
            progress.step()
            return tables

        resampled = np.array(workers.map(drawn, seeds))
    progress.close()
    fraction, whole = source.fraction, centred(source.tables, source.fraction)
    bands = {
        fitted[j]: _band(data.features[j], whole[j], resampled[:, i], fraction[j] > 0, level)
        for i, j in enumerate(own)
    }
    flat = [bands[j] if j in bands else _flat_band(all_features[j]) for j in wanted]
    return ScoreBands(tuple(flat), level, n_resamples)


def _flat_band(feature: Feature) -> ScoreBand:
    """The band of a feature that was not fitted: F_k = 0 with standard error 0."""
    flat = np.zeros(feature.n_bins + 1)
    return ScoreBand(feature, flat, flat, flat, flat, flat, flat, 0.0)


def check_request(
    n_resamples: Any = 100, level: Any = 0.95, random_state: Any = 0, method: Any = "one-step"
) -> None:
    """Check the arguments of ``score_bands``."""
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; give {METHODS[0]!r} or {METHODS[1]!r}")
    check_whole(n_resamples, "n_resamples", minimum=2)
    check_level(level)
    if random_state is not None:
        check_whole(random_state, "random_state", minimum=0)


def centred(tables: Floats, fraction: Floats) -> Floats:
    """Tables (features, codes) minus their means; ``fraction`` is that of the rows in each code."""
    return np.asarray(tables - np.einsum("jc,jc->j", fraction, tables)[:, None])


def _band(
    feature: Feature, table: Floats, resampled: Floats, filled: Bools, level: float
) -> ScoreBand:
    """The bands of one feature, from its tables in all resamples."""
    n_codes = feature.n_bins + 1
    table, resampled, filled = table[:n_codes], resampled[:, :n_codes], filled[:n_codes]
    error = np.where(filled, resampled.std(axis=0, ddof=1), np.nan)
    reach = float(ndtri((1 + level) / 2))
    varies = np.flatnonzero(error > 0)
    largest = (np.abs(resampled - table)[:, varies] / error[varies]).max(axis=1, initial=0.0)
    # A simultaneous band is at least as wide as a pointwise one, which chance might violate.
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
