"""TreeRank against every cut in exact fractions, and what it promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.data import Workers, prepare
from auctor.learners.trees.grower import Rules
from auctor.learners.trees.growth import grow
from auctor.learners.trees.pruning import (
    collapse_levels,
    held_counts,
    held_out_aucs,
    held_out_rate_aucs,
)
from auctor.learners.trees.tree_to_model import build_tree, leaf_probabilities, youden_cut
from auctor.learners.trees.treerank import TreeRankSettings, fit_treerank
from auctor.metrics import auc, roc_curve
from auctor.testing.contracts import messy_table, same_model
from tests.reference.treerank import SlowTable, treerank_cells


def small_problem(seed, categories=True):
    """Coarse columns with ties and missing values, weights, and a category of up to five."""
    rng = np.random.default_rng(seed)
    n_rows = int(rng.integers(6, 40))
    X = rng.integers(0, rng.integers(2, 6), size=(n_rows, 3)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.random(n_rows) < np.where(np.nan_to_num(X[:, 0]) > 1, 0.7, 0.4)
    y[:2] = False, True
    weight = rng.integers(1, 4, size=n_rows)
    categorical = [2] if categories else []
    data = prepare(
        X, y, sample_weight=weight, categorical_features=categorical, frequency_weights=True
    )
    part = data.partitions[0]
    codes = np.empty((n_rows, 3), dtype=np.int64)
    codes[part.rows] = part.codes.T
    is_category = np.array([feature.is_category for feature in data.features])
    return data, X, y, weight, SlowTable(codes, y, weight, is_category)


def cells_of(model, X):
    """Rows of each cell, best first."""
    scores = model.decision_function(X)
    return [np.flatnonzero(scores == s).tolist() for s in np.unique(scores)[::-1]]


@given(depth=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_every_split_is_the_best_of_all_cuts(depth, seed):
    data, X, _, _, table = small_problem(seed)
    # three threads: a tile for each feature, so that ties between tiles are broken, too
    model, *_ = fit_treerank(data, TreeRankSettings(max_depth=depth, min_samples_leaf=1, n_jobs=3))
    slow = treerank_cells(table, np.arange(len(X)), depth, least=1)
    assert cells_of(model, X) == [rows.tolist() for rows in slow]


@given(seed=st.integers(0, 10**6), least=st.integers(2, 8))
def test_cells_hold_the_least_weight_and_are_the_best_that_do(seed, least):
    data, X, _, weight, table = small_problem(seed, categories=False)
    model, *_ = fit_treerank(data, TreeRankSettings(max_depth=3, min_samples_leaf=least))
    slow = treerank_cells(table, np.arange(len(X)), 3, least)
    assert cells_of(model, X) == [rows.tolist() for rows in slow]
    assert len(slow) == 1 or all(weight[rows].sum() >= least for rows in slow)


@given(leaf_depth=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_every_union_is_that_of_the_slow_version(leaf_depth, seed):
    data, X, _, _, table = small_problem(seed)
    chosen = TreeRankSettings(max_depth=2, min_samples_leaf=1, split="tree", leaf_depth=leaf_depth)
    model, *_ = fit_treerank(data, chosen)
    slow = treerank_cells(table, np.arange(len(X)), 2, 1, leaf_depth)
    assert cells_of(model, X) == [rows.tolist() for rows in slow]


@pytest.mark.parametrize("split", ["stump", "tree"])
@pytest.mark.parametrize("seed", range(5))
def test_auc_never_falls_as_depth_grows(split, seed):
    X, y = messy_table(seed, n_rows=400)
    data = prepare(X, y, categorical_features=[4])
    aucs = [
        fit_treerank(data, TreeRankSettings(max_depth=d, split=split))[2].values["auc"]
        for d in range(1, 9)
    ]
    assert (np.diff(aucs) >= 0).all()
    assert aucs[-1] > aucs[0]


@pytest.mark.parametrize("split", ["stump", "tree"])
@pytest.mark.parametrize("seed", range(5))
def test_certificate_is_the_curve_of_the_scores(split, seed):
    X, y = messy_table(seed, n_rows=300)
    model, history, certificate = fit_treerank(
        prepare(X, y, categorical_features=[4]), TreeRankSettings(max_depth=5, split=split)
    )
    scores, values = model.decision_function(X), certificate.values
    assert values["auc"] == auc(y, scores)  # the same whole numbers, to the last bit
    knots = [(0.0, 0.0)]
    for s in np.unique(scores)[::-1]:
        knots.append((float((scores[~y] >= s).mean()), float((scores[y] >= s).mean())))
    assert np.allclose(values["knots"], knots, rtol=0, atol=1e-15)
    assert values["n_leaves"] == len(model.leaves) == len(knots) - 1
    slopes = np.diff(knots, axis=0)
    turns = slopes[:-1, 1] * slopes[1:, 0] - slopes[1:, 1] * slopes[:-1, 0]
    assert values["is_concave"] == bool((turns >= -1e-12).all())
    assert 0.5 + sum(s.gain for s in history.splits) == pytest.approx(values["auc"], abs=1e-12)
    # Youden's point is score 0
    curve = roc_curve(y, scores)
    assert (scores[y] > 0).mean() - (scores[~y] > 0).mean() == pytest.approx(
        float((curve.tpr - curve.fpr).max())
    )


def test_history_adds_up():
    X, y = messy_table(1, n_rows=300)
    weight = np.random.default_rng(0).integers(1, 5, size=300) / 4
    arguments = {"categorical_features": [4], "frequency_weights": True}
    data = prepare(X, y, sample_weight=weight, **arguments)
    model, history, _ = fit_treerank(data, TreeRankSettings(max_depth=4, split="tree"))
    first = history.splits[0]
    assert (first.node, first.depth) == (0, 0)
    for label, total in ((0, weight[~y].sum()), (1, weight[y].sum())):
        assert first.upper[label] + first.lower[label] == total
    for split in history.splits:
        assert sum(gain for _, gain in split.gains) == pytest.approx(split.gain)
        neg, pos = model.neg[split.node], model.pos[split.node]
        assert np.add(split.upper, split.lower) == pytest.approx([neg, pos])


def test_scores_are_those_of_the_paper_for_a_full_tree():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 2))
    y = rng.random(2000) < 1 / (1 + np.exp(-3 * X.sum(axis=1)))
    model, *_ = fit_treerank(prepare(X, y), TreeRankSettings(max_depth=3, min_samples_leaf=1))
    assert model.value[model.leaves].tolist() == [8, 7, 6, 5, 4, 3, 2, 1]


def test_a_leaf_higher_up_takes_the_first_place_below_it():
    # the upper half is pure, the lower one is split once more
    X = np.array([[2.0]] * 4 + [[1.0]] * 4 + [[0.0]] * 4)
    y = [1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    model, *_ = fit_treerank(prepare(X, y), TreeRankSettings(max_depth=2, min_samples_leaf=1))
    values = model.value[model.leaves].tolist()
    assert values in ([4, 2, 1], [4, 3, 2])


@pytest.mark.parametrize(
    "settings_", [TreeRankSettings(max_depth=6), TreeRankSettings(max_depth=4, split="tree")]
)
def test_histograms_that_do_not_fit_give_the_same_tree(settings_, monkeypatch):
    X, y = messy_table(6, n_rows=500)
    data = prepare(X, y, categorical_features=[4])
    kept, *_ = fit_treerank(data, settings_)
    for n_bytes in (2**16, 2**10):  # some levels, none
        monkeypatch.setattr("auctor.learners.trees.split_search.HISTOGRAM_BYTES", n_bytes)
        assert same_model(fit_treerank(data, settings_)[0], kept)
    monkeypatch.setattr("auctor.learners.trees.split_search.TILE", 2)
    assert same_model(fit_treerank(data, settings_)[0], kept)


def test_large_weights_give_the_tree_of_small_ones():
    X, y = messy_table(7, n_rows=300)
    weight = np.random.default_rng(0).integers(1, 5, size=300)
    light, heavy = (
        fit_treerank(
            prepare(X, y, sample_weight=weight * times, frequency_weights=True),
            TreeRankSettings(min_samples_leaf=times),
        )[0]
        for times in (1, 2**24)
    )
    assert np.array_equal(light.decision_function(X), heavy.decision_function(X))


def test_small_weights_count_as_rows():
    X, y = messy_table(5, n_rows=200)
    usual, *_ = fit_treerank(prepare(X, y), TreeRankSettings())
    light, *_ = fit_treerank(prepare(X, y, sample_weight=np.full(200, 1 / 256)), TreeRankSettings())
    assert np.array_equal(light.decision_function(X), usual.decision_function(X))


def test_rows_of_weight_zero_and_features_that_are_not_allowed_are_passed_over():
    X, y = messy_table(2, n_rows=300)
    data = prepare(X, y, categorical_features=[4])
    chosen = np.random.default_rng(0).random(300) < 0.6
    part = data.partitions[0]
    weights = [part.weight * chosen[part.rows]]
    only = np.array([False, True, False, False, True])
    with Workers(1) as workers:
        by_weight = grow(data, Rules(4), workers, weights=weights)
        by_rows = grow(data.take(chosen), Rules(4), workers)
        narrow = grow(data, Rules(4), workers, allowed=lambda n: np.tile(only, (n, 1)))
    assert all(np.array_equal(a, b) for a, b in zip(by_weight.nodes, by_rows.nodes, strict=True))
    assert set(narrow.nodes.feature.tolist()) == {-1, 1, 4}


def test_a_larger_least_gain_gives_a_subtree():
    X, y = messy_table(4, n_rows=400)
    data = prepare(X, y)
    _, history, _ = fit_treerank(data, TreeRankSettings())
    gains = sorted(split.gain for split in history.splits)
    _, fewer, _ = fit_treerank(data, TreeRankSettings(min_gain=gains[len(gains) // 2]))
    assert 0 < len(fewer.splits) < len(history.splits)
    assert min(split.gain for split in fewer.splits) > gains[len(gains) // 2]


def test_a_table_of_constants_is_one_cell():
    model, history, certificate = fit_treerank(
        prepare(np.ones((40, 2)), np.arange(40) % 2), TreeRankSettings()
    )
    assert history.splits == []
    assert (certificate.values["auc"], certificate.values["n_leaves"]) == (0.5, 1)
    assert "all rows have the same score" in certificate.statement
    assert np.array_equal(model.decision_function(np.ones((3, 2))), np.full(3, -1.0))
    assert model.predict(np.ones((1, 2))).tolist() == [0]
    assert model.predict_proba(np.ones((1, 2)))[0] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_values_not_seen_go_with_the_heavier_side():
    X = np.array([[0.0]] * 3 + [[1.0]] * 7)
    model, *_ = fit_treerank(
        prepare(X, [1, 1, 1, 0, 0, 0, 0, 0, 0, 0]), TreeRankSettings(min_samples_leaf=1)
    )
    scores = model.decision_function(np.array([[np.nan], [1.0], [0.0]]))
    assert scores[0] == scores[1] < scores[2]


@given(counts=st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=1, max_size=20))
def test_probabilities_fall_strictly_and_stay_near_the_fractions(counts):
    counts = np.array([*counts, (1, 1)])
    p = leaf_probabilities(counts, 1.0)
    assert (np.diff(p) < 0).all()
    assert ((p > 0) & (p < 1)).all()
    fraction = (counts[:, 1] + 2 * counts[:, 1].sum() / counts.sum()) / (counts.sum(axis=1) + 2)
    if (np.diff(fraction) < -1e-9).all():  # in order already: nothing is pooled
        assert p == pytest.approx(fraction, abs=2e-6)


def test_youden_takes_the_highest_of_equal_cuts():
    counts = np.array([[0, 2], [1, 1], [1, 1], [2, 0]])
    assert youden_cut(counts, np.array([4, 3, 2, 1])) == 3.5


def slow_subtrees(tree):
    """Each penalty's best subtree by trying all of them: AUC - penalty * leaves."""
    gain = dict(zip(tree.splits.tolist(), tree.gains().tolist(), strict=True))

    def options(cell):  # every subtree at a cell: (gain, splits)
        if cell not in gain:
            return [(0.0, frozenset())]
        both = [
            (gain[cell] + a + b, left | right | {cell})
            for a, left in options(int(tree.upper[cell]))
            for b, right in options(int(tree.lower[cell]))
        ]
        return [(0.0, frozenset()), *both]

    return options(0)


@pytest.mark.parametrize("seed", range(8))
def test_weakest_links_are_the_best_subtrees(seed):
    X, y = messy_table(seed, n_rows=120)
    with Workers(1) as workers:
        tree = grow(prepare(X, y), Rules(max_depth=4, min_samples_leaf=2), workers)
    levels = collapse_levels(tree)
    subtrees = slow_subtrees(tree)
    for penalty in np.concatenate([[0.0], np.unique(levels) * 1.0001]):
        kept = frozenset(tree.splits[levels > penalty].tolist())
        best = max(gain - penalty * len(splits) for gain, splits in subtrees)
        mine = next(gain for gain, splits in subtrees if splits == kept) - penalty * len(kept)
        assert mine == pytest.approx(best, abs=1e-12)
        pruned = tree.pruned(levels > penalty)
        assert len(pruned.splits) == len(kept)
        assert pruned.gains().sum() == pytest.approx(sum(tree.gains()[levels > penalty]))


def test_auc_of_subtrees_on_other_rows_is_the_sum_of_their_gains():
    X, y = messy_table(3, n_rows=300)
    data = prepare(X, y)
    with Workers(1) as workers:
        tree = grow(data, Rules(max_depth=5), workers)
    levels, gains = collapse_levels(tree), tree.gains()
    penalties = np.array([0.0, float(np.median(levels)), np.inf])
    expected = [0.5 + gains[levels > penalty].sum() for penalty in penalties]
    assert held_out_aucs(levels, gains, penalties) == pytest.approx(expected)


@pytest.mark.parametrize("split", ["stump", "tree"])
def test_pruning_cuts_noise_away(split):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    y = rng.random(1500) < 1 / (1 + np.exp(-2 * X[:, 0]))
    data = prepare(X, y)
    whole, _, certificate = fit_treerank(data, TreeRankSettings(max_depth=8, split=split))
    pruned, history, _ = fit_treerank(
        data, TreeRankSettings(max_depth=8, split=split, pruning="cv")
    )
    assert 2 < len(pruned.leaves) < len(whole.leaves)
    fresh = rng.normal(size=(20_000, 6))
    label = rng.random(20_000) < 1 / (1 + np.exp(-2 * fresh[:, 0]))
    scores = [auc(label, model.decision_function(fresh)) for model in (whole, pruned)]
    # what is cut away hardly counts: a split of a small cell moves few pairs
    assert scores[1] > scores[0] - 0.005
    best = max(history.subtrees, key=lambda step: (step.auc, -step.n_leaves))
    assert best.n_leaves == len(pruned.leaves)
    assert history.subtrees[0].n_leaves == certificate.values["n_leaves"]
    assert (history.subtrees[-1].n_leaves, history.subtrees[-1].auc) == (1, 0.5)


def test_pruning_does_not_depend_on_partitions_and_threads():
    X, y = messy_table(9, n_rows=400)
    chosen = {"max_depth": 5, "pruning": "cv", "cv": 3}
    whole, *_ = fit_treerank(prepare(X, y), TreeRankSettings(**chosen))
    cut, *_ = fit_treerank(prepare(X, y).split(3), TreeRankSettings(**chosen, n_jobs=2))
    assert same_model(whole, cut)


def test_pruning_says_what_it_lacks():
    with pytest.raises(ValueError, match="cv is 5, but there are 2 positive and 4 negative rows"):
        fit_treerank(prepare(np.eye(6), [0, 0, 0, 0, 1, 1]), TreeRankSettings(pruning="cv"))


def test_unions_find_what_single_cuts_cannot():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 2))
    y = rng.random(4000) < np.where((X[:, 0] > 0) == (X[:, 1] > 0.2), 0.85, 0.15)
    data = prepare(X, y)
    one = [
        fit_treerank(data, TreeRankSettings(max_depth=1, split=split, min_samples_leaf=20))[
            2
        ].values["auc"]
        for split in ("stump", "tree")
    ]
    assert one[1] > one[0] + 0.2


def test_pure_noise_is_pruned_to_little():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 4))
    y = rng.random(600) < 0.5
    data = prepare(X, y)
    whole, *_ = fit_treerank(data, TreeRankSettings())
    pruned, *_ = fit_treerank(data, TreeRankSettings(pruning="cv"))
    assert len(whole.leaves) > 40
    assert len(pruned.leaves) < 10


def test_leaves_by_their_rate_have_the_best_auc_of_any_order():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(800, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=800) > 0  # the first split of a tree misleads here
    data = prepare(X, y)
    values = {}
    for order in ("tree", "rate"):
        model, _, certificate = fit_treerank(data, TreeRankSettings(max_depth=4, order=order))
        values[order] = certificate.values
        assert auc(y, model.decision_function(X)) == pytest.approx(certificate.values["auc"])
    assert values["rate"]["is_concave"]
    assert values["rate"]["auc"] > values["tree"]["auc"]
    assert values["rate"]["n_leaves"] == values["tree"]["n_leaves"]


@pytest.mark.parametrize("seed", range(4))
def test_held_out_auc_of_leaves_by_rate_is_that_of_their_scores(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] * X[:, 1] + rng.normal(size=300) / 2 > 0
    data = prepare(X, y)
    part = data.partitions[0]
    is_held = rng.random(300) < 0.4
    with Workers(1) as workers:
        grown = grow(data, Rules(5, 4.0, 0.0, None), workers, weights=[part.weight * ~is_held])
    levels, counts = collapse_levels(grown), held_counts(data, grown, [is_held])
    penalties = np.array([0.0, float(np.median(levels)), float(levels.max()) * 2])
    result = held_out_rate_aucs(grown, levels, counts, penalties)
    rows, label = part.rows[is_held], part.positive[is_held]
    for auc_found, penalty in zip(result, penalties, strict=True):
        model = build_tree(data, grown.pruned(levels > penalty), "rate")
        assert auc_found == pytest.approx(auc(label, model.decision_function(X[rows])), abs=1e-12)
    assert result[-1] == 0.5


def test_pruning_goes_by_the_order_that_is_used():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=200) > 0
    settings = [TreeRankSettings(6, pruning="cv", order=order) for order in ("tree", "rate")]
    by_tree, by_rate = (fit_treerank(prepare(X, y), each)[1].subtrees for each in settings)
    assert [s.auc for s in by_tree] != [s.auc for s in by_rate]
    assert max(s.auc for s in by_rate) > max(s.auc for s in by_tree)
