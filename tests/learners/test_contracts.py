"""The contracts of ``auctor.testing`` over all learners.

A new learner is a function here, and a line in one of three tables: ``LEARNERS`` if the model is
the same, bit for bit, whatever the order of the rows and whether copies or weights are given;
``DRAWN`` if it draws rows at random; ``FLOATS`` if it sums floats over rows.
"""

import inspect
from importlib import import_module
from pkgutil import walk_packages

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor import learners
from auctor.data import RankingData, prepare
from auctor.learners.boosting import aucboost, rankboost, soft_rankboost
from auctor.learners.boosting import aucboost_rows as aucboost_trees
from auctor.learners.exact import fit as exactboost
from auctor.learners.martirank import martirank
from auctor.learners.smooth import fit as smooth
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.tree_boost import fit as tree_boost
from auctor.learners.tree_boost.settings import TreeBoostSettings
from auctor.learners.trees import forest, treerank
from auctor.testing import contracts


def fit_rankboost(data, n_jobs):
    settings = rankboost.RankBoostSettings(n_estimators=25, n_jobs=n_jobs)
    return rankboost.fit_rankboost(data, settings)[0]


def fit_aucboost(data, n_jobs):
    settings = aucboost.AUCBoostSettings(n_estimators=25, n_jobs=n_jobs)
    return aucboost.fit_aucboost(data, settings)[0]


def fit_smooth(data, n_jobs):
    return smooth.fit_smooth(data, SmoothSettings(max_iter=8, n_jobs=n_jobs))[0]


def fit_soft_rankboost(data, n_jobs):
    settings = soft_rankboost.SoftRankBoostSettings(n_estimators=25, n_jobs=n_jobs)
    return soft_rankboost.fit_soft_rankboost(data, settings)[0]


def fit_rate_tree(data, n_jobs):
    settings = treerank.TreeRankSettings(max_depth=5, order="rate", n_jobs=n_jobs)
    return treerank.fit_treerank(data, settings)[0]


def fit_treerank(data, n_jobs):
    settings = treerank.TreeRankSettings(max_depth=5, n_jobs=n_jobs)
    return treerank.fit_treerank(data, settings)[0]


def fit_leafrank(data, n_jobs):
    settings = treerank.TreeRankSettings(max_depth=3, split="tree", n_jobs=n_jobs)
    return treerank.fit_treerank(data, settings)[0]


def fit_martirank(data, n_jobs):
    settings = martirank.MartiRankSettings(n_layers=6, min_samples_leaf=3, n_jobs=n_jobs)
    return martirank.fit_martirank(data, settings)[0]


def fit_forest(data, n_jobs):
    settings = forest.ForestSettings(n_estimators=5, max_depth=3, n_jobs=n_jobs)
    return forest.fit_forest(data, settings)[0]


def fit_exactboost(data, n_jobs):
    settings = exactboost.ExactBoostSettings(n_runs=3, n_estimators=5, n_jobs=n_jobs)
    return exactboost.fit_exactboost(data, settings)[0]


def fit_aucboost_trees(data, n_jobs):
    settings = aucboost.AUCBoostSettings(n_estimators=3, max_depth=2, n_jobs=n_jobs)
    return aucboost_trees.fit_aucboost_trees(data, settings)[0]


def fit_tree_boost(data, n_jobs):
    settings = TreeBoostSettings(
        6, 0.2, max_depth=3, subsample=1.0, max_features=None, n_jobs=n_jobs
    )
    return tree_boost.fit_tree_boost(data, settings)[0]


def fit_trees_and_curves(data, n_jobs):
    settings = TreeBoostSettings(
        4, 0.2, loss="auc", max_depth=2, subsample=1.0, max_features=2, n_jobs=n_jobs
    )
    smooth = SmoothSettings(max_iter=8, n_jobs=n_jobs)
    return tree_boost.fit_tree_boost(data, settings, smooth=smooth)[0]


def fit_drawn_trees(data, n_jobs):
    settings = TreeBoostSettings(6, 0.2, max_depth=3, n_jobs=n_jobs)
    return tree_boost.fit_tree_boost(data, settings)[0]


LEARNERS = {
    "rankboost": fit_rankboost,
    "aucboost": fit_aucboost,
    "smooth": fit_smooth,
    "soft_rankboost": fit_soft_rankboost,
    "treerank": fit_treerank,
    "treerank, leaves by rate": fit_rate_tree,
    "leafrank": fit_leafrank,
    "tree boost": fit_tree_boost,
    "tree boost, smooth model": fit_trees_and_curves,
}
# Rows are sampled, or get random numbers by position: another order, or copies in place of a
# weight, give a model of the same distribution and not of the same bits.
DRAWN = {
    "martirank": fit_martirank,
    "forest": fit_forest,
    "exactboost": fit_exactboost,
    "tree boost, rows drawn": fit_drawn_trees,
}
# Weights are floats: copies of a row are the same but for the last digits of their sums.
FLOATS = {"aucboost of trees": fit_aucboost_trees}
# Variants of a learner for weak rankers that need the rows themselves.
ELSEWHERE = {
    "fit_aucboost_rows": "any estimator as weak ranker: test_aucboost_rows.py",
    "fit_martirank_rows": "any estimator as weak ranker: test_martirank_rows.py",
}
over_learners = pytest.mark.parametrize("fit", LEARNERS.values(), ids=LEARNERS)
ORDERED, ALL = {**LEARNERS, **FLOATS}, {**LEARNERS, **FLOATS, **DRAWN}
over_ordered = pytest.mark.parametrize("fit", ORDERED.values(), ids=ORDERED)
over_all = pytest.mark.parametrize("fit", ALL.values(), ids=ALL)


@over_learners
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_weight_two_is_the_row_twice_and_weight_zero_an_absent_row(fit, seed):
    contracts.check_weights_are_copies(fit, seed)


@over_ordered
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_order_of_the_rows_does_not_matter(fit, seed):
    contracts.check_row_order(fit, seed)


@over_all
@pytest.mark.parametrize("seed", range(3))
def test_the_scale_of_the_weights_does_not_matter(fit, seed):
    contracts.check_weight_scale(fit, seed)


@over_learners
def test_same_bits_for_any_partition_and_any_number_of_threads(fit):
    contracts.check_partitions_and_threads(fit)


@over_all
@pytest.mark.parametrize("seed", range(5))
def test_constant_columns_are_never_used(fit, seed):
    contracts.check_constants_are_never_used(fit, seed)


@over_learners
def test_saved_models_score_the_same(fit, tmp_path):
    X, y = contracts.messy_table(0)
    model = fit(prepare(X, y, categorical_features=[4]), 1)
    contracts.check_saved_model(model, X, tmp_path)


def test_every_learner_of_binned_rows_is_tested():
    modules = [
        import_module(each.name) for each in walk_packages(learners.__path__, "auctor.learners.")
    ]
    functions = {
        name
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("fit_")
        and inspect.isfunction(value)
        and next(iter(inspect.get_annotations(value).values())) is RankingData
    }
    called = {name for fit in ALL.values() for name in fit.__code__.co_names}
    missing = sorted(functions - called - set(ELSEWHERE))
    assert missing == [], "add these learners to LEARNERS, DRAWN or FLOATS in this file"
