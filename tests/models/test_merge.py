"""Two additive models as one: the score of the sum is the sum of the scores."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from models.conftest import build_model

from auctor.data import category_feature, number_feature
from auctor.models import (
    AdditiveModel,
    Calibration,
    Surface,
    add_terms,
    from_json,
    on_grid,
    to_json,
)

TOWNS, CODES = ("a", "b", "c", "d"), (-1, 2.5, 7, 8)
CUTS = (-1.5, -1.0, 0.0, 0.25, 1.0, 3.0)


def draw_features(rng):
    """Two numbers, texts and coded numbers; some of the bins and categories that there are."""

    def some(values):
        return [v for v in values if rng.random() < 0.5]

    return (
        number_feature("age", np.array(some(CUTS))),
        category_feature("town", tuple(rng.permutation(some(TOWNS)).tolist())),
        number_feature("dose", np.array(some(CUTS))),
        category_feature("code", tuple(rng.permutation(some(CODES)).tolist())),
    )


def draw_surface(rng):
    features = draw_features(rng)
    a, b = (int(j) for j in rng.permutation(4)[:2])
    axes = features[a], features[b]
    shape = axes[0].n_bins + 1, axes[1].n_bins + 1
    return Surface((a, b), axes, on_grid(rng.normal(size=shape)))


def draw_model(rng, n_surfaces=0):
    features = draw_features(rng)
    return AdditiveModel(
        ("no", "yes"),
        float(rng.normal()),
        Calibration(1 + float(rng.random()), float(rng.normal())),
        features,
        tuple(on_grid(rng.normal(size=feature.n_bins + 1)) for feature in features),
        float(on_grid(rng.normal(size=1))[0]),
        tuple(draw_surface(rng) for _ in range(n_surfaces)),
    )


def draw_rows(rng, n_rows=60):
    """Values on the cuts, next to them and far from them, unseen categories, missing values."""
    near = np.array([*CUTS, *np.nextafter(CUTS, 9), *np.nextafter(CUTS, -9), -1e300, 1e300])

    def holes(values):
        return [None if rng.random() < 0.15 else v for v in values.tolist()]

    return pd.DataFrame(
        {
            "age": np.array(holes(rng.choice(near, n_rows)), dtype=float),
            "town": holes(rng.choice([*TOWNS, "unseen"], n_rows)),
            "dose": np.array(holes(rng.choice(near, n_rows)), dtype=float),
            "code": np.array(holes(rng.choice([*CODES, 99.0], n_rows)), dtype=float),
        }
    )


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    n_surfaces=st.tuples(st.sampled_from([0, 2]), st.sampled_from([0, 1])),
)
def test_the_score_of_the_sum_is_the_sum_of_the_scores(seed, n_surfaces):
    """Bit for bit: steps are on the grid, where sums are exact."""
    rng = np.random.default_rng(seed)
    a, b = (draw_model(rng, n) for n in n_surfaces)
    X = draw_rows(rng)
    both = add_terms(a, b)
    expected = a.decision_function(X) + b.decision_function(X)
    assert np.array_equal(both.decision_function(X), expected)
    assert np.array_equal(add_terms(b, a).decision_function(X), expected)
    again = from_json(to_json(both))
    assert np.array_equal(again.decision_function(X), expected)


def test_three_models_in_any_order():
    rng = np.random.default_rng(0)
    a, b, c = (draw_model(rng, 1) for _ in range(3))
    X = draw_rows(rng)
    left, right = add_terms(add_terms(a, b), c), add_terms(a, add_terms(b, c))
    assert np.array_equal(left.decision_function(X), right.decision_function(X))


def test_contributions_of_the_features_add_up():
    rng = np.random.default_rng(1)
    a, b = draw_model(rng, 1), draw_model(rng, 2)
    X = draw_rows(rng)
    both = add_terms(a, b)
    parts = [model.contributions(X) for model in (a, b)]
    assert np.array_equal(both.contributions(X)[:, :4], parts[0][:, :4] + parts[1][:, :4])
    assert np.array_equal(both.contributions(X)[:, 4:], np.hstack([p[:, 4:] for p in parts]))
    assert both.surfaces == a.surfaces + b.surfaces


@pytest.mark.parametrize("is_turned", [False, True])
def test_surfaces_over_the_same_bins_are_one(is_turned):
    rng = np.random.default_rng(4)
    a, b = draw_model(rng, 1), draw_model(rng)
    own = a.surfaces[0]
    other = Surface(own.features, own.axes, on_grid(rng.normal(size=own.values.shape)))
    if is_turned:
        other = Surface(own.features[::-1], own.axes[::-1], other.values.T)
    both = add_terms(a, replace(b, surfaces=(other,)))
    assert len(both.surfaces) == 1 and len(both.term_names) == 5
    X = draw_rows(rng)
    expected = a.decision_function(X) + replace(b, surfaces=(other,)).decision_function(X)
    assert np.array_equal(both.decision_function(X), expected)
    assert from_json(to_json(both)).term_names == both.term_names


def test_surfaces_over_other_bins_of_a_pair_have_a_name_each():
    rng = np.random.default_rng(5)
    a, b = draw_model(rng), draw_model(rng)
    bins = [np.array([0.0]), np.array([0.0, 1.0]), np.array([1.0])]
    dose = number_feature("dose", np.array([0.0]))
    surfaces = [
        Surface((0, 2), (number_feature("age", cuts), dose), np.ones((len(cuts) + 2, 3)))
        for cuts in bins
    ]
    both = add_terms(replace(a, surfaces=(surfaces[0],)), replace(b, surfaces=tuple(surfaces[1:])))
    assert both.term_names[4:] == ("age x dose", "age x dose (2)", "age x dose (3)")
    assert both.contributions(draw_rows(rng)).shape[1] == len(set(both.term_names)) == 7
    assert from_json(to_json(both)).term_names == both.term_names


def test_labels_threshold_and_calibration_are_those_of_the_first():
    rng = np.random.default_rng(2)
    a, b = draw_model(rng), replace(draw_model(rng), classes=("never", "ever"))
    both = add_terms(a, b)
    assert both.classes == a.classes
    assert both.threshold == a.threshold
    assert both.calibration == a.calibration
    assert both.intercept == a.intercept + b.intercept
    assert both.feature_names == a.feature_names


def test_a_flat_model_changes_nothing(model, columns):
    flat = replace(model, steps=tuple(np.zeros_like(steps) for steps in model.steps), intercept=0.0)
    X = pd.DataFrame(columns)
    for both in (add_terms(model, flat), add_terms(flat, model)):
        assert np.array_equal(both.decision_function(X), model.decision_function(X))


def test_neither_model_is_changed():
    rng = np.random.default_rng(3)
    a, b = draw_model(rng, 1), draw_model(rng, 1)
    before = a.body(), b.body()
    add_terms(a, b)
    assert (a.body(), b.body()) == before


def test_models_of_different_features_are_refused():
    model = build_model()
    renamed = replace(
        model, features=(number_feature("height", model.features[0].cuts), *model.features[1:])
    )
    turned = replace(model, features=model.features[::-1], steps=model.steps[::-1])
    fewer = replace(model, features=model.features[:-1], steps=model.steps[:-1])
    for other in (renamed, turned, fewer):
        with pytest.raises(ValueError, match="different features; give two models"):
            add_terms(model, other)


def test_a_number_is_not_added_to_a_category():
    model = build_model()
    other = replace(
        model,
        features=(*model.features[:3], number_feature("code", np.array([1.0])), model.features[4]),
        steps=(*model.steps[:3], np.zeros(3), model.steps[4]),
    )
    with pytest.raises(ValueError, match=r"feature 'code' is a \w+ in one model and a \w+ in ano"):
        add_terms(model, other)
