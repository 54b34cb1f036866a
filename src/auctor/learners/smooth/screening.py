"""Wide tables: only the features that tell the classes apart best by themselves take part.

The unknowns of a fit are the entries of all tables, and each of its passes goes over all of them.
With 20,000 columns and 100 rows nearly all of that work is spent on noise. So a wider table is
screened first (sure independence screening: Fan & Lv 2008): each feature is tested by itself, and
the most telling ones are fitted together. The tables of the others are flat.

A fit screens the rows that it trains on and no others. In cross-validation each fold does so anew:
features that were picked with the held-out rows in sight would rank these too well.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from auctor._typing import Floats, Indices
from auctor.data import RankingData, Workers
from auctor.kernels.screening import separations
from auctor.learners.common.histogram import class_histogram
from auctor.learners.smooth.problem import Settings
from auctor.models import AdditiveModel, compress


def screen(data: RankingData, settings: Settings) -> Indices | None:
    """Positions of the features that take part, in their order; None if all of them do.

    Of features that are equally good the first is taken.
    """
    most = settings.max_features
    if most is None or data.n_features <= most or settings.solver != "newton":
        return None
    with Workers(settings.n_jobs) as workers:
        histogram = class_histogram(data, workers)
    n_bins = np.array([feature.n_bins for feature in data.features])
    is_category = np.array([feature.is_category for feature in data.features])
    found = separations(histogram, n_bins, is_category, data.row_unit)
    return np.sort(np.argsort(-found, kind="stable")[:most])


def narrow(settings: Settings, kept: Indices) -> Settings:
    """The settings of a fit to these features alone."""
    signs = tuple(settings.signs[j] for j in kept) if settings.signs else ()
    loose = None if settings.loose is None else settings.loose[kept]
    return replace(settings, signs=signs, loose=loose)


def widen(model: AdditiveModel, data: RankingData, kept: Indices) -> AdditiveModel:
    """The same model over all features of the data; those that took no part add nothing."""
    own = {int(j): place for place, j in enumerate(kept)}
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
    """Numbers of the features that took part among those of all features."""
    out = np.full(n_features, rest)
    out[kept] = values
    return out
