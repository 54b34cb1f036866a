"""Boosted trees on pairs: slopes, trees, and whole fits against slow versions and invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners.blurred import partial_by_quadrature
from learners.small_tables import in_table_order, make_table

from auctor.data import Workers, prepare
from auctor.kernels.boost_slopes import HALF
from auctor.learners.common import blocks
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.search import find_amounts
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.tree_boost import grower, row_blocks, tiles
from auctor.learners.tree_boost.fit import fit_tree_boost
from auctor.learners.tree_boost.mixture import (
    WEIGHTS,
    Choice,
    find_mixture,
    score_codes,
    spread,
)
from auctor.learners.tree_boost.pair_slopes import PairSlopes
from auctor.learners.tree_boost.rounds import Booster
from auctor.learners.tree_boost.settings import TreeBoostSettings
from auctor.metrics import auc
from auctor.models import on_grid
from auctor.testing import contracts
from tests.reference import tree_boost as slow

ALL_ROWS = {"subsample": 1.0, "max_features": None}


def make_settings(n_estimators=5, learning_rate=0.2, **others):
    return TreeBoostSettings(n_estimators, learning_rate, **{"max_depth": 3, **ALL_ROWS, **others})


def fit(data, **options):
    return fit_tree_boost(data, make_settings(**options))[0]


# Slopes


def row_slopes(data, scores, loss, fpr_range=None):
    """Slope and curvature of the rows in the order of the table."""
    pairs = PairSlopes(data, Workers(1), loss, fpr_range)
    result = pairs.rows([scores[part.rows] for part in data.partitions])
    slope, curvature = np.empty((2, len(scores)))
    for part, own in zip(data.partitions, result, strict=True):
        slope[part.rows], curvature[part.rows] = own.T
    return slope, curvature


def scored_rows(seed, n_rows=40, width=2.0):
    """Data with whole weights, scores of a given spread, labels and weights."""
    rng = np.random.default_rng(seed)
    y, weight = rng.random(n_rows) < 0.4, rng.integers(1, 5, size=n_rows)
    y[:2], weight[0] = (False, True), 1
    scores = width * (rng.normal(size=n_rows) + y)
    data = prepare(np.arange(n_rows)[:, None], y, sample_weight=weight)
    return data, scores, y, weight.astype(float)


@pytest.mark.parametrize("loss", ["logistic", "auc"])
@pytest.mark.parametrize("width", [0.0, 0.3, 3.0, 30.0])
@pytest.mark.parametrize("n_partitions", [1, 3])
def test_slopes_are_those_of_all_pairs(loss, width, n_partitions):
    data, scores, y, weight = scored_rows(0, width=width)
    result = row_slopes(data.split(n_partitions), scores, loss)
    for own, expected in zip(result, slow.pair_slopes(scores, y, weight, loss), strict=True):
        assert own == pytest.approx(expected, rel=1e-5, abs=1e-6)
        assert (own >= 0).all()


@pytest.mark.parametrize("loss", ["logistic", "auc"])
def test_slopes_are_the_derivatives_of_the_loss(loss):
    data, scores, y, weight = scored_rows(1, n_rows=25, width=1.0)
    slope, curvature = row_slopes(data, scores, loss)
    fraction = weight / np.where(y, weight[y].sum(), weight[~y].sum())
    step = 1e-3
    for i in range(len(y)):
        moved = [scores + step * k * (np.arange(len(y)) == i) for k in (-1, 0, 1)]
        down, here, up = (slow.pair_loss(s, y, weight, loss) for s in moved)
        sign = 1 if y[i] else -1
        assert sign * slope[i] * fraction[i] == pytest.approx((up - down) / (2 * step), abs=1e-6)
        if loss == "logistic":  # Phi is not concave; its slope takes the place of the curvature
            second = (up - 2 * here + down) / step**2
            assert curvature[i] * fraction[i] == pytest.approx(-second, abs=1e-5)
        else:
            assert curvature[i] == slope[i]


@pytest.mark.parametrize("fpr_range", [(0.0, 0.3), (0.2, 0.7)])
def test_slopes_of_the_partial_auc_are_its_derivatives(fpr_range):
    data, scores, y, weight = scored_rows(2, n_rows=14, width=1.0)
    slope, curvature = row_slopes(data, scores, "auc", fpr_range)
    fraction = weight / np.where(y, weight[y].sum(), weight[~y].sum())
    step = 1e-4
    for i in range(len(y)):
        up, down = (
            partial_by_quadrature(scores + k * (np.arange(len(y)) == i), y, fpr_range, weight)
            for k in (step, -step)
        )
        sign = 1 if y[i] else -1
        assert sign * slope[i] * fraction[i] == pytest.approx((up - down) / (2 * step), abs=1e-5)
    assert np.array_equal(slope, curvature)


def test_slopes_of_scores_that_are_far_apart():
    """A long grid, and differences beyond the reach of the curves."""
    data, scores, y, weight = scored_rows(3)
    scores = scores * 200
    for loss in ("logistic", "auc"):
        expected = slow.pair_slopes(scores, y, weight, loss)
        for own, wanted in zip(row_slopes(data, scores, loss), expected, strict=True):
            assert own == pytest.approx(wanted, abs=1e-6)


# Packed sums


def unpacked(booster, data):
    """Sums of slopes and of curvatures by class as they were packed in the last round."""
    out = np.zeros((2, 2), dtype=object)
    for part, packed in zip(data.partitions, booster._packed, strict=True):
        for label, rows in zip((1, 0), part.class_slices, strict=True):
            out[label, 0] += int((packed[rows] >> HALF).sum())
            out[label, 1] += int((packed[rows] & (2**HALF - 1)).sum())
    return out


@pytest.mark.parametrize("kind", ["equal", "huge weights", "one huge weight"])
def test_packed_sums_stay_within_their_bits(kind):
    n_rows = 2**20 if kind == "equal" else 4000
    weight = {
        "equal": None,
        "huge weights": 2.0**24 - np.random.default_rng(0).random(n_rows),
        "one huge weight": np.append(np.ones(n_rows - 1), 2.0**24),
    }[kind]
    X, y = (np.arange(n_rows) % 3)[:, None], np.arange(n_rows) % 2 == 1
    data = prepare(X, y, sample_weight=weight)
    booster = Booster(data, make_settings(max_depth=1), Workers(1))
    for _ in range(3):
        assert booster.add() is not None
        sums = unpacked(booster, data)
        assert (sums[:, 0] < 2**31).all() and (sums[:, 1] < 2**32).all()
        assert (sums[:, 0] > 2**28).all() and (sums[:, 1] > 2**29).all()


def test_rows_with_large_weights_keep_their_slopes():
    """Weights of 24 bits, whose sum is larger than a packed sum: trees must be as good as ever."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=1500) > 0
    plain = prepare(X, y)
    weighted = prepare(X, y, sample_weight=1 + 1e-4 * rng.random(1500))
    assert weighted.class_weights[0] > 2**30
    options = {"n_estimators": 60, "max_depth": 4}
    first, second = (fit_tree_boost(data, make_settings(**options)) for data in (plain, weighted))
    assert min(second[1].gains) > 0
    assert sum(second[1].gains) == pytest.approx(sum(first[1].gains), rel=0.03)
    assert second[2].values["auc"] == pytest.approx(first[2].values["auc"], abs=3e-3)


# Trees


def slow_rows(booster, data):
    """The rows of a round in the order of the table, in class-balanced rows."""
    codes, is_category = in_table_order(data)
    y, packed = np.zeros(data.n_rows, dtype=bool), np.zeros(data.n_rows, dtype=np.int64)
    for part, own in zip(data.partitions, booster._packed, strict=True):
        y[part.rows], packed[part.rows] = part.positive, own
    slope, curvature = (packed >> HALF).astype(float), (packed & (2**HALF - 1)).astype(float)
    rows = np.array(data.effective_rows)
    for label in (0, 1):
        own, unit = y == label, rows.mean() / rows[label] * data.row_units[label]
        # The scales of packed numbers are powers of two: undo them by the size of the sums.
        slope[own] *= unit * booster_scale(slope[own], booster.slopes[0][own], booster.weight[own])
        curvature[own] *= unit * booster_scale(
            curvature[own], booster.slopes[1][own], booster.weight[own]
        )
    sign = np.where(y, 1.0, -1.0)
    return slow.Rows(codes, sign * slope, curvature), is_category


def booster_scale(packed, value, weight):
    """The power of two by which packed numbers exceed weight times value."""
    return 2.0 ** np.rint(np.log2((weight * value).sum() / packed.sum()))


def first_trees(data, n_trees, **options):
    """(tree, slow tree, codes) of some rounds, the slow one grown on the same slopes."""
    chosen = make_settings(**options)
    booster = Booster(data, chosen, Workers(1))
    weight = np.empty(data.n_rows)
    for part in data.partitions:
        weight[part.rows] = part.weight
    n_rows = np.array(data.effective_rows)
    rule = slow.Rule()  # its penalties are those of rows with both classes as often as in the table
    unit = (n_rows.mean() / n_rows).mean()
    l2 = unit * chosen.l2_regularization
    rule = slow.Rule(l2, 3 * l2, unit * rule.category_smooth, unit * rule.min_curvature)
    signs = np.array(chosen.signs or [0] * data.n_features)
    for _ in range(n_trees):
        before = np.empty(data.n_rows)
        for part, own in zip(data.partitions, booster.scores.values, strict=True):
            before[part.rows] = own
        booster.slopes, booster.weight = row_slopes(data, before, chosen.loss), weight
        tree, _ = booster.add()
        rows, is_category = slow_rows(booster, data)
        wanted = slow.grow(rows, is_category, signs, rule, chosen.max_depth)
        after = np.empty(data.n_rows)
        for part, own in zip(data.partitions, booster.scores.values, strict=True):
            after[part.rows] = own
        yield tree, wanted, rows.codes, after - before


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("loss", ["logistic", "auc"])
@pytest.mark.parametrize("n_partitions", [1, 3])
def test_trees_are_those_of_a_search_of_all_splits(seed, loss, n_partitions):
    X, y, weight = make_table(seed, n=70, weighted=seed % 2 == 1)
    data = prepare(X, y, sample_weight=weight, categorical_features=[3], max_bins=12)
    options = {"signs": (1, -1, 0, 0)} if seed >= 3 else {}
    rounds = first_trees(data.split(n_partitions), 3, loss=loss, learning_rate=0.5, **options)
    for tree, wanted, codes, added in rounds:
        assert tree.n_leaves > 2
        expected = slow.leaf_values(wanted, codes)
        assert added == pytest.approx(0.5 * expected, abs=1e-7)
        assert tree.gain[0] == pytest.approx(wanted.split.gain, rel=1e-6)
        assert tree.nodes.feature[0] == wanted.split.feature


def trees_of(data, workers=1, **options):
    """The arrays of some trees."""
    booster = Booster(data, make_settings(**options), Workers(workers))
    trees = [booster.add()[0] for _ in range(4)]
    return [[*tree.nodes, tree.value, tree.gain] for tree in trees]


def assert_same_trees(trees, others):
    for tree, other in zip(trees, others, strict=True):
        for mine, theirs in zip(tree, other, strict=True):
            assert np.array_equal(mine, theirs)


DRAWS = {"subsample": 0.6, "max_features": 0.5, "max_depth": 4}


@pytest.fixture
def small_blocks(monkeypatch):
    """Threads are used on small tables too."""
    monkeypatch.setattr(blocks, "CELLS_PER_WORKER", 10)
    monkeypatch.setattr(row_blocks, "CELLS_PER_WORKER", 10)


@pytest.mark.parametrize("options", [{"max_depth": 4}, DRAWS], ids=["all rows", "draws"])
def test_every_way_to_grow_gives_the_same_trees(options, monkeypatch, small_blocks):
    X, y = contracts.messy_table(3, n_rows=300)
    data = prepare(X, y, categorical_features=[4])
    calls = []
    alone = grower.grow_alone
    monkeypatch.setattr(grower, "grow_alone", lambda *args: calls.append(alone(*args)))
    usual = trees_of(data, **options)
    assert len(calls) == 4
    assert sum(len(tree[0]) for tree in usual) > 30
    for n_partitions, workers in ((3, 1), (1, 2), (1, 3), (2, 3)):
        assert_same_trees(trees_of(data.split(n_partitions), workers, **options), usual)
    monkeypatch.setattr(grower, "_TILE", 2)
    monkeypatch.setattr(grower, "_SINGLE_TILE_CELLS", 0)
    assert_same_trees(trees_of(data, **options), usual)
    monkeypatch.setattr(grower, "_HISTOGRAM_BYTES", 1000)
    assert_same_trees(trees_of(data, **options), usual)
    monkeypatch.setattr(tiles, "_PART_BYTES", 20_000)  # some nodes of a level at a time
    assert_same_trees(trees_of(data, **options), usual)
    assert_same_trees(trees_of(data.split(2), 2, **options), usual)
    assert len(calls) == 4


def test_a_small_table_without_kept_histograms(monkeypatch):
    X, y = contracts.messy_table(3, n_rows=100)
    data = prepare(X, y, categorical_features=[4])
    usual = trees_of(data)
    monkeypatch.setattr(grower, "_HISTOGRAM_BYTES", 1000)
    assert_same_trees(trees_of(data), usual)


def paths(tree):
    """The sets of features that are tested on the path to each leaf."""
    todo = [(0, frozenset())]
    while todo:
        node, above = todo.pop()
        if tree.nodes.feature[node] < 0:
            yield above
            continue
        below = above | {int(tree.nodes.feature[node])}
        todo += [(tree.nodes.left[node], below), (tree.nodes.right[node], below)]


GROUPS = st.lists(st.sets(st.integers(0, 4), min_size=1), min_size=1, max_size=3)


@settings(max_examples=20)
@given(groups=GROUPS, seed=st.integers(0, 1000), max_features=st.sampled_from([None, 2]))
def test_no_path_leaves_its_groups(groups, seed, max_features):
    X, y = contracts.messy_table(seed, n_rows=150)
    data = prepare(X, y, categorical_features=[4])
    chosen = tuple(tuple(sorted(group)) for group in groups)
    options = {"groups": chosen, "max_depth": 4, "max_features": max_features}
    booster = Booster(data, make_settings(**options), Workers(1))
    tested = [path for _ in range(3) for path in paths(booster.add()[0])]
    assert all(any(path <= group for group in groups) for path in tested if path)


def test_a_feature_of_two_groups_does_not_join_them():
    X = np.random.default_rng(0).normal(size=(300, 3))
    data = prepare(X, X.sum(axis=1) > 0)
    found = {}
    for groups in ((), ((0, 1), (1, 2))):
        booster = Booster(data, make_settings(groups=groups, max_depth=4), Workers(1))
        found[groups] = {path for _ in range(5) for path in paths(booster.add()[0])}
    free, bound = found.values()
    assert {0, 1, 2} in free
    assert {0, 1} in bound and {1, 2} in bound and max(len(path) for path in bound) == 2


def test_without_groups_paths_mix_features():
    X, y = contracts.messy_table(0, n_rows=150)
    booster = Booster(prepare(X, y), make_settings(max_depth=4), Workers(1))
    assert max(len(path) for path in paths(booster.add()[0])) >= 3


# Whole fits


def test_same_model_for_threads_partitions_and_row_order(small_blocks):
    X, y = contracts.messy_table(1, n_rows=200)
    data, smooth = prepare(X, y), SmoothSettings(max_iter=5)
    options = {"n_estimators": 4, "max_depth": 4}
    usual = fit_tree_boost(data, make_settings(**options), smooth=smooth)[0]
    for n_jobs, n_partitions in ((2, 1), (3, 3), (1, 3)):
        chosen = make_settings(n_jobs=n_jobs, **options)
        other = fit_tree_boost(data.split(n_partitions), chosen, smooth=smooth)[0]
        assert contracts.same_model(other, usual)
    order = np.random.default_rng(0).permutation(200)
    turned = fit_tree_boost(prepare(X[order], y[order]), make_settings(**options), smooth=smooth)[0]
    assert contracts.same_model(turned, usual)


def folds_of(n_rows, n_folds=3):
    fold = np.arange(n_rows) % n_folds
    return [(fold != k, fold == k) for k in range(n_folds)]


def test_the_mixture_does_not_depend_on_threads(small_blocks):
    X, y = contracts.messy_table(2, n_rows=120)
    fitted = []
    for n_jobs, n_partitions in ((1, 1), (2, 3)):
        chosen = make_settings(n_estimators=25, subsample=0.7, n_jobs=n_jobs)
        options = {"folds": folds_of(120), "smooth": SmoothSettings(max_iter=5)}
        fitted.append(fit_tree_boost(prepare(X, y).split(n_partitions), chosen, **options))
    assert contracts.same_model(fitted[0][0], fitted[1][0])
    assert np.array_equal(fitted[0][1].mixture.aucs, fitted[1][1].mixture.aucs)


def test_the_mixture_by_hand():
    """The AUC of held-out rows by number of trees and weight, from fits of each fold."""
    X, y = contracts.messy_table(4, n_rows=90)
    data, chosen = prepare(X, y), make_settings(n_estimators=12)
    smooth, folds = SmoothSettings(max_iter=5), folds_of(90)
    beside = [
        score_codes(fit_smooth(data.take(train), smooth)[0], data.take(test))
        for train, test in folds
    ]
    mixture = find_mixture(data, chosen, folds, beside, Workers(1))
    assert mixture.checks[:2] == [0, 10] and mixture.aucs.shape == (len(mixture.checks), 9, 3)
    for k, (train, test) in enumerate(folds):
        own = data.take(train)
        trees, curves = (
            fit_tree_boost(own, make_settings(n_estimators=10))[0].decision_function(X[test]),
            fit_smooth(own, smooth)[0].decision_function(X[test]),
        )
        assert mixture.aucs[0, 0, k] == pytest.approx(auc(y[test], curves))
        assert mixture.aucs[1, 8, k] == pytest.approx(auc(y[test], trees))
        sizes = [spread(data.take(test), [each]) for each in (trees, curves)]
        half = 0.5 * trees / sizes[0] + 0.5 * curves / sizes[1]
        assert mixture.aucs[1, 4, k] == pytest.approx(auc(y[test], half), abs=2e-3)


def test_the_smooth_model_has_the_penalties_and_surfaces_of_the_search():
    X, y = exclusive_or(400)
    data, folds, smooth = prepare(X, y), folds_of(400), SmoothSettings(max_iter=20)
    search = find_amounts(data, smooth, folds, surfaces=3)
    assert search.chosen.interactions == 3
    for own, (_, test), area in zip(search.scores, folds, search.chosen.aucs, strict=True):
        rows = data.take(test).partitions[0].rows
        assert auc(y[rows], own[0]) == pytest.approx(area)
    _, history, _ = fit_tree_boost(data, make_settings(), folds=folds, smooth=smooth, n_pairs=3)
    assert history.mixture.aucs[0, 0].tolist() == pytest.approx(list(search.chosen.aucs))
    _, history, _ = fit_tree_boost(data, make_settings(), folds=folds, smooth=smooth)
    assert history.mixture.smooth_auc < search.chosen.mean


def exclusive_or(n_rows):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    return X, (X[:, 0] > 0) != (X[:, 1] > 0)


def test_scores_of_codes_are_those_of_the_model():
    X, y = exclusive_or(80)
    data = prepare(X, y)
    model, _, _ = fit_smooth(data, SmoothSettings(interactions=1, max_iter=20))
    assert model.surfaces
    scores, part = score_codes(model, data)[0], data.partitions[0]
    assert scores == pytest.approx(model.decision_function(X[part.rows]), abs=1e-9)


def made_aucs(gain):
    """AUCs (check, weight, fold) with the largest at 20 trees of weight 1, by ``gain``."""
    out = np.full((6, len(WEIGHTS), 3), 0.8)
    out[1:4, -1] += [[0.5 * gain], [gain], [0.5 * gain]]
    return out


@pytest.mark.parametrize(("n_rows", "expected"), [(50, (5, 0.375)), (50_000, (2, 1.0))])
def test_few_rows_are_no_reason_to_leave_the_usual_choice(n_rows, expected):
    choice = Choice(n_rows, 200, has_smooth=True)
    assert choice.find([0, 10, 20, 40, 80, 200], made_aucs(0.01)) == expected


def test_one_lucky_number_of_trees_is_not_chosen():
    aucs = np.full((6, len(WEIGHTS), 3), 0.8)
    aucs[2, 3] += 0.003
    aucs[4:, 3] += 0.002
    checks = [0, 10, 20, 40, 80, 200]
    assert Choice(1e9, 200, has_smooth=True).find(checks, aucs) == (5, 0.375)
    aucs[3, 3] += 0.003
    assert Choice(1e9, 200, has_smooth=True).find(checks, aucs)[0] == 3


def test_trees_that_improve_go_on_though_no_mixture_gains_yet():
    checks = [0, 10, 20, 40, 80]
    smooth, trees = 0.80, np.array([0.50, 0.60, 0.66, 0.70, 0.73])
    aucs = np.outer(trees - smooth, WEIGHTS)[:, :, None] + smooth  # the smooth model alone leads
    choice = Choice(1e9, 200, has_smooth=True)
    assert choice.find(checks, aucs) == (0, 0.0)
    assert choice.gains(checks, aucs, 60)
    few = Choice(20, 200, has_smooth=True)  # the same gain may be chance
    assert few.find(checks, aucs)[0] == 0
    assert not few.gains(checks, aucs, 60)
    aucs[3:, -1] = 0.55  # the trees have become worse, too
    assert not choice.gains(checks, aucs, 60)
    assert choice.gains(checks, aucs, 81)  # too early to say


def test_the_spread_of_normal_scores_is_their_standard_deviation():
    rng = np.random.default_rng(0)
    scores, y = 3.0 * rng.normal(size=4000) + 7, np.arange(4000) % 2
    data = prepare(np.zeros((4000, 1)), y)
    rows = data.partitions[0].rows
    assert spread(data, [scores[rows]]) == pytest.approx(3.0, rel=0.05)
    assert spread(data, [np.zeros(4000)]) == 1.0
    rare = np.append(np.zeros(3999), 5.0)
    assert spread(data, [rare]) == 5.0


def test_the_spread_counts_a_row_of_weight_two_as_two():
    rng = np.random.default_rng(1)
    scores, y, weight = rng.normal(size=50), np.arange(50) % 2, rng.integers(1, 4, size=50)
    rows = np.repeat(np.arange(50), weight)
    by_weight = prepare(np.zeros((50, 1)), y, sample_weight=weight)
    by_copies = prepare(np.zeros((len(rows), 1)), y[rows])
    first = spread(by_weight, [scores[by_weight.partitions[0].rows]])
    assert first == spread(by_copies, [scores[rows][by_copies.partitions[0].rows]])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smooth", [None, SmoothSettings(max_iter=10)], ids=["trees", "mixed"])
def test_the_certificate_is_true_of_the_training_pairs(weighted, smooth):
    X, y, weight = make_table(5, n=90, weighted=weighted)
    data = prepare(X, y, sample_weight=weight)
    model, _, certificate = fit_tree_boost(data, make_settings(), smooth=smooth)
    values, scores = certificate.values, model.decision_function(X)
    assert values["auc"] == pytest.approx(auc(y, scores, sample_weight=weight), abs=1e-12)
    smoothed = slow.pair_loss(scores, y, weight, "auc")
    assert values["smoothed_auc"] == pytest.approx(smoothed, abs=1e-7)
    assert values["least_auc"] == pytest.approx(max(0.0, 2 * smoothed - 1), abs=1e-6)
    assert values["auc"] >= values["least_auc"]
    assert values["n_trees"] == 5 and f"{values['auc']:.4g}" in certificate.statement


@pytest.mark.parametrize("loss", ["logistic", "auc"])
def test_every_tree_raises_the_loss_on_the_training_pairs(loss):
    X, y, weight = make_table(6, n=80, weighted=True)
    data = prepare(X, y, sample_weight=weight)
    values = [
        slow.pair_loss(fit(data, n_estimators=n, loss=loss).decision_function(X), y, weight, loss)
        for n in (1, 2, 4, 8, 16)
    ]
    assert values == sorted(values) and values[-1] > values[0] + 0.02


def test_gains_are_what_a_full_step_gains():
    """For a small step the loss grows by G times the step, and the quadratic model is exact."""
    X, y, _ = make_table(7, n=100)
    data, rate = prepare(X, y), 1e-3
    model, history, _ = fit_tree_boost(data, make_settings(n_estimators=1, learning_rate=rate))
    before = slow.pair_loss(np.zeros(100), y, np.ones(100), "logistic")
    after = slow.pair_loss(model.decision_function(X), y, np.ones(100), "logistic")
    # A step of rate r on a parabola gains 2 r - r^2 of what the full step gains.
    least = history.gains[0] * (2 * rate - rate**2)
    # The gain of the root, a shift of all scores, is not counted; l2 only makes steps smaller.
    assert least * 0.9 <= after - before <= least * 1.5


def test_values_are_multiples_of_the_grid():
    X, y, _ = make_table(8, n=60)
    (tree, *_), *_ = first_trees(prepare(X, y), 1, learning_rate=0.3)
    assert np.array_equal(on_grid(tree.value), tree.value)


def test_no_trees_are_left_where_every_pair_is_far_in_order():
    X = np.arange(40.0)[:, None]
    offset = np.where(np.arange(40) >= 20, 60.0, 0.0)
    model, history, _ = fit_tree_boost(
        prepare(X, X[:, 0] >= 20), make_settings(n_estimators=5), offset=offset
    )
    assert history.stopped_by == "nothing left" and history.gains == []
    assert np.isfinite(model.decision_function(X)).all()


def test_few_negatives_without_a_positive_say_little():
    """Of 20 positives among 1,000 rows, none is expected in a leaf of 10 rows."""
    rng = np.random.default_rng(0)
    y = np.arange(1000) < 20
    group = np.where(y, 0, rng.permutation(1000) % 98 < 1).astype(float)
    data = prepare(group[:, None], y)
    tree, _ = Booster(data, make_settings(max_depth=1, learning_rate=1.0), Workers(1)).add()
    values = tree.value[tree.nodes.feature < 0]
    # Their own rows alone would give slope / curvature = -2.
    assert -0.5 < values.min() < 0.0
