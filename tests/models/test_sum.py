"""SumModel: scores by hand, parts of every form, explanations that add up, print and files."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from models.conftest import build_model
from models.test_damage import DELETE, change, deep, fields, sign
from models.test_forest_explained import random_forest, random_rows
from models.test_surface import build_surfaces
from scipy import sparse

import auctor
from auctor import (
    DMKS,
    AUCBoost,
    MartiRank,
    RankBoost,
    SmoothAUCBoost,
    SmoothTreeBoost,
    TreeRank,
    TreeRankForest,
)
from auctor.data import category_feature, number_feature
from auctor.datasets import load_kyphosis
from auctor.models import (
    GRID,
    AdditiveModel,
    Calibration,
    LinearModel,
    LinearTerm,
    Reference,
    ScorerModel,
    SumModel,
    Surface,
    from_json,
    on_grid,
    sum_models,
    to_json,
)
from auctor.models.serialization import checksum
from auctor.testing import contracts

LEARNERS = {
    "additive": RankBoost(n_estimators=10),
    "surfaces": SmoothAUCBoost(interactions=2),
    "linear": DMKS(),
    "tree": TreeRank(max_depth=2),
    "forest": TreeRankForest(n_estimators=3, max_depth=2),
    "program": MartiRank(n_layers=3),
    "boosted": AUCBoost(estimator="tree", n_estimators=3),
    "gradient boosted": SmoothTreeBoost(n_estimators=3, init=None, early_stopping=False),
}


@pytest.fixture(scope="module")
def kyphosis():
    X, y = load_kyphosis()
    X[::7, 0] = np.nan
    return X, y


@pytest.fixture(scope="module")
def fitted(kyphosis):
    """A model of every form that can be saved, over the same features."""
    return {name: learner.fit(*kyphosis).model_ for name, learner in LEARNERS.items()}


def additive(rng, n_cuts, surfaces=((0, 1),)):
    """Over the features of ``random_forest``, with other bins and categories."""
    cuts = np.unique(rng.integers(0, 5, size=n_cuts)) + 0.5
    known = tuple(rng.permutation(6)[:n_cuts].tolist())
    features = number_feature("a", cuts), number_feature("b", cuts), category_feature("c", known)
    steps = tuple(on_grid(rng.normal(size=feature.n_bins + 1)) for feature in features)
    built = tuple(_surface(rng, pair, features) for pair in surfaces)
    shared = (0, 1), 0.0, Calibration(1.0, 0.0)
    return AdditiveModel(*shared, features, steps, 0.5, built).with_reference(
        random_rows(rng), name="the average training row"
    )


def _surface(rng, pair, features):
    axes = features[pair[0]], features[pair[1]]
    values = on_grid(rng.normal(size=(axes[0].n_bins + 1, axes[1].n_bins + 1)))
    return Surface(pair, axes, values)


class TestScores:
    def test_by_hand(self):
        rng = np.random.default_rng(0)
        X, model, forest = random_rows(rng), additive(rng, 3), random_forest(rng)
        found = sum_models([model, forest], [1.0, 0.3], intercept=0.25)
        first, second = model.decision_function(X), forest.decision_function(X)
        terms = 0.3 * (second - forest.intercept), 0.3 * forest.intercept
        expected = 0.25 + first + sum(np.rint(term / GRID) * GRID for term in terms)
        assert found.decision_function(X).tolist() == expected.tolist()
        assert (sum_models([model]).decision_function(X) == first).all()

    @pytest.mark.parametrize("name", ["additive", "surfaces", "boosted", "tree"])
    def test_one_part_of_weight_1_scores_as_it_does(self, fitted, kyphosis, name):
        X, _ = kyphosis
        scores = fitted[name].decision_function(X)
        assert (sum_models([fitted[name]]).decision_function(X) == scores).all()
        assert (sum_models([fitted[name]] * 2).decision_function(X) == 2.0 * scores).all()

    def test_every_form_that_can_be_saved(self, fitted, kyphosis, tmp_path):
        X, _ = kyphosis
        weights = 1.0 + np.arange(len(fitted)) / 7
        model = sum_models(list(fitted.values()), weights)
        parts = zip(fitted.values(), weights, strict=True)
        expected = sum(weight * part.decision_function(X) for part, weight in parts)
        assert model.decision_function(X) == pytest.approx(expected, abs=1e-8)
        model.save(tmp_path / "sum.json")
        loaded = auctor.load(tmp_path / "sum.json")
        assert contracts.same_model(loaded, model)
        assert (loaded.decision_function(X) == model.decision_function(X)).all()
        assert str(loaded) == str(model)

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, sparse.csr_array, np.asarray])
    def test_any_table(self, fitted, kyphosis, make):
        X = np.nan_to_num(kyphosis[0])
        model = sum_models(list(fitted.values()))
        assert (model.decision_function(make(X)) == model.decision_function(X)).all()

    def test_threshold_and_probabilities(self, fitted, kyphosis):
        X, y = kyphosis
        parts = [fitted["additive"], fitted["forest"]]
        model = sum_models(parts, threshold=0.5, calibration=Calibration(2.0, -1.0))
        scores = model.decision_function(X)
        assert (model.predict(X) == np.asarray(model.classes)[(scores > 0.5).astype(int)]).all()
        expected = 1 / (1 + np.exp(1.0 - 2.0 * scores))
        assert model.predict_proba(X)[:, 1] == pytest.approx(expected)
        found = model.threshold_at(X, y, tpr=0.8)
        assert model.with_threshold(found).predict(X).tolist().count(model.classes[1]) > 0

    def test_text_and_categories_that_only_one_part_knows(self, columns):
        model = build_model()
        known = category_feature("town", ("new", "b"))
        features = tuple(known if f.name == "town" else f for f in model.features)
        steps = tuple(np.arange(feature.n_bins + 1.0) for feature in features)
        other = replace(model, features=features, steps=steps)
        both = sum_models([model, other])
        assert both.text_features == ("town",)
        assert both._columns[2].categories == ("", "Ärger", "b", "new")
        frame = pd.DataFrame(columns | {"town": ["new", "b", "", None, "b", "b", "b", "b"]})
        expected = on_grid(model.decision_function(frame)) + other.decision_function(frame)
        assert both.decision_function(frame) == pytest.approx(expected)
        with pytest.raises(ValueError, match="column 'town' holds numbers"):
            both.decision_function(frame.assign(town=1.0))


class TestSums:
    def test_nested_sums_are_flattened(self):
        rng = np.random.default_rng(1)
        X, a, b = random_rows(rng), additive(rng, 3), random_forest(rng)
        inner = sum_models([a, b], [2.0, 0.0], intercept=1.0)
        assert inner.parts == (a,) and inner.weights.tolist() == [2.0]
        outer = sum_models([inner, b], [0.5, 3.0], intercept=0.25)
        assert outer.parts == (a, b)
        assert outer.weights.tolist() == [1.0, 3.0] and outer.intercept == 0.75
        expected = 0.5 * inner.decision_function(X) + 3.0 * b.decision_function(X) + 0.25
        assert outer.decision_function(X) == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [np.inf, 1.0]])
    def test_weights_that_are_none(self, weights):
        model = additive(np.random.default_rng(0), 2)
        with pytest.raises(ValueError, match=r"weights is .* for 2 models; give a finite number"):
            sum_models([model, model], weights)
        with pytest.raises(ValueError, match="weights has"):
            SumModel(*((0, 1), 0.0, Calibration(1.0, 0.0)), (model, model), np.array(weights))

    def test_models_that_do_not_fit_together(self, fitted):
        model = additive(np.random.default_rng(0), 2)
        shared = (0, 1), 0.0, Calibration(1.0, 0.0)
        for others, words in (
            ([], "all models have weight 0"),
            ([model, replace(model, classes=("no", "yes"))], "different classes"),
            ([model, replace(fitted["linear"], classes=(0, 1))], "same features in the same order"),
            ([ScorerModel(*shared, ("a",), (), np.empty(0), 0.0)], "a scorers model"),
        ):
            with pytest.raises(ValueError, match=words):
                sum_models(others)
        with pytest.raises(ValueError, match="not sums themselves"):
            SumModel(*shared, (sum_models([model]),), np.ones(1))
        with pytest.raises(ValueError, match="parts must be one or more models"):
            SumModel(*shared, (), np.empty(0))

    def test_features_of_two_kinds(self):
        shared = (0, 1), 0.0, Calibration(1.0, 0.0)

        def linear(categories):
            terms = () if categories is None else (0.0,) * len(categories)
            return LinearModel(*shared, (LinearTerm("x", 1.0, 0.0, categories, terms),), 0.0)

        for a, b in ((None, ("a",)), ((1, 2), ("a",)), (None, ())):
            with pytest.raises(ValueError, match="but 'x' has two of them"):
                sum_models([linear(a), linear(b)])
        assert sum_models([linear(()), linear(("a",))]).text_features == ("x",)

    def test_it_is_read_only(self):
        model = sum_models([additive(np.random.default_rng(0), 2)])
        with pytest.raises(ValueError, match="read-only"):
            model.weights[0] = 2.0


class TestExplanations:
    @given(st.integers(0, 10**6), st.sampled_from([(1.0, 1.0, 1.0), (0.3, 1.7, 0.0)]))
    def test_they_add_up_exactly(self, seed, weights):
        rng = np.random.default_rng(seed)
        X, parts = random_rows(rng), [additive(rng, 3), random_forest(rng), additive(rng, 4)]
        model = sum_models(parts, weights, intercept=-0.125)
        found = model.explain(X)
        assert (found.base + found.contributions.sum(axis=1) == found.scores).all()
        assert (found.scores == model.decision_function(X)).all()
        assert (model.contributions(X).sum(axis=1) + model.constant == found.scores).all()
        for one in found:
            assert one.base + sum(one.contributions) == one.score
            assert sum(one.contributions[::-1]) + one.base == one.score

    def test_they_are_the_weighted_sums_of_those_of_the_parts(self):
        rng = np.random.default_rng(0)
        X, a, b = random_rows(rng), additive(rng, 3), random_forest(rng)
        found = sum_models([a, b], [2.0, 0.5], intercept=1.0).explain(X)
        one, two = a.explain(X), b.explain(X)
        assert found.names == ("a", "b", "c", "a x b") == one.names
        expected = 2.0 * one.contributions + 0.5 * np.pad(two.contributions, [(0, 0), (0, 1)])
        assert found.contributions == pytest.approx(expected, abs=1e-8)
        assert found.base == pytest.approx(1.0 + 2.0 * one.base + 0.5 * two.base, abs=1e-8)
        assert found.reference.name == "the average training row"

    def test_surfaces_of_one_pair_are_one_term(self):
        rng = np.random.default_rng(0)
        X = random_rows(rng)
        first = additive(rng, 3, [(0, 1), (2, 0)])
        again = _surface(rng, (1, 0), additive(rng, 4).features)
        more = replace(first, surfaces=(*first.surfaces, again), reference=None).with_reference(
            X, name="the average training row"
        )
        model = sum_models([first, more])
        assert model.term_names == ("a", "b", "c", "a x b", "c x a")
        parts, ours, others = (m.contributions(X) for m in (model, first, more))
        assert (parts[:, 3] == ours[:, 3] + others[:, 3] + others[:, 5]).all()
        assert (parts[:, 4] == ours[:, 4] + others[:, 4]).all()
        full = np.flatnonzero(~np.isnan(X).any(axis=1))[0]
        one = model.explain(X[full])
        assert one.values[one.names.index("c x a")] == (X[full, 2], X[full, 0])

    def test_another_table_may_be_compared_with(self):
        rng = np.random.default_rng(0)
        X = random_rows(rng)
        model = sum_models([additive(rng, 3), random_forest(rng)], [1.0, 0.7])
        alone = model.with_reference(X[[3]], name="a friend")
        assert set(alone.explain(X[3]).contributions) == {0.0}
        assert "compared with a friend" in str(alone.explain(X[4]))
        assert from_json(to_json(alone)).explain(X[4]) == alone.explain(X[4])
        assert (alone.explain(X).scores == model.explain(X).scores).all()

    def test_the_same_numbers_alone_and_from_a_file(self):
        rng = np.random.default_rng(2)
        X = random_rows(rng)
        model = sum_models([additive(rng, 3), random_forest(rng)], [1.0, 0.7])
        loaded = from_json(to_json(model))
        for i, one in enumerate(model.explain(X)):
            assert one == loaded.explain(X[i]) == model.explain(X[[i]])

    def test_parts_without_a_common_reference(self):
        rng = np.random.default_rng(0)
        X, a, b = random_rows(rng), additive(rng, 3), random_forest(rng)
        for other in (replace(a, reference=None), a.with_reference(X, name="other rows")):
            model = sum_models([other, b])
            assert model.needs_reference
            with pytest.raises(ValueError, match=r"no reference.*model\.with_reference\(X\)"):
                model.explain(X)
            found = model.with_reference(X).explain(X)
            assert (found.base + found.contributions.sum(axis=1) == found.scores).all()

    def test_parts_that_cannot_explain_rows(self, fitted, kyphosis):
        X, _ = kyphosis
        for name, words in (
            ("tree", "part 2 of this sum is a tree model"),
            ("program", "part 2 of this sum is a program model"),
            ("forest", "part 2 of this sum cannot explain rows: this forest does not have"),
        ):
            model = sum_models([fitted["additive"], fitted[name]])
            assert not model.needs_reference and model.average_row is None
            for call in (model.explain, model.contributions, model.with_reference):
                with pytest.raises(ValueError, match=words):
                    call(X)

    def test_linear_parts(self, fitted, kyphosis):
        X, _ = kyphosis
        found = sum_models([fitted["surfaces"], fitted["linear"]], [1.0, 0.4]).explain(X)
        assert (found.base + found.contributions.sum(axis=1) == found.scores).all()

    def test_a_reference_of_another_number_of_terms(self):
        model = sum_models([additive(np.random.default_rng(0), 3)])
        with pytest.raises(ValueError, match="reference has 3 contributions for 4 terms"):
            replace(model, reference=Reference(np.zeros(3)))


class TestSpread:
    def test_by_numpy(self):
        rng = np.random.default_rng(0)
        X, a, b = random_rows(rng, 60), additive(rng, 3), random_forest(rng)
        found = sum_models([a, b], [2.0, 0.5]).spread(X)
        parts = 2.0 * a.contributions(X)
        three = [parts[:, :3].sum(axis=1), parts[:, 3], 0.5 * b.decision_function(X)]
        total = sum(three)
        assert found.variance == pytest.approx(np.var(total))
        assert found.variances == pytest.approx([np.var(part) for part in three])
        expected = [np.cov(part, total, ddof=0)[0, 1] / np.var(total) for part in three]
        assert found.fractions == pytest.approx(expected)
        assert sum(found.fractions) == pytest.approx(1.0)
        assert found.n_rows == 60

    def test_prints_as_a_sentence(self, fitted, kyphosis):
        X, _ = kyphosis
        found = sum_models([fitted["additive"], fitted["tree"]]).spread(X)
        assert str(found).startswith("Of the variance of the score over 81 rows (")
        assert "0.0% to pairs of features" in str(found)
        same = sum_models([fitted["tree"]]).spread(X[[0, 0]])
        assert str(same) == "All of 2 rows have the same score."
        assert same.fractions == (0.0, 0.0, 0.0)


def test_prints_its_parts(fitted):
    model = sum_models([fitted["additive"], fitted["forest"]], [1.0, 0.25])
    lines = str(model).splitlines()
    assert lines[0] == (
        "SumModel: score = +0 + the weighted sum of the scores of 2 models over 3 features"
    )
    assert lines[1].endswith("elsewhere") and not any("elsewhere" in line for line in lines[2:])
    assert lines[2].startswith("  1 * AdditiveModel: score = ")
    assert any(line.startswith("  0.25 * ForestModel: 3 trees") for line in lines)
    many = sum_models([fitted["additive"]] * 20)
    assert str(many).endswith("... and 8 more models")


def put(path, value):
    """A change of the file's body at a place such as "parts.0.weight"."""
    *parents, last = [int(step) if step.isdigit() else step for step in path.split(".")]

    def change(body):
        for step in parents:
            body = body[step]
        body[last] = value

    return change


HOSTILE = {
    "no parts": (r"parts' must be one or more", put("parts", [])),
    "parts no list": ("parts", put("parts", {})),
    "a part no object": (r"parts\[0\]", put("parts.0", 1)),
    "no form": (r"parts\[0\]\.form", lambda b: b["parts"][0].pop("form")),
    "form unknown": (r"parts\[0\]\.form", put("parts.0.form", "future")),
    "a sum in a sum": (r"parts\[0\]\.form", put("parts.0.form", "sum")),
    "another form": (r"parts\[0\]\.body\.", put("parts.0.form", "linear")),
    "no weight": (r"parts\[0\]\.weight", lambda b: b["parts"][0].pop("weight")),
    "weight negative": (r"parts\[0\]\.weight", put("parts.0.weight", -1.0)),
    "weight huge": (r"parts\[0\]\.weight", put("parts.0.weight", 1e305)),
    "weight text": (r"parts\[0\]\.weight", put("parts.0.weight", "1")),
    "a field more": (r"parts\[0\]\.extra", put("parts.0.extra", 1)),
    "a field more in the body": (r"parts\[1\]\.body\.extra", put("parts.1.body.extra", 1)),
    "body no object": (r"parts\[1\]\.body", put("parts.1.body", [])),
    "a part damaged": (r"parts\[1\]\.body\.nodes\.left", put("parts.1.body.nodes.left.0", 0)),
    "other features": ("parts' must be models with", put("parts.1.body.features.0.name", "z")),
    "intercept text": ("intercept", put("intercept", "0")),
    "reference short": (
        r"reference\.contributions",
        put("reference", {"name": "rows", "contributions": [0.0]}),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(case):
    words, spoil = HOSTILE[case]
    rng = np.random.default_rng(0)
    content = json.loads(to_json(sum_models([additive(rng, 3), random_forest(rng)])))
    spoil(content["body"])
    content["sha256"] = checksum(content)
    with pytest.raises(ValueError, match=rf"model file: field 'body\..*{words}"):
        from_json(json.dumps(content))


def test_every_field_missing_or_of_another_type():
    rng = np.random.default_rng(0)
    X, model = random_rows(rng), sum_models([additive(rng, 2), random_forest(rng, 1, 2)])
    content = json.loads(to_json(model))
    refused = 0
    for where, _ in fields(content["body"], ("body",)):
        for other in (DELETE, None, {}, deep(3), "surprise"):
            try:
                loaded = from_json(sign(change(content, where, other)))
            except ValueError as error:
                assert str(error).startswith("model file: ")
                refused += 1
            else:  # another good model, such as one without a surface
                assert np.isfinite(loaded.decision_function(X)).all()
    assert refused > 400


def test_pairs_are_named_as_their_part_names_them(columns):
    frame = pd.DataFrame(columns)
    model = build_model(surfaces=build_surfaces()).with_reference(frame)
    both = sum_models([model, model], [1.0, 2.0])
    assert both.term_names == model.term_names
    reasons = [word for reasons in both.explain(frame).reasons(7) for word in reasons]
    assert any(word.startswith("age=0.1 x town= (") for word in reasons)


def test_numbers_at_the_limit_stay_finite():
    rng = np.random.default_rng(0)
    X, model = random_rows(rng), additive(rng, 3)
    steps = tuple(np.full(len(one), 9e299) for one in model.steps)
    huge = sum_models([replace(model, steps=steps, reference=None)] * 2, [9e299, 1.0])
    assert np.isfinite(huge.decision_function(X)).all()
    assert np.isfinite(huge.with_reference(X).explain(X).contributions).all()
