"""The sum of two additive models, as one additive model."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from auctor._typing import Floats
from auctor.data import Feature, category_feature, number_feature
from auctor.models.additive import AdditiveModel
from auctor.models.reference import Reference
from auctor.models.surface import Surface


def add_terms(model: AdditiveModel, other: AdditiveModel) -> AdditiveModel:
    """The model whose score is the sum of the scores of two additive models.

    Both must have the same features in the same order. Classes, threshold and calibration are
    those of ``model``. Surfaces over the same bins of the same pair are merged. The references
    are added if they have the same name, else the result has none; if the models were fitted on
    different rows, compute a new one with ``with_reference``.

    Examples
    --------
    >>> from auctor.models import add_terms
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> first = RankBoost(n_estimators=3).fit(X, y).model_
    >>> second = RankBoost(n_estimators=5).fit(X, y).model_
    >>> total = add_terms(first, second)
    >>> type(total).__name__, len(total.steps)
    ('AdditiveModel', 3)
    """
    if model.feature_names != other.feature_names:
        raise ValueError("the models have different features; give two models of the same table")
    pairs = [
        _add_steps(*pair)
        for pair in zip(model.features, model.steps, other.features, other.steps, strict=True)
    ]
    return AdditiveModel(
        model.classes,
        model.threshold,
        model.calibration,
        tuple(feature for feature, _ in pairs),
        tuple(steps for _, steps in pairs),
        model.intercept + other.intercept,
        _add_surfaces(model.surfaces, other.surfaces),
        _add_references(model, other),
    )


def _add_surfaces(ours: tuple[Surface, ...], others: tuple[Surface, ...]) -> tuple[Surface, ...]:
    """The surfaces of both models; those over the same bins of the same pair are added."""
    sums: dict[Hashable, Surface] = {}
    for surface in (*ours, *others):
        previous = sums.get(surface.key)
        if previous is not None:
            surface = replace(previous, values=previous.values + surface.turned_to(previous))
        sums[surface.key] = surface
    return tuple(sums.values())


def _add_references(model: AdditiveModel, other: AdditiveModel) -> Reference | None:
    """The average contributions of the terms of the sum."""
    if model.reference is None or other.reference is None:
        return None
    n_features = len(model.features)
    ours, others = model.reference.contributions, other.reference.contributions
    of_surface: dict[Hashable, float] = {}
    pairs = (
        *zip(model.surfaces, ours[n_features:].tolist(), strict=True),
        *zip(other.surfaces, others[n_features:].tolist(), strict=True),
    )
    for surface, average in pairs:
        of_surface[surface.key] = of_surface.get(surface.key, 0.0) + average
    averages = np.append(ours[:n_features] + others[:n_features], list(of_surface.values()))
    return model.reference.plus(other.reference, averages)


def _add_steps(a: Feature, steps_a: Floats, b: Feature, steps_b: Floats) -> tuple[Feature, Floats]:
    """The sum of two step functions of one feature."""
    if a.kind != b.kind:
        raise ValueError(f"feature {a.name!r} is a {a.kind} in one model and a {b.kind} in another")
    if a.is_category:
        known = a.categories + tuple(c for c in b.categories if c not in set(a.categories))
        feature = category_feature(a.name, known)
        parts = [_by_category(a, steps_a, known), _by_category(b, steps_b, known)]
    else:
        cuts = np.union1d(a.cuts, b.cuts)
        feature = number_feature(a.name, cuts)
        tops = np.append(cuts, np.inf)  # a value on a cut belongs below it
        parts = [
            steps[1 + np.searchsorted(own.cuts, tops, side="left")]
            for own, steps in ((a, steps_a), (b, steps_b))
        ]
    return feature, np.concatenate([[steps_a[0] + steps_b[0]], parts[0] + parts[1]])


def _by_category(feature: Feature, steps: Floats, known: tuple[object, ...]) -> Floats:
    """The step of each known category; that of a missing value for those the feature lacks."""
    code_of = {category: code for code, category in enumerate(feature.categories, start=1)}
    return np.array([steps[code_of.get(category, 0)] for category in known])  # type: ignore[call-overload]
