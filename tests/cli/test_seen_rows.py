"""Rows that a model was fitted to, and others."""

import numpy as np
import pytest

from auctor import DMKS, AUCBoost, ExactBoost, MarginRanker, RankBoost, SmoothAUCBoost
from auctor.cli.seen_rows import seen_warning

LEARNERS = [
    RankBoost(n_estimators=10),
    AUCBoost(n_estimators=10),
    SmoothAUCBoost(),
    MarginRanker(epsilon=0.6),
    ExactBoost(n_runs=3, n_estimators=5),
    DMKS(),
]


def draw(n_rows, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    return X, X[:, 0] + rng.normal(size=n_rows) > 0.4


def warned(model, X, positive, weight=None):
    return bool(seen_warning(model, positive, model.decision_function(X), weight))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("scale", [None, 1.0, 1e-3, 50.0])
def test_training_rows_are_known_again(learner, scale):
    X, positive = draw(150, 0)
    weight = None if scale is None else scale * (0.2 + np.random.default_rng(1).random(150))
    model = learner.fit(X, positive, sample_weight=weight).model_
    assert warned(model, X, positive, weight)
    order = np.random.default_rng(2).permutation(150)
    assert warned(model, X[order], positive[order], None if weight is None else weight[order])


@pytest.mark.parametrize("n_rows", [150, 20_000])
def test_so_are_scores_with_a_long_tail(n_rows):
    rng = np.random.default_rng(0)
    X = np.exp(4 * rng.normal(size=(n_rows, 1)))
    positive = np.log(X[:, 0]) + rng.normal(size=n_rows) > 1
    assert warned(DMKS().fit(X, positive).model_, X, positive)


def test_other_rows_are_not():
    X, positive = draw(300, 0)
    model = RankBoost(n_estimators=10).fit(X, positive).model_
    assert not any(warned(model, *draw(n, seed)) for n in (20, 300) for seed in range(1, 300))
    assert not warned(model, X[:200], positive[:200])


def test_scores_that_are_all_the_same_or_beyond_doubt():
    X, positive = draw(60, 0)
    model = RankBoost(n_estimators=10).fit(X, positive).model_
    assert not seen_warning(model, positive, np.zeros(60), None)
    with np.errstate(divide="raise", invalid="raise"):
        assert not seen_warning(model, positive, np.where(positive, 1e6, -1e6), None)
