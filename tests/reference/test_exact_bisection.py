"""The plain bisection that ExactBoost is measured against does what it should."""

import numpy as np
import pytest

from auctor.metrics import auc
from tests.reference.exact_bisection import Cell, cell_loss, fit_plain, part_of

Sample = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def sample() -> Sample:
    """Two classes that two of three columns tell apart well."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    return rng.normal(size=(120, 3)) + np.outer(y, [2.0, 1.5, 0.0]), y


@pytest.mark.parametrize("metric", ["auc", "ks"])
def test_it_ranks_and_its_loss_falls(sample: Sample, metric: str) -> None:
    scorer = fit_plain(*sample, metric, n_runs=3, n_rounds=10, subsample=0.5)
    assert auc(sample[1], scorer.decision_function(sample[0])) > 0.9
    assert scorer.loss == scorer.mean_losses[-1]
    assert scorer.loss < scorer.mean_losses[0] < 1.0


def test_it_is_the_same_for_any_number_of_threads(sample: Sample) -> None:
    one, two, other = (
        fit_plain(*sample, n_runs=4, n_rounds=5, seed=seed, n_jobs=n_jobs).decision_function(
            sample[0]
        )
        for seed, n_jobs in [(1, 1), (1, 2), (2, 1)]
    )
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


def test_training_scores_lie_between_0_and_1(sample: Sample) -> None:
    scores = fit_plain(*sample, n_runs=1, n_rounds=10).decision_function(sample[0])
    assert scores.min() == pytest.approx(0.0, abs=1e-12)
    assert scores.max() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("metric", [0, 1])
def test_no_stump_of_a_cell_has_a_smaller_loss(sample: Sample, metric: int) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([sample[0][60:, 0], sample[0][:60, 0]])
    s = rng.uniform(size=120)
    cell = Cell(float(x.min()), float(x.max()), -1.0, 1.0, -1.0, 1.0)
    for _ in range(6):
        cell = part_of(cell, int(rng.integers(8)))
        bound = cell_loss(metric, x, s, 60, cell, 0.05)
        for xi, a, b in zip(*(rng.uniform(*cell[k : k + 2], 20) for k in (0, 2, 4)), strict=True):
            assert cell_loss(metric, x, s, 60, Cell(xi, xi, a, a, b, b), 0.05) >= bound
