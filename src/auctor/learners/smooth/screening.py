"""Wide tables: only the features that separate the classes best when used alone are fitted.

The unknowns of a fit are the entries of all tables, and each of its passes goes over all of them.
With 20,000 columns and 100 rows nearly all of that work is spent on noise. So a wide table is
screened first (sure independence screening: Fan & Lv 2008): each feature is tested on its own, and
the best ones are fitted together. The tables of the others are zero.

A fit screens on its training rows only. In cross-validation each fold screens anew: features that
were selected with the help of the held-out rows would rank these too well.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from auctor._typing import Floats, Indices
from auctor.data import RankingData, Workers
from auctor.kernels.screening import separations
from auctor.learners.common.histogram import class_histogram
from auctor.learners.smooth.settings import SmoothSettings
from auctor.models import AdditiveModel, compress


def screen(data: RankingData, settings: SmoothSettings) -> Indices | None:
    """Indices of the features to fit, in ascending order; None if all of them are fitted.

    Among equally good features the first is chosen.
    """
    most = settings.max_features
    if most is None or data.n_features <= most or settings.solver != "newton":
        return None
    with Workers(settings.n_jobs) as workers:
        histogram = class_histogram(data, workers)
    n_bins = np.array([feature.n_bins for feature in data.features])
    is_category = np.array([feature.is_category for feature in data.features])
    separation = separations(histogram, n_bins, is_category, data.row_unit)
    return np.sort(np.argsort(-separation, kind="stable")[:most])


def narrow(settings: SmoothSettings, kept: Indices) -> SmoothSettings:
    """The settings of a fit to the features ``kept``."""
    signs = tuple(settings.signs[j] for j in kept) if settings.signs else ()
    loose = None if settings.loose is None else settings.loose[kept]
    return replace(settings, signs=signs, loose=loose)


def widen(model: AdditiveModel, data: RankingData, kept: Indices) -> AdditiveModel:
    """The same model over all features of the data; features that were not fitted add 0."""
    own = {int(j): position for position, j in enumerate(kept)}
    pairs = [
        (model.features[own[j]], model.steps[own[j]])
        if j in own
        else compress(feature, np.zeros(feature.n_bins + 1))
        for j, feature in enumerate(data.features)
    ]
    surfaces = tuple(
        replace(surface, features=(int(kept[surface.features[0]]), int(kept[surface.features[1]])))
        for surface in model.surfaces
    )
    return replace(
        model,
        features=tuple(feature for feature, _ in pairs),
        steps=tuple(steps for _, steps in pairs),
        surfaces=surfaces,
        reference=model.reference and model.reference.widened(kept, data.n_features),
    )


def spread_out(values: Any, kept: Indices, n_features: int, rest: float = 0.0) -> Floats:
    """An array for all features with ``values`` at the features ``kept`` and ``rest`` elsewhere."""
    out = np.full(n_features, rest)
    out[kept] = values
    return out
