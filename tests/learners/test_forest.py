"""Forests by hand: bags, out-of-bag scores, ranks, and what they promise."""

import tracemalloc

import numpy as np
import pytest

from auctor.data import Workers, prepare
from auctor.kernels.trees import leaves_of
from auctor.learners.common.max_features import number_of_features
from auctor.learners.trees.forest import ForestSettings, fit_forest, node_ranks
from auctor.learners.trees.forest_bags import BagDraws, feature_draws
from auctor.learners.trees.grower import Rules
from auctor.learners.trees.growth import grow
from auctor.metrics import auc, auc_ci
from auctor.testing import contracts
from tests.reference.treerank import leaf_midranks

FORESTS = {
    "unions": ForestSettings(n_estimators=4, max_depth=3, seed=1),
    "stumps": ForestSettings(n_estimators=5, split="stump", seed=2),
    "median": ForestSettings(n_estimators=6, max_depth=3, aggregate="median", seed=3),
    "all rows": ForestSettings(n_estimators=3, max_depth=3, bootstrap=False, seed=4),
}
over_forests = pytest.mark.parametrize("settings", FORESTS.values(), ids=FORESTS)


def fitter(settings):
    """The forest as the contracts want it."""

    def fit(data, n_jobs):
        return fit_forest(data, ForestSettings(**{**vars(settings), "n_jobs": n_jobs}))[0]

    return fit


def replay(data, settings, number):
    """Counts and tree of one member, by the same draws, grown alone."""
    rng = np.random.default_rng([settings.seed, number])
    counts = BagDraws(data, settings.max_samples).draw(rng)
    n_drawn = number_of_features(settings.max_features, data.n_features)
    allowed = feature_draws(data.n_features, n_drawn, rng)
    return counts[0], grow(data, settings.rules, Workers(1), weights=counts, allowed=allowed)


@pytest.mark.parametrize("name", ["unions", "stumps", "median"])
def test_out_of_bag_scores_and_their_auc_by_hand(name):
    X, y = contracts.messy_table(5, n_rows=80)
    settings, data = FORESTS[name], prepare(X, y)
    model, history, certificate = fit_forest(data, settings)
    part = data.partitions[0]
    ranks, seen = [], []
    for number in range(settings.n_estimators):
        counts, tree = replay(data, settings, number)
        leaf = leaves_of(part.codes, tree.nodes)
        ranks.append(node_ranks(tree)[leaf])
        seen.append(counts > 0)
    ranks, seen = np.array(ranks), np.array(seen)
    take = np.median if settings.aggregate == "median" else np.mean
    scored = np.flatnonzero(~seen.all(axis=0))
    assert 0 < part.n_rows - len(scored) == certificate.values["n_never"]
    by_hand = np.array([take(ranks[~seen[:, i], i]) for i in scored])
    result = history.out_of_bag.scores[0]
    assert result[scored] == pytest.approx(by_hand, abs=1e-15)
    assert np.isnan(np.delete(result, scored)).all()
    assert np.array_equal(history.out_of_bag.n_trees[0], (~seen).sum(axis=0))
    area = auc(part.positive[scored], result[scored])
    assert certificate.values["oob_auc"] == area
    alone = auc_ci(part.positive[scored], result[scored], method="delong")
    options = {"folds": np.zeros(len(scored))}  # one fold, at the worst case of its training
    interval = auc_ci(part.positive[scored], result[scored], **options)
    assert (certificate.values["low"], certificate.values["high"]) == (interval.low, interval.high)
    assert interval.standard_error == pytest.approx(2**0.5 * alone.standard_error)
    ends = f"(95% CI {interval.low:.3f} to {interval.high:.3f}, DeLong, variance multiplied"
    assert ends in str(certificate)
    # all trees, for rows that are scored as new ones
    whole = take(ranks, axis=0)
    scores = model.decision_function(X)[part.rows] - model.intercept
    assert scores == pytest.approx(whole, abs=1e-12)


def test_ranks_are_mid_ranks_with_even_classes():
    X, y = contracts.messy_table(1, n_rows=50)
    data = prepare(X, y)
    tree = grow(data, Rules(max_depth=3), Workers(1))
    leaves, _ = tree.leaves()
    ranks = node_ranks(tree)[leaves]
    assert ranks == pytest.approx(leaf_midranks(tree.counts[leaves].tolist()), abs=2.0**-32)
    assert (np.diff(ranks) < 0).all()
    assert 0 < ranks[-1] < ranks[0] < 1


@over_forests
def test_same_bits_for_any_partition_and_any_number_of_threads(settings):
    contracts.check_partitions_and_threads(fitter(settings), [(3, 2), (7, 1)])


@over_forests
def test_constant_columns_are_never_used(settings):
    contracts.check_constants_are_never_used(fitter(settings), 0)


@over_forests
def test_saved_models_score_the_same(settings, tmp_path):
    X, y = contracts.messy_table(0)
    model = fitter(settings)(prepare(X, y, categorical_features=[4]), 1)
    contracts.check_saved_model(model, X, tmp_path)


def test_weight_zero_is_an_absent_row():
    X, y = contracts.messy_table(2)
    weight = np.ones(len(y))
    weight[10:20] = 0.0
    fit = fitter(FORESTS["unions"])
    without = fit(prepare(X[weight > 0], y[weight > 0]), 1)
    assert contracts.same_model(fit(prepare(X, y, sample_weight=weight), 1), without)


def test_without_bootstrap_weights_are_copies():
    contracts.check_weights_are_copies(fitter(FORESTS["all rows"]), 3)


def test_bags_hold_as_many_rows_of_each_class_and_follow_the_weights():
    rng = np.random.default_rng(0)
    y = np.arange(1000) < 200
    weight = np.where(np.arange(1000) % 2 == 0, 3.0, 1.0)
    data = prepare(rng.normal(size=(1000, 1)), y, sample_weight=weight)
    counts, part = BagDraws(data, None).draw(rng)[0].astype(float), data.partitions[0]
    # Kish's number of rows: half of the weights are 3, half are 1
    assert counts[: part.n_pos].sum() == 200 * (3 + 1) ** 2 / (2 * (3**2 + 1))
    assert counts[part.n_pos :].sum() == 800 * (3 + 1) ** 2 / (2 * (3**2 + 1))
    of_heavy = counts[weight[part.rows] == 3.0].sum() / counts.sum()
    assert of_heavy == pytest.approx(0.75, abs=0.03)
    half = BagDraws(data, 0.5).draw(rng)[0]
    assert half.sum() == 400


def test_the_size_of_equal_weights_takes_up_no_memory():
    y = np.arange(2000) < 400
    X = np.random.default_rng(0).normal(size=(2000, 1))
    options = [{"sample_weight": np.full(2000, size)} for size in (1.0, 1e5, 1e-5)]
    bags = [
        BagDraws(prepare(X, y, **each), None).draw(np.random.default_rng(1)) for each in options
    ]
    assert bags[0][0].sum() == 2000
    assert all(np.array_equal(bag[0], bags[0][0]) for bag in bags)
    # Copies that are counted are drawn, too, but not one by one.
    counted = prepare(X, y, **options[1], frequency_weights=True)
    tracemalloc.start()
    counts = BagDraws(counted, None).draw(np.random.default_rng(1))[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts.sum(dtype=np.int64) == 2000 * 100_000
    assert peak < 1e6


def test_a_bag_has_seen_all_copies_of_its_rows():
    X = np.repeat(np.random.default_rng(0).normal(size=(100, 2)), 3, axis=0)
    data = prepare(X, np.repeat(np.arange(100) % 2, 3)).split(2)
    draws = BagDraws(data, None)
    counts = draws.draw(np.random.default_rng(0))
    seen, drawn = np.zeros(300, dtype=bool), np.zeros(300)
    for part, own, count in zip(data.partitions, draws.seen(counts), counts, strict=True):
        seen[part.rows], drawn[part.rows] = own, count
    assert np.array_equal(seen, np.repeat(drawn.reshape(100, 3).sum(axis=1) > 0, 3))
    assert 0 < seen.sum() < 300


def test_nodes_draw_their_features_evenly():
    allowed = feature_draws(10, 3, np.random.default_rng(0))(2000)
    assert (allowed.sum(axis=1) == 3).all()
    assert allowed.mean(axis=0) == pytest.approx(np.full(10, 0.3), abs=0.05)
    assert feature_draws(10, 10, np.random.default_rng(0)) is None


@pytest.mark.parametrize("asked", [0, 4, -1, 0.0, 1.5, "all", True])
def test_bad_max_features(asked):
    with pytest.raises(ValueError, match="max_features is "):
        number_of_features(asked, 3)


def test_a_class_of_one_row_cannot_be_bagged():
    data = prepare([[1.0], [2.0], [3.0]], [0, 0, 1])
    with pytest.raises(
        ValueError,
        match=r"there are 1 positive and 2 negative rows, .*; give more rows or bootstrap=False",
    ):
        fit_forest(data, ForestSettings(n_estimators=2))
    model, _, certificate = fit_forest(data, ForestSettings(n_estimators=2, bootstrap=False))
    assert model.n_trees == 2
    assert "all trees are trained on all rows" in str(certificate)


def test_where_no_row_is_out_of_bag():
    data = prepare([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    seeds = range(20)
    result = [fit_forest(data, ForestSettings(n_estimators=1, seed=seed)) for seed in seeds]
    unknown = [c for _, _, c in result if c.values["oob_auc"] is None]
    assert unknown and all("There is no out-of-bag AUC" in str(c) for c in unknown)
    assert all(np.isfinite(model.decision_function([[1.0]])).all() for model, _, _ in result)


def test_the_interval_of_weighted_rows_is_wider():
    X, y = contracts.messy_table(0, n_rows=200)
    weight = np.random.default_rng(0).integers(1, 4, size=200)
    data = prepare(X, y, sample_weight=weight)
    _, history, certificate = fit_forest(data, ForestSettings(n_estimators=30))
    scores = history.out_of_bag.by_row(data)
    has = ~np.isnan(scores)
    area = auc(y[has], scores[has], sample_weight=weight[has])
    assert certificate.values["oob_auc"] == pytest.approx(area)
    options = {"folds": np.zeros(has.sum())}
    plain = auc_ci(y[has], scores[has], **options)
    low, high = certificate.values["low"], certificate.values["high"]
    assert low < area < high and high - low > plain.high - plain.low


def test_out_of_bag_intervals_hold_without_a_signal():
    rng, held, alone = np.random.default_rng(0), 0, 0
    for seed in range(60):
        X, y = rng.normal(size=(60, 5)), np.arange(60) % 2
        settings = ForestSettings(n_estimators=10, seed=seed, max_depth=3)
        data = prepare(X, y)
        _, history, certificate = fit_forest(data, settings)
        held += certificate.values["low"] <= 0.5 <= certificate.values["high"]
        scores = history.out_of_bag.by_row(data)
        plain = auc_ci(y[~np.isnan(scores)], scores[~np.isnan(scores)], method="delong")
        alone += plain.low <= 0.5 <= plain.high
    assert alone <= 54 and held >= 55


def test_copies_count_once_in_the_out_of_bag_interval():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    settings = ForestSettings(n_estimators=20, max_depth=3, seed=0)
    rows = np.repeat(np.arange(60), 4)
    certificate = fit_forest(prepare(X[rows], y[rows]), settings)[2]
    width = certificate.values["high"] - certificate.values["low"]
    alone = fit_forest(prepare(X, y), settings)[2].values
    assert width == pytest.approx(alone["high"] - alone["low"], rel=0.1)
    assert certificate.values["low"] < 0.5 < certificate.values["high"]
    assert "Copies of a row count as one row in the interval" in certificate.statement
