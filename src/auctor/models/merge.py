"""Two additive models as one: the score of the sum is the sum of the scores."""

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from auctor._typing import Floats
from auctor.data import Feature, category_feature, number_feature
from auctor.models.additive import AdditiveModel
from auctor.models.reference import Reference
from auctor.models.surface import Surface


def add_terms(model: AdditiveModel, other: AdditiveModel) -> AdditiveModel:
    """``model`` with the steps, surfaces and intercept of ``other`` added to its own.

    Both must have the same features, by name and order; labels, threshold and calibration stay
    those of ``model``. Two surfaces over the same bins of a pair become one; over others, both
    stay. What the terms add on average adds up as well, where both models have a reference of the
    same name; where they were fitted on different rows, compute it anew by ``with_reference``.
    """
    if model.feature_names != other.feature_names:
        raise ValueError("the models have different features; add models of the same table")
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
    """Surfaces of both, those over the same bins of a pair added up."""
    found: dict[Hashable, Surface] = {}
    for other in (*ours, *others):
        own = found.get(other.key)
        if own is not None:
            other = replace(own, values=own.values + other.turned_to(own))
        found[other.key] = other
    return tuple(found.values())


def _add_references(model: AdditiveModel, other: AdditiveModel) -> Reference | None:
    """The average contributions of the terms of both, in the order of the sum's terms."""
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
    """The step of each known category; those that the feature has not seen score as missing."""
    place = {category: code for code, category in enumerate(feature.categories, start=1)}
    return np.array([steps[place.get(category, 0)] for category in known])  # type: ignore[call-overload]
