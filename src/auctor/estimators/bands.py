"""Bootstrap bands of a fitted estimator's score functions, on the rows of its fit."""

from typing import Any

import numpy as np

from auctor.estimators.fit_input import FitInput
from auctor.estimators.smooth_base import SmoothEstimator
from auctor.learners.common.finish import codes_in
from auctor.learners.smooth.bands import ScoreBands, check_request, score_bands
from auctor.models import AdditiveModel

# The refit on the given rows may differ from the estimator by this fraction of the scores' range.
_SAME = 0.05
# Cells of the largest table on which refits take seconds, where one step is not enough.
_MOST_CELLS = 10**6


def has_quick_bands(estimator: Any, n_cells: int) -> bool:
    """Whether ``estimator_bands`` takes seconds for the estimator and a table of ``n_cells``."""
    if why_no_bands(estimator):
        return False
    parameters = estimator.get_params(deep=False)
    solver, stops = parameters.get("solver", "newton"), parameters.get("early_stopping", False)
    needs_refits = solver != "newton" or bool(stops)
    return n_cells <= _MOST_CELLS or not needs_refits


def estimator_bands(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, n_jobs: int | None, **options: Any
) -> ScoreBands:
    """Bands of the estimator's score functions, on the rows that it was fitted on.

    ``options`` are ``method``, ``features``, ``n_resamples``, ``level``, ``random_state`` and
    ``verbose`` of ``score_bands``.
    """
    checked = ("method", "n_resamples", "level", "random_state")
    check_request(**{name: options[name] for name in checked if name in options})
    if problem := why_no_bands(estimator):
        raise ValueError(f"{problem}; give band=None")
    data = estimator._prepare(FitInput(estimator._read(X), X, y, sample_weight))
    settings, train, held_out = estimator._refit(data)
    bands = score_bands(train, settings, validation=held_out, n_jobs=n_jobs, **options)
    _check_same(estimator.model_, bands)
    return bands


def why_no_bands(estimator: Any) -> str:
    """Why there are no bands; empty for an estimator whose last step is a smooth fit."""
    name = type(estimator).__name__
    if not isinstance(estimator, SmoothEstimator) or not hasattr(estimator, "penalty_"):
        return (
            f"estimator is of type {name}, and only a fitted SmoothAUCBoost or SmoothAUCBoostCV "
            "has bands"
        )
    if getattr(estimator, "init", None) is not None:
        return "estimator was fitted with init, for which bands are not available"
    if getattr(estimator, "n_rounds_", 0) > 0 or getattr(estimator, "start_", "auc") != "auc":
        return (
            f"estimator is a {name} that changed the smooth AUC model, and bands are available "
            "only for the unchanged model"
        )
    return ""


def _check_same(model: AdditiveModel, bands: ScoreBands) -> None:
    """A fit to the given rows must give the estimator's own model."""
    largest = sum(float(np.ptp(steps)) for steps in model.steps)
    own = {f.name: (f, steps) for f, steps in zip(model.features, model.steps, strict=True)}
    for band in bands:
        feature, steps = own[band.feature.name]
        differences = steps[codes_in(band.feature, feature)] - band.table
        apart = float(np.ptp(differences[1:])) if feature.n_bins else 0.0
        if apart > _SAME * largest:
            raise ValueError(
                "a refit on X and y does not reproduce the model of the estimator; give the rows "
                "(and weights) that it was fitted on, and with early_stopping a whole number as "
                "random_state, or band=None"
            )
