"""The capped distributions: the projection against its conditions, a solver and a sorted one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from auctor.data import Workers, prepare
from auctor.learners.boosting.row_weights import CappedWeights, RowWeights
from tests.reference.soft_rankboost import project


def table(weight_neg, weight_pos):
    """Every row has a code of its own, so that a change can give it any factor."""
    weight = np.concatenate([weight_neg, weight_pos]).astype(float)
    X = np.arange(len(weight), dtype=float).reshape(-1, 1)
    y = np.arange(len(weight)) >= len(weight_neg)
    return prepare(X, y, sample_weight=weight, frequency_weights=True)


def distributions(weights, data):
    """d- and d+ in the order of the codes."""
    part = data.partitions[0]
    d = part.weight * weights.factors[0]
    by_code = np.argsort(part.codes[0])
    neg, pos = by_code[by_code >= part.n_pos], by_code[by_code < part.n_pos]
    return d[neg], d[pos]


def multiply(weights, data, change):
    """Multiply every row by its entry, the negatives first."""
    codes = np.ones((2, data.n_codes))
    codes[:, 1:] = change
    return weights.multiply(0, codes)


weight_lists = st.lists(st.integers(1, 4), min_size=1, max_size=8)
# Few distinct values make ties; the range is what a round of boosting can do, and more.
logs = st.one_of(st.floats(-8, 8), st.integers(-2, 2).map(float))


@given(st.data(), weight_lists, weight_lists, st.floats(0, 1), st.floats(0, 1))
def test_projection_meets_its_conditions(data_of, weight_neg, weight_pos, part_neg, part_pos):
    data = table(weight_neg, weight_pos)
    sides = [np.array(weight_neg, dtype=float), np.array(weight_pos, dtype=float)]
    totals = [side.sum() for side in sides]
    # From nu = 1 to nu = weight of the class, both among the draws.
    nus = tuple(1 + part * (t - 1) for part, t in zip((part_neg, part_pos), totals, strict=True))
    n_rows = len(weight_neg) + len(weight_pos)
    with Workers(1) as workers:
        weights = CappedWeights(data, workers, nus)
        for _ in range(data_of.draw(st.integers(1, 3))):
            before = distributions(weights, data)
            change = np.exp(data_of.draw(st.lists(logs, min_size=n_rows, max_size=n_rows)))
            sums = multiply(weights, data, change)
            changes = np.split(change, [len(weight_neg)])
            for d, old, by, total, w, nu in zip(
                distributions(weights, data), before, changes, sums, sides, nus, strict=True
            ):
                free = old * by
                assert total == pytest.approx(free.sum(), rel=1e-12)
                free = free / free.sum()
                assert d.sum() == pytest.approx(1, abs=1e-12)
                assert (d <= w / nu * (1 + 1e-12)).all()
                # Kuhn-Tucker: below the cap one factor c >= 1, at the cap at least as much asked.
                ratio = d / free
                below = d < w / nu * (1 - 1e-9)
                if below.any():
                    c = ratio[below][0]
                    assert c >= 1 - 1e-11
                    assert ratio[below] == pytest.approx(np.full(below.sum(), c), rel=1e-9)
                    assert (ratio[~below] <= c * (1 + 1e-9)).all()
                assert d == pytest.approx(project(free, w / nu), rel=1e-9)


# SciPy 1.13 warns of steps beyond the bounds, which it takes back.
@pytest.mark.filterwarnings("ignore:Values in x were outside bounds:RuntimeWarning")
@pytest.mark.parametrize("seed", range(5))
def test_no_solver_finds_a_nearer_distribution(seed):
    rng = np.random.default_rng(seed)
    free, nu = rng.dirichlet(np.ones(6) / 2) + 1e-3, 3.0
    free /= free.sum()
    data = table([1, 1], np.ones(6))
    with Workers(1) as workers:
        weights = CappedWeights(data, workers, (1.0, nu))
        multiply(weights, data, np.concatenate([[1, 1], free * 6]))
        _, ours = distributions(weights, data)

    def entropy(d):
        return float((d * np.log(d / free)).sum())

    result = minimize(
        entropy,
        np.full(6, 1 / 6),
        bounds=[(1e-12, 1 / nu)] * 6,
        constraints={"type": "eq", "fun": lambda d: d.sum() - 1},
        options={"ftol": 1e-14},
    )
    assert ours == pytest.approx(result.x, abs=1e-5)
    assert entropy(ours) <= result.fun + 1e-9


def test_rows_light_by_many_orders_can_be_raised_again():
    # The last positive falls to 1e-27 of its class, then has to hold a quarter of it.
    data = table([1], np.ones(4))
    with Workers(1) as workers:
        weights = CappedWeights(data, workers, (1.0, 2.0))
        for _ in range(3):
            multiply(weights, data, np.array([1, 1, 1, 1, 1e-9]))
        assert distributions(weights, data)[1][3] < 1e-25
        weights.nus = (1.0, 4 - 1e-9)
        multiply(weights, data, np.array([1, 2, 1, 1, 1]))
        d = distributions(weights, data)[1]
    assert d == pytest.approx(np.full(4, 0.25), rel=1e-8)
    assert d.sum() == pytest.approx(1, abs=1e-12)


def test_nu_equal_to_the_weight_of_the_class_keeps_rows_equal():
    data = table([1, 2, 3], [2, 1])
    with Workers(1) as workers:
        weights = CappedWeights(data, workers, (6.0, 3.0))
        multiply(weights, data, np.array([1, 5, 0.1, 3, 1]))
        neg, pos = distributions(weights, data)
    assert neg == pytest.approx(np.array([1, 2, 3]) / 6, rel=1e-12)
    assert pos == pytest.approx(np.array([2, 1]) / 3, rel=1e-12)


def test_nu_of_one_row_changes_nothing():
    rng = np.random.default_rng(0)
    data = table(np.ones(4), np.ones(5))
    with Workers(1) as workers:
        capped, free = CappedWeights(data, workers, (1.0, 1.0)), RowWeights(data, workers)
        for _ in range(5):
            change = rng.random(9) + 0.1
            assert multiply(capped, data, change) == multiply(free, data, change)
            assert np.array_equal(capped.histogram(), free.histogram())


def test_any_partition_and_thread_gives_the_same_bits():
    rng = np.random.default_rng(1)
    n_rows = 30_000
    X = rng.normal(size=(n_rows, 15))
    y = X[:, 0] + rng.normal(size=n_rows) > 0.5
    data = prepare(X, y, sample_weight=rng.random(n_rows) + 0.5)
    nus = tuple(0.4 * weight for weight in data.class_weights)
    changes = np.exp(rng.normal(size=(4, 2, data.n_codes)))
    histograms = []
    for n_jobs, n_partitions in ((1, 1), (2, 1), (2, 5)):
        with Workers(n_jobs) as workers:
            weights = CappedWeights(data.split(n_partitions), workers, nus)
            for feature, change in enumerate(changes):
                weights.multiply(feature, change)
            histograms.append(weights.histogram())
    assert np.array_equal(histograms[0], histograms[1])
    assert np.array_equal(histograms[0], histograms[2])
