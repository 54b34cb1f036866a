"""Bootstrap bands of a fitted estimator's score functions, by refits on the rows of its fit."""

from typing import Any

import numpy as np

from auctor.data import prepare
from auctor.learners.common.reference import codes_in
from auctor.learners.smooth.bands import ScoreBands, check_request, score_bands
from auctor.models import AdditiveModel

# The refit on the given rows may differ from the estimator by this share of the scores' range.
_SAME = 0.05


def refit_bands(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    n_jobs: int | None,
    told: dict[str, Any],
) -> ScoreBands:
    """Bands of the estimator's score functions, on the rows that it was fitted on."""
    check_request(**told)
    if not hasattr(estimator, "penalty_"):
        raise ValueError(
            f"{type(estimator).__name__} has no bands: refits are those of SmoothAUCBoost; "
            "give band=None"
        )
    if estimator.init is not None:
        raise ValueError("bands of a fit that starts from init are not drawn; give band=None")
    if getattr(estimator, "n_rounds_", 0) > 0 or getattr(estimator, "start_", "auc") != "auc":
        raise ValueError(
            f"{type(estimator).__name__} changed the smooth AUC model, and bands are those of its "
            "refits; give band=None"
        )
    data = prepare(
        estimator._read(X),
        y,
        sample_weight=sample_weight,
        pos_label=estimator.pos_label,
        max_bins=estimator.max_bins,
        categorical_features=estimator.categorical_features,
        frequency_weights=estimator.frequency_weights,
        n_jobs=n_jobs,
    )
    train, held_out = estimator._hold_out(data)
    bands = score_bands(
        train,
        estimator._settings(data),
        validation=held_out,
        n_jobs=n_jobs,
        **told,
    )
    _check_same(estimator.model_, bands)
    return bands


def _check_same(model: AdditiveModel, bands: ScoreBands) -> None:
    """A refit on all given rows must be the estimator's own fit."""
    largest = sum(float(np.ptp(steps)) for steps in model.steps)
    for feature, steps, band in zip(model.features, model.steps, bands, strict=True):
        differences = steps[codes_in(band.feature, feature)] - band.table
        apart = float(np.ptp(differences[1:])) if feature.n_bins else 0.0
        if apart > _SAME * largest:
            raise ValueError(
                "a refit on X and y is not the estimator's own fit: bands need the rows (and "
                "weights) that it was fitted on, and with early_stopping a whole number as "
                "random_state; without bands, give band=None"
            )
