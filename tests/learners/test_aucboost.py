"""AUCBoost against AdaBoost over rows, and what its bound promises."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor import datasets
from auctor.data import prepare
from auctor.learners.boosting.aucboost import AUCBoostSettings, fit_aucboost
from auctor.metrics import auc
from auctor.testing.contracts import messy_table
from tests.reference.aucboost import aucboost_rows


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_every_round_equals_adaboost_over_rows(seed, weighted):
    X, y = messy_table(seed, n_rows=40)
    weight = np.random.default_rng(seed).integers(1, 5, size=len(y)) / 4 if weighted else None
    data = prepare(X, y, sample_weight=weight, categorical_features=[4])
    _, history, _ = fit_aucboost(data, AUCBoostSettings(n_estimators=20))
    part = data.partitions[0]
    codes = np.empty((part.n_rows, data.n_features), dtype=np.int64)
    codes[part.rows] = part.codes.T
    is_category = np.array([feature.is_category for feature in data.features])
    ones = np.ones(len(y)) if weight is None else weight
    slow = aucboost_rows(codes, y, ones, is_category, 20)
    assert len(slow) == len(history.rounds) == 20
    for ours, theirs in zip(history.rounds, slow, strict=True):
        assert ours.feature == theirs.feature
        steps = ours.steps[codes[:, ours.feature]]
        assert steps == pytest.approx(ours.alpha * theirs.h, abs=1e-8)
        assert ours.edge == pytest.approx(theirs.edge, abs=1e-8)
        assert ours.epsilon == pytest.approx(theirs.epsilon, abs=1e-8)
        assert ours.z == pytest.approx(theirs.z, abs=1e-8)


@given(
    seed=st.integers(0, 10**6),
    weak=st.sampled_from(["feature", "stump"]),
    n_estimators=st.integers(1, 60),
)
def test_bound_holds_and_edges_are_what_they_say(seed, weak, n_estimators):
    X, y = messy_table(seed, n_rows=40)
    data = prepare(X, y, categorical_features=[4])
    model, history, certificate = fit_aucboost(data, AUCBoostSettings(weak, n_estimators))
    scores = model.decision_function(X)
    assert certificate.values["auc"] == pytest.approx(auc(y, scores), abs=1e-12)
    assert 1 - certificate.values["auc"] <= certificate.values["bound"] * (1 + 1e-9)
    assert certificate.values["edges"] == [step.edge for step in history.rounds]
    for step in history.rounds:
        assert step.edge > 0
        assert step.epsilon <= 0.5 - step.edge / 4 + 1e-9  # Lemma 4
        # AdaBoost with confidence-rated classifiers; alpha lies on a grid, up to its cap
        edge = 1 - 2 * step.epsilon
        assert step.epsilon < 1e-12 or step.z <= np.sqrt(1 - edge**2) + 1e-8


@pytest.mark.parametrize("weak", ["feature", "stump"])
def test_target_loss_stops_when_the_bound_is_reached(weak):
    sample = datasets.make_r_of_k(2000, n_features=20, k=5, r=3, random_state=0)
    data = prepare(sample.X, sample.y)
    _, history, certificate = fit_aucboost(data, AUCBoostSettings(weak, 5000, target_loss=0.01))
    assert history.stopped_by == "the bound has reached target_loss"
    assert certificate.values["stopped_by"] == history.stopped_by
    assert f"Reason for stopping: {history.stopped_by}." in certificate.statement
    assert certificate.values["bound"] <= 0.01
    assert certificate.values["auc"] >= 0.99


def test_no_edge_and_no_error_are_said():
    _, history, certificate = fit_aucboost(
        prepare(np.ones((4, 2)), [0, 1, 0, 1]), AUCBoostSettings()
    )
    assert history.stopped_by == "no ranker is better than chance"
    assert certificate.values["auc"] == 0.5
    X = np.arange(10.0).reshape(-1, 1)
    _, history, certificate = fit_aucboost(prepare(X, np.arange(10) >= 5), AUCBoostSettings())
    assert history.stopped_by == "the last ranker makes no error"
    assert len(history.rounds) == 1
    assert certificate.values["auc"] == 1.0
