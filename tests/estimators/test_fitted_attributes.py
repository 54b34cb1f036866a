"""Fitted attributes belong to the last fit that succeeded, and a fit leaves nothing else behind."""

import inspect
from typing import Any

import numpy as np
import pytest
from fuzz.tables import SMALL

from auctor import (
    DMKS,
    ExactBoost,
    ExactBoostCV,
    MarginRanker,
    MarginRankerCV,
    RankBoost,
    SamplingMartiRank,
    SmoothAUCBoost,
    SmoothAUCBoostCV,
    SmoothTreeBoost,
    TreeRankForest,
)
from auctor.estimators.registry import LEARNERS

ESTIMATORS: list[Any] = [
    DMKS(),
    ExactBoost(n_runs=2, n_estimators=3),
    ExactBoostCV(cv=2, n_runs=1, n_estimators=2, interactions=0),
    MarginRanker(epsilon=0.6),
    MarginRankerCV(cv=2, epsilons=(0.6, 0.7), extend=False),
    RankBoost(n_estimators=3),
    SamplingMartiRank(max_draws=200, sample_size=200),
    SmoothAUCBoost(),
    SmoothAUCBoostCV(cv=2, interactions=0),
    SmoothTreeBoost(n_estimators=2, cv=2),
    TreeRankForest(n_estimators=2),
]
_LISTED = {type(estimator) for estimator in ESTIMATORS}
ESTIMATORS += [cls(**SMALL.get(name, {})) for name, cls in LEARNERS.items() if cls not in _LISTED]
over_estimators = pytest.mark.parametrize(
    "estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__
)


def rows(seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    return X, X[:, 0] + rng.normal(size=80) > 0


@over_estimators
def test_a_fit_leaves_parameters_and_fitted_attributes_alone(estimator: Any) -> None:
    estimator.fit(*rows())
    left = set(vars(estimator)) - set(inspect.signature(type(estimator)).parameters)
    assert {name for name in left if name.startswith("_") or not name.endswith("_")} == set()


@over_estimators
def test_after_a_failed_fit_the_earlier_one_stands(estimator: Any) -> None:
    before = dict(vars(estimator.fit(*rows())))
    X, y = rows(1)
    X[0, 0] = np.inf
    with pytest.raises(ValueError, match="infinit"):
        estimator.fit(X, y)
    assert vars(estimator) == before


def test_an_interrupted_fit_sets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("auctor.estimators.smooth_base.fit_smooth", interrupted)
    ranker = SmoothAUCBoostCV(cv=2, interactions=0)
    with pytest.raises(KeyboardInterrupt):
        ranker.fit(*rows())
    assert set(vars(ranker)) == set(ranker.get_params())


def test_attributes_that_a_new_setting_lacks_are_gone() -> None:
    X, y = rows()
    ranker = ExactBoost(n_runs=2, n_estimators=3, init=np.arange(80.0)).fit(X, y)
    assert hasattr(ranker, "init_weight_")
    ranker.set_params(init=None).fit(X, y)
    assert not hasattr(ranker, "init_weight_")
