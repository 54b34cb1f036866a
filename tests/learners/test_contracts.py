"""What every learner promises, over all of them; a new learner adds a line to LEARNERS."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor.data import prepare
from auctor.learners import aucboost, rankboost, smooth, soft_rankboost, treerank
from auctor.testing import contracts


def fit_rankboost(data, n_jobs):
    settings = rankboost.Settings(n_estimators=25, n_jobs=n_jobs)
    return rankboost.fit_rankboost(data, settings)[0]


def fit_aucboost(data, n_jobs):
    settings = aucboost.Settings(n_estimators=25, n_jobs=n_jobs)
    return aucboost.fit_aucboost(data, settings)[0]


def fit_smooth(data, n_jobs):
    return smooth.fit_smooth(data, smooth.Settings(max_iter=8, n_jobs=n_jobs))[0]


def fit_soft_rankboost(data, n_jobs):
    settings = soft_rankboost.Settings(n_estimators=25, n_jobs=n_jobs)
    return soft_rankboost.fit_soft_rankboost(data, settings)[0]


def fit_rate_tree(data, n_jobs):
    settings = treerank.Settings(max_depth=5, order="rate", n_jobs=n_jobs)
    return treerank.fit_treerank(data, settings)[0]


def fit_treerank(data, n_jobs):
    settings = treerank.Settings(max_depth=5, n_jobs=n_jobs)
    return treerank.fit_treerank(data, settings)[0]


def fit_leafrank(data, n_jobs):
    settings = treerank.Settings(max_depth=3, split="tree", n_jobs=n_jobs)
    return treerank.fit_treerank(data, settings)[0]


LEARNERS = {
    "rankboost": fit_rankboost,
    "aucboost": fit_aucboost,
    "smooth": fit_smooth,
    "soft_rankboost": fit_soft_rankboost,
    "treerank": fit_treerank,
    "treerank, leaves by rate": fit_rate_tree,
    "leafrank": fit_leafrank,
}
over_learners = pytest.mark.parametrize("fit", LEARNERS.values(), ids=LEARNERS)


@over_learners
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_weight_two_is_the_row_twice_and_weight_zero_an_absent_row(fit, seed):
    contracts.check_weights_are_copies(fit, seed)


@over_learners
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_order_of_the_rows_does_not_matter(fit, seed):
    contracts.check_row_order(fit, seed)


@over_learners
@pytest.mark.parametrize("n_partitions", [1, 3, 7])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_same_bits_for_any_partition_and_any_number_of_threads(fit, n_jobs, n_partitions):
    contracts.check_partitions_and_threads(fit, n_partitions, n_jobs)


@over_learners
@pytest.mark.parametrize("seed", range(5))
def test_constant_columns_are_never_used(fit, seed):
    contracts.check_constants_are_never_used(fit, seed)


@over_learners
def test_saved_models_score_the_same(fit, tmp_path):
    X, y = contracts.messy_table(0)
    model = fit(prepare(X, y, categorical_features=[4]), 1)
    contracts.check_saved_model(model, X, tmp_path)
