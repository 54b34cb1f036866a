"""Bootstrap bands of a fitted estimator's score functions, by refits on the rows of its fit."""

from typing import Any

import numpy as np

from auctor.estimators.fitting import FitInput
from auctor.estimators.smooth_base import SmoothEstimator
from auctor.learners.common.reference import codes_in
from auctor.learners.smooth.bands import ScoreBands, check_request, score_bands
from auctor.models import AdditiveModel

# The refit on the given rows may differ from the estimator by this fraction of the scores' range.
_SAME = 0.05


def refit_bands(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    n_jobs: int | None,
    options: dict[str, Any],
) -> ScoreBands:
    """Bands of the estimator's score functions, on the rows that it was fitted on.

    ``options`` are ``n_resamples``, ``level`` and ``random_state`` of ``score_bands``.
    """
    check_request(**options)
    _check_estimator(estimator)
    data = estimator._prepare(FitInput(estimator._read(X), X, y, sample_weight))
    settings, train, held_out = estimator._refit(data)
    bands = score_bands(train, settings, validation=held_out, n_jobs=n_jobs, **options)
    _check_same(estimator.model_, bands)
    return bands


def _check_estimator(estimator: Any) -> None:
    """Bands need an estimator whose last step is a fit of the smooth learner."""
    name = type(estimator).__name__
    if not isinstance(estimator, SmoothEstimator) or not hasattr(estimator, "penalty_"):
        raise ValueError(
            f"estimator is a {name}, which has no bands; give a fitted SmoothAUCBoost or "
            "SmoothAUCBoostCV, or band=None"
        )
    if getattr(estimator, "init", None) is not None:
        raise ValueError(
            "estimator was fitted with init, for which bands are not available; give band=None"
        )
    if getattr(estimator, "n_rounds_", 0) > 0 or getattr(estimator, "start_", "auc") != "auc":
        raise ValueError(
            f"estimator is a {name} that changed the smooth AUC model, and bands are available "
            "only for the unchanged model; give band=None"
        )


def _check_same(model: AdditiveModel, bands: ScoreBands) -> None:
    """A refit on all given rows must give the estimator's own model."""
    largest = sum(float(np.ptp(steps)) for steps in model.steps)
    for feature, steps, band in zip(model.features, model.steps, bands, strict=True):
        differences = steps[codes_in(band.feature, feature)] - band.table
        apart = float(np.ptp(differences[1:])) if feature.n_bins else 0.0
        if apart > _SAME * largest:
            raise ValueError(
                "a refit on X and y does not reproduce the model of the estimator; give the rows "
                "(and weights) that it was fitted on, and with early_stopping a whole number as "
                "random_state, or band=None"
            )
