"""scikit-learn's own checks over every estimator, none of them expected to fail."""

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from auctor import AUCBoost, MartiRank, RankBoost, SoftRankBoost, TreeRank


@parametrize_with_checks(
    [
        RankBoost(),
        AUCBoost(),
        AUCBoost(weak="stump"),
        MartiRank(),
        MartiRank(output="majority"),
        SoftRankBoost(),
        TreeRank(),
        TreeRank(split="tree"),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)
