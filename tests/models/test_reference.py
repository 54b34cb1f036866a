"""Explanations have one reference: the model's own, kept in its file."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from models.conftest import build_model
from models.test_merge import draw_model, draw_rows
from models.test_surface import build_surfaces
from scipy import sparse

import auctor
from auctor import (
    DMKS,
    AUCBoost,
    ExactBoost,
    MarginRanker,
    RankBoost,
    SmoothAUCBoost,
    SoftRankBoost,
    TreeRank,
)
from auctor.datasets import load_kyphosis
from auctor.models import Reference, add_terms, from_json, to_json
from auctor.models.serialization import checksum

OLD_FILES = Path(__file__).parent / "old_files"


def messy_table():
    X, y = load_kyphosis()
    X = np.column_stack([X, np.full(len(X), 3.0)])
    X[::7, 0] = np.nan
    return X, y


LEARNERS = {
    "rankboost": lambda: RankBoost(n_estimators=10, categorical_features=[1]),
    "aucboost": lambda: AUCBoost(n_estimators=10),
    "soft": lambda: SoftRankBoost(n_estimators=10, epsilon=0.1),
    "exact": lambda: ExactBoost(n_runs=3, n_estimators=5, subsample=0.5),
    "smooth": lambda: SmoothAUCBoost(categorical_features=[1]),
    "surfaces": lambda: SmoothAUCBoost(interactions=2),
    "margin": lambda: MarginRanker(epsilon=0.5, categorical_features=[1]),
    "stumps": lambda: MarginRanker(epsilon=0.5, hypotheses="stumps"),
    "dmks": lambda: DMKS(),
    "smooth on": lambda: SmoothAUCBoost(init=RankBoost(n_estimators=5).fit(*messy_table())),
    "exact on": lambda: ExactBoost(
        n_runs=2, n_estimators=3, subsample=0.5, init=SmoothAUCBoost().fit(*messy_table())
    ),
}


@pytest.fixture(scope="module", params=LEARNERS)
def fitted(request):
    """A learner fitted to weighted rows, some of them absent."""
    X, y = messy_table()
    weight = np.arange(81) % 4.0
    return LEARNERS[request.param]().fit(X, y, weight), X, weight


def test_it_is_the_weighted_average_over_the_training_rows(fitted):
    ranker, X, weight = fitted
    model = ranker.model_
    expected = np.average(model.contributions(X), axis=0, weights=weight)
    assert model.reference.contributions == pytest.approx(expected, abs=1e-9)
    assert model.reference.name == "the average training row"
    base = np.average(model.decision_function(X), weights=weight)
    assert ranker.explain(X[0]).base == pytest.approx(base, abs=1e-8)


def test_contributions_and_reference_score_make_the_score_exactly(fitted):
    ranker, X, _ = fitted
    explanation = ranker.explain(X)
    scores = ranker.decision_function(X)
    assert (explanation.base + explanation.contributions.sum(axis=1) == scores).all()
    assert explanation.base == ranker.model_.intercept + ranker.model_.reference.contributions.sum()
    for i in (0, 1, 80):
        one = ranker.explain(X[i])
        assert one.base + sum(one.contributions) == one.score == scores[i]
        assert one.base + sum(one.contributions[::-1]) == one.score


def test_the_same_numbers_alone_in_a_table_and_from_a_file(fitted, tmp_path):
    ranker, X, _ = fitted
    ranker.model_.save(tmp_path / "model.json")
    loaded = auctor.load(tmp_path / "model.json")
    together, backwards = ranker.explain(X), loaded.explain(X[::-1])
    assert (backwards.contributions[::-1] == together.contributions).all()
    for i in (0, 5, 33):
        one = loaded.explain(X[i])
        assert one == ranker.explain(X[[i]]) == together[i] == backwards[80 - i]
        assert any(one.contributions)


@pytest.mark.parametrize("name", ["rankboost", "smooth", "margin", "dmks"])
def test_neither_the_scale_of_weights_nor_the_order_of_rows_shows(name):
    X, y = messy_table()
    weight = 1.0 + np.arange(81) % 3
    ranker = LEARNERS[name]()
    reference = ranker.fit(X, y, weight).model_.reference.contributions.tolist()
    order = np.random.default_rng(0).permutation(81)
    again = ranker.fit(X[order], y[order], weight[order]).model_.reference
    assert again.contributions.tolist() == reference
    halved = ranker.fit(X, y, weight / 2).model_
    expected = np.average(halved.contributions(X), axis=0, weights=weight)
    assert halved.reference.contributions == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "ranker",
    [RankBoost(n_estimators=10), MarginRanker(epsilon=0.9)],
    ids=["RankBoost", "MarginRanker"],
)
def test_sparse_and_dense_tables_have_the_same_reference(ranker):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5)) * (rng.random((60, 5)) < 0.3)
    y = X[:, 0] + rng.normal(size=60) > 0
    dense = ranker.fit(X, y).model_.reference
    model = ranker.fit(sparse.csr_array(X), y).model_
    assert model.reference.contributions.tolist() == dense.contributions.tolist()
    rows = model.explain(sparse.csr_array(X)).contributions
    assert (rows == model.explain(X).contributions).all()


def test_another_table_may_be_compared_with():
    X, y = messy_table()
    model = RankBoost(n_estimators=10).fit(X, y).model_
    alone = model.with_reference(X[[3]], name="a friend")
    assert alone.explain(X[3]).contributions == (0.0,) * 4
    assert "compared with a friend" in str(alone.explain(X[4]))
    assert from_json(to_json(alone)).explain(X[4]) == alone.explain(X[4])
    weighted = model.with_reference(X, np.arange(81) == 3)
    assert weighted.explain(X[4]).contributions == alone.explain(X[4]).contributions
    with pytest.raises(ValueError, match="give a table with rows"):
        model.with_reference(X[:0])


def test_a_threshold_keeps_it():
    X, y = messy_table()
    model = RankBoost(n_estimators=10).fit(X, y).model_
    assert (
        model.with_threshold(1.0).explain(X[0]).contributions == model.explain(X[0]).contributions
    )


@pytest.mark.parametrize("name", ["smooth_aucboost", "dmks", "forest"])
def test_files_of_before_load_and_score_as_they_did(name):
    model = auctor.load(OLD_FILES / f"{name}.model.json")
    X, _ = messy_table()
    stored = json.loads((OLD_FILES / f"{name}.scores.json").read_text())
    assert model.decision_function(X).tolist() == stored
    assert from_json(to_json(model)).decision_function(X).tolist() == stored


@pytest.mark.parametrize("name", ["smooth_aucboost", "dmks"])
def test_files_of_before_say_that_they_have_no_reference(name):
    model = auctor.load(OLD_FILES / f"{name}.model.json")
    X, _ = messy_table()
    with pytest.raises(ValueError, match=r"has no reference .* model\.with_reference\(X\)"):
        model.explain(X[0])
    explanation = model.with_reference(X).explain(X)
    assert (explanation.base + explanation.contributions.sum(axis=1) == explanation.scores).all()
    # By contributions alone as well, which need no reference.
    parts = model.contributions(X)
    assert (parts.sum(axis=1) + model.intercept == model.decision_function(X)).all()


def test_other_forms_say_that_they_are_not_explained():
    X, y = messy_table()
    ranker = TreeRank(max_depth=2).fit(X, y)
    with pytest.raises(ValueError, match=r"this is a tree model.*additive and linear models"):
        ranker.explain(X[0])


@pytest.mark.parametrize(("n_ours", "n_others"), [(0, 0), (2, 1), (0, 3)])
def test_references_of_a_sum_add_up(n_ours, n_others):
    rng = np.random.default_rng(n_ours)
    X = draw_rows(rng)
    ours, others = (draw_model(rng, n).with_reference(X) for n in (n_ours, n_others))
    # One surface over the same bins as one of the other model, the other way round.
    if n_ours:
        a = ours.surfaces[0]
        twin = replace(a, features=a.features[::-1], axes=a.axes[::-1], values=a.values.T)
        more = replace(others, surfaces=(*others.surfaces, twin), reference=None)
        others = more.with_reference(X)
    both = add_terms(ours, others)
    expected = both.with_reference(X).reference.contributions
    assert len(expected) == len(both.term_names)
    assert both.reference.contributions == pytest.approx(expected, abs=1e-9)
    assert add_terms(ours, replace(others, reference=None)).reference is None
    assert add_terms(ours, others.with_reference(X, name="other rows")).reference is None


DAMAGES = {
    "a term less": lambda r: r["contributions"].pop(),
    "a term more": lambda r: r["contributions"].append(0.0),
    "text": lambda r: r["contributions"].__setitem__(0, "0"),
    "huge": lambda r: r["contributions"].__setitem__(0, 1e305),
    "no name": lambda r: r.pop("name"),
    "a name that is none": lambda r: r.__setitem__("name", 3),
    "a field more": lambda r: r.__setitem__("rows", 81),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("form", ["additive", "linear"])
def test_damaged_references_are_refused(form, damage):
    X, y = messy_table()
    ranker = RankBoost(n_estimators=3) if form == "additive" else DMKS()
    content = json.loads(to_json(ranker.fit(X, y).model_))
    DAMAGES[damage](content["body"]["reference"])
    content["sha256"] = checksum(content)
    with pytest.raises(ValueError, match=r"field 'body\.reference\."):
        from_json(json.dumps(content))


def test_pairs_are_explained_by_both_values(columns):
    frame = pd.DataFrame(columns)
    model = build_model(surfaces=build_surfaces()).with_reference(frame)
    explanation = model.explain(frame)
    index = explanation[0].names.index("age x town")
    assert explanation[0].values[index] == (0.1, "")
    words = [word for reasons in explanation.reasons(7) for word in reasons]
    assert any(word.startswith("age=0.1 x town= (") for word in words)
    assert any(word.startswith("code=missing x age=") for word in words)


@pytest.mark.parametrize("form", ["additive", "linear"])
def test_a_reference_of_another_number_of_terms_is_refused(form):
    X, y = messy_table()
    ranker = RankBoost(n_estimators=3) if form == "additive" else DMKS()
    model = ranker.fit(X, y).model_
    with pytest.raises(ValueError, match="reference has 3 contributions for 4 terms; give one"):
        replace(model, reference=Reference(np.zeros(3)))


def test_it_is_read_only():
    reference = Reference(np.zeros(2))
    with pytest.raises(ValueError, match="read-only"):
        reference.contributions[0] = 1.0
