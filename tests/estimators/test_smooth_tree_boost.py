"""SmoothTreeBoost as scikit-learn users meet it; what all learners share is tested elsewhere."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from auctor import RankBoost, SmoothAUCBoost, SmoothTreeBoost, load
from auctor.learners.tree_boost import fit as tree_fit
from auctor.learners.tree_boost.rounds import Booster
from auctor.metrics import auc, partial_auc
from auctor.models import AdditiveModel, ForestModel, SumModel, to_json

SMALL = {"n_estimators": 8, "max_depth": 3, "early_stopping": False}
EXACT = {**SMALL, "subsample": 1.0, "max_features": None}


def exclusive_or(seed=0, n_rows=400):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, ((X[:, 0] > 0) != (X[:, 1] > 0)) ^ (rng.random(n_rows) < 0.05)


def product_of_signs(seed=0, n_rows=400):
    X = np.random.default_rng(seed).normal(size=(n_rows, 3))
    return X, np.prod(X, axis=1) > 0


def additive(seed, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, X[:, 0] + np.abs(X[:, 1]) - 0.5 * X[:, 2] + rng.logistic(size=n_rows) > 0.8


# How well it ranks


def test_trees_rank_what_no_additive_model_can():
    """Neither single features nor pairs say anything about the product of three signs."""
    X, y = product_of_signs()
    new, truth = product_of_signs(1, 2000)
    trees = SmoothTreeBoost(n_estimators=60).fit(X, y)
    smooth = SmoothAUCBoost(interactions=3).fit(X, y)
    assert trees.tree_weight_ > 0.5
    assert trees.score(new, truth) > smooth.score(new, truth) + 0.3


def test_pairs_that_help_are_surfaces_of_the_smooth_model():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.logistic(size=400) > 0
    for constraint, pairs in ((None, {(0, 1)}), ("no_interactions", set())):
        model = SmoothTreeBoost(n_estimators=20, interaction_cst=constraint).fit(X, y).model_
        smooth = model.parts[0] if isinstance(model, SumModel) else model
        assert {surface.features for surface in smooth.surfaces} & {(0, 1)} == pairs


def test_few_rows_of_an_additive_law_lose_next_to_nothing():
    lost = []
    for seed in range(4):
        X, y = additive(seed, 300)
        new, truth = additive(seed + 100, 4000)
        both = SmoothTreeBoost(n_estimators=30).fit(X, y)
        lost.append(SmoothAUCBoost().fit(X, y).score(new, truth) - both.score(new, truth))
    assert np.mean(lost) < 0.01


def test_without_a_gain_by_trees_the_result_is_the_smooth_model():
    X, y = additive(3, 300)
    ranker = SmoothTreeBoost(n_estimators=10, max_depth=1).fit(X, y)
    smooth = SmoothAUCBoost().fit(X, y)
    assert ranker.n_iter_ == 0 and ranker.tree_weight_ == 0.0
    assert isinstance(ranker.model_, AdditiveModel)
    assert np.array_equal(ranker.decision_function(X), smooth.decision_function(X))
    assert np.array_equal(ranker.predict_proba(X), smooth.predict_proba(X))
    mixture = ranker.history_.mixture
    assert mixture.best_auc == mixture.smooth_auc == mixture.aucs[0, 0].mean()


@pytest.mark.parametrize("seed", range(2))
def test_training_for_a_range_does_not_lose_in_that_range(seed):
    X, y = exclusive_or(seed, 800)
    new, truth = exclusive_or(seed + 50, 4000)
    options = {"n_estimators": 30, "early_stopping": False, "init": None}
    whole = SmoothTreeBoost(**options).fit(X, y)
    top = SmoothTreeBoost(fpr_range=(0, 0.2), **options).fit(X, y)
    areas = [partial_auc(truth, r.decision_function(new), fpr_range=(0, 0.2)) for r in (whole, top)]
    assert areas[1] > areas[0] - 0.01
    assert areas[1] > 0.2 * 0.5  # a constant score has 0.02
    assert "smoothed partial AUC (FPR 0 to 0.2)" in str(top.certificate_)


def test_held_out_rows_are_judged_by_the_partial_auc():
    X, y = exclusive_or(3, 300)
    ranker = SmoothTreeBoost(n_estimators=10, fpr_range=(0, 0.3), cv=2).fit(X, y)
    mixture = ranker.history_.mixture
    assert mixture.aucs.shape[1:] == (9, 2)
    assert 0.3 < mixture.best_auc == ranker.certificate_.values["held_out_auc"] <= 1.0


@pytest.mark.parametrize("loss", ["logistic", "auc"])
def test_both_losses_rank(loss):
    X, y = exclusive_or()
    ranker = SmoothTreeBoost(n_estimators=30, loss=loss, init=None, early_stopping=False)
    assert ranker.fit(X, y).score(*exclusive_or(1, 2000)) > 0.85


# Weights


@pytest.mark.parametrize("init", [None, "smooth"])
def test_weight_two_is_the_row_twice_and_weight_zero_an_absent_row(init):
    X, y = exclusive_or(n_rows=90)
    weight = np.random.default_rng(0).integers(0, 3, size=90)
    rows = np.repeat(np.arange(90), weight)
    ranker = SmoothTreeBoost(init=init, frequency_weights=True, **EXACT)
    by_weight = clone(ranker).fit(X, y, weight)
    by_copies = clone(ranker).fit(X[rows], y[rows])
    assert to_json(by_weight.model_) == to_json(by_copies.model_)
    assert by_weight.history_.gains == by_copies.history_.gains


def test_rows_of_weight_zero_are_absent_where_rows_are_drawn():
    X, y = exclusive_or(n_rows=200)
    weight = (np.arange(200) % 4 > 0).astype(float)
    kept = weight > 0
    with_zeros = SmoothTreeBoost(n_estimators=5, cv=2).fit(X, y, weight)
    without = SmoothTreeBoost(n_estimators=5, cv=2).fit(X[kept], y[kept])
    assert to_json(with_zeros.model_) == to_json(without.model_)


# Constraints


@pytest.mark.parametrize("init", [None, "smooth"])
@pytest.mark.parametrize("loss", ["logistic", "auc"])
def test_monotone_scores(init, loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = X[:, 0] * (X[:, 2] > 0) - X[:, 1] + np.sin(4 * X[:, 0]) + rng.normal(size=300) > 0
    X[rng.random(X.shape) < 0.1] = np.nan
    options = {"n_estimators": 15, "max_depth": 5, "early_stopping": False, "loss": loss}
    grid = np.linspace(-3, 3, 60)
    ranker = SmoothTreeBoost(init=init, monotonic_cst=[1, -1, 0, 0], **options).fit(X, y)
    free = SmoothTreeBoost(init=init, **options).fit(X, y)
    least = 0.0
    for j, sign in ((0, 1), (1, -1)):
        for row in X[:30]:
            rows = np.tile(row, (60, 1))
            rows[:, j] = grid
            assert (sign * np.diff(ranker.decision_function(rows)) >= 0).all()
            least = min(least, (sign * np.diff(free.decision_function(rows))).min())
    assert least < -0.01  # without the constraint it is not monotone
    assert len(np.unique(ranker.decision_function(X))) > 50


@pytest.mark.parametrize("sign", [1, -1])
def test_missing_values_have_no_place_in_the_order_of_a_monotone_feature(sign):
    """They can be below the smallest value of an increasing feature, as in LightGBM."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    is_missing = rng.random(600) < 0.3
    rate = np.where(is_missing, 0.5 - sign * 0.48, 0.5 + sign * 0.4 * (X[:, 0] - 0.5))
    y = rng.random(600) < rate
    X[is_missing, 0] = np.nan
    options = {"n_estimators": 15, "early_stopping": False, "max_depth": 4, "init": None}
    ranker = SmoothTreeBoost(monotonic_cst=[sign, 0], **options).fit(X, y)
    grid = np.column_stack([np.linspace(-0.5, 1.5, 81), np.full(81, 0.5)])
    scores = sign * ranker.decision_function(grid)
    missing = sign * ranker.decision_function([[np.nan, 0.5]])[0]
    assert (np.diff(scores) >= 0).all()
    assert missing < scores.min() - 0.2


def paths_of(model):
    """The sets of features that are tested on the path to each leaf of a forest."""
    todo = [(int(root), frozenset()) for root in model.roots]
    while todo:
        node, above = todo.pop()
        feature = int(model.nodes.feature[node])
        if feature < 0:
            yield above
            continue
        for child in (model.nodes.left, model.nodes.right):
            todo.append((int(child[node]), above | {feature}))


def test_interaction_constraints():
    X, y = exclusive_or()
    noise = np.random.default_rng(5).normal(size=len(y))
    frame = pd.DataFrame(np.column_stack([X, noise]), columns=list("abcd"))
    options = {"init": None, "n_estimators": 10, "early_stopping": False, "max_features": None}

    def together(groups):
        ranker = SmoothTreeBoost(interaction_cst=groups, **options).fit(frame, y)
        return {tuple(sorted(path)) for path in paths_of(ranker.model_) if len(path) > 1}

    assert max(len(path) for path in together(None)) > 2
    assert together("no_interactions") == set()
    assert together([("a", "c"), ["d"]]) <= {(0, 2)}  # b is alone in a group of its own
    assert {(0, 1)} <= together([(0, 1)]) <= {(0, 1), (2, 3)}
    assert together([{"a", 1}]) == together([(0, 1)])
    in_pairs = together("pairwise")
    assert len(in_pairs) > 2 and all(len(path) == 2 for path in in_pairs)


# Hard tables


@pytest.mark.parametrize("early_stopping", [False, True])
@pytest.mark.parametrize("init", [None, "smooth"])
@pytest.mark.parametrize(
    "kind", ["identical classes", "separable", "constant", "one positive", "three rows", "missing"]
)
def test_hard_tables_end_well(kind, init, early_stopping):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    if kind == "identical classes":
        X = np.repeat(X[:20], 2, axis=0)
    elif kind == "separable":
        X[:, 0] = y
    elif kind == "constant":
        X[:] = 3.0
    elif kind == "one positive":
        y = np.arange(40) == 7
    elif kind == "three rows":
        X, y = X[:3], [0, 1, 1]
    elif kind == "missing":
        X[:] = np.nan
    ranker = SmoothTreeBoost(n_estimators=30, init=init, early_stopping=early_stopping)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranker.fit(X, y)
        scores = ranker.decision_function(X)
        assert np.isfinite(scores).all() and np.isfinite(ranker.predict_proba(X)).all()
    area = ranker.score(X, y)
    if kind in ("constant", "missing"):
        assert np.ptp(scores) == 0 and area == 0.5
    elif kind == "separable":
        assert area == 1.0
    elif kind == "identical classes":
        assert area == pytest.approx(0.5)
    assert ranker.certificate_.values["auc"] == pytest.approx(area)
    assert not np.isnan(list(ranker.feature_importances_)).any()


@pytest.mark.parametrize("cv", [2, 5])
def test_too_few_rows_for_the_folds_are_refused(cv):
    X, _ = exclusive_or(n_rows=40)
    with pytest.raises(ValueError, match=f"cv={cv} folds need .* or use early_stopping=False"):
        SmoothTreeBoost(cv=cv).fit(X, np.arange(40) == 3)


def test_a_separable_table_can_be_boosted_for_long():
    X = np.arange(60.0)[:, None]
    for loss in ("logistic", "auc"):
        ranker = SmoothTreeBoost(300, loss=loss, init=None, early_stopping=False, learning_rate=1.0)
        scores = ranker.fit(X, np.arange(60) >= 30).decision_function(X)
        assert np.isfinite(scores).all() and ranker.score(X, np.arange(60) >= 30) == 1.0


# What is fitted


def test_fitted_attributes_and_the_text():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = 0.7 * X[:, 0] * X[:, 1] + X[:, 0] + 0.5 * rng.normal(size=400) > 0
    ranker = SmoothTreeBoost(n_estimators=12, cv=2).fit(X, y)
    assert isinstance(ranker.model_, SumModel)
    assert 0 < ranker.tree_weight_ < 1
    assert ranker.n_iter_ == len(ranker.history_.gains) == len(ranker.history_.n_leaves)
    mixture, weight = ranker.history_.mixture, ranker.tree_weight_
    assert ranker.n_iter_ == mixture.n_trees and weight == mixture.weight
    # (1 - w) F / sd(F) + w T / sd(T), divided by the factor of the trees T
    factor = (1 - weight) / weight * mixture.ratio
    assert weight != 0.5 and ranker.model_.weights == pytest.approx([factor, 1.0], abs=1e-5)
    assert ranker.feature_importances_.sum() == pytest.approx(1)
    assert ranker.feature_importances_[2] == ranker.feature_importances_.min()
    values, text = ranker.certificate_.values, str(ranker.certificate_)
    assert f"{values['held_out_auc']:.4f}" in text and "for the smooth model alone" in text
    alone = SmoothTreeBoost(n_estimators=5, init=None, early_stopping=False).fit(X, y)
    assert isinstance(alone.model_, ForestModel) and alone.tree_weight_ == 1.0


@pytest.mark.parametrize("init", [None, "smooth"])
def test_the_score_is_explained_saved_and_loaded(people, init, tmp_path):
    X, y = people
    ranker = SmoothTreeBoost(init=init, **SMALL).fit(X, y)
    scores = ranker.decision_function(X)
    terms = ranker.model_.contributions(X)
    assert terms.shape == (250, 4)
    base = scores - terms.sum(axis=1)
    assert base == pytest.approx(np.full(250, base[0]), abs=1e-8)
    explained = ranker.explain(X.iloc[:1])
    assert str(explained)
    ranker.model_.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert np.array_equal(loaded.decision_function(X), scores)
    assert np.array_equal(pickle.loads(pickle.dumps(ranker)).decision_function(X), scores)
    assert auc(y == "yes", scores) == pytest.approx(ranker.certificate_.values["auc"])


def test_the_spread_of_the_score():
    X, y = exclusive_or()
    ranker = SmoothTreeBoost(**SMALL).fit(X, y)
    fractions = ranker.model_.spread(X).fractions
    assert sum(fractions) == pytest.approx(1) and fractions[2] > 0


def test_trees_start_from_a_model():
    X, y = exclusive_or()
    X[::9, 0] = np.nan
    first = SmoothAUCBoost().fit(X, y)
    for init in (first, first.model_):
        ranker = SmoothTreeBoost(init=init, **SMALL).fit(X, y)
        assert ranker.score(X, y) > first.score(X, y) + 0.1
        parts = ranker.model_.parts
        assert isinstance(parts[0], AdditiveModel) and isinstance(parts[1], ForestModel)
        rest = ranker.decision_function(X) - first.decision_function(X)
        rest -= parts[1].decision_function(X)
        assert rest == pytest.approx(np.full(len(y), rest[0]), abs=1e-8)


# Interruptions and errors


@pytest.mark.parametrize("early_stopping", [False, True])
def test_an_interrupted_fit_leaves_the_earlier_one(monkeypatch, early_stopping):
    X, y = exclusive_or()
    ranker = SmoothTreeBoost(**{**SMALL, "early_stopping": early_stopping, "cv": 2}).fit(X, y)
    before = dict(vars(ranker))
    add, rounds = Booster.add, []

    def interrupted(self):
        rounds.append(1)
        if len(rounds) == 4:
            raise KeyboardInterrupt
        return add(self)

    monkeypatch.setattr(Booster, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, ~y)
    assert len(rounds) >= 4 and vars(ranker) == before


def test_an_interrupted_smooth_fit_leaves_the_earlier_one(monkeypatch):
    X, y = exclusive_or(n_rows=100)
    ranker = SmoothTreeBoost(**SMALL).fit(X, y)
    before = dict(vars(ranker))

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(tree_fit, "fit_smooth", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(X, ~y)
    assert vars(ranker) == before


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, r"'n_estimators'.*Got 0"),
        ({"loss": "hinge"}, r"'loss'.*'logistic'.*Got 'hinge'"),
        ({"learning_rate": 0.0}, r"'learning_rate'.*Got 0.0"),
        ({"learning_rate": 1.5}, r"'learning_rate'.*Got 1.5"),
        ({"max_depth": 13}, r"'max_depth'.*\[1, 12\].*Got 13"),
        ({"subsample": 0.0}, r"'subsample'.*Got 0.0"),
        ({"max_features": 0}, r"'max_features'.*Got 0"),
        ({"max_features": 9}, "max_features is 9, but X has 3 features"),
        ({"l2_regularization": -1}, r"'l2_regularization'.*Got -1"),
        ({"n_iter_no_change": 0}, r"'n_iter_no_change'.*Got 0"),
        ({"cv": 1}, r"'cv'.*Got 1"),
        ({"init": "rough"}, r"'init'.*'smooth'.*Got 'rough'"),
        ({"init": 3}, r"'init'.*Got 3"),
        ({"init": RankBoost()}, "init is RankBoost without an additive model"),
        ({"fpr_range": (0.3, 0.1)}, r"fpr_range is \(0.3, 0.1\); give .* low < high"),
        ({"fpr_range": (0, 1e-3)}, r"fpr_range is \(0, 0.001\), which holds .* negatives"),
        ({"monotonic_cst": [1]}, "monotonic_cst has 1 entries for 3 features"),
        ({"monotonic_cst": {"x9": 1}}, "monotonic_cst names 'x9'"),
        ({"interaction_cst": "triples"}, r"'interaction_cst'.*'pairwise'.*Got 'triples'"),
        ({"interaction_cst": [("x0", "x9")]}, "interaction_cst names 'x9', which is not a column"),
        ({"interaction_cst": [(0, 3)]}, "interaction_cst names 3, which is not a column"),
        ({"interaction_cst": [(0, -1)]}, "interaction_cst names -1, which is not a column"),
        ({"interaction_cst": [(0, 1.5)]}, "interaction_cst names 1.5, which is not a column"),
        ({"interaction_cst": [(0, [1])]}, r"interaction_cst names \[1\], which is not a column"),
        ({"interaction_cst": ["x0"]}, "interaction_cst has the group 'x0'; give groups"),
        ({"interaction_cst": [0]}, "interaction_cst has the group 0; give groups"),
    ],
    ids=str,
)
def test_errors_name_the_parameter(parameters, message):
    X, y = exclusive_or(n_rows=60)
    with pytest.raises(ValueError, match=message):
        SmoothTreeBoost(**{"n_estimators": 2, **parameters}).fit(X, y)


def test_an_init_of_other_labels_or_columns_is_refused():
    X, y = exclusive_or(n_rows=100)
    words = np.where(y, "yes", "no")
    other = SmoothAUCBoost().fit(X, words)
    with pytest.raises(ValueError, match="init ranks 'yes' above 'no'"):
        SmoothTreeBoost(init=other, **SMALL).fit(X, y)
    flipped = SmoothAUCBoost(pos_label=False).fit(X, y)
    with pytest.raises(ValueError, match="init ranks False above True"):
        SmoothTreeBoost(init=flipped, **SMALL).fit(X, y)
    with pytest.raises(ValueError, match="init has 'no column' where X has 'x2'"):
        SmoothTreeBoost(init=SmoothAUCBoost().fit(X[:, :2], y), **SMALL).fit(X, y)
