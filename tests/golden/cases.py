"""The fits whose models are stored, one for each learner, on fixed data."""

import numpy as np
from learners.three_strata import make_strata

from auctor import (
    DMKS,
    AUCBoost,
    ExactBoost,
    ExactBoostCV,
    MarginRanker,
    MartiRank,
    RankBoost,
    RankEnsemble,
    SamplingMartiRank,
    SmoothAUCBoost,
    SmoothTreeBoost,
    SoftRankBoost,
    TreeRank,
    TreeRankForest,
)
from auctor.datasets import load_kyphosis
from auctor.models import Model


def messy_table() -> tuple[np.ndarray, np.ndarray]:
    """The kyphosis table with missing values and a constant column."""
    X, y = load_kyphosis()
    X = np.column_stack([X, np.full(len(X), 3.0)])
    X[::7, 0] = np.nan
    return X, y


def three_strata() -> tuple[np.ndarray, np.ndarray]:
    """Columns of the same names, on which rounds of ExactBoost improve the smooth model."""
    return make_strata(1500, n_noise=2)


def rankboost() -> Model:
    X, y = messy_table()
    return RankBoost(n_estimators=40, categorical_features=[1]).fit(X, y).model_


def aucboost() -> Model:
    X, y = messy_table()
    return AUCBoost(n_estimators=40, categorical_features=[1]).fit(X, y).model_


def martirank() -> Model:
    X, y = messy_table()
    return MartiRank(n_layers=6, min_samples_leaf=2, categorical_features=[1]).fit(X, y).model_


def sampling_martirank() -> Model:
    X, y = messy_table()
    ranker = SamplingMartiRank(
        n_layers=5, max_draws=2000, sample_size=1000, categorical_features=[1]
    )
    return ranker.fit(X, y).model_


def smooth_aucboost() -> Model:
    X, y = messy_table()
    return SmoothAUCBoost(categorical_features=[1]).fit(X, y).model_


def smooth_tree_boost() -> Model:
    X, y = messy_table()
    ranker = SmoothTreeBoost(
        n_estimators=4, learning_rate=0.3, max_depth=3, early_stopping=False,
        categorical_features=[1], monotonic_cst=[0, 0, -1, 0],
    )  # fmt: skip
    return ranker.fit(X, y).model_


def soft_rankboost() -> Model:
    X, y = messy_table()
    ranker = SoftRankBoost(n_estimators=40, epsilon=0.1, categorical_features=[1])
    return ranker.fit(X, y).model_


def margin_ranker() -> Model:
    X, y = messy_table()
    return MarginRanker(epsilon=0.3, categorical_features=[1]).fit(X, y).model_


def dmks() -> Model:
    X, y = messy_table()
    # From a start of zeros: what a logistic regression rounds differently must not show.
    return DMKS(coef_init=np.zeros(11), categorical_features=[1]).fit(X, y).model_


def exactboost() -> Model:
    X, y = messy_table()
    ranker = ExactBoost(n_runs=6, n_estimators=10, subsample=0.5, categorical_features=[1])
    return ranker.fit(X, y).model_


def exactboost_ks() -> Model:
    X, y = messy_table()
    ranker = ExactBoost(
        "ks", n_runs=6, n_estimators=10, subsample=0.5, balanced=False, categorical_features=[1]
    )
    return ranker.fit(X, y).model_


def exactboost_cv() -> Model:
    X, y = three_strata()
    ranker = ExactBoostCV("ks", cv=3, n_runs=3, n_estimators=8, max_bins=16, interactions=0)
    return ranker.fit(X, y).model_


def treerank() -> Model:
    X, y = messy_table()
    return TreeRank(max_depth=4, categorical_features=[1]).fit(X, y).model_


def leafrank() -> Model:
    X, y = messy_table()
    return TreeRank(max_depth=2, split="tree", categorical_features=[1]).fit(X, y).model_


def forest() -> Model:
    X, y = messy_table()
    return TreeRankForest(n_estimators=6, categorical_features=[1]).fit(X, y).model_


def ensemble() -> Model:
    X, y = messy_table()
    members = [RankBoost(n_estimators=10), TreeRank(max_depth=2), SmoothAUCBoost()]
    return RankEnsemble(members, cv=3, categorical_features=[1]).fit(X, y).model_


CASES = {
    "aucboost": aucboost,
    "dmks": dmks,
    "ensemble": ensemble,
    "exactboost": exactboost,
    "exactboost_cv": exactboost_cv,
    "exactboost_ks": exactboost_ks,
    "margin_ranker": margin_ranker,
    "martirank": martirank,
    "rankboost": rankboost,
    "sampling_martirank": sampling_martirank,
    "smooth_aucboost": smooth_aucboost,
    "smooth_tree_boost": smooth_tree_boost,
    "soft_rankboost": soft_rankboost,
    "treerank": treerank,
    "leafrank": leafrank,
    "forest": forest,
}
