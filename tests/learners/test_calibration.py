"""The logistic curve from scores to probabilities."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from auctor.data import prepare
from auctor.learners.common.calibration import calibrate


def make_scores(seed: int, n: int = 2000, shift: float = 1.5):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    data = prepare(np.zeros((n, 1)), y)
    part = data.partitions[0]
    return data, y, rng.normal(size=n) + shift * y, part


@pytest.mark.parametrize("seed", range(3))
def test_curve_equals_logistic_regression(seed):
    data, y, scores, part = make_scores(seed)
    curve = calibrate(data, [scores[part.rows]], cut=0.7)
    peer = LogisticRegression(C=1e10, tol=1e-10).fit(scores[:, None] - 0.7, y)
    # Platt's targets differ from 0 and 1 by one in the number of rows, cells by half a width
    assert curve.slope == pytest.approx(peer.coef_[0, 0], rel=0.02)
    assert curve.offset == pytest.approx(peer.intercept_[0], rel=0.02)


def test_mean_probability_is_the_fraction_of_positives():
    data, y, scores, part = make_scores(5)
    curve = calibrate(data, [scores[part.rows]], cut=0.0)
    p = 1 / (1 + np.exp(-(curve.slope * scores + curve.offset)))
    assert p.mean() == pytest.approx(y.mean(), abs=1e-3)


def test_separated_classes_have_a_finite_slope():
    data, y, _, part = make_scores(1, n=50)
    scores = np.where(y, 1.0, -1.0)
    curve = calibrate(data, [scores[part.rows]], cut=0.0)
    assert 0 < curve.slope < 20


def test_scores_worse_than_chance_keep_a_positive_slope():
    data, _, scores, part = make_scores(2)
    curve = calibrate(data, [-scores[part.rows]], cut=0.0)
    assert curve.slope == 1e-6


def test_equal_scores_give_the_fraction_of_positives():
    data, y, scores, _ = make_scores(3)
    curve = calibrate(data, [np.ones(len(scores))], cut=1.0)
    assert 1 / (1 + np.exp(-curve.offset)) == pytest.approx(y.mean(), abs=2e-3)
